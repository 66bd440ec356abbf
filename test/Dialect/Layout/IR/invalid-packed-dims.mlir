// RUN: not layout-opt %s --split-input-file 2>&1 | FileCheck %s
// Check that errors point to the column of the invalid part, and shape errors to the type.

// CHECK: :[[# @LINE + 1]]:60: error: a dim must be at least 0, found -1
func.func private @f(tensor<1xf32, #layout.packed_dims<[0, -1]>>)

// -----

// CHECK: :[[# @LINE + 1]]:61: error: an extent must be at least 1, found 0
func.func private @f(tensor<1xf32, #layout.packed_dims<[0 : 0]>>)

// -----

// CHECK: :[[# @LINE + 1]]:72: error: an extent of 'oddeven' must be even, found 3
func.func private @f(tensor<1xf32, #layout.packed_dims<[0, 0 : oddeven 3]>>)

// -----

// CHECK: :[[# @LINE + 1]]:69: error: an extent must be at least 1, found -2
func.func private @f(tensor<1xf32, #layout.packed_dims<[0 : oddeven -2]>>)

// -----

// CHECK: :[[# @LINE + 1]]:63: error: dim 0 without an extent is repeated: the rest of a dim must be one entry
func.func private @f(tensor<1xf32, #layout.packed_dims<[0, 1, 0]>>)

// -----

// CHECK: :[[# @LINE + 1]]:64: error: dim 0 without an extent is inside a part of it: the rest of a dim must be its slowest entry
func.func private @f(tensor<1xf32, #layout.packed_dims<[0 : 4, 0]>>)

// -----

// CHECK: :[[# @LINE + 1]]:57: error: expected a number, found a truth value
func.func private @f(tensor<1xf32, #layout.packed_dims<[false]>>)

// -----

// CHECK: :[[# @LINE + 1]]:61: error: integer value too large
func.func private @f(tensor<1xf32, #layout.packed_dims<[0 : 99999999999999999999]>>)

// -----

// CHECK: :[[# @LINE + 1]]:61: error: expected integer value
func.func private @f(tensor<1xf32, #layout.packed_dims<[0 : evenodd 4]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.packed_dims<[0, 2]> does not apply to this shape (L1): it names dim 2, the tensor has rank 2: write it over the dims of the tensor
func.func private @f(tensor<4x1xf32, #layout.packed_dims<[0, 2]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.packed_dims<[1, 0, 1 : 4]> does not apply to this shape (L1): the extent of '1 : 4' does not divide the 6 left of dim 1: choose one that does, or use #layout.blocked, which pads
func.func private @f(tensor<6x6xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.packed_dims<[0 : oddeven 4]> does not apply to this shape (L1): the extent of '0 : oddeven 4' does not divide the 2 left of dim 0: choose one that does, or use #layout.blocked, which pads
func.func private @f(tensor<2xf32, #layout.packed_dims<[0 : oddeven 4]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.packed_dims<[1, 0, 1 : 4, 0 : 2, 1 : 4]> does not apply to this shape (L1): '1 : 4' follows a part of dim 1 that was clipped already, with 1 left: drop one of the two, or use #layout.blocked, which pads
func.func private @f(tensor<4x2xf32, #layout.packed_dims<[1, 0, 1 : 4, 0 : 2, 1 : 4]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.packed_dims<[0 : 4]> does not apply to this shape (L1): 2 left of dim 0, which must be 1: add the entry '0' for the rest
func.func private @f(tensor<8xf32, #layout.packed_dims<[0 : 4]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.packed_dims<[0]> does not apply to this shape (L1): 3 left of dim 1, which must be 1: add the entry '1' for the rest
func.func private @f(tensor<8x3xf32, #layout.packed_dims<[0]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.packed_dims<[0]> does not apply to this shape (L1): an unknown number of positions left of dim 1, which must be 1: add the entry '1' for the rest
func.func private @f(tensor<8x?xf32, #layout.packed_dims<[0]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.packed_dims<[0, 0 : oddeven 4]> does not apply to this shape (L1): the extent of '0 : oddeven 4' may not divide dim 0, whose size is dynamic: make the dim static, or use #layout.blocked, which pads
func.func private @f(tensor<?xf32, #layout.packed_dims<[0, 0 : oddeven 4]>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.packed_dims<[0, 0 : 4611686018427387904, 0 : 4]> does not apply to this shape (L1): the extents of the parts of dim 0 do not fit 64 bits: use smaller ones
func.func private @f(tensor<0xf32, #layout.packed_dims<[0, 0 : 4611686018427387904, 0 : 4]>>)
