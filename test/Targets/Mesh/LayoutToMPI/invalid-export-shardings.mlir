// Check the errors for layouts that shard annotations cannot express.
// RUN: layout-opt %s --layout-mesh-export-shardings --split-input-file --verify-diagnostics

#local = #layout.mesh<[x = 2], [[x], []], local = #layout.map<(i, j) -> buffer(j, i)>>
// expected-error @below {{has a layout in the memory of a device, which 'shard' cannot describe: use a device with 'lanes = 1', which has none}}
func.func @local(%a: tensor<4x4xf32, #local>) {
  return
}

// -----

#blocked = #layout.map<(i, j) -> buffer(j, i)>
// expected-error @below {{has a distribution that no #layout.mesh describes, so 'shard' cannot describe it either}}
func.func @no_mesh(%a: tensor<4x4xf32, #blocked>) {
  return
}

// -----

#cyclic = #layout.map<(i, j) -> mesh(x = i mod 2, offset = [i floordiv 2, j])>
// expected-error @below {{has a distribution that no #layout.mesh describes}}
func.func @cyclic(%a: tensor<4x4xf32, #cyclic>) {
  return
}

// -----

#two = #layout.mesh<[x = 2], [[x], []]>
#four = #layout.mesh<[x = 4], [[x], []]>
// expected-error @below {{is on a different mesh than the values before: the program must have one 'shard.grid'}}
func.func @two(%a: tensor<4x4xf32, #two>, %b: tensor<4x4xf32, #four>) {
  return
}
