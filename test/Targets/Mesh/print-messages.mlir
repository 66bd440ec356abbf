// Check the messages of conversions over a mesh, as text and as JSON.
// RUN: split-file --leading-lines %s %t
// RUN: layout-opt %t/good.mlir --layout-print-messages -o /dev/null | FileCheck %s
// RUN: layout-opt %t/good.mlir --layout-print-messages=max-extra-bytes=40 -o /dev/null | FileCheck %s --check-prefix=LIMIT
// RUN: layout-opt %t/good.mlir --layout-print-messages=relabel -o /dev/null | FileCheck %s --check-prefix=RELABEL
// RUN: layout-opt %t/good.mlir --layout-print-messages=format=json -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: not layout-opt %t/good.mlir --layout-print-messages=max-extra-bytes=7 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not layout-opt %t/good.mlir --layout-print-messages=max-extra-bytes=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not layout-opt %t/good.mlir --layout-print-messages=output=%t/no/such 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not layout-opt %t/dynamic.mlir --layout-print-messages 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not layout-opt %t/meshes.mlir --layout-print-messages 2>&1 | FileCheck %s --check-prefix=MESHES
// RUN: not layout-opt %t/diagonal.mlir --layout-print-messages 2>&1 | FileCheck %s --check-prefix=DIAGONAL
// RUN: not layout-opt %t/boxes.mlir --layout-print-messages 2>&1 | FileCheck %s --check-prefix=BOXES
// RUN: not layout-opt %t/bits.mlir --layout-print-messages 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not layout-opt %t/many.mlir --layout-print-messages 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not layout-opt %t/more.mlir --layout-print-messages 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: not layout-opt %t/long.mlir --layout-print-messages 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: layout-opt %t/other.mlir --layout-print-messages -o /dev/null | count 0

//--- good.mlir
#rows = #layout.mesh<[x = 2], [[x], []]>
#columns = #layout.mesh<[x = 2], [[], [x]]>
#all = #layout.mesh<[x = 2], [[], []]>
#partial = #layout.partial<#all, sum, [x]>
#from1 = #layout.map<(i, j) -> mesh(x = (i floordiv 3 + 1) mod 2, offset = [i mod 3, j])>

// CHECK: conversion of 6x6xf32 at {{.*}}good.mlir":[[# @LINE + 10]]:8: 2 messages in 1 rounds on 2 devices, 72 bytes, lower bound 72, at most 72 bytes of messages on a device
// CHECK-NEXT:   stays on 0: [0:3, 0:3]
// CHECK-NEXT:   stays on 1: [3:6, 3:6]
// CHECK-NEXT:   round 0: 0 -> 1: [0:3, 3:6]
// CHECK-NEXT:   round 0: 1 -> 0: [3:6, 0:3]
// LIMIT: 4 messages in 2 rounds on 2 devices, 72 bytes, lower bound 72, at most 40 bytes of messages on a device
// JSON: [{"location":"{{.*}}good.mlir\":[[# @LINE + 4]]:8","shape":"6x6xf32","devices":2,"element_bytes":4,"reduction":"","relabeling":[],"bytes_sent":72,"bytes_bound":72,"rounds":1,"peak_extra_bytes":72,
// JSON-SAME: "messages":[{"phase":0,"round":0,"step":0,"from":0,"to":1,"boxes":[{"offsets":[0,3],"sizes":[3,3],"from_offsets":[0,3],"to_offsets":[0,0]}]},{"phase":0,"round":0,"step":1,"from":1,"to":0,
// SMALL: good.mlir:[[# @LINE + 2]]:8: error: 'layout.convert' op has no plan of messages: a device that sends and receives an element holds 8 bytes, more than 7: raise the limit
func.func @f(%a: tensor<6x6xf32, #rows>, %p: tensor<6x6xf32, #partial>) {
  %0 = layout.convert %a : tensor<6x6xf32, #rows> to tensor<6x6xf32, #columns>
// Two phases: each device reduces one half and sends it to the other device.
// CHECK: 4 messages in 2 rounds on 2 devices, 288 bytes, lower bound 288, at most 144 bytes of messages on a device
// CHECK-NEXT: stays on 0: [0:3, 0:6]
// CHECK-NEXT: stays on 1: [3:6, 0:6]
// CHECK-NEXT: round 0: 0 -> 1: sum [3:6, 0:6]
// CHECK-NEXT: round 0: 1 -> 0: sum [0:3, 0:6]
// CHECK-NEXT: round 1: 0 -> 1: [0:3, 0:6]
// CHECK-NEXT: round 1: 1 -> 0: [3:6, 0:6]
  %1 = layout.convert %p : tensor<6x6xf32, #partial> to tensor<6x6xf32, #all>
// CHECK: 2 messages in 1 rounds on 2 devices, 144 bytes
// RELABEL: conversion
// RELABEL: conversion
// RELABEL: 0 messages in 0 rounds on 2 devices, 0 bytes, lower bound 0, at most 0 bytes
// RELABEL-NEXT: numbers of the target are devices 1, 0
  %2 = layout.convert %a : tensor<6x6xf32, #rows> to tensor<6x6xf32, #from1>
  return
}
// NEGATIVE: error: the option 'max-extra-bytes' is -1: it must be at least 0
// FILE: error: the option 'output': cannot write '{{.*}}/no/such'

//--- dynamic.mlir
#rows = #layout.mesh<[x = 2], [[x], []]>
#all = #layout.mesh<[x = 2], [[], []]>
func.func @f(%a: tensor<6x?xf32, #rows>) {
  // DYNAMIC: dynamic.mlir:[[# @LINE + 1]]:8: error: 'layout.convert' op has no plan of messages: tensor<6x?xf32, {{.*}}> has dynamic sizes or elements without whole bytes: messages need static shapes and elements of whole bytes
  %0 = layout.convert %a : tensor<6x?xf32, #rows> to tensor<6x?xf32, #all>
  return
}

//--- bits.mlir
#rows = #layout.mesh<[x = 2], [[x]]>
#all = #layout.mesh<[x = 2], [[]]>
func.func @f(%a: tensor<6xi1, #rows>) {
  // BITS: error: 'layout.convert' op has no plan of messages: tensor<6xi1, {{.*}}> has dynamic sizes or elements without whole bytes
  %0 = layout.convert %a : tensor<6xi1, #rows> to tensor<6xi1, #all>
  return
}

//--- meshes.mlir
#two = #layout.mesh<[x = 2], [[x]]>
#three = #layout.mesh<[x = 3], [[x]]>
func.func @f(%a: tensor<6xf32, #two>) {
  // MESHES: meshes.mlir:[[# @LINE + 1]]:8: error: 'layout.convert' op has no plan of messages: it goes from a mesh of 2 devices to one of 3: state both layouts over the same devices
  %0 = layout.convert %a : tensor<6xf32, #two> to tensor<6xf32, #three>
  return
}

//--- diagonal.mlir
#rows = #layout.mesh<[x = 4], [[x], []]>
#diagonal = #layout.map<(i, j) -> mesh(x = (i + j) mod 4, offset = [i, j])>
func.func @f(%a: tensor<4x4xf32, #rows>) {
  // DIAGONAL: diagonal.mlir:[[# @LINE + 1]]:8: error: 'layout.convert' op has no plan of messages: the devices of tensor<4x4xf32, {{.*}}> are not a product of ranges of its dims: each coordinate of the mesh must be a digit of one dim
  %0 = layout.convert %a : tensor<4x4xf32, #rows> to tensor<4x4xf32, #diagonal>
  return
}

//--- boxes.mlir
#rows = #layout.mesh<[x = 2], [[x], []]>
#dealt = #layout.map<(i, j) -> mesh(x = j mod 2, offset = [i, j floordiv 2])>
func.func @f(%a: tensor<2x1000000xf32, #rows>) {
  // BOXES: boxes.mlir:[[# @LINE + 1]]:8: error: 'layout.convert' op has no plan of messages: it needs more than 1048576 boxes: use larger blocks
  %0 = layout.convert %a : tensor<2x1000000xf32, #rows> to tensor<2x1000000xf32, #dealt>
  return
}

//--- many.mlir
#rows = #layout.mesh<[x = 1048576], [[x]]>
#all = #layout.mesh<[x = 1048576], [[]]>
func.func @f(%a: tensor<1048576xf32, #rows>) {
  // MANY: error: 'layout.convert' op has no plan of messages: there are 1048576 devices: messages support at most 1024
  %0 = layout.convert %a : tensor<1048576xf32, #rows> to tensor<1048576xf32, #all>
  return
}

//--- more.mlir
#rows = #layout.map<(i) -> mesh(x = i, offset = 0)>
#shifted = #layout.map<(i) -> mesh(x = (i + 1) mod 2097152, offset = 0)>
func.func @f(%a: tensor<2097152xf32, #rows>) {
  // MORE: error: 'layout.convert' op has no plan of messages: there are more than 1048576 devices: messages support at most 1024
  %0 = layout.convert %a : tensor<2097152xf32, #rows> to tensor<2097152xf32, #shifted>
  return
}

//--- long.mlir
#rows = #layout.mesh<[x = 2], [[x]]>
#all = #layout.mesh<[x = 2], [[]]>
func.func @f(%a: tensor<9000000000xi8, #rows>) {
  // LONG: error: 'layout.convert' op has no plan of messages: tensor<9000000000xi8, {{.*}}> has a dim of more than 67108864 indices: split it by tensor.expand_shape
  %0 = layout.convert %a : tensor<9000000000xi8, #rows> to tensor<9000000000xi8, #all>
  return
}

//--- other.mlir
func.func @f(%a: tensor<6x6xf32>) -> tensor<6x6xf32, #layout.blocked<"AB" to "BA">> {
  %0 = layout.convert %a : tensor<6x6xf32> to tensor<6x6xf32, #layout.blocked<"AB" to "BA">>
  return %0 : tensor<6x6xf32, #layout.blocked<"AB" to "BA">>
}
