// Check that layouts stated by attributes are kept and the rest is decided
// around them; a layout that an op does not support is an error.
//
// RUN: split-file %s %t
// RUN: layout-opt %t/good.mlir -split-input-file --layout-assign='target={#layout.cpu<lanes = 16>}' | FileCheck %t/good.mlir
// RUN: layout-opt %t/bad.mlir -split-input-file -verify-diagnostics --layout-solve='target={#layout.cpu<lanes = 16>}'

//--- good.mlir
#t = #layout.map<(i, j) -> buffer(j, i)>

// Two equal ops, one of them constrained, which stays elementwise.
// CHECK: #[[BA:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-LABEL: func @one_op
// CHECK: %[[A:.*]] = linalg.generic
// CHECK: -> tensor<4x8xf32>{{$}}
// CHECK: %[[T:.*]] = layout.convert %[[A]] : tensor<4x8xf32> to tensor<4x8xf32, #[[BA]]>
// CHECK: %[[B:.*]] = math.exp %[[T]] : tensor<4x8xf32, #[[BA]]>
// CHECK: layout.convert %[[B]]
// CHECK: return
func.func @one_op(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = math.exp %x : tensor<4x8xf32>
  %b = math.exp %a {layout.operand_layouts = [#t], layout.result_layouts = [#t]} : tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// A constraint on one value of a loop applies to all values of its equivalence class.
#t = #layout.map<(i, j) -> buffer(j, i)>
// CHECK: #[[BA:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-LABEL: func @one_end
// CHECK: layout.convert
// CHECK: scf.for {{.*}} -> (tensor<4x8xf32, #[[BA]]>)
// CHECK-NOT: layout.convert
// CHECK: scf.yield
// CHECK: layout.convert
func.func @one_end(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x8xf32> {
    %p = math.exp %s : tensor<4x8xf32>
    scf.yield %p : tensor<4x8xf32>
  } {layout.result_layouts = [#t]}
  return %r : tensor<4x8xf32>
}

// -----

// A constraint on an argument of a private function applies to all calls.
#t = #layout.map<(i, j) -> buffer(j, i)>
// CHECK: #[[BA:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-LABEL: func private @callee
// CHECK-SAME: tensor<4x8xf32, #[[BA]]>
func.func private @callee(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {layout.argument_layouts = [[#t]]} {
  %r = math.exp %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
// CHECK-LABEL: func @caller
// CHECK: layout.convert
// CHECK-NEXT: call @callee
// CHECK: call @callee
// CHECK: return
func.func @caller(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = call @callee(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = call @callee(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// A constant, including a splat, is created in the stated layout.
#t = #layout.map<(i, j) -> buffer(j, i)>
// CHECK: #[[BA:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-LABEL: func @constants
// CHECK-DAG: %[[A:.*]] = arith.constant dense<{{.*}}1.0{{.*}}2.0{{.*}}> : tensor<2x2xf32, #[[BA]]>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<3.0{{.*}}> : tensor<2x2xf32, #[[BA]]>
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %[[A]] : tensor<2x2xf32, #[[BA]]>
// CHECK: arith.mulf %[[S]], %[[B]] : tensor<2x2xf32, #[[BA]]>
func.func @constants(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %a = arith.constant {layout.result_layouts = [#t]} dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant {layout.result_layouts = [#t]} dense<3.0> : tensor<2x2xf32>
  %s = arith.addf %x, %a {layout.operand_layouts = [#t, #t], layout.result_layouts = [#t]} : tensor<2x2xf32>
  %r = arith.mulf %s, %b {layout.operand_layouts = [#t, #t], layout.result_layouts = [#t]} : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

//--- bad.mlir
#b = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
func.func @pad_of_a_divided_dim(%x: tensor<3x8xf32>, %c: f32) -> tensor<3x9xf32> {
  // expected-error @below {{with the layouts that its attributes state changes dim 1, which layout (d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4) divides}}
  %0 = tensor.pad %x low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } {layout.operand_layouts = [#b], layout.result_layouts = [#b]} : tensor<3x8xf32> to tensor<3x9xf32>
  return %0 : tensor<3x9xf32>
}

// -----

#b = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
func.func @half_a_view(%x: tensor<3x8xf32>) -> tensor<24xf32> {
  // expected-error @below {{with the layouts that its attributes state is a view of 'tensor<3x8xf32, #layout.map<(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)>>', whose storage}}
  %0 = tensor.collapse_shape %x [[0, 1]] {layout.operand_layouts = [#b]} : tensor<3x8xf32> into tensor<24xf32>
  return %0 : tensor<24xf32>
}

// -----

#npu = #layout.map<(i, j) -> npu(npu = i mod 4, offset = [i floordiv 4, j])>
func.func @two_spaces(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{cannot work in two spaces: operand 0 is in 'npu' and operand 1 in 'buffer'; convert one of them with layout.convert}}
  %0 = arith.addf %x, %y {layout.operand_layouts = [#npu, unit]} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
