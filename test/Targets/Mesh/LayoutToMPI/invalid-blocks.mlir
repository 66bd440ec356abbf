// RUN: layout-opt %s --split-input-file --verify-diagnostics --convert-layout-to-mpi
// Check that ops that cannot run on blocks are errors with the rule and a
// remedy.

#rows = #layout.mesh<[x = 4], [[x], []]>
#two = #layout.mesh<[x = 2], [[x], []]>
func.func @two_meshes(%a: tensor<8x4xf32, #rows>, %b: tensor<8x4xf32, #two>, %c: tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows> {
  // expected-error@below {{'linalg.generic' op does not run on blocks: the function has tensors on 4 and on 2 devices: state one mesh}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<8x4xf32, #rows>, tensor<8x4xf32, #two>) outs(%c : tensor<8x4xf32, #rows>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    linalg.yield %y : f32
  } -> tensor<8x4xf32, #rows>
  return %0 : tensor<8x4xf32, #rows>
}

// -----

// The table of one mesh has no entry for devices of another.
#rows = #layout.mesh<[x = 2], [[x], []]>
#four = #layout.mesh<[x = 4], [[x], []]>
func.func @meshes_of_two_ops(%a: tensor<5x4xf32, #rows>, %b: tensor<10x4xf32, #four>) -> (tensor<5x4xf32, #rows>, tensor<10x4xf32, #four>) {
  %0 = arith.addf %a, %a : tensor<5x4xf32, #rows>
  // expected-error@below {{'arith.addf' op does not run on blocks: the function has tensors on 2 and on 4 devices: state one mesh}}
  %1 = arith.addf %b, %b : tensor<10x4xf32, #four>
  return %0, %1 : tensor<5x4xf32, #rows>, tensor<10x4xf32, #four>
}

// -----

#rows = #layout.mesh<[x = 4], [[x], []]>
func.func @body(%a: tensor<8x4xf32, #rows>, %c: tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows> {
  %i = arith.constant 0 : index
  // expected-error@below {{its body reads a tensor at arbitrary indices, but devices have only blocks or partial sums of it: convert it to a #layout.mesh that splits nothing first}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%c : tensor<8x4xf32, #rows>) {
  ^bb0(%z: f32):
    %v = tensor.extract %a[%i, %i] : tensor<8x4xf32, #rows>
    linalg.yield %v : f32
  } -> tensor<8x4xf32, #rows>
  return %0 : tensor<8x4xf32, #rows>
}

// -----

#map = #layout.map<(i) -> mesh(x = i mod 2, offset = i floordiv 2)>
func.func @map(%a: tensor<8xf32, #map>) -> tensor<8xf32, #map> {
  // expected-error@below {{has its mesh in a map: ops compute with blocks of #layout.mesh}}
  %0 = arith.addf %a, %a : tensor<8xf32, #map>
  return %0 : tensor<8xf32, #map>
}

// -----

#columns = #layout.mesh<[x = 4], [[], [x]]>
func.func @dynamic(%a: tensor<?x8xf32, #columns>) -> tensor<?x8xf32, #columns> {
  // expected-error@below {{has blocks of dynamic size, because dim 0 is dynamic: make it static}}
  %0 = arith.addf %a, %a : tensor<?x8xf32, #columns>
  return %0 : tensor<?x8xf32, #columns>
}

// -----

#images = #layout.mesh<[x = 2], [[], [], [x], []]>
#all = #layout.mesh<[x = 2], [[], [], [], []]>
func.func @window(%a: tensor<1x3x8x8xf32, #images>, %k: tensor<4x3x3x3xf32, #all>, %c: tensor<1x4x6x6xf32, #all>) -> tensor<1x4x6x6xf32, #all> {
  // expected-error@below {{'linalg.conv_2d_nchw_fchw' op has operand 0 split over axis 'x' of the mesh along a dim that is not indexed by a single loop; convert it with layout.convert}}
  %0 = linalg.conv_2d_nchw_fchw ins(%a, %k : tensor<1x3x8x8xf32, #images>, tensor<4x3x3x3xf32, #all>) outs(%c : tensor<1x4x6x6xf32, #all>) -> tensor<1x4x6x6xf32, #all>
  return %0 : tensor<1x4x6x6xf32, #all>
}

// -----

#images = #layout.mesh<[x = 2], [[], [], [x], []]>
#all = #layout.mesh<[x = 2], [[], [], [], []]>
func.func @rows_of_images(%a: tensor<1x3x8x8xf32, #all>, %k: tensor<4x3x3x3xf32, #all>, %c: tensor<1x4x6x6xf32, #images>) -> tensor<1x4x6x6xf32, #images> {
  // expected-error@below {{needs one split of its loops along axis 'x' of the mesh, found different ones in operand 2 and operand 0; convert one of them with layout.convert}}
  %0 = linalg.conv_2d_nchw_fchw ins(%a, %k : tensor<1x3x8x8xf32, #all>, tensor<4x3x3x3xf32, #all>) outs(%c : tensor<1x4x6x6xf32, #images>) -> tensor<1x4x6x6xf32, #images>
  return %0 : tensor<1x4x6x6xf32, #images>
}

// -----

#rows = #layout.mesh<[x = 4], [[x], []]>
#all = #layout.mesh<[x = 4], [[], []]>
func.func @other_indices(%a: tensor<8x4xf32, #rows>, %b: tensor<4x3xf32, #all>, %c: tensor<8x3xf32, #all>) -> tensor<8x3xf32, #all> {
  // expected-error@below {{needs one split of its loops along axis 'x' of the mesh, found different ones in operand 0 and operand 2; convert one of them with layout.convert}}
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32, #rows>, tensor<4x3xf32, #all>) outs(%c : tensor<8x3xf32, #all>) -> tensor<8x3xf32, #all>
  return %0 : tensor<8x3xf32, #all>
}

// -----

#columns = #layout.mesh<[x = 4], [[], [x]]>
func.func @softmax(%a: tensor<8x4xf32, #columns>, %c: tensor<8x4xf32, #columns>) -> tensor<8x4xf32, #columns> {
  // expected-error@below {{'linalg.softmax' op needs all indices of a dim of operand 0 on a device, which is split along axis 'x' of the mesh; convert it with layout.convert}}
  %0 = linalg.softmax dimension(1) ins(%a : tensor<8x4xf32, #columns>) outs(%c : tensor<8x4xf32, #columns>) -> tensor<8x4xf32, #columns>
  return %0 : tensor<8x4xf32, #columns>
}

// -----

#columns = #layout.mesh<[x = 4], [[], [x]]>
#rows = #layout.mesh<[x = 4], [[x], []]>
#all = #layout.mesh<[x = 4], [[], []]>
func.func @no_parts(%a: tensor<8x4xf32, #columns>, %b: tensor<4x3xf32, #rows>, %c: tensor<8x3xf32, #all>) -> tensor<8x3xf32, #all> {
  // expected-error@below {{splits a reduction along axis 'x' of the mesh, so result 0 has partial sums: state #layout.partial and reduce it by layout.convert (P4)}}
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32, #columns>, tensor<4x3xf32, #rows>) outs(%c : tensor<8x3xf32, #all>) -> tensor<8x3xf32, #all>
  return %0 : tensor<8x3xf32, #all>
}

// -----

#columns = #layout.mesh<[x = 4], [[], [x]]>
#rows = #layout.mesh<[x = 4], [[x], []]>
#parts = #layout.partial<#layout.mesh<[x = 4], [[], []]>, max, [x]>
func.func @other_parts(%a: tensor<8x4xf32, #columns>, %b: tensor<4x3xf32, #rows>, %c: tensor<8x3xf32, #parts>) -> tensor<8x3xf32, #parts> {
  // expected-error@below {{does not combine values by max, of which result 0 has parts (P4)}}
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32, #columns>, tensor<4x3xf32, #rows>) outs(%c : tensor<8x3xf32, #parts>) -> tensor<8x3xf32, #parts>
  return %0 : tensor<8x3xf32, #parts>
}

// -----

#parts = #layout.partial<#layout.mesh<[x = 4], [[], []]>, sum, [x]>
func.func @reads_parts(%a: tensor<8x4xf32, #parts>) -> tensor<8x4xf32, #parts> {
  // expected-error@below {{'arith.mulf' op computes with partial sums (P4): reduce them by layout.convert first}}
  %0 = arith.mulf %a, %a : tensor<8x4xf32, #parts>
  return %0 : tensor<8x4xf32, #parts>
}

// -----

#all = #layout.mesh<[x = 4], [[], []]>
#parts = #layout.partial<#layout.mesh<[x = 4], [[], []]>, sum, [x]>
func.func @adds_to_parts(%a: tensor<8x4xf32, #all>, %b: tensor<4x3xf32, #all>, %c: tensor<8x3xf32, #parts>) -> tensor<8x3xf32, #parts> {
  // expected-error@below {{has result 0 in parts along axis 'x', which does not split its reduction (P4)}}
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32, #all>, tensor<4x3xf32, #all>) outs(%c : tensor<8x3xf32, #parts>) -> tensor<8x3xf32, #parts>
  return %0 : tensor<8x3xf32, #parts>
}

// -----

#rows = #layout.mesh<[x = 4], [[x], []]>
func.func @cuts(%a: tensor<8x4xf32, #rows>) -> tensor<6x4xf32, #rows> {
  // expected-error@below {{dim 0 of operand 0, which it cuts, is split: convert it to a #layout.mesh that does not split it first}}
  %0 = tensor.extract_slice %a[2, 0] [6, 4] [1, 1] : tensor<8x4xf32, #rows> to tensor<6x4xf32, #rows>
  return %0 : tensor<6x4xf32, #rows>
}

// -----

#rows = #layout.mesh<[x = 4], [[x], []]>
#all = #layout.mesh<[x = 4], [[], []]>
func.func @other_rows(%a: tensor<8x4xf32, #rows>) -> tensor<8x2xf32, #all> {
  // expected-error@below {{dim 0 of result 0 has different indices on a device than dim 0 of operand 0: split both in the same way by layout.convert}}
  %0 = tensor.extract_slice %a[0, 1] [8, 2] [1, 1] : tensor<8x4xf32, #rows> to tensor<8x2xf32, #all>
  return %0 : tensor<8x2xf32, #all>
}

// -----

#parts = #layout.partial<#layout.mesh<[x = 4], [[], []]>, sum, [x]>
func.func @slices_parts(%a: tensor<8x4xf32, #parts>) -> tensor<8x2xf32, #parts> {
  // expected-error@below {{it has partial sums (P4): reduce them by layout.convert first}}
  %0 = tensor.extract_slice %a[0, 1] [8, 2] [1, 1] : tensor<8x4xf32, #parts> to tensor<8x2xf32, #parts>
  return %0 : tensor<8x2xf32, #parts>
}

// -----

#rows = #layout.mesh<[x = 4], [[x], []]>
#tiles = #layout.mesh<[x = 4], [[x], [], []]>
func.func @packs(%a: tensor<8x4xf32, #rows>, %b: tensor<4x4x2xf32, #tiles>) -> tensor<4x4x2xf32, #tiles> {
  // expected-error@below {{it has no lowering on a mesh: write it as an op of linalg or tensor}}
  %0 = linalg.pack %a inner_dims_pos = [0] inner_tiles = [2] into %b : tensor<8x4xf32, #rows> -> tensor<4x4x2xf32, #tiles>
  return %0 : tensor<4x4x2xf32, #tiles>
}

// -----

#columns = #layout.mesh<[x = 4], [[], [x]]>
#line = #layout.mesh<[x = 4], [[x]]>
func.func @not_first(%a: tensor<3x8xf32, #columns>) -> tensor<24xf32, #line> {
  // expected-error@below {{dim 1 of the reshape is split, but other dims of its group come before it: convert it to a #layout.mesh that does not split it}}
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<3x8xf32, #columns> into tensor<24xf32, #line>
  return %0 : tensor<24xf32, #line>
}

// -----

#rows = #layout.mesh<[x = 4], [[x], []]>
#line = #layout.mesh<[x = 4], [[x]]>
func.func @other_runs(%a: tensor<6x3xf32, #rows>) -> tensor<18xf32, #line> {
  // expected-error@below {{dim 0 of the reshape has different indices on a device than the dim that it is a part of: convert one of them first}}
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<6x3xf32, #rows> into tensor<18xf32, #line>
  return %0 : tensor<18xf32, #line>
}

// -----

#one = #layout.mesh<[x = 4], [[x]]>
#scalar = #layout.mesh<[x = 4], []>
func.func @scalar(%a: tensor<1xf32, #one>) -> tensor<f32, #scalar> {
  // expected-error@below {{a dim of size 1 is split: convert it to a #layout.mesh that does not split it first}}
  %0 = tensor.collapse_shape %a [] : tensor<1xf32, #one> into tensor<f32, #scalar>
  return %0 : tensor<f32, #scalar>
}

// -----

#rows = #layout.mesh<[x = 4], [[x], []]>
func.func @storage(%a: tensor<8x4xf32, #rows>) -> tensor<4x8xf32> {
  // expected-error@below {{storage is spread over the devices: functions must take and return the tensor itself}}
  %0 = layout.storage_view %a : tensor<8x4xf32, #rows> to tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

#line = #layout.mesh<[x = 2], [[x]]>
func.func @elements(%a: f32) -> tensor<2xf32, #line> {
  // expected-error@below {{how result 0 follows from blocks is unknown: write it as an op of linalg or tensor}}
  %0 = tensor.from_elements %a, %a : tensor<2xf32, #line>
  return %0 : tensor<2xf32, #line>
}

// -----

#all = #layout.mesh<[x = 2], [[]]>
func.func @body_of_its_own(%a: tensor<8xf32, #all>) -> tensor<8xf32, #all> {
  // expected-error@below {{its body has a tensor on a different mesh: write it as an op of linalg or tensor}}
  %0 = scf.forall (%i) in (2) shared_outs(%o = %a) -> (tensor<8xf32, #all>) {
    scf.forall.in_parallel {
    }
  }
  return %0 : tensor<8xf32, #all>
}

// -----

#line = #layout.mesh<[x = 2], [[x]]>
func.func @reads(%a: tensor<2xf32, #line>, %i: index) -> f32 {
  // expected-error@below {{it reads operand 0 at arbitrary indices, but devices have only blocks or partial sums of it: convert it to a #layout.mesh that splits nothing first}}
  %0 = tensor.extract %a[%i] : tensor<2xf32, #line>
  return %0 : f32
}

// -----

#line = #layout.mesh<[x = 2], [[x]]>
func.func @to_no_mesh(%a: tensor<2xf32, #line>) -> tensor<2xf32> {
  // expected-error@below {{its result is not on a mesh, so all devices need all of it: convert to a #layout.mesh that splits nothing first}}
  %0 = layout.convert %a : tensor<2xf32, #line> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

#parts = #layout.partial<#layout.mesh<[x = 2], [[]]>, sum, [x]>
func.func @parts_to_no_mesh(%a: tensor<2xf32, #parts>) -> tensor<2xf32> {
  // expected-error@below {{it has partial sums (P4), but its source or its result is not on a mesh: convert between two #layout.mesh}}
  %0 = layout.convert %a : tensor<2xf32, #parts> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

#halves = #layout.mesh<[x = 2], [[x]]>
func.func @switches(%flag: i32, %a: tensor<6xf32, #halves>, %b: tensor<6xf32, #halves>) -> tensor<6xf32, #halves> {
  // expected-error@below {{it passes a tensor on a mesh: branch with 'cf.cond_br'}}
  cf.switch %flag : i32, [
    default: ^end(%a : tensor<6xf32, #halves>),
    1: ^end(%b : tensor<6xf32, #halves>)
  ]
^end(%x: tensor<6xf32, #halves>):
  return %x : tensor<6xf32, #halves>
}

// -----

// With a NaN init, the partial result of a rank may be NaN.

#columns = #layout.mesh<[x = 4], [[], [x]]>
#parts = #layout.partial<#layout.mesh<[x = 4], [[]]>, max, [x]>
func.func @from_no_number(%a: tensor<8x4xf32, #columns>) -> tensor<8xf32, #parts> {
  %nan = arith.constant 0x7FC00000 : f32
  %e = tensor.empty() : tensor<8xf32, #parts>
  %i = linalg.fill ins(%nan : f32) outs(%e : tensor<8xf32, #parts>) -> tensor<8xf32, #parts>
  // expected-error@below {{does not combine values by max, of which result 0 has parts (P4)}}
  %r = linalg.reduce { arith.maxnumf } ins(%a : tensor<8x4xf32, #columns>) outs(%i : tensor<8xf32, #parts>) dimensions = [1]
  return %r : tensor<8xf32, #parts>
}

// -----

// Blocks with halos are only created and read by conversions.
#halo = #layout.mesh<[x = 4], [[x], []], halos = [[1, 1], [0, 0]]>
func.func @halo(%a: tensor<8x4xf32, #halo>) -> tensor<8x4xf32, #halo> {
  // expected-error@below {{'math.exp' op does not run on blocks: tensor<8x4xf32, #layout.mesh<[x = 4], [[x], []], halos = [[1, 1], [0, 0]]>> has a halo, which ops do not compute with: convert it to the layout without 'halos' by layout.convert}}
  %0 = math.exp %a : tensor<8x4xf32, #halo>
  return %0 : tensor<8x4xf32, #halo>
}

// -----

#halo = #layout.mesh<[x = 4], [[x], []], halos = [[1, 1], [0, 0]]>
func.func @halo_of_constant() -> tensor<8x4xf32, #halo> {
  // expected-error@below {{has a halo, which ops do not compute with}}
  %0 = arith.constant dense<1.0> : tensor<8x4xf32, #halo>
  return %0 : tensor<8x4xf32, #halo>
}

// -----

#halo = #layout.mesh<[x = 4], [[x], []], halos = [[1, 1], [0, 0]]>
func.func @halo_of_plain(%a: tensor<8x4xf32>) -> tensor<8x4xf32, #halo> {
  // expected-error@below {{has a halo, which ops do not compute with}}
  %0 = layout.convert %a : tensor<8x4xf32> to tensor<8x4xf32, #halo>
  return %0 : tensor<8x4xf32, #halo>
}
