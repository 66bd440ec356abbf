// RUN: layout-opt %s -layout-print-cost='target={#layout.cpu<lanes = 16>}' -o /dev/null | FileCheck %s
// Check that a tensor without elements may have positions, all of them padding.

#aligned = #layout.padded<#layout.map<(a, b) -> buffer(offset = b + a * 4 extent 12)>, zero>

// CHECK: conversions: 1, 0 bytes read, 48 bytes written
// CHECK: no elements; fill storage
func.func @f(%x: tensor<3x0xf32>) -> tensor<3x0xf32, #aligned> {
  %0 = layout.convert %x : tensor<3x0xf32> to tensor<3x0xf32, #aligned>
  return %0 : tensor<3x0xf32, #aligned>
}
