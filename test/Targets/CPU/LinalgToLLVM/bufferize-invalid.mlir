// Check that programs that upstream's bufferization and deallocation do not
// support are errors with a remedy.

// RUN: layout-opt %s --layout-linalg-to-llvm --split-input-file --verify-diagnostics -o /dev/null

func.func @bits(%x: tensor<2xi32>) -> tensor<2xf32> {
  // expected-error @below {{op was not bufferized}}
  // expected-note @below {{does not support this op here; write it with tensor, linalg and scf ops, or on memrefs}}
  %0 = tensor.bitcast %x : tensor<2xi32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @frees(%m: memref<4xf32>) {
  // expected-error @below {{memory free side-effect on MemRef value not supported!}}
  // expected-note @below {{does not support this op here; write the function on tensors, and remove ops that free memory}}
  memref.dealloc %m : memref<4xf32>
  return
}
