// RUN: layout-opt %s --split-input-file --verify-diagnostics
// Check errors for valid layouts that do not match the tensor (rules L1, L2,
// P1).

// expected-error@+1 {{has 2 dims, the tensor has rank 3 (L1): write the layout over the dims of the tensor}}
func.func private @f(tensor<2x3x4xf32, #layout.map<(n, c) -> buffer(n, c)>>)

// -----

// expected-error@+1 {{has 4 dims, the tensor has rank 2 (L1)}}
func.func private @f(tensor<2x3xf32, #layout.blocked<"NCHW" to "NHWC">>)

// -----

// expected-error@+1 {{is not injective (L1): indices (0, 0) and (0, 4) share one storage point}}
func.func private @f(tensor<2x8xf32, #layout.map<(n, c) -> buffer(n, c mod 4)>>)

// -----

// expected-error@+1 {{is not injective (L1): indices (0, 4) and (1, 0) share one storage point}}
func.func private @f(tensor<2x8xf32, #layout.map<(n, c) -> buffer(offset = n * 4 + c)>>)

// -----

// The map is injective if its strides do not collide.
func.func private @f(tensor<2x4xf32, #layout.map<(n, c) -> buffer(offset = n * 4 + c)>>)
func.func private @overlapping_strides_that_miss(tensor<2x3xf32, #layout.map<(n, c) -> buffer(offset = n * 3 + c * 2)>>)

// -----

// expected-error@+1 {{is not injective (L1): indices (0, 4) and (1, 0) share one storage point}}
func.func private @f(tensor<?x8xf32, #layout.map<(n, c) -> buffer(offset = n * 4 + c)>>)

// -----

// expected-error@+1 {{maps an index to offset -6, below 0 (L1): add a constant to 'offset'}}
func.func private @f(tensor<3x3xf32, #layout.map<(n, c) -> buffer(offset = n * -3 + c)>>)

// -----

// expected-error@+1 {{has an extent of 'offset' that is not proven to hold all elements (L2): they reach offset 23, the extent is 20}}
func.func private @f(tensor<3x8xf32, #layout.map<(n, c) -> buffer(offset = n * 8 + c extent 20)>>)

// -----

// expected-error@+1 {{has an extent of 'offset' that is not proven to hold all elements (L2)}}
func.func private @falls_below_zero_for_large_sizes(tensor<?xf32, #layout.map<(d0) -> buffer(offset = d0 * -1 + 5 extent 6)>>)

// -----

// expected-error@+1 {{has an extent of 'offset' that is not proven to hold all elements (L2)}}
func.func private @leaves_64_bits(tensor<17x33xf32, #layout.map<(d0, d1) -> buffer(offset = d0 * -9223372036854775807 + d1 + 3 extent 128)>>)

// -----

// expected-error@+1 {{has an extent of 'offset' that is not proven to hold all elements (L2)}}
func.func private @f(tensor<?x8xf32, #layout.map<(n, c) -> buffer(offset = n * 8 + c extent 20)>>)

// -----

// expected-error@+1 {{on this shape does not fit 64 bits (L1): the tensor is too large}}
func.func private @f(tensor<4294967296x4294967296xf32, #layout.map<(n, c) -> buffer(c, n)>>)

// -----

// The number of elements fits in 64 bits, the number of bytes does not.
// expected-error@+1 {{on this shape does not fit 64 bits (L1): the tensor is too large}}
func.func private @f(tensor<4294967296x1073741824xf32, #layout.map<(n, c) -> buffer(c, n)>>)

// -----

// expected-error@+1 {{gives dim 4 the size 16 by its factors, the tensor has 8 there (L1)}}
func.func private @f(tensor<1x2x7x7x8xf32, #layout.blocked<"NCHW16c" to "NCHW8c">>)

// -----

// expected-error@+1 {{gives dim 4 the size 16 by its factors, the tensor has a dynamic size there (L1)}}
func.func private @f(tensor<1x2x7x7x?xf32, #layout.blocked<"NCHW16c" to "NCHW8c">>)

// -----

// expected-error@+1 {{padding of 'f32' in a tensor of 'i8' (P1): state a constant of the element type}}
func.func private @f(tensor<3x3xi8, #layout.padded<#layout.map<(n, c) -> buffer(c, n)>, 1.0 : f32>>)

// -----

// expected-error@+1 {{element type 'complex<f32>' has no zero to pad with (P1)}}
func.func private @f(tensor<3x3xcomplex<f32>, #layout.padded<#layout.map<(n, c) -> buffer(c, n)>, zero>>)

// -----

// expected-error@+1 {{element type 'f8E8M0FNU' has no zero to pad with (P1)}}
func.func private @f(tensor<3x3xf8E8M0FNU, #layout.padded<#layout.map<(n, c) -> buffer(c, n)>, zero>>)

// -----

// expected-error@+1 {{expected a layout inside #layout.padded}}
func.func private @f(tensor<3x3xf32, #layout.padded<"NCHW", zero>>)

// -----

// expected-error@+1 {{the padding is stated twice (P1): use one #layout.padded}}
func.func private @f(tensor<3x3xf32, #layout.padded<#layout.padded<#layout.map<(n, c) -> buffer(c, n)>, zero>, zero>>)

// -----

// expected-error@+1 {{padding must hold a number (P1)}}
func.func private @f(tensor<3x3xf32, #layout.padded<#layout.map<(n, c) -> buffer(c, n)>, "x">>)

// -----

// Any layout stores a tensor without elements.
func.func private @empty(tensor<0x3xf32, #layout.map<(n, c) -> buffer(offset = n + c)>>)
