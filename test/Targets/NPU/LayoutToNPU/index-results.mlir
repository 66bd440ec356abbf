// RUN: layout-opt %s --npu-legalize-linalg --canonicalize --split-input-file | FileCheck %s
// Computed indices as f32: those of windows are found tap by tap, and arithmetic on
// them is one of f32 if it is exact; run-index-results.py compares with numpy.

// CHECK-LABEL: func.func @windows(
// CHECK-SAME: %[[X:.*]]: tensor<3x7xf32>, %[[TOP:.*]]: tensor<3x3xf32>
// CHECK-NOT: linalg.index
// CHECK: tensor.extract_slice %[[X]][0, 0] [3, 3] [1, 2] : tensor<3x7xf32> to tensor<3x3xf32>
// CHECK: arith.minimumf
// CHECK: tensor.extract_slice %[[X]][0, 1] [3, 3] [1, 2] : tensor<3x7xf32> to tensor<3x3xf32>
// CHECK: arith.minimumf
// CHECK: tensor.extract_slice %[[X]][0, 2] [3, 3] [1, 2] : tensor<3x7xf32> to tensor<3x3xf32>
// CHECK: arith.minimumf
// CHECK-NOT: arith.minimumf
// CHECK: return
func.func @windows(%x: tensor<3x7xf32>, %top: tensor<3x3xf32>) -> tensor<3x3xi64> {
  %most = arith.constant 9223372036854775807 : i64
  %two = arith.constant 2 : index
  %w = tensor.empty() : tensor<3xf32>
  %e = tensor.empty() : tensor<3x3xi64>
  %f = linalg.fill ins(%most : i64) outs(%e : tensor<3x3xi64>) -> tensor<3x3xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b * 2 + c)>, affine_map<(a, b, c) -> (c)>, affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %top : tensor<3x7xf32>, tensor<3xf32>, tensor<3x3xf32>) outs(%f : tensor<3x3xi64>) {
  ^bb0(%a: f32, %b: f32, %t: f32, %o: i64):
    %is = arith.cmpf oeq, %a, %t : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %k = arith.muli %i, %two : index
    %l = arith.addi %k, %j : index
    %m = arith.index_cast %l : index to i64
    %s = arith.select %is, %m, %most : i64
    %n = arith.minsi %o, %s : i64
    linalg.yield %n : i64
  } -> tensor<3x3xi64>
  return %r : tensor<3x3xi64>
}

// -----

// 4096 * 4096 is 2^24, and 4097 * 4096 is not exact as f32.
// CHECK-LABEL: func.func @exact(
// CHECK-NOT: linalg.index
// CHECK-LABEL: func.func @inexact(
// CHECK: linalg.index
func.func @exact() -> tensor<4097x1xi64> {
  %n = arith.constant 4096 : index
  %e = tensor.empty() : tensor<4097x1xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<4097x1xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %k = arith.muli %i, %n : index
    %m = arith.index_cast %k : index to i64
    linalg.yield %m : i64
  } -> tensor<4097x1xi64>
  return %r : tensor<4097x1xi64>
}

func.func @inexact() -> tensor<4098x1xi64> {
  %n = arith.constant 4096 : index
  %e = tensor.empty() : tensor<4098x1xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<4098x1xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %k = arith.muli %i, %n : index
    %m = arith.index_cast %k : index to i64
    linalg.yield %m : i64
  } -> tensor<4098x1xi64>
  return %r : tensor<4098x1xi64>
}
