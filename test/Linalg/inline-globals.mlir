// Check that globals without stores become constants and are packed like
// them; the others keep their types, with a remark.
//
// RUN: layout-opt %s --layout-prepare-inline-globals | FileCheck %s
// RUN: layout-opt %s --mlir-print-local-scope --layout-assign='target={#layout.cpu<lanes = 16>}' --remarks-filter=layout.* --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ASSIGN

// CHECK-NOT: @weights
// CHECK-NOT: @scales
// CHECK: ml_program.global public @shared
// CHECK: ml_program.global private mutable @state
// CHECK: memref.global "private" @buffer
ml_program.global private @weights(dense<0.25> : tensor<32x32x3x3xf32>) : tensor<32x32x3x3xf32>
ml_program.global public @shared(dense<2.0> : tensor<32xf32>) : tensor<32xf32>
ml_program.global private mutable @state(dense<1.0> : tensor<1x32x28x28xf32>) : tensor<1x32x28x28xf32>
memref.global "private" constant @scales : memref<32xf32> = dense<3.0>
memref.global "private" @buffer : memref<32xf32> = dense<4.0>

// ASSIGN-DAG: remark: {{.*}}ml_program.global_load has no layout rule for these operands
// ASSIGN-DAG: remark: {{.*}}ml_program.global_store has no layout rule for these operands
// ASSIGN-DAG: remark: {{.*}}bufferization.to_tensor has no layout rule for these operands
// CHECK-LABEL: func @main
// CHECK-DAG: arith.constant dense<2.500000e-01> : tensor<32x32x3x3xf32>
// CHECK-DAG: arith.constant dense<2.000000e+00> : tensor<32xf32>
// CHECK-DAG: arith.constant dense<3.000000e+00> : tensor<32xf32>
// CHECK-DAG: ml_program.global_load @state
// CHECK-DAG: memref.get_global @buffer
func.func @main(%x: tensor<1x32x30x30xf32>) -> (tensor<1x32x28x28xf32>, tensor<32xf32>) {
  %w = ml_program.global_load_const @weights : tensor<32x32x3x3xf32>
  %a = ml_program.global_load @shared : tensor<32xf32>
  %s0 = memref.get_global @scales : memref<32xf32>
  %s = bufferization.to_tensor %s0 : memref<32xf32> to tensor<32xf32>
  %b0 = memref.get_global @buffer : memref<32xf32>
  %b = bufferization.to_tensor %b0 restrict : memref<32xf32> to tensor<32xf32>
  %state = ml_program.global_load @state : tensor<1x32x28x28xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x32x30x30xf32>, tensor<32x32x3x3xf32>)
                                outs(%state : tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  ml_program.global_store @state = %c : tensor<1x32x28x28xf32>
  %0 = arith.addf %a, %s : tensor<32xf32>
  %1 = arith.addf %0, %b : tensor<32xf32>
  return %c, %1 : tensor<1x32x28x28xf32>, tensor<32xf32>
}

// ASSIGN-LABEL: func @packed
// ASSIGN: arith.constant {{.*}} : tensor<32x32x3x3xf32, #layout.map<
func.func @packed(%x: tensor<1x32x30x30xf32>) -> tensor<1x32x28x28xf32> attributes {layout.flexible_abi} {
  %zero = arith.constant 0.0 : f32
  %w = ml_program.global_load_const @weights : tensor<32x32x3x3xf32>
  %e = tensor.empty() : tensor<1x32x28x28xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x32x30x30xf32>, tensor<32x32x3x3xf32>)
                                outs(%f : tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  return %c : tensor<1x32x28x28xf32>
}
