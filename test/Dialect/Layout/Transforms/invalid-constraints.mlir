// Check that contradictory stated layouts are errors at one side with a note at
// the other, in both passes that read such attributes.
//
// RUN: layout-opt %s -split-input-file -verify-diagnostics -layout-materialize
// RUN: layout-opt %s -split-input-file -verify-diagnostics --layout-solve='target={#layout.cpu<lanes = 16>}'

#t = #layout.map<(i, j) -> buffer(j, i)>
#b = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
func.func @loop(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{operand 3 of 'scf.for' is here}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x8xf32> {
    %p = math.exp %s : tensor<4x8xf32>
    // expected-error @below {{operand 0 of 'scf.yield' is stated to be stored as #layout.map<(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)>, and operand 3 of 'scf.for', which control flow makes the same tensor, as #layout.map<(d0, d1) -> buffer(d1, d0)>: state the same layout for both, or convert between them with layout.convert}}
    scf.yield {layout.operand_layouts = [#b]} %p : tensor<4x8xf32>
  } {layout.operand_layouts = [unit, unit, unit, #t], layout.result_layouts = [#t], layout.argument_layouts = [[unit, #t]]}
  return %r : tensor<4x8xf32>
}

// -----

#t = #layout.map<(i, j) -> buffer(j, i)>
#b = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
// expected-error @below {{argument 0 of function 'callee' is stated to be stored as #layout.map<(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)>, and operand 0 of 'func.call'}}
func.func private @callee(%x: tensor<4x8xf32>) attributes {layout.argument_layouts = [[#b]]} {
  return
}
func.func @caller(%x: tensor<4x8xf32>) {
  // expected-note @below {{operand 0 of 'func.call' is here}}
  call @callee(%x) {layout.operand_layouts = [#t]} : (tensor<4x8xf32>) -> ()
  return
}

// -----

#t = #layout.map<(i, j) -> buffer(j, i)>
#b = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
func.func @branches(%c: i1, %x: tensor<4x8xf32>) {
  // expected-note @below {{operand 1 of 'cf.cond_br' is here}}
  // expected-error @below {{operand 2 of 'cf.cond_br' is stated to be stored as}}
  cf.cond_br %c, ^next(%x : tensor<4x8xf32>), ^next(%x : tensor<4x8xf32>) {layout.operand_layouts = [unit, #t, #b]}
^next(%y: tensor<4x8xf32>):
  return
}

// -----

#t = #layout.map<(i, j) -> buffer(j, i)>
// expected-error @below {{argument 0 of function 'public' is stated to be stored as #layout.map<(d0, d1) -> buffer(d1, d0)>, but must stay row-major}}
// expected-note @below {{function 'public' is public, so that its callers are unknown: make it private, or mark it 'layout.flexible_abi'}}
func.func @public(%x: tensor<4x8xf32>) attributes {layout.argument_layouts = [[#t]]} {
  return
}

// -----

#t = #layout.map<(i, j) -> buffer(j, i)>
// expected-note @below {{function 'result' is public}}
func.func @result(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{operand 0 of 'func.return' is stated to be stored as #layout.map<(d0, d1) -> buffer(d1, d0)>, but must stay row-major}}
  return {layout.operand_layouts = [#t]} %x : tensor<4x8xf32>
}

// -----

#t = #layout.map<(i, j) -> buffer(j, i)>
// expected-note @below {{function 'external' is only declared: its definition relies on its types}}
func.func private @external(tensor<4x8xf32>)
func.func @calls(%x: tensor<4x8xf32>) {
  // expected-error @below {{operand 0 of 'func.call' is stated to be stored as}}
  call @external(%x) {layout.operand_layouts = [#t]} : (tensor<4x8xf32>) -> ()
  return
}

// -----

#t = #layout.map<(i, j) -> buffer(j, i)>
// expected-error @below {{argument 0 of function 'taken' is stated to be stored as}}
func.func private @taken(%x: tensor<4x8xf32>) attributes {layout.argument_layouts = [[#t]]} {
  return
}
func.func @takes() -> ((tensor<4x8xf32>) -> ()) {
  // expected-note @below {{function 'taken' is used here by 'func.constant', which relies on its types: call it instead}}
  %f = constant @taken : (tensor<4x8xf32>) -> ()
  return %f : (tensor<4x8xf32>) -> ()
}

// -----

#t = #layout.map<(i, j) -> buffer(j, i)>
#b = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
func.func @type_and_attribute(%x: tensor<4x8xf32, #t>) {
  // expected-error @below {{entry 0 of 'layout.result_layouts': states #layout.map<(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)> for a tensor whose type states #layout.map<(d0, d1) -> buffer(d1, d0)>: remove one of them, or convert between them with layout.convert}}
  %r = math.exp %x {layout.result_layouts = [#b]} : tensor<4x8xf32, #t>
  return
}

// -----

// The result of an op that overwrites an operand has the operand's layout.
#t = #layout.map<(i, j) -> buffer(j, i)>
#m = affine_map<(i, j) -> (i, j)>
func.func @overwrites(%x: tensor<4x8xf32>, %e: tensor<4x8xf32>) {
  // expected-error @below {{'linalg.generic' op cannot have the layouts that its attributes state: state the same one for all tensors that must have identical storage}}
  // expected-note @below {{the verifier rejects the resulting types: 'linalg.generic' op expected type of operand #1 ('tensor<4x8xf32>') to match type of corresponding result}}
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) attrs = {layout.result_layouts = [#t]} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  return
}

// -----

#t = #layout.map<(i, j) -> buffer(j, i)>
func.func @elementwise(%x: tensor<4x8xf32>) {
  // expected-error @below {{'math.exp' op cannot have the layouts that its attributes state}}
  // expected-note @below {{'math.exp' op requires the same encoding for all operands and results}}
  %r = math.exp %x {layout.result_layouts = [#t]} : tensor<4x8xf32>
  return
}
