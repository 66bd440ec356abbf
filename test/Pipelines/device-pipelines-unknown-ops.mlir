// Check that the device pipelines report an unknown op as an error at its
// location, before upstream passes, some of which crash on such ops.

// REQUIRES: target-npu, target-opencl
// RUN: layout-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --layout-to-opencl='target={#layout.opencl}'
// RUN: layout-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --layout-to-npu='target={#layout.npu<chip = #npu.target<"BM1684">>}'

func.func @region(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'foo.reg' is not of a registered dialect, so what it computes is unknown: lower it to linalg on tensors first, or remove it}}
  %0 = "foo.reg"() ({
  ^bb0(%a: tensor<4x8xf32>):
    %q = "foo.op"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "foo.ret"(%q) : (tensor<4x8xf32>) -> ()
  }) : () -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// The canonicalization of this op expects a shaped result.

func.func @shape(%x: tensor<4x8xf32>) -> !shape.shape {
  // expected-error @+1 {{'shape.shape_of' is of a dialect that is not lowered here, so what it computes is unknown: lower it to linalg on tensors first, or remove it}}
  %0 = shape.shape_of %x : tensor<4x8xf32> -> !shape.shape
  return %0 : !shape.shape
}

// -----

func.func @encoding(%x: tensor<4x8xf32, "foreign">, %y: tensor<4x8xf32, "foreign">) -> tensor<4x8xf32, "foreign"> {
  // expected-error @+1 {{'arith.addf' op has a value of type 'tensor<4x8xf32, "foreign">', whose encoding is not a layout, so where its elements are is unknown: remove the encoding, or state a layout}}
  %0 = arith.addf %x, %y : tensor<4x8xf32, "foreign">
  return %0 : tensor<4x8xf32, "foreign">
}

// -----

func.func @less_than_nothing(%x: tensor<2x?xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %size = arith.constant -1 : index
  // expected-error @+1 {{'tensor.insert_slice' op takes -1 elements of dim 1, but a size is at least 0; correct the constant}}
  %0 = tensor.insert_slice %x into %y[0, 0] [2, %size] [1, 1] : tensor<2x?xf32> into tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @empty_of_less(%x: tensor<4x5x?xf32>) -> tensor<4x5x?xf32> {
  %size = arith.constant -1 : index
  // expected-error @+1 {{'tensor.empty' op takes -1 elements of dim 2, but a size is at least 0; correct the constant}}
  %0 = tensor.empty(%size) : tensor<4x5x?xf32>
  return %0 : tensor<4x5x?xf32>
}

// -----

func.func @splat_of_less(%x: f32) -> tensor<4x5x?xf32> {
  %size = arith.constant -2 : index
  // expected-error @+1 {{'tensor.splat' op takes -2 elements of dim 2, but a size is at least 0; correct the constant}}
  %0 = tensor.splat %x[%size] : tensor<4x5x?xf32>
  return %0 : tensor<4x5x?xf32>
}

// -----

func.func @generated_of_less(%x: f32) -> tensor<?x5xf32> {
  %size = arith.constant -3 : index
  // expected-error @+1 {{'tensor.generate' op takes -3 elements of dim 0, but a size is at least 0; correct the constant}}
  %0 = tensor.generate %size {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}
