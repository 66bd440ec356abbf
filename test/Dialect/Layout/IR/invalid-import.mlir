// RUN: not layout-opt %s --split-input-file 2>&1 | FileCheck %s
// Check that errors point to the column of the invalid part inside the text.

// CHECK: :[[# @LINE + 1]]:51: error: unknown notation 'tvm': known notations are xla, onednn, cute and triton
func.func private @f(tensor<1xf32, #layout.import<tvm, "{0}">>)

// -----

// CHECK: :[[# @LINE + 1]]:62: error: dim 0 is repeated: minor_to_major must name each dim once
func.func private @f(tensor<1x1xf32, #layout.import<xla, "{0,0}">>)

// -----

// CHECK: :[[# @LINE + 1]]:72: error: 'S' states a memory space, which is not part of an index map: remove it
func.func private @f(tensor<1x1xf32, #layout.import<xla, "{1,0:T(8,128)S(1)}">>)

// -----

// CHECK: :[[# @LINE + 1]]:67: error: a block must be at least 1, found 0
func.func private @f(tensor<1x1x1xf32, #layout.import<onednn, "aBc0b">>)

// -----

// CHECK: :[[# @LINE + 1]]:58: error: a tuple is empty: it needs an element
func.func private @f(tensor<1xf32, #layout.import<cute, "():()">>)

// -----

// CHECK: :[[# @LINE + 1]]:59: error: a swizzle of 2 bits must move them by at least as many, not by 1
func.func private @f(tensor<4xf32, #layout.import<cute, "S<2,0,1> o 4:1">>)

// -----

// CHECK: :[[# @LINE + 1]]:83: error: the bases do not span the shape: no sum of them is 2 of dim 1 alone
func.func private @f(tensor<2x4xf32, #layout.import<triton, "lane=[[1,0],[1,1]] : [2,4]">>)

// -----

// CHECK: error: layout #layout.import<xla, "{1,0}">: the notation has 2 dims, the tensor has rank 3 (L1): write the layout over the dims of the tensor
func.func private @f(tensor<1x1x1xf32, #layout.import<xla, "{1,0}">>)

// -----

// CHECK: error: layout #layout.import<onednn, "strides=[8,1] blks=[] idxs=[] padded=[2,8]">: dim 1 is of size 9, its padded size 8 is less (L1): it must be at least 9
func.func private @f(tensor<2x9xf32, #layout.import<onednn, "strides=[8,1] blks=[] idxs=[] padded=[2,8]">>)

// -----

// CHECK: error: layout #layout.import<cute, "(4,4):(4,1)">: mode 1 has 4 indices, the tensor has 5 there (L1): write the modes for this shape
func.func private @f(tensor<4x5xf32, #layout.import<cute, "(4,4):(4,1)">>)

// -----

// CHECK{LITERAL}: error: layout #layout.import<triton, "offset=[[1]] : [2]">: dim 0 has the size 2, the tensor has an unknown size there (L1): write the bases for this shape
func.func private @f(tensor<?xf32, #layout.import<triton, "offset=[[1]] : [2]">>)

// -----

// Strides that store two elements in one position.
// CHECK: error: layout #layout.import<cute, "(2,2):(1,1)"> {{.*}} share one storage point
func.func private @f(tensor<2x2xf32, #layout.import<cute, "(2,2):(1,1)">>)

// -----

// CHECK: error: layout #layout.import<cute, "4:-1"> maps an index to offset -3, below 0 (L1)
func.func private @f(tensor<4xf32, #layout.import<cute, "4:-1">>)

// -----

// CHECK: error: the storage of layout #layout.import<xla, "{1,0:T(4611686018427387904,4)}"> on this shape does not fit 64 bits (L1)
func.func private @f(tensor<3x5xf32, #layout.import<xla, "{1,0:T(4611686018427387904,4)}">>)

// -----

// An escape is one character of the string and three of the text.
// CHECK: :[[# @LINE + 1]]:68: error: factor 0: it must be at least 1
func.func private @f(tensor<1x1xf32, #layout.import<xla, "{1,\30:T(0)}">>)

// -----

// CHECK: :[[# @LINE + 1]]:66: error: unexpected 'é': a tag has letters of dims and blocks, as in aBcd16b
func.func private @f(tensor<1x1x1xf32, #layout.import<onednn, "aBé">>)

// -----

// CHECK: :[[# @LINE + 1]]:64: error: unexpected '\0A' at the end
func.func private @f(tensor<1x1xf32, #layout.import<xla, "{1,0}\n and more">>)

// -----

// CHECK: :[[# @LINE + 1]]:71: error: expected register, lane, warp, block or offset, or ':' and the shape
func.func private @f(tensor<2xf32, #layout.import<triton, "lane=[[1]] [2]">>)
