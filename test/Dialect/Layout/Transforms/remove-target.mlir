// RUN: layout-opt %s --layout-remove-target | FileCheck %s

// CHECK: module attributes {test.other = 1 : i64} {
module attributes {layout.target = #layout.cpu<lanes = 16>, test.other = 1 : i64} {}
