// RUN: layout-opt %s -split-input-file --npu-legalize-linalg --mlir-print-local-scope | FileCheck %s
// Check that bodies that need several OKKernel functions are split into one op
// per function.

// The maximum is computed in place of the sum, which has no other reader.
// CHECK-LABEL: func.func @chain(
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<2x3xf32>, tensor<3xf32>) outs(
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} outs(%[[S]] :
// CHECK: arith.maximumf
func.func @chain(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<2x3xf32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// One function stays unchanged, including a sigmoid of four ops.
// CHECK-LABEL: func.func @sigmoid(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      %p = math.exp %n : f32
      %s = arith.addf %p, %one : f32
      %d = arith.divf %one, %s : f32
      linalg.yield %d : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// The terms of a sum are split; a product of two tensors is accumulated
// directly. A value that depends on one loop only is a tensor of that loop.
// CHECK-LABEL: func.func @sums(
// CHECK: %[[P:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]{{.*}} ins(%arg0 :
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%[[P]] : tensor<2x3xf32>) outs(%arg2 :
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%arg0, %arg1 :
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
func.func @sums(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %s: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%s : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %p = math.exp %a : f32
      %t = arith.addf %p, %o : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<2x3xf32>, tensor<3xf32>) outs(%s : tensor<2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  return %r, %q : tensor<2xf32>, tensor<2xf32>
}

// -----

// Types other than f32 and i32 stay unchanged, and so do bodies with
// linalg.index.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @others(%x: tensor<4xf16>) -> tensor<4xf16> {
  %e = tensor.empty() : tensor<4xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf16>) outs(%e : tensor<4xf16>) {
    ^bb0(%a: f16, %o: f16):
      %s = arith.addf %a, %a : f16
      %t = arith.mulf %s, %a : f16
      linalg.yield %t : f16
  } -> tensor<4xf16>
  return %r : tensor<4xf16>
}

// -----

// erf and comparisons without a function are composed of functions that exist.
// CHECK-LABEL: func.func @composed(
// CHECK-NOT: math.erf
// CHECK-NOT: arith.cmpf uge
// CHECK: math.exp
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf olt
func.func @composed(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = math.erf %a : f32
      %p = arith.cmpf uge, %s, %b : f32
      %t = arith.select %p, %s, %b : f32
      linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
