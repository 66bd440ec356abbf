// RUN: not layout-opt %s --split-input-file 2>&1 | FileCheck %s
// Check that errors point to the column of the invalid part.

// CHECK: :[[# @LINE + 1]]:66: error: a start core must be at least 0, found -1
module attributes {test.a = #layout.npu_scatter<aligned, start = -1>} {}

// -----

// CHECK: :[[# @LINE + 1]]:56: error: the width of a channel must be at least 1, found 0
module attributes {test.a = #layout.npu_scatter<matrix 0, start = 0>} {}

// -----

// CHECK: :[[# @LINE + 1]]:64: error: a stride must be at least 0, found -2
module attributes {test.a = #layout.npu_scatter<strided [1, 2, -2, 1], start = 0>} {}

// -----

// CHECK: :[[# @LINE + 1]]:57: error: {{.*}} has 3 strides: a strided scatter has four, of N, C, H and W
module attributes {test.a = #layout.npu_scatter<strided [1, 2, 3], start = 0>} {}

// -----

// CHECK: :[[# @LINE + 1]]:76: error: {{.*}} packs weights with ic2, whose channels are compact or have strides: write compact or strided
module attributes {test.a = #layout.npu_scatter<aligned, start = 0, pack = ic2>} {}

// -----

// CHECK: :[[# @LINE + 1]]:61: error: a continuous tensor is not scattered: it must not have 'offset'
module attributes {test.a = #layout.npu_scatter<continuous, offset = 4>} {}
