// The file is whole or absent: a failure leaves what stood there before and no other file.
//
// RUN: rm -rf %t && mkdir %t
// RUN: fuse-opt %s -o %t/out.mlir && filecheck %s < %t/out.mlir
// RUN: fuse-opt %s -p cse -o %t/out.mlir && ls -A %t | filecheck %s --check-prefix=ONE
// RUN: %not 3 fuse-opt %S/Inputs/second-part-bad.mlir --split-input-file -o %t/out.mlir 2>&1 | filecheck %s --check-prefix=BAD
// RUN: filecheck %s < %t/out.mlir
// RUN: ls -A %t | filecheck %s --check-prefix=ONE
// RUN: %not 5 fuse-opt %s -o %t/no/out.mlir 2>&1 | filecheck %s --check-prefix=NOFOLDER
// RUN: %not 5 fuse-opt %s -o %t 2>&1 | filecheck %s --check-prefix=FOLDER
// RUN: fuse-opt %s -o /dev/null
// RUN: test -c /dev/null
// RUN: %not 5 fuse-opt %s -o /dev/full 2>&1 | filecheck %s --check-prefix=FULL
// RUN: ln -s out.mlir %t/link.mlir && fuse-opt %s -p cse -o %t/link.mlir && test -L %t/link.mlir

func.func @one() {
  func.return
}

// CHECK-LABEL: func.func @one()

// ONE-NOT:  .out
// ONE:      out.mlir
// ONE-NOT:  .out

// BAD:      fuse-opt: error: {{.*}}second-part-bad.mlir:8:10: %b is used but not defined
// NOFOLDER: fuse-opt: error: cannot write '{{.*}}/no/out.mlir': no such file or directory; name a file in a folder that exists
// FOLDER:   fuse-opt: error: cannot write '{{.*}}': it is a directory
// FULL:     fuse-opt: error: cannot write {{.*}}: no space left on device
