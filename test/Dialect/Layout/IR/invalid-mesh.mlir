// RUN: not layout-opt %s --split-input-file 2>&1 | FileCheck %s
// Check that errors point to the column of the invalid part, and shape errors to the type.

// CHECK: :[[# @LINE + 1]]:63: error: the size of an axis must be at least 1, found 0
func.func private @f(tensor<4x4xf32, #layout.mesh<[x = 2, y = 0], [[x], []]>>)

// -----

// CHECK: :[[# @LINE + 1]]:59: error: axis 'x' is repeated
func.func private @f(tensor<4x4xf32, #layout.mesh<[x = 2, x = 2], [[x], []]>>)

// -----

// CHECK: :[[# @LINE + 1]]:50: error: axis 'offset' has the name of the coordinate in a device's memory: choose another name
func.func private @f(tensor<4xf32, #layout.mesh<[offset = 2], [[offset]]>>)

// -----

// CHECK: :[[# @LINE + 1]]:63: error: the mesh has more than 1048576 devices
func.func private @f(tensor<4xf32, #layout.mesh<[x = 1048576, y = 2], [[x]]>>)

// -----

// CHECK: :[[# @LINE + 1]]:62: error: the mesh has no axis 'z' to split a dim over
func.func private @f(tensor<4x4xf32, #layout.mesh<[x = 2], [[z], []]>>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: axis 'x' splits more than once: a device has one coordinate along it
func.func private @f(tensor<4x4xf32, #layout.mesh<[x = 2], [[x], [x]]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.mesh<[x = 2], {{\[}}[x]]> has 1 dims, the tensor has rank 2 (L1): write the layout over the dims of the tensor
func.func private @f(tensor<4x4xf32, #layout.mesh<[x = 2], [[x]]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.mesh<[x = 2], {{\[}}[x]]> does not apply to this shape (L1): dim 0, which it splits, has a dynamic size, so that its blocks are not known: make the size static, or split another dim
func.func private @f(tensor<?xf32, #layout.mesh<[x = 2], [[x]]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: expected a layout in the memory of one device, found #layout.mesh<[y = 2], {{\[}}[]]>: state one mesh, inside #layout.padded and #layout.partial
func.func private @f(tensor<4xf32, #layout.mesh<[x = 2], [[x]], local = #layout.mesh<[y = 2], [[]]>>>)

// -----

// CHECK: error: layout #layout.mesh<{{.*}}> does not apply to this shape (L1): the local layout is in space 'image2d': use one in linear memory without replicas
func.func private @f(tensor<4xf32, #layout.mesh<[x = 2], [[x]], local = #layout.rgba_image<argument>>>)

// -----

// CHECK: error: layout #layout.mesh<{{.*}}> does not apply to this shape (L1): the local layout is in space 'buffer' with replicas: use one in linear memory without replicas
func.func private @f(tensor<4xf32, #layout.mesh<[x = 2], [[x]], local = #layout.map<(i) replicate(r : 2) -> buffer(r, i)>>>)

// -----

// CHECK: error: layout #layout.packed_dims<[0 : 3]> does not apply to this shape (L1)
func.func private @f(tensor<8xf32, #layout.mesh<[x = 2], [[x]], local = #layout.packed_dims<[0 : 3]>>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: expected a reduction, sum, max or min, found 'mean'
func.func private @f(tensor<4xf32, #layout.partial<#layout.mesh<[x = 2], [[]]>, mean, [x]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.partial<{{.*}}> has no replicas along 'x' (P4): name axes of the mesh that split no dim and have more than one position
func.func private @f(tensor<4xf32, #layout.partial<#layout.mesh<[x = 2], [[x]]>, sum, [x]>>)

// -----

// CHECK: error: layout #layout.partial<{{.*}}> has no replicas along 'y' (P4)
func.func private @f(tensor<4xf32, #layout.partial<#layout.blocked<"A" to "A">, sum, [y]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: #layout.partial names no axis of the mesh (P4): name one, or remove it if replicas are copies
func.func private @f(tensor<4xf32, #layout.partial<#layout.mesh<[x = 2], [[]]>, sum, []>>)

// -----

// CHECK: error: axis "x" is repeated (P4)
func.func private @f(tensor<4xf32, #layout.partial<#layout.mesh<[x = 2], [[]]>, sum, [x, x]>>)

// -----

// CHECK: error: expected a layout inside #layout.partial, found {{.*}}: name all axes in one #layout.partial (P4)
func.func private @f(tensor<4xf32, #layout.partial<#layout.partial<#layout.mesh<[x = 2], [[]]>, sum, [x]>, sum, [x]>>)

// -----

// CHECK: error: layout #layout.partial<{{.*}}> has parts of elements that are not numbers (P4): reduce them first
func.func private @f(tensor<4xvector<2xf32>, #layout.partial<#layout.mesh<[x = 2], [[]]>, sum, [x]>>)

// -----

// CHECK: error: #layout.padded must be inside #layout.partial (P4): exchange the two
func.func private @f(tensor<4xf32, #layout.padded<#layout.partial<#layout.mesh<[x = 2], [[]]>, sum, [x]>, zero>>)

// -----

#whole = #layout.mesh<[x = 2], [[]]>
#partial = #layout.partial<#whole, sum, [x]>
func.func @f(%a: tensor<4xf32, #whole>) {
  // CHECK: :[[# @LINE + 1]]:8: error: 'layout.convert' op reduces partial sums and cannot create them (P4), found {{.*}}: create them with layout.storage_view
  %0 = layout.convert %a : tensor<4xf32, #whole> to tensor<4xf32, #partial>
  return
}

// -----

// CHECK: error: axis 'a.b' is not a valid name: names have letters, digits and '_'
func.func private @f(tensor<4xf32, #layout.mesh<[a.b = 2], [[]]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: dim 1 has a halo but no axis splits it: each device holds all of it, use [0, 0]
func.func private @f(tensor<4x4xf32, #layout.mesh<[x = 2], [[x], []], halos = [[0, 0], [1, 0]]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: there are 1 halos for 2 dims: state one for each dim
func.func private @f(tensor<4x4xf32, #layout.mesh<[x = 2], [[x], []], halos = [[1, 0]]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: the halo [-1, 0] of dim 0 is invalid: each side has 0 to 2147483647 indices
func.func private @f(tensor<4xf32, #layout.mesh<[x = 2], [[x]], halos = [[-1, 0]]>>)

// -----

// CHECK: error: layout #layout.mesh<{{.*}}> does not apply to this shape (L1): dim 0 has a halo [0, 33] over blocks of 2: it reaches over at most 16 blocks, of at most 2^48 indices together; split the dim by fewer devices, or leave it whole
func.func private @f(tensor<64xf32, #layout.mesh<[x = 32], [[x]], halos = [[0, 33]]>>)
