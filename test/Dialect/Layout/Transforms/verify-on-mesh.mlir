// RUN: layout-opt %s --layout-verify --split-input-file --verify-diagnostics
// Check that an op is rejected unless every device stores what its loops need.

#m = #layout.mesh<[x = 2, y = 2], [[], [x]]>
#n = #layout.mesh<[x = 2, y = 2], [[x], []]>
#w = #layout.mesh<[x = 2, y = 2], [[], []]>
func.func @f(%a: tensor<8x8xf32, #m>, %b: tensor<8x8xf32, #n>, %c: tensor<8x8xf32, #w>) -> tensor<8x8xf32, #w> {
  // expected-error @below {{'linalg.matmul' op splits a reduction along axis 'x' of the mesh, so result 0 has partial sums: state #layout.partial and reduce it by layout.convert (P4)}}
  %r = linalg.matmul ins(%a, %b : tensor<8x8xf32, #m>, tensor<8x8xf32, #n>) outs(%c : tensor<8x8xf32, #w>) -> tensor<8x8xf32, #w>
  return %r : tensor<8x8xf32, #w>
}

// -----

#w = #layout.mesh<[x = 2, y = 2], [[], []]>
#p = #layout.partial<#w, max, [x]>
#m = #layout.mesh<[x = 2, y = 2], [[], [x]]>
#n = #layout.mesh<[x = 2, y = 2], [[x], []]>
func.func @f(%a: tensor<8x8xf32, #m>, %b: tensor<8x8xf32, #n>, %c: tensor<8x8xf32, #p>) -> tensor<8x8xf32, #p> {
  // expected-error @below {{'linalg.matmul' op does not combine values by max, of which result 0 has parts (P4)}}
  %r = linalg.matmul ins(%a, %b : tensor<8x8xf32, #m>, tensor<8x8xf32, #n>) outs(%c : tensor<8x8xf32, #p>) -> tensor<8x8xf32, #p>
  return %r : tensor<8x8xf32, #p>
}

// -----

#w = #layout.mesh<[x = 2, y = 2], [[], []]>
#p = #layout.partial<#w, sum, [x, y]>
#m = #layout.mesh<[x = 2, y = 2], [[], [x]]>
#n = #layout.mesh<[x = 2, y = 2], [[x], []]>
func.func @f(%a: tensor<8x8xf32, #m>, %b: tensor<8x8xf32, #n>, %c: tensor<8x8xf32, #p>) -> tensor<8x8xf32, #p> {
  // expected-error @below {{'linalg.matmul' op has result 0 in parts along axis 'y', which does not split its reduction (P4)}}
  %r = linalg.matmul ins(%a, %b : tensor<8x8xf32, #m>, tensor<8x8xf32, #n>) outs(%c : tensor<8x8xf32, #p>) -> tensor<8x8xf32, #p>
  return %r : tensor<8x8xf32, #p>
}

// -----

#w = #layout.mesh<[x = 2, y = 2], [[], []]>
#p = #layout.partial<#w, sum, [x]>
func.func @f(%a: tensor<8x8xf32, #p>) -> tensor<8x8xf32, #p> {
  // expected-error @below {{'arith.negf' op computes with partial sums (P4): reduce them by layout.convert first}}
  %r = arith.negf %a : tensor<8x8xf32, #p>
  return %r : tensor<8x8xf32, #p>
}

// -----

#m = #layout.mesh<[x = 2], [[], [x]]>
#n = #layout.mesh<[y = 2], [[], [y]]>
func.func @f(%a: tensor<8x8xf32, #m>, %b: tensor<8x8xf32, #n>, %e: tensor<8x8xf32, #m>) -> tensor<8x8xf32, #m> {
  // expected-error @below {{'linalg.add' op works on two meshes: operand 1 is on another one; convert it with layout.convert}}
  %r = linalg.add ins(%a, %b : tensor<8x8xf32, #m>, tensor<8x8xf32, #n>) outs(%e : tensor<8x8xf32, #m>) -> tensor<8x8xf32, #m>
  return %r : tensor<8x8xf32, #m>
}

// -----

#h = #layout.mesh<[x = 2], [[], [], [x], []]>
#r = #layout.mesh<[x = 2], [[], [], [x], []]>
func.func @f(%a: tensor<1x3x10x10xf32, #h>, %k: tensor<3x3xf32>, %e: tensor<1x3x8x8xf32, #r>) -> tensor<1x3x8x8xf32, #r> {
  // expected-error @below {{'linalg.pooling_nchw_max' op has operand 0 split over axis 'x' of the mesh along a dim that is not indexed by a single loop; convert it with layout.convert}}
  %r = linalg.pooling_nchw_max ins(%a, %k : tensor<1x3x10x10xf32, #h>, tensor<3x3xf32>) outs(%e : tensor<1x3x8x8xf32, #r>) -> tensor<1x3x8x8xf32, #r>
  return %r : tensor<1x3x8x8xf32, #r>
}

// -----

// Rows are split equally, and each device may store them in another layout.
#c = #layout.mesh<[x = 2], [[x], []], local = #layout.map<(i, j) -> buffer(j, i)>>
#r = #layout.mesh<[x = 2], [[x], []]>
func.func @f(%a: tensor<8x8xf32, #c>, %b: tensor<8x8xf32, #r>, %e: tensor<8x8xf32, #r>) -> tensor<8x8xf32, #r> {
  %r = linalg.add ins(%a, %b : tensor<8x8xf32, #c>, tensor<8x8xf32, #r>) outs(%e : tensor<8x8xf32, #r>) -> tensor<8x8xf32, #r>
  return %r : tensor<8x8xf32, #r>
}

// -----

#m = #layout.mesh<[x = 2, y = 2], [[], [x]]>
#n = #layout.mesh<[x = 2, y = 2], [[x], []]>
func.func @f(%a: tensor<8x8xf32, #m>, %b: tensor<8x8xf32, #n>, %e: tensor<8x8xf32, #m>) -> tensor<8x8xf32, #m> {
  // expected-error @below {{'linalg.add' op needs one split of its loops along axis 'x' of the mesh, found different ones in operand 0 and operand 1; convert one of them with layout.convert}}
  %r = linalg.add ins(%a, %b : tensor<8x8xf32, #m>, tensor<8x8xf32, #n>) outs(%e : tensor<8x8xf32, #m>) -> tensor<8x8xf32, #m>
  return %r : tensor<8x8xf32, #m>
}

// -----

// Partial sums that are added to become partial sums of the result; filled ones
// count once.
#w = #layout.mesh<[x = 2], [[], []]>
#p = #layout.partial<#w, sum, [x]>
#m = #layout.mesh<[x = 2], [[], [x]]>
#n = #layout.mesh<[x = 2], [[x], []]>
func.func @f(%a: tensor<8x8xf32, #m>, %b: tensor<8x8xf32, #n>, %s: f32) -> tensor<8x8xf32, #w> {
  %e = tensor.empty() : tensor<8x8xf32, #p>
  %z = linalg.fill ins(%s : f32) outs(%e : tensor<8x8xf32, #p>) -> tensor<8x8xf32, #p>
  %r = linalg.matmul ins(%a, %b : tensor<8x8xf32, #m>, tensor<8x8xf32, #n>) outs(%z : tensor<8x8xf32, #p>) -> tensor<8x8xf32, #p>
  %t = linalg.matmul ins(%a, %b : tensor<8x8xf32, #m>, tensor<8x8xf32, #n>) outs(%r : tensor<8x8xf32, #p>) -> tensor<8x8xf32, #p>
  %0 = layout.convert %t : tensor<8x8xf32, #p> to tensor<8x8xf32, #w>
  return %0 : tensor<8x8xf32, #w>
}

// -----

// A tensor without a layout is stored whole on every device, which is more than a device
// needs.
#m = #layout.mesh<[x = 2], [[x], []]>
func.func @f(%a: tensor<8x8xf32, #m>, %b: tensor<8x8xf32>) -> tensor<8x8xf32, #m> {
  // expected-error @below {{needs one split of its loops along axis 'x' of the mesh, found different ones in operand 0 and operand 1}}
  %r = linalg.add ins(%a, %b : tensor<8x8xf32, #m>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32, #m>) -> tensor<8x8xf32, #m>
  return %r : tensor<8x8xf32, #m>
}

// -----

#w = #layout.mesh<[x = 2], [[], []]>
#p = #layout.partial<#w, sum, [x]>
func.func @f(%a: tensor<8x8xf32, #p>) -> tensor<64xf32> {
  // expected-error @below {{'tensor.collapse_shape' op computes with partial sums (P4): reduce them by layout.convert first}}
  %r = tensor.collapse_shape %a [[0, 1]] : tensor<8x8xf32, #p> into tensor<64xf32>
  return %r : tensor<64xf32>
}

// -----

// Only the accumulator of a result may be partial sums, not another operand of the same type and
// indices.
#w = #layout.mesh<[x = 2], [[], []]>
#p = #layout.partial<#w, sum, [x]>
#m = #layout.mesh<[x = 2], [[], [x]]>
func.func @f(%p: tensor<8x8xf32, #p>, %a: tensor<8x8xf32, #m>, %c: tensor<8x8xf32, #p>) -> tensor<8x8xf32, #p> {
  // expected-error @below {{'linalg.generic' op computes with partial sums (P4): reduce them by layout.convert first}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %a : tensor<8x8xf32, #p>, tensor<8x8xf32, #m>) outs(%c : tensor<8x8xf32, #p>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32, #p>
  return %r : tensor<8x8xf32, #p>
}

// -----

// The only index of a dim that two devices split is on the first device.
#one = #layout.mesh<[x = 2], [[x], []]>
#w = #layout.mesh<[x = 2], [[], []]>
func.func @f(%a: tensor<1x8xf32, #one>, %b: tensor<1x8xf32, #w>) -> tensor<1x8xf32, #w> {
  // expected-error @below {{'linalg.add' op needs one split of its loops along axis 'x' of the mesh, found different ones in operand 0 and operand 2; convert one of them with layout.convert}}
  %r = linalg.add ins(%a, %a : tensor<1x8xf32, #one>, tensor<1x8xf32, #one>) outs(%b : tensor<1x8xf32, #w>) -> tensor<1x8xf32, #w>
  return %r : tensor<1x8xf32, #w>
}

// -----

// Other tensors of the op may be whole if its loop does not index them.
#one = #layout.mesh<[x = 2], [[x], []]>
#w = #layout.mesh<[x = 2], [[], []]>
func.func @f(%a: tensor<1x8xf32, #one>, %b: tensor<8x4xf32, #w>, %c: tensor<1x4xf32, #one>) -> tensor<1x4xf32, #one> {
  %r = linalg.matmul ins(%a, %b : tensor<1x8xf32, #one>, tensor<8x4xf32, #w>) outs(%c : tensor<1x4xf32, #one>) -> tensor<1x4xf32, #one>
  return %r : tensor<1x4xf32, #one>
}

// -----

// A map that stores the whole tensor on the first device.
#first = #layout.map<(i) -> mesh(x = 0 extent 2, offset = i)>
#w = #layout.mesh<[x = 2], [[]]>
func.func @f(%a: tensor<8xf32, #first>, %b: tensor<8xf32, #w>) -> tensor<8xf32, #w> {
  // expected-error @below {{'linalg.exp' op needs one split of its loops along axis 'x' of the mesh, found different ones in operand 0 and operand 1; convert one of them with layout.convert}}
  %r = linalg.exp ins(%a : tensor<8xf32, #first>) outs(%b : tensor<8xf32, #w>) -> tensor<8xf32, #w>
  return %r : tensor<8xf32, #w>
}
