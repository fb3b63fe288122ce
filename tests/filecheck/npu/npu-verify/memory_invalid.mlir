// Buffers: placed, aligned, inside their memory, apart while alive, written before read.
//
// RUN: fuse-opt %s -p npu-verify --split-input-file --verify-diagnostics | filecheck %s

// CHECK: invalid.mlir:9:3: 'npu.alloc' in @half_placed: %b has no address, but other buffers have; run npu-place
func.func @half_placed(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 0 : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  %b = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  func.return
}

// -----

// CHECK: 'npu.alloc' in @second: %a has no address, but other buffers have
func.func @first(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 0 : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  func.return
}
func.func @second(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.mmad' in @l1: works on l1 although the buffers are placed; run npu-expand-l0 before npu-place
func.func @l1(%x: memref<16x16xf16, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc at 0 : memref<16x16xf16, #npu.space<l1>>
  npu.load ins(%x : memref<16x16xf16, #npu.space<gm>>) outs(%a : memref<16x16xf16, #npu.space<l1>>)
  %acc = npu.alloc at 0 : memref<16x16xf32, #npu.space<l0c>>
  npu.mmad ins(%a, %a : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: 'npu.alloc' in @gm: %g is in gm; a kernel gets its gm buffers as arguments
func.func @gm(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %g = npu.alloc : memref<16x64xf32, #npu.space<gm>>
  func.return
}

// -----

// CHECK: 'npu.alloc' in @no_loop: %a has 2 copies but stands in no loop; a buffer rotates in the loop that directly holds it
func.func @no_loop(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc copies 2 : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.vexp' in @not_written: reads %a before anything is written to it
func.func @not_written(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  %b = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.vexp ins(%a : memref<16x64xf32, #npu.space<ub>>) outs(%b : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.vexp' in @in_place: reads %a before anything is written to it
func.func @in_place(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  npu.vexp ins(%a : memref<16x64xf32, #npu.space<ub>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.vadd' in @written_later: reads %state before anything is written to it
func.func @written_later(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %state = npu.alloc : memref<16x64xf32, #npu.space<ub>>
  scf.for %i = %c0 to %c4 step %c1 {
    %a = npu.alloc : memref<16x64xf32, #npu.space<ub>>
    npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
    npu.vadd ins(%a, %state : memref<16x64xf32, #npu.space<ub>>, memref<16x64xf32, #npu.space<ub>>) outs(%state : memref<16x64xf32, #npu.space<ub>>)
  }
  func.return
}

// -----

// CHECK: 'npu.mmad' in @accumulates: reads %acc before anything is written to it
func.func @accumulates(%x: memref<16x16xf16, #npu.space<gm>>) attributes {npu.core = "cube"} {
  %false = arith.constant false
  %a = npu.alloc : memref<16x16xf16, #npu.space<l1>>
  npu.load ins(%x : memref<16x16xf16, #npu.space<gm>>) outs(%a : memref<16x16xf16, #npu.space<l1>>)
  %acc = npu.alloc : memref<16x16xf32, #npu.space<l0c>>
  npu.mmad ins(%a, %a : memref<16x16xf16, #npu.space<l1>>, memref<16x16xf16, #npu.space<l1>>) init %false outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: 'npu.mmad' in @operand: reads %a before anything is written to it
func.func @operand() attributes {npu.core = "cube"} {
  %true = arith.constant true
  %a = npu.alloc : memref<16x16xf16, #npu.space<l0a>>
  %b = npu.alloc : memref<16x16xf16, #npu.space<l0b>>
  %acc = npu.alloc : memref<16x16xf32, #npu.space<l0c>>
  npu.mmad ins(%a, %b : memref<16x16xf16, #npu.space<l0a>>, memref<16x16xf16, #npu.space<l0b>>) init %true outs(%acc : memref<16x16xf32, #npu.space<l0c>>)
  func.return
}

// -----

// CHECK: 'npu.alloc' in @unaligned: %a at 16 is not aligned to the 32 bytes of ub
func.func @unaligned(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 16 : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.alloc' in @unaligned_l0: %a at 256 is not aligned to the 512 bytes of l0a
func.func @unaligned_l0() attributes {npu.core = "cube"} {
  %a = npu.alloc at 256 : memref<16x16xf16, #npu.space<l0a>>
  func.return
}

// -----

// CHECK: 'npu.alloc' in @too_high: %a takes bytes 192544 to 196640 of ub, which has 196608
func.func @too_high(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 192544 : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.alloc' in @copies_too_high: %a takes bytes 188448 to 196640 of ub
func.func @copies_too_high(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = npu.alloc at 188448 copies 2 : memref<16x64xf32, #npu.space<ub>>
  }
  func.return
}

// -----

// CHECK: 'npu.alloc' in @too_large: %a takes bytes 0 to 262144 of l0c, which has 131072
func.func @too_large() attributes {npu.core = "cube"} {
  %a = npu.alloc : memref<256x256xf32, #npu.space<l0c>>
  func.return
}

// -----

// CHECK: 'npu.alloc' in @overlap: %b at 4064 overlaps %a at 0 in ub while both are alive
func.func @overlap(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 0 : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  %b = npu.alloc at 4064 : memref<16x64xf32, #npu.space<ub>>
  npu.vexp ins(%a : memref<16x64xf32, #npu.space<ub>>) outs(%b : memref<16x64xf32, #npu.space<ub>>)
  func.return
}

// -----

// CHECK: 'npu.alloc' in @rotating: %b at 4096 overlaps %a at 0 in ub while both are alive
func.func @rotating(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = npu.alloc at 0 copies 2 : memref<16x64xf32, #npu.space<ub>>
    npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
    npu.store ins(%a : memref<16x64xf32, #npu.space<ub>>) outs(%x : memref<16x64xf32, #npu.space<gm>>)
    %b = npu.alloc at 4096 : memref<16x64xf32, #npu.space<ub>>
    npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%b : memref<16x64xf32, #npu.space<ub>>)
  }
  func.return
}

// -----

// CHECK: 'npu.alloc' in @outside: %b at 0 overlaps %a at 0 in ub while both are alive
func.func @outside(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %a = npu.alloc at 0 : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%a : memref<16x64xf32, #npu.space<ub>>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    npu.store ins(%a : memref<16x64xf32, #npu.space<ub>>) outs(%x : memref<16x64xf32, #npu.space<gm>>)
    %b = npu.alloc at 0 : memref<16x64xf32, #npu.space<ub>>
    npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%b : memref<16x64xf32, #npu.space<ub>>)
  }
  func.return
}

// -----

// CHECK: 'npu.alloc' in @host: %b at 0 overlaps %a at 512 in gm while both are alive
func.func @host(%x: memref<16x64xf32, #npu.space<gm>>) attributes {npu.host} {
  %a = npu.alloc at 512 : memref<16x64xf32, #npu.space<gm>>
  %b = npu.alloc at 0 : memref<16x64xf32, #npu.space<gm>>
  npu.launch @copy blocks(1) (%x, %a : memref<16x64xf32, #npu.space<gm>>, memref<16x64xf32, #npu.space<gm>>)
  npu.launch @copy blocks(1) (%a, %b : memref<16x64xf32, #npu.space<gm>>, memref<16x64xf32, #npu.space<gm>>)
  func.return
}
func.func @copy(%x: memref<16x64xf32, #npu.space<gm>>, %y: memref<16x64xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {
  %u = npu.alloc at 0 : memref<16x64xf32, #npu.space<ub>>
  npu.load ins(%x : memref<16x64xf32, #npu.space<gm>>) outs(%u : memref<16x64xf32, #npu.space<ub>>)
  npu.store ins(%u : memref<16x64xf32, #npu.space<ub>>) outs(%y : memref<16x64xf32, #npu.space<gm>>)
  func.return
}
