// RUN: layout-opt %s --npu-tile-and-fuse='target={#layout.npu<chip=#npu.target<npus = 4, bytes_per_npu = 65536, eu_bytes = 32>>}' --split-input-file | FileCheck %s
// Check that elementwise ops write their results in place of dead operands.

#row = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @chain
// CHECK: %[[PRODUCT:.*]] = linalg.matmul
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<8xf32>) outs(%[[PRODUCT]] : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[BIAS:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: arith.addf %[[OUT]], %[[BIAS]]
// CHECK: linalg.generic {{.*}}} outs(%[[SUM]] : tensor<4x8xf32>)
func.func @chain(%x: tensor<4x8xf32>, %y: tensor<8x8xf32>, %bias: tensor<8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %product = linalg.matmul ins(%x, %y : tensor<4x8xf32>, tensor<8x8xf32>) outs(%start : tensor<4x8xf32>) -> tensor<4x8xf32>
  %sum = linalg.generic {indexing_maps = [#row, #column, #row], iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<4x8xf32>, tensor<8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %relu = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.maximumf %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %relu : tensor<4x8xf32>
}

// -----

// Not in place: the function needs scratch memory, the operand has other
// readers or another layout, or the result is a part of a larger tensor.
#row = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @others
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<8x8xf32>
// CHECK: linalg.generic {{.*}}math_exp
// CHECK-SAME: outs(%[[EMPTY]] :
// CHECK: linalg.generic {{.*}}is_read_again
// CHECK-SAME: outs(%[[EMPTY]] :
// CHECK: linalg.generic {{.*}}is_transposed
// CHECK-SAME: outs(%[[EMPTY]] :
// CHECK: linalg.generic {{.*}}is_part
// CHECK-SAME: outs(%[[EMPTY]] :
func.func @others(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%start : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"], library_call = "math_exp"}
      ins(%a : tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.exp %in : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %n = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"], library_call = "is_read_again"}
      ins(%e : tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.negf %in : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %t = linalg.generic {indexing_maps = [#transposed, #row], iterator_types = ["parallel", "parallel"], library_call = "is_transposed"}
      ins(%n : tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.negf %in : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %b = linalg.matmul ins(%x, %t : tensor<8x8xf32>, tensor<8x8xf32>) outs(%start : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"], library_call = "is_part"}
      ins(%b : tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.negf %in : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %whole = tensor.concat dim(0) %p, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  return %e, %t, %whole : tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x8xf32>
}
