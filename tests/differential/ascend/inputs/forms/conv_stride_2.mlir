// bishengir-opt IN.mlir --hacc-append-device-spec=target=Ascend910B3 --optimize-hivm-pipeline="disable-hivm-tensor-compile=true" -o OUT.mlir
module {
func.func @k(%x: memref<15x14x32xf32, #hivm.address_space<gm>>, %w: memref<9x32x64xf32, #hivm.address_space<gm>>, %bias: memref<64xf32, #hivm.address_space<gm>>, %r: memref<8x7x64xf32, #hivm.address_space<gm>>, %eye: memref<64x64xf32, #hivm.address_space<gm>>, %o: memref<8x7x64xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64, hivm.func_core_type = #hivm.func_core_type<AIC>} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %cR = arith.constant 2 : index
  %cS = arith.constant 2 : index
  %H = arith.constant 15 : index
  %W = arith.constant 14 : index
  %OH = arith.constant 8 : index
  %OW = arith.constant 7 : index
  %cC = arith.constant 32 : index
  %cO = arith.constant 64 : index
  %false = arith.constant false
  %z = arith.constant 0.0 : f32
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index
  %lo = arith.muli %bi, %cR : index
  %st = arith.muli %nb, %cR : index
  %lb = memref.alloc() : memref<64xf32, #hivm.address_space<cbuf>>
  hivm.hir.load ins(%bias : memref<64xf32, #hivm.address_space<gm>>) outs(%lb : memref<64xf32, #hivm.address_space<cbuf>>)
  scf.for %oh = %lo to %OH step %st {
    %rem = arith.subi %OH, %oh : index
    %rows = arith.minsi %rem, %cR : index
    %m = arith.muli %rows, %OW : index
    %lc = memref.alloc() : memref<14x64xf32, #hivm.address_space<cc>>
    scf.for %kh = %c0 to %c3 step %c1 {
      scf.for %kw = %c0 to %c3 step %c1 {
        %lx = memref.alloc() : memref<14x32xf32, #hivm.address_space<cbuf>>
        hivm.hir.vbrc ins(%z : f32) outs(%lx : memref<14x32xf32, #hivm.address_space<cbuf>>)
        // columns: iw = ow*S + kw - 1 in [0, W)
        %s0 = arith.subi %kw, %c1 : index
        %neg = arith.subi %c0, %s0 : index
        %dst0 = arith.maxsi %neg, %c0 : index
        %dst = arith.minsi %dst0, %c1 : index
        %t = arith.muli %dst, %cS : index
        %src = arith.addi %t, %s0 : index
        %left = arith.subi %W, %src : index
        %left1 = arith.addi %left, %c1 : index
        %fit = arith.divsi %left1, %cS : index
        %room = arith.subi %OW, %dst : index
        %len = arith.minsi %fit, %room : index
        scf.for %q = %c0 to %rows step %c1 {
          %ohq = arith.addi %oh, %q : index
          %ihs = arith.muli %ohq, %cS : index
          %ih0 = arith.addi %ihs, %kh : index
          %ih = arith.subi %ih0, %c1 : index
          %ge = arith.cmpi sge, %ih, %c0 : index
          %lt = arith.cmpi slt, %ih, %H : index
          %ok = arith.andi %ge, %lt : i1
          scf.if %ok {
            %d0 = arith.muli %q, %OW : index
            %d = arith.addi %d0, %dst : index
            %lx1 = memref.subview %lx[%d, 0] [%len, 32] [1, 1] : memref<14x32xf32, #hivm.address_space<cbuf>> to memref<?x32xf32, strided<[32, 1], offset: ?>, #hivm.address_space<cbuf>>
            %sx = memref.subview %x[%ih, %src, 0] [1, %len, 32] [1, 2, 1] : memref<15x14x32xf32, #hivm.address_space<gm>> to memref<?x32xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
            hivm.hir.load ins(%sx : memref<?x32xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lx1 : memref<?x32xf32, strided<[32, 1], offset: ?>, #hivm.address_space<cbuf>>)
          }
        }
        %k3 = arith.muli %kh, %c3 : index
        %kk = arith.addi %k3, %kw : index
        %sw = memref.subview %w[%kk, 0, 0] [1, 32, 64] [1, 1, 1] : memref<9x32x64xf32, #hivm.address_space<gm>> to memref<32x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
        %lw = memref.alloc() : memref<32x64xf32, #hivm.address_space<cbuf>>
        hivm.hir.load ins(%sw : memref<32x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lw : memref<32x64xf32, #hivm.address_space<cbuf>>)
        %first = arith.cmpi eq, %kk, %c0 : index
        hivm.hir.mmadL1 ins(%lx, %lw, %first, %m, %cC, %cO, %lb : memref<14x32xf32, #hivm.address_space<cbuf>>, memref<32x64xf32, #hivm.address_space<cbuf>>, i1, index, index, index, memref<64xf32, #hivm.address_space<cbuf>>) outs(%lc : memref<14x64xf32, #hivm.address_space<cc>>)
      }
    }

    %sr = memref.subview %r[%oh, 0, 0] [%rows, 7, 64] [1, 1, 1] : memref<8x7x64xf32, #hivm.address_space<gm>> to memref<?x7x64xf32, strided<[448, 64, 1], offset: ?>, #hivm.address_space<gm>>
    %sr2 = memref.collapse_shape %sr [[0, 1], [2]] : memref<?x7x64xf32, strided<[448, 64, 1], offset: ?>, #hivm.address_space<gm>> into memref<?x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
    %lr = memref.alloc() : memref<14x64xf32, #hivm.address_space<cbuf>>
    %lr1 = memref.subview %lr[0, 0] [%m, 64] [1, 1] : memref<14x64xf32, #hivm.address_space<cbuf>> to memref<?x64xf32, strided<[64, 1]>, #hivm.address_space<cbuf>>
    %le = memref.alloc() : memref<64x64xf32, #hivm.address_space<cbuf>>
    hivm.hir.load ins(%sr2 : memref<?x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>) outs(%lr1 : memref<?x64xf32, strided<[64, 1]>, #hivm.address_space<cbuf>>)
    hivm.hir.load ins(%eye : memref<64x64xf32, #hivm.address_space<gm>>) outs(%le : memref<64x64xf32, #hivm.address_space<cbuf>>)
    hivm.hir.mmadL1 ins(%lr, %le, %false, %m, %cO, %cO : memref<14x64xf32, #hivm.address_space<cbuf>>, memref<64x64xf32, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%lc : memref<14x64xf32, #hivm.address_space<cc>>)

    %so = memref.subview %o[%oh, 0, 0] [%rows, 7, 64] [1, 1, 1] : memref<8x7x64xf32, #hivm.address_space<gm>> to memref<?x7x64xf32, strided<[448, 64, 1], offset: ?>, #hivm.address_space<gm>>
    %so2 = memref.collapse_shape %so [[0, 1], [2]] : memref<?x7x64xf32, strided<[448, 64, 1], offset: ?>, #hivm.address_space<gm>> into memref<?x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.fixpipe {dma_mode = #hivm.dma_mode<nz2nd>, pre_relu = #hivm.fixpipe_pre_relu_mode<NORMAL_RELU>} ins(%lc : memref<14x64xf32, #hivm.address_space<cc>>) outs(%so2 : memref<?x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<gm>>)
  }

  return
}
}
