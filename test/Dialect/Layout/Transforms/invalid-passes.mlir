// Check errors in the options and the input of passes.
// RUN: layout-opt %s -split-input-file -verify-diagnostics -layout-materialize
// RUN: not layout-opt %s -layout-solve 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not layout-opt %s -pass-pipeline='builtin.module(layout-solve{target=unit})' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not layout-opt %s -pass-pipeline='builtin.module(layout-print-cost{target=#layout.cpu<lanes=16> output=/no/such/dir/x})' 2>&1 | FileCheck %s --check-prefix=OUTPUT

// TARGET: error: layouts cannot be assigned without a target: put 'layout.target = #layout.cpu<lanes = 16>' on the module
// OPTION: error: the option 'target' is "unit": it must be an attribute such as #layout.cpu<lanes = 16>
// OUTPUT: error: the option 'output':

func.func @too_few(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  // expected-error @below {{'layout.operand_layouts' must be an array with one layout for each of the 1 tensors}}
  %a = math.absf %x {layout.operand_layouts = []} : tensor<6x8xf32>
  return %a : tensor<6x8xf32>
}

// -----

func.func @no_layout(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  // expected-error @below {{entry 0 of 'layout.result_layouts' is 4 : i64: it must be a layout, or 'unit'}}
  %a = math.absf %x {layout.result_layouts = [4]} : tensor<6x8xf32>
  return %a : tensor<6x8xf32>
}

// -----

func.func @no_tensor(%x: f32) -> f32 {
  // expected-error @below {{but the value is not a ranked tensor: write 'unit'}}
  %a = math.absf %x {layout.result_layouts = [#layout.map<(i) -> buffer(i)>]} : f32
  return %a : f32
}

// -----

func.func @wrong_rank(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  // expected-error @below {{entry 0 of 'layout.result_layouts': layout}}
  %a = math.absf %x {layout.result_layouts = [#layout.map<(i) -> buffer(i)>]} : tensor<6x8xf32>
  return %a : tensor<6x8xf32>
}

// -----

#parts = #layout.partial<#layout.mesh<[x = 2], [[], []]>, sum, [x]>
func.func @parts_of_a_constant() -> tensor<6x8xf32> {
  // expected-error @below {{'arith.constant' op is stated to hold partial sums, but has the sums (P4): state the #layout.mesh, or create partial sums with layout.storage_view}}
  %a = arith.constant {layout.result_layouts = [#parts]} dense<1.0> : tensor<6x8xf32>
  return %a : tensor<6x8xf32>
}
