// RUN: layout-opt %s -split-input-file --layout-to-npu | FileCheck %s
// Check chips with one core, with few bytes, and with more cores than columns.

// A scalar is stored on one core, and its result along any axis.
// CHECK-LABEL: func.func @numbers
// CHECK: npu.copy %{{.*}} to %{{.*}} broadcast : memref<1xf16, #npu.memory<system>>
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 1, bytes_per_npu = 2048, eu_bytes = 32>, launch_cost = 256, flops_per_byte = 8>} {
func.func @numbers(%x: tensor<3x1xf16>) -> tensor<f16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<f16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<f16>) -> tensor<f16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<3x1xf16>) outs(%f : tensor<f16>) {
    ^bb0(%a: f16, %o: f16):
      %b = arith.addf %a, %o : f16
      linalg.yield %b : f16
  } -> tensor<f16>
  %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%s, %s : tensor<f16>, tensor<f16>) outs(%e : tensor<f16>) {
    ^bb0(%a: f16, %b: f16, %o: f16):
      %c = arith.addf %a, %b : f16
      linalg.yield %c : f16
  } -> tensor<f16>
  return %r : tensor<f16>
}
}

// -----

// The layout of a small tensor is not valid for a larger one.
// CHECK-LABEL: func.func @small
// CHECK: linalg.matmul
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 1, bytes_per_npu = 256, eu_bytes = 8>, launch_cost = 1, flops_per_byte = 8>} {
func.func @small(%x: tensor<16x6xf32>, %w: tensor<6x9xf32>, %b: tensor<9xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x9xf32>) -> tensor<16x9xf32>
  %m = linalg.matmul ins(%x, %w : tensor<16x6xf32>, tensor<6x9xf32>) outs(%f : tensor<16x9xf32>) -> tensor<16x9xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<16x9xf32>, tensor<9xf32>) outs(%e : tensor<16x9xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %d = arith.subf %a, %c : f32
      linalg.yield %d : f32
  } -> tensor<16x9xf32>
  %g = tensor.empty() : tensor<16xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<16x9xf32>) outs(%h : tensor<16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %d = arith.addf %a, %o : f32
      linalg.yield %d : f32
  } -> tensor<16xf32>
  return %s : tensor<16xf32>
}
}

// -----

// A result has the layout of its init.
// CHECK-LABEL: func.func @turned
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<6x33xf32, {{.*}}) outs(%{{.*}} : memref<33x6xf32,
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[IN]]
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 25, bytes_per_npu = 1024, eu_bytes = 8>, launch_cost = 1, flops_per_byte = 8>} {
func.func @turned(%x: tensor<6x9xf32>, %w: tensor<9x33xf32>) -> tensor<33x14xf32> {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<6x33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x33xf32>) -> tensor<6x33xf32>
  %m = linalg.matmul ins(%x, %w : tensor<6x9xf32>, tensor<9x33xf32>) outs(%f : tensor<6x33xf32>) -> tensor<6x33xf32>
  %g = tensor.empty() : tensor<33x6xf32>
  %t = linalg.transpose ins(%m : tensor<6x33xf32>) outs(%g : tensor<33x6xf32>) permutation = [1, 0]
  %p = tensor.pad %t low[0, 2] high[0, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %two : f32
  } : tensor<33x6xf32> to tensor<33x8xf32>
  %r = tensor.concat dim(1) %p, %t : (tensor<33x8xf32>, tensor<33x6xf32>) -> tensor<33x14xf32>
  return %r : tensor<33x14xf32>
}
}
