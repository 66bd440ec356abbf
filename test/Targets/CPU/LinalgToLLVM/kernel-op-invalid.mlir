// Check the errors of the verifier of cpu.kernel.
// RUN: layout-opt %s -split-input-file -verify-diagnostics

func.func @buffers(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'cpu.kernel' op has 2 tensors, but its body has 1 buffers; it needs one for each}}
  %r = cpu.kernel ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%to: memref<4xf32>):
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @shape(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'cpu.kernel' op has a body with 'memref<5xf32>' for 'tensor<4xf32>'; a buffer must have the shape and the element type of its tensor}}
  %r = cpu.kernel ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%to: memref<4xf32>, %from: memref<5xf32>):
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @result(%y: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @below {{expected type of operand #0 ('tensor<4xf32>') to match type of corresponding result ('tensor<5xf32>')}}
  %r = cpu.kernel outs(%y : tensor<4xf32>) {
  ^bb0(%to: memref<4xf32>):
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
