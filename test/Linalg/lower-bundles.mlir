// Check that a decode reads each code by one shift and one mask, and that no
// bundle is left.
//
// RUN: layout-opt %s --layout-prepare-lower-bundles --canonicalize --cse | FileCheck %s

// CHECK-NOT: layout.
// CHECK-LABEL: func @decode(
// CHECK-SAME: %[[BLOCK:.*]]: tensor<72xi8>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x64xf32>)
// CHECK: %[[BYTE:.*]] = tensor.extract %[[BLOCK]]
// CHECK: %[[WORD:.*]] = arith.extui %[[BYTE]] : i8 to i32
// CHECK: %[[LOW:.*]] = arith.shrui %[[WORD]], %{{.*}} : i32
// CHECK: %[[CODE:.*]] = arith.andi %[[LOW]], %c15_i32 : i32
// CHECK: %[[VALUE:.*]] = arith.subi %[[CODE]], %c8_i32 : i32
// CHECK: %[[NUMBER:.*]] = arith.sitofp %[[VALUE]] : i32 to f32
// CHECK: %[[HALF:.*]] = arith.bitcast %{{.*}} : i16 to f16
// CHECK: %[[SCALE:.*]] = arith.extf %[[HALF]] : f16 to f32
// CHECK: %[[RESULT:.*]] = arith.mulf %[[SCALE]], %[[NUMBER]] : f32
// CHECK: linalg.yield %[[RESULT]] : f32
// CHECK-NOT: layout.
func.func @decode(%block: tensor<72xi8>) -> tensor<2x64xf32> {
  %0 = layout.assemble %block : tensor<72xi8> to tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
  %1 = layout.convert %0 : tensor<2x64xf32, #layout.bundle<"gguf.q4_0">> to tensor<2x64xf32>
  return %1 : tensor<2x64xf32>
}
