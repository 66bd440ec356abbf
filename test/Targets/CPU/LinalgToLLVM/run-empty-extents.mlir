// RUN: layout-opt %s -layout-linalg-to-llvm=parallel-loops=false \
// RUN:   | mlir-runner-22 -O3 -e main --entry-point-result=void \
// RUN:     --shared-libs=%mlir_lib_dir/libmlir_runner_utils%shlibext,%mlir_lib_dir/libmlir_c_runner_utils%shlibext \
// RUN:   | FileCheck %s

// Check that a reduction over no elements gives its initial value, and that a
// result may have no elements.
func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}

func.func @nothing_to_add(%a: tensor<2x0xf32>, %b: tensor<0x9xf32>) -> tensor<2x9xf32> {
  %start = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<2x9xf32>
  %f = linalg.fill ins(%start : f32) outs(%e : tensor<2x9xf32>) -> tensor<2x9xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2x0xf32>, tensor<0x9xf32>) outs(%f : tensor<2x9xf32>) -> tensor<2x9xf32>
  return %r : tensor<2x9xf32>
}

func.func @no_columns(%a: tensor<2x4xf32>, %b: tensor<4x0xf32>) -> tensor<2x0xf32> {
  %start = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<2x0xf32>
  %f = linalg.fill ins(%start : f32) outs(%e : tensor<2x0xf32>) -> tensor<2x0xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2x4xf32>, tensor<4x0xf32>) outs(%f : tensor<2x0xf32>) -> tensor<2x0xf32>
  return %r : tensor<2x0xf32>
}

func.func @main() {
  %a = tensor.empty() : tensor<2x0xf32>
  %b = tensor.empty() : tensor<0x9xf32>
  %r = call @nothing_to_add(%a, %b) : (tensor<2x0xf32>, tensor<0x9xf32>) -> tensor<2x9xf32>
  %u = tensor.cast %r : tensor<2x9xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  %c = tensor.empty() : tensor<2x4xf32>
  %d = tensor.empty() : tensor<4x0xf32>
  %s = call @no_columns(%c, %d) : (tensor<2x4xf32>, tensor<4x0xf32>) -> tensor<2x0xf32>
  %v = tensor.cast %s : tensor<2x0xf32> to tensor<*xf32>
  call @printMemrefF32(%v) : (tensor<*xf32>) -> ()
  return
}

// CHECK: sizes = [2, 9]
// CHECK-NEXT: {{\[\[}}1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]
// CHECK-NEXT: [1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]]
// CHECK: sizes = [2, 0]
