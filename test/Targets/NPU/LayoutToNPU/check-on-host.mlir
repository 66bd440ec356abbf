// RUN: layout-opt %s --layout-cpu-check-indices=fixed-text --npu-check-on-host --split-input-file --verify-diagnostics | FileCheck %s

// Reads are found through views and the wrapping of negative indices; the check
// is removed, and the range becomes that of the argument.
// CHECK-LABEL: func.func @wrapped
// CHECK-SAME: %{{.*}}: tensor<10x4xf32>, %{{.*}}: tensor<8xi64> {npu.ranges = [{count = array<i64>, first = array<i64>, least = -10 : i64, most = 9 : i64, text = "node 'emb': index is out of range for dim 0 of size 10"}]})
// CHECK-NOT: arith.maxui
// CHECK-NOT: cf.assert
func.func @wrapped(%t: tensor<10x4xf32>, %ids: tensor<8xi64>) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0 : i64
  %n = arith.constant 10 : i64
  %e = tensor.empty() : tensor<2x4xi64>
  %w = tensor.expand_shape %ids [[0, 1]] output_shape [2, 4] : tensor<8xi64> into tensor<2x4xi64>
  %i = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<2x4xi64>) outs(%e : tensor<2x4xi64>) {
  ^bb0(%id: i64, %o: i64):
    %is = arith.cmpi slt, %id, %zero : i64
    %more = arith.addi %id, %n : i64
    %at = arith.select %is, %more, %id : i64
    linalg.yield %at : i64
  } -> tensor<2x4xi64>
  %f = tensor.empty() : tensor<2x4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%i : tensor<2x4xi64>) outs(%f : tensor<2x4x4xf32>) {
  ^bb0(%id: i64, %o: f32):
    %at = arith.index_cast %id : i64 to index
    %j = linalg.index 2 : index
    %v = tensor.extract %t[%at, %j] : tensor<10x4xf32>
    linalg.yield %v : f32
  } -> tensor<2x4x4xf32> loc("emb")
  return %r : tensor<2x4x4xf32>
}

// -----

// The range of a slice, and of one element.
// CHECK-LABEL: func.func @part
// CHECK-SAME: tensor<8x2xi32> {npu.ranges = [{count = array<i64: 8, 1>, first = array<i64: 0, 1>, least = 0 : i64, most = 9 : i64, {{[^}]*}}}, {count = array<i64: 1, 1>, first = array<i64: 3, 0>, least = 0 : i64, most = 9 : i64, {{[^}]*}}}]}
func.func @part(%t: tensor<10xf32>, %ids: tensor<8x2xi32>) -> (tensor<8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %f = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a, 1)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<8x2xi32>) outs(%f : tensor<8xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %v = tensor.extract %t[%at] : tensor<10xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %one = tensor.extract %ids[%c3, %c0] : tensor<8x2xi32>
  %at = arith.index_cast %one : i32 to index
  %v = tensor.extract %t[%at] : tensor<10xf32>
  return %r, %v : tensor<8xf32>, f32
}

// -----

func.func @computed(%t: tensor<10xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %f = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%number: f32, %o: f32):
    %id = arith.fptosi %number : f32 to i32
    %at = arith.index_cast %id : i32 to index
    // expected-warning @below {{NPU programs do not check "index is out of range for dim 0 of size 10", and the host only checks elements of arguments: an index out of range reads another element of the same tensor; clamp it, or make it an argument}}
    %v = tensor.extract %t[%at] : tensor<10xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
