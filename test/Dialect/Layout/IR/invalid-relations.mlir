// RUN: not layout-opt %s --split-input-file 2>&1 | FileCheck %s
// Check that errors point to the column of the invalid part.

// CHECK: :[[# @LINE + 1]]:61: error: axis 'c' is repeated: every dim and every result of a relation needs its own name
func.func private @f(tensor<1xf32, #layout.relations<(c, n, c), store (n, c)>>)

// -----

// CHECK: :[[# @LINE + 1]]:74: error: axis 'n' is repeated: every dim and every result of a relation needs its own name
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split c -> (n, ci : 4), store (n, ci)>>)

// -----

// CHECK: :[[# @LINE + 1]]:68: error: unknown axis 'k': it is neither a dim nor a result of a relation
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split k -> (ko, ki : 4), store (n, c)>>)

// -----

// CHECK: :[[# @LINE + 1]]:72: error: unknown axis 'd': it is neither a dim nor a result of a relation
func.func private @f(tensor<1xf32, #layout.relations<(n, c), store (n, d)>>)

// -----

// CHECK: :[[# @LINE + 1]]:98: error: axis 'c' was split already: an axis is split, fused or stored once
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split c -> (co, ci : 4), store (co, c)>>)

// -----

// CHECK: :[[# @LINE + 1]]:87: error: axis 'c' was fused already: an axis is split, fused or stored once
func.func private @f(tensor<1xf32, #layout.relations<(n, c), fuse (n, c) -> nc, fuse (c, n) -> cn, store (nc, cn)>>)

// -----

// CHECK: :[[# @LINE + 1]]:75: error: axis 'n' was stored already: an axis is split, fused or stored once
func.func private @f(tensor<1xf32, #layout.relations<(n, c), store (n, c, n)>>)

// -----

// CHECK: :[[# @LINE + 1]]:58: error: axis 'c' is not stored: every axis that remains is stored once
func.func private @f(tensor<1xf32, #layout.relations<(n, c), store (n)>>)

// -----

// CHECK: :[[# @LINE + 1]]:78: error: axis 'ci' is not stored: every axis that remains is stored once
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split c -> (co, ci : 4), store (n, co)>>)

// -----

// CHECK: :[[# @LINE + 1]]:83: error: an extent must be at least 1, found 0
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split c -> (co, ci : 0), store (n, co, ci)>>)

// -----

// CHECK: :[[# @LINE + 1]]:59: error: an extent must be at least 1, found -4
func.func private @f(tensor<1xf32, #layout.relations<(n : -4), store (n)>>)

// -----

// CHECK: :[[# @LINE + 1]]:83: error: integer value too large
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split c -> (co, ci : 99999999999999999999), store (n, co, ci)>>)

// -----

// CHECK: :[[# @LINE + 1]]:104: error: the extents of the parts of 'c' do not fit 64 bits
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split c -> (co, cm : 4611686018427387904, ci : 4), store (n, co, cm, ci)>>)

// -----

// CHECK: :[[# @LINE + 1]]:121: error: the size of axis 'nc' does not fit 64 bits
func.func private @f(tensor<1xf32, #layout.relations<(n : 4611686018427387904, c : 4611686018427387904), fuse (n, c) -> nc, store (nc)>>)

// -----

// CHECK: :[[# @LINE + 1]]:78: error: part 'ci' needs an extent, as in ci : 16: only the first part of a split has none
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split c -> (co, ci), store (n, co, ci)>>)

// -----

// CHECK: :[[# @LINE + 1]]:74: error: the first part of a split must not have an extent: 'co' holds what the other parts leave
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split c -> (co : 2, ci : 4), store (n, co, ci)>>)

// -----

// CHECK: :[[# @LINE + 1]]:68: error: a split makes at least two parts
func.func private @f(tensor<1xf32, #layout.relations<(n, c), split c -> (k), store (n, k)>>)

// -----

// CHECK: :[[# @LINE + 1]]:74: error: a fuse joins at least two axes
func.func private @f(tensor<1xf32, #layout.relations<(n, c), fuse (c) -> k, store (n, k)>>)

// -----

// CHECK: :[[# @LINE + 1]]:65: error: axis 'a' is defined by itself: some relation must start from dims alone
func.func private @f(tensor<1xf32, #layout.relations<(n), split a -> (b, c : 4), fuse (b, n) -> a, store (c)>>)

// -----

// CHECK: :[[# @LINE + 1]]:62: error: expected 'split', 'fuse' or 'store', found 'join'
func.func private @f(tensor<1xf32, #layout.relations<(n, c), join (n, c) -> k, store (k)>>)

// -----

// CHECK: :[[# @LINE + 1]]:60: error: expected ', store (..)' at the end: it names the axes that remain, slowest first
func.func private @f(tensor<1xf32, #layout.relations<(n, c)>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.relations<(n, c), store (c, n)> has 2 dims, the tensor has rank 1 (L1): write the layout over the dims of the tensor
func.func private @f(tensor<1xf32, #layout.relations<(n, c), store (c, n)>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: layout #layout.relations<(n, c : 16), store (c, n)> gives dim 1 ('c') the size 16, the tensor has 8 there (L1): drop the extent or change the size
func.func private @f(tensor<1x8xf32, #layout.relations<(n, c : 16), store (c, n)>>)

// -----

// CHECK: :[[# @LINE + 1]]:{{[0-9]+}}: error: {{.*}} gives dim 1 ('c') the size 16, the tensor has a dynamic size there (L1)
func.func private @f(tensor<1x?xf32, #layout.relations<(n, c : 16), store (c, n)>>)
