// RUN: layout-opt %s --npu-legalize-linalg | FileCheck %s
// Check that integers that f32 represents exactly become f32; one unproven
// integer leaves its function unchanged. run-integers.py and run-bytes.py run
// such programs.

#id = affine_map<(d0, d1) -> (d0, d1)>

// Weights with a sum of at most 3 * 100 for an output, and inputs of at most
// 128.
// CHECK-LABEL: func @product(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xi8>
// CHECK: %[[FLOATS:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x3xi8>)
// CHECK: arith.sitofp %{{.*}} : i8 to f32
// CHECK: %[[W:.*]] = arith.constant dense<{{.*}}[1.000000e+02, -1.000000e+00], [-1.000000e+02, 2.000000e+00], [1.000000e+02, 3.000000e+00]{{.*}}> : tensor<3x2xf32>
// CHECK: linalg.fill ins(%{{.*}} : f32)
// CHECK: linalg.generic {{.*}} ins(%[[FLOATS]], %[[W]] : tensor<4x3xf32>, tensor<3x2xf32>)
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// The words of the result are the low bits of a sum with 1.5 * 2^23.
// CHECK: arith.constant 0x4B400000 : f32
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.shli
// CHECK: arith.xori
// CHECK: arith.shrsi
// CHECK: return %{{.*}} : tensor<4x2xi32>
func.func @product(%x: tensor<4x3xi8>) -> tensor<4x2xi32> {
  %w = arith.constant dense<[[100, -1], [-100, 2], [100, 3]]> : tensor<3x2xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x2xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x2xi32>) -> tensor<4x2xi32>
  %r = linalg.matmul ins(%x, %w : tensor<4x3xi8>, tensor<3x2xi8>) outs(%f : tensor<4x2xi32>) -> tensor<4x2xi32>
  return %r : tensor<4x2xi32>
}

// An i32 argument may have any value.
// CHECK-LABEL: func @words(
// CHECK-NOT: f32
// CHECK: linalg.add ins(%{{.*}}, %{{.*}} : tensor<4x3xi32>, tensor<4x3xi32>)
// CHECK-NOT: f32
func.func @words(%x: tensor<4x3xi32>) -> tensor<4x3xi32> {
  %r = linalg.add ins(%x, %x : tensor<4x3xi32>, tensor<4x3xi32>) outs(%x : tensor<4x3xi32>) -> tensor<4x3xi32>
  return %r : tensor<4x3xi32>
}

// A sum of bytes that wraps around: s - 256 * nearest((s + 0.5) / 256).
// CHECK-LABEL: func @wraps(
// CHECK: %[[S:.*]] = arith.addf
// CHECK: arith.constant 3.906250e-03 : f32
// CHECK: arith.constant -2.560000e+02 : f32
// CHECK: return %{{.*}} : tensor<4x3xi32>
func.func @wraps(%x: tensor<4x3xi8>) -> tensor<4x3xi32> {
  %e = tensor.empty() : tensor<4x3xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x3xi8>) outs(%e : tensor<4x3xi32>) {
    ^bb0(%a: i8, %o: i32):
      %s = arith.addi %a, %a : i8
      %v = arith.extsi %s : i8 to i32
      linalg.yield %v : i32
  } -> tensor<4x3xi32>
  return %r : tensor<4x3xi32>
}

// Five i1 results in two words, and i1 arguments in bytes.
// CHECK-LABEL: func @bits(
// CHECK-SAME: %[[X:.*]]: tensor<5xi8> {npu.element = tensor<5xi1>})
// CHECK-SAME: -> (tensor<1x2xi32> {npu.element = tensor<5xi1>})
// CHECK: arith.uitofp %{{.*}} : i8 to f32
// CHECK: tensor.pad {{.*}} low[0] high[3]
// CHECK-COUNT-4: tensor.extract_slice
// CHECK: return %{{.*}} : tensor<1x2xi32>
func.func @bits(%x: tensor<5xi1>) -> tensor<5xi1> {
  %e = tensor.empty() : tensor<5xi1>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<5xi1>) outs(%e : tensor<5xi1>) {
    ^bb0(%a: i1, %o: i1):
      %true = arith.constant true
      %v = arith.xori %a, %true : i1
      linalg.yield %v : i1
  } -> tensor<5xi1>
  return %r : tensor<5xi1>
}

// Bytes that only move stay bytes.
// CHECK-LABEL: func @moves(
// CHECK-NOT: f32
// CHECK: return %{{.*}} : tensor<3x4xi8>
func.func @moves(%x: tensor<4x3xi8>) -> tensor<3x4xi8> {
  %e = tensor.empty() : tensor<3x4xi8>
  %r = linalg.transpose ins(%x : tensor<4x3xi8>) outs(%e : tensor<3x4xi8>) permutation = [1, 0]
  return %r : tensor<3x4xi8>
}
