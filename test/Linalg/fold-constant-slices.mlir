// RUN: layout-opt %s --layout-prepare-fold-constant-slices --split-input-file | FileCheck %s
// RUN: layout-opt %s --layout-prepare-fold-constant-slices=transposes --split-input-file | FileCheck %s --check-prefix=TRANSPOSES

// Filters are reversed as an importer writes it, and then sliced.
// CHECK-LABEL: func.func @turned(
// CHECK-DAG: arith.constant dense<{{\[}}[3.0{{.*}}], [6.0{{.*}}]]> : tensor<2x1xf32>
// CHECK-DAG: arith.constant dense<{{\[}}[2.0{{.*}}, 1.0{{.*}}], [5.0{{.*}}, 4.0{{.*}}]]> : tensor<2x2xf32>
// CHECK-NOT: linalg.
func.func @turned() -> (tensor<2x1xf32>, tensor<2x2xf32>) {
  %c2 = arith.constant 2 : index
  %w = arith.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<2x3xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %c2, %j : index
    %x = tensor.extract %w[%k, %i] : tensor<3x2xf32>
    linalg.yield %x : f32
  } -> tensor<2x3xf32>
  %a = tensor.extract_slice %t[0, 0] [2, 1] [1, 2] : tensor<2x3xf32> to tensor<2x1xf32>
  %b = tensor.extract_slice %t[0, 1] [2, 2] [1, 1] : tensor<2x3xf32> to tensor<2x2xf32>
  return %a, %b : tensor<2x1xf32>, tensor<2x2xf32>
}

// -----

// A resource stays a resource.
// CHECK-LABEL: func.func @resource(
// CHECK: %[[C:.*]] = arith.constant dense_resource<[[NAME:w.*]]> : tensor<2xi16>
// CHECK: return %[[C]]
// CHECK: [[NAME]]: "0x{{[0-9]+}}000002000400"
func.func @resource() -> tensor<2xi16> {
  %w = arith.constant dense_resource<w> : tensor<2x2xi16>
  %r = tensor.extract_slice %w[0, 1] [2, 1] [1, 1] : tensor<2x2xi16> to tensor<2xi16>
  return %r : tensor<2xi16>
}
{-# dialect_resources: { builtin: { w: "0x020000000100020003000400" } } #-}

// -----

// Not folded: repeated elements, divided indices, indices outside of the constant, and a computed source.
// CHECK-LABEL: func.func @stay(
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: tensor.extract_slice
func.func @stay(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %c1 = arith.constant 1 : index
  %w = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %e1 = tensor.empty() : tensor<2xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%w : tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<2x2xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%w : tensor<2xf32>) outs(%e1 : tensor<2xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<2xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e1 : tensor<2xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = arith.addi %i, %c1 : index
    %v = tensor.extract %w[%k] : tensor<2xf32>
    linalg.yield %v : f32
  } -> tensor<2xf32>
  %d = tensor.extract_slice %x[0] [2] [2] : tensor<4xf32> to tensor<2xf32>
  return %a, %b, %c, %d : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A slice of the whole constant is the constant, which is stored once.
// CHECK-LABEL: func.func @whole(
// CHECK-COUNT-2: arith.constant dense_resource<whole> : tensor<2x2xf32>
// CHECK-NOT: tensor.extract_slice
func.func @whole() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense_resource<whole> : tensor<2x2xf32>
  %a = tensor.extract_slice %w[0, 0] [2, 2] [1, 1] : tensor<2x2xf32> to tensor<2x2xf32>
  return %w, %a : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A transpose is left to the layout assignment, unless it would have to move
// elements.
// CHECK-LABEL: func.func @transposed(
// CHECK: linalg.transpose
// TRANSPOSES-LABEL: func.func @transposed(
// TRANSPOSES: arith.constant dense<{{\[\[\[}}1, 4], [2, 5], [3, 6{{\]\]\]}}> : tensor<1x3x2xi16>
// TRANSPOSES-NOT: linalg.transpose
// TRANSPOSES: return
func.func @transposed() -> tensor<1x3x2xi16> {
  %w = arith.constant dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi16>
  %e = tensor.empty() : tensor<1x3x2xi16>
  %t = linalg.transpose ins(%w : tensor<2x1x3xi16>) outs(%e : tensor<1x3x2xi16>) permutation = [1, 2, 0]
  return %t : tensor<1x3x2xi16>
}
