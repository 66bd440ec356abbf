// Check that Shardy annotations become layouts on a mesh.
// RUN: layout-opt %s --allow-unregistered-dialect --layout-mesh-import-shardy --split-input-file --verify-diagnostics | FileCheck %s
// RUN: layout-opt %s --allow-unregistered-dialect --layout-mesh-import-shardy --split-input-file --verify-diagnostics \
// RUN:   | layout-opt --split-input-file '--layout-assign=target={#layout.mesh_target<axes = [x = 2, y = 4], device = #layout.cpu<lanes = 4>>}' | FileCheck %s --check-prefix=DECIDED

// CHECK-NOT: sdy
// CHECK-DAG: #[[A:.*]] = #layout.mesh<[x = 2, y = 4], {{\[\[}}x], [y]]>
// CHECK-DAG: #[[R:.*]] = #layout.mesh<[x = 2, y = 4], {{\[\[}}y, x], []]>
// CHECK: func.func @main(%{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-SAME: layout.argument_layouts = {{\[\[}}#[[A]], unit]], layout.flexible_abi
// CHECK: return {layout.operand_layouts = [#[[R]]]}
// DECIDED-DAG: #[[A:.*]] = #layout.mesh<[x = 2, y = 4], {{\[\[}}x], [y]]>
// DECIDED-DAG: #[[R:.*]] = #layout.mesh<[x = 2, y = 4], {{\[\[}}y, x], []]>
// DECIDED: func.func @main(%{{.*}}: tensor<8x8xf32, #[[A]]>, %{{.*}}: tensor<8x8xf32{{.*}}>) -> tensor<8x8xf32, #[[R]]>
"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=2, "y"=4]>}> : () -> ()
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {"y"}p1], replicated={}>}, %b: tensor<8x8xf32>)
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y", "x"}, {?}]>}) {
  %0 = arith.addf %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// expected-error @below {{'sdy.sharding' is #sdy.sharding<@n, [{"x"}]>: the module has no 'sdy.mesh' of that name}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@n, [{"x"}]>}) {
  return
}

// -----

"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
// expected-error @below {{a part of an axis is not supported by #layout.mesh: make it two axes of the mesh}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x":(1)2}]>}) {
  return
}

// -----

"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
// expected-error @below {{expected axes of the mesh, found another name}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) {
  return
}

// -----

"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
// expected-error @below {{of 2 dims, on a value of type 'tensor<8xf32>'}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  return
}

// -----

"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
// expected-error @below {{axis 'x' splits more than once: a device has one coordinate along it}}
func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"x"}]>}) {
  return
}

// -----

"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
// expected-error @below {{only axes with copies may follow the dims}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{}], unreduced={"x"}>}) {
  return
}

// -----

// expected-error @below {{'sdy.mesh' op has an unsupported mesh: #sdy.mesh<["x"=4], device_ids=[3, 2, 1, 0]>; write a name and}}
"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4], device_ids=[3, 2, 1, 0]>}> : () -> ()

// -----

"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'sdy.sharding_constraint' op states a sharding of a computed value: only those of arguments and results of functions are imported; state others as 'layout.result_layouts'}}
  %0 = "sdy.sharding_constraint"(%a) <{sharding = #sdy.sharding<@m, [{"x"}]>}> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
// expected-error @below {{is only declared, so that its shardings cannot be chosen as layouts here}}
func.func private @f(tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>})

// -----

#rows = #layout.mesh<[x = 4], [[x]]>
"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
// expected-error @below {{has both 'sdy.sharding' and 'layout.argument_layouts': remove one of them}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) attributes {layout.argument_layouts = [[#rows]]} {
  return
}

// -----

#rows = #layout.mesh<[x = 4], [[x]]>
"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
func.func @f(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  // expected-error @below {{has both 'sdy.sharding' and 'layout.operand_layouts': remove one of them}}
  return {layout.operand_layouts = [#rows]} %a : tensor<8xf32>
}

// -----

// expected-error @below {{'sdy.mesh' op has an unsupported mesh: #sdy.mesh<["x"=2 "y"=4]>}}
"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=2 "y"=4]>}> : () -> ()

// -----

"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=2, "y"=4]>}> : () -> ()
// expected-error @below {{expected commas in lists of axes and of dims}}
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x" "y"}]>}) {
  return
}

// -----

"sdy.mesh"() <{sym_name = "m", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
// expected-error @below {{expected commas in lists of axes and of dims}}
func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"} {}]>}) {
  return
}
