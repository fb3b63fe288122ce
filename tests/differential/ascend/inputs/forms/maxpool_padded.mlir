// bishengir-compile IN.mlir --target=Ascend910B3 -enable-hivm-compile=true -o OUT.mlir
module {
func.func @k(%x: memref<15x15x20xf32, #hivm.address_space<gm>>, %o: memref<8x8x20xf32, #hivm.address_space<gm>>) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hacc.block_dim = 20 : i64} {

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bi64 = hivm.hir.get_block_idx -> i64
  %nb64 = hivm.hir.get_block_num -> i64
  %bi = arith.index_cast %bi64 : i64 to index
  %nb = arith.index_cast %nb64 : i64 to index

  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %H = arith.constant 15 : index
  %OH = arith.constant 8 : index
  %ninf = arith.constant 0xFF800000 : f32
  scf.for %oh = %bi to %OH step %nb {
    %acc = memref.alloc() : memref<8x24xf32, #hivm.address_space<ub>>
    hivm.hir.vbrc ins(%ninf : f32) outs(%acc : memref<8x24xf32, #hivm.address_space<ub>>)
    scf.for %kh = %c0 to %c3 step %c1 {
      scf.for %kw = %c0 to %c3 step %c1 {
        %a = arith.muli %oh, %c2 : index
        %b = arith.addi %a, %kh : index
        %ih = arith.subi %b, %c1 : index
        %g = arith.cmpi sge, %ih, %c0 : index
        %l = arith.cmpi slt, %ih, %H : index
        %ok = arith.andi %g, %l : i1
        scf.if %ok {
          %s0 = arith.subi %kw, %c1 : index
          %ng = arith.subi %c0, %s0 : index
          %dst = arith.maxsi %ng, %c0 : index
          %t = arith.muli %dst, %c2 : index
          %src = arith.addi %t, %s0 : index
          %lf = arith.subi %H, %src : index
          %lf1 = arith.addi %lf, %c1 : index
          %fit = arith.divsi %lf1, %c2 : index
          %room = arith.subi %OH, %dst : index
          %len = arith.minsi %fit, %room : index
          %u = memref.alloc() : memref<8x24xf32, #hivm.address_space<ub>>
          %uv = memref.subview %u[0, 0] [%len, 20] [1, 1] : memref<8x24xf32, #hivm.address_space<ub>> to memref<?x20xf32, strided<[24, 1]>, #hivm.address_space<ub>>
          %av = memref.subview %acc[%dst, 0] [%len, 20] [1, 1] : memref<8x24xf32, #hivm.address_space<ub>> to memref<?x20xf32, strided<[24, 1], offset: ?>, #hivm.address_space<ub>>
          %s = memref.subview %x[%ih, %src, 0] [1, %len, 20] [1, 2, 1] : memref<15x15x20xf32, #hivm.address_space<gm>> to memref<?x20xf32, strided<[40, 1], offset: ?>, #hivm.address_space<gm>>
          hivm.hir.load ins(%s : memref<?x20xf32, strided<[40, 1], offset: ?>, #hivm.address_space<gm>>) outs(%uv : memref<?x20xf32, strided<[24, 1]>, #hivm.address_space<ub>>)
          hivm.hir.vmax ins(%av, %uv : memref<?x20xf32, strided<[24, 1], offset: ?>, #hivm.address_space<ub>>, memref<?x20xf32, strided<[24, 1]>, #hivm.address_space<ub>>) outs(%av : memref<?x20xf32, strided<[24, 1], offset: ?>, #hivm.address_space<ub>>)
        }
      }
    }
    %so = memref.subview %o[%oh, 0, 0] [1, 8, 20] [1, 1, 1] : memref<8x8x20xf32, #hivm.address_space<gm>> to memref<8x20xf32, strided<[20, 1], offset: ?>, #hivm.address_space<gm>>
    %ac = memref.subview %acc[0, 0] [8, 20] [1, 1] : memref<8x24xf32, #hivm.address_space<ub>> to memref<8x20xf32, strided<[24, 1]>, #hivm.address_space<ub>>
    hivm.hir.store ins(%ac : memref<8x20xf32, strided<[24, 1]>, #hivm.address_space<ub>>) outs(%so : memref<8x20xf32, strided<[20, 1], offset: ?>, #hivm.address_space<gm>>)
  }
  return
}
}
