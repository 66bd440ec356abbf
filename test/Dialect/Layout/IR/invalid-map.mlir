// Check the errors of #layout.map.
// RUN: layout-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unknown dim 'x'; the dims are (n, c)}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(n, x)>>)

// -----

// expected-error@+1 {{a dim cannot be named 'true'}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, true) -> buffer(n, true)>>)

// -----

// expected-error@+1 {{expected a number, found a truth value}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(offset = n * true + c)>>)

// -----

// expected-error@+1 {{dim 'n' is repeated}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, n) -> buffer(n)>>)

// -----

// expected-error@+1 {{the divisor of 'floordiv' must be at least 1, found 0}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(n, c floordiv 0, c mod 4)>>)

// -----

// expected-error@+1 {{the divisor of 'mod' must be at least 1, found -4}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(n, c mod -4)>>)

// -----

// expected-error@+1 {{an alignment must be at least 1, found 0}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(n, [c] align 0)>>)

// -----

// expected-error@+1 {{the divisor of 'ceil' must be at least 1, found 0}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(offset = n * ceil(size(c), 0) + c)>>)

// -----

// expected-error@+1 {{padding must not be negative: a layout cannot drop elements}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(n, pad(c, 1, -1))>>)

// -----

// expected-error@+1 {{expected a dim, a group '[..]', '(', 'pad(' or 'xor('}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(n, -> )>>)

// -----

// expected-error@+1 {{expected a size: an integer, size(dim) or ceil(size, k)}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(offset = n * c)>>)

// -----

// expected-error@+1 {{the coordinates of space 'image2d' are named: write name = value}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> image2d(n, c)>>)

// -----

// expected-error@+1 {{space 'image2d' needs the coordinate 'lane'}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> image2d(x = n, y = c)>>)

// -----

// expected-error@+1 {{space 'npu' has no coordinate 'bank'; it has npu, offset}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> npu(npu = n, offset = c, bank = c)>>)

// -----

// expected-error@+1 {{coordinate 'row' is repeated}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> mesh(row = n, row = c)>>)

// -----

// expected-error@+1 {{the strides or extents of the layout do not fit 64 bits (L1): use smaller factors}}
func.func private @f(tensor<2x3xf32, #layout.map<(n, c) -> buffer(n, c mod 4611686018427387904, c mod 4611686018427387904)>>)

// -----

// A single stride fits in 64 bits, the sum of two that is printed does not.
// expected-error@+1 {{the strides or extents of the layout do not fit 64 bits (L1): use smaller factors}}
func.func private @alignment(tensor<1xf32, #layout.map<(n, c, h, w) -> npu(npu = (c + 2) mod 4, offset = [n, (c + 4) floordiv 4, [h, w] align 9223372036854775807])>>)

// -----

// expected-error@+1 {{the layout is nested too deeply}}
func.func private @f(tensor<2xf32, #layout.map<(n) -> buffer((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((n))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))>>)

// -----

// expected-error@+1 {{a layout has at most 64 dims}}
func.func private @f(tensor<2xf32, #layout.map<(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, g0, g1, g2, g3, g4) -> buffer(a0)>>)

// -----

// expected-error@+1 {{the operands of 'xor' have no common constant extent: state it, as in xor(a, b : 4)}}
func.func private @f(tensor<4x4xf32, #layout.map<(i, j) -> buffer(i, xor(i, j))>>)

// -----

// expected-error@+1 {{the operands of 'xor' have no common constant extent}}
func.func private @f(tensor<4x4xf32, #layout.map<(i, j) -> buffer(i, xor(i mod 4, j mod 2))>>)

// -----

// expected-error@+1 {{the extent of 'xor' must be a power of two, found 3}}
func.func private @f(tensor<4x4xf32, #layout.map<(i, j) -> buffer(i, xor(i, j : 3))>>)

// -----

// expected-error@+1 {{the extent of 'xor' must be a power of two, found -4}}
func.func private @f(tensor<4x4xf32, #layout.map<(i, j) -> buffer(i, xor(i, j : -4))>>)

// -----

// expected-error@+1 {{is not injective (L1): indices (0, 0) and (0, 2) share one storage point}}
func.func private @f(tensor<4x4xf32, #layout.map<(i, j) -> buffer(i, xor(i, j : 2))>>)

// -----

// A stride with a negative term may still be positive.
// expected-error@+1 {{is not injective (L1): indices (0, 1) and (1, 1) share one storage point}}
func.func private @f(tensor<2x3xf32, #layout.map<(i, j) -> buffer(offset = i * 7 + j + ((xor(i, j : 2) * (9 * size(i) + -8)) floordiv 8) * 7 extent 168)>>)

// -----

// expected-error@+1 {{the extent of a replica must be at least 1, found 0}}
func.func private @f(tensor<4x4xf32, #layout.map<(i, j) replicate(r : 0) -> buffer(r, i, j)>>)

// -----

// expected-error@+1 {{dim 'i' is repeated}}
func.func private @f(tensor<4x4xf32, #layout.map<(i, j) replicate(i : 2) -> buffer(i, j)>>)

// -----

// A replica without a coordinate stores one element several times in one
// position.
// expected-error@+1 {{has a replica that no coordinate uses (L1): remove it}}
func.func private @f(tensor<4x4xf32, #layout.map<(i, j) replicate(r : 2) -> buffer(i, j)>>)

// -----

// expected-error@+1 {{is not injective (L1)}}
func.func private @f(tensor<4x4xf32, #layout.map<(i, j) replicate(r : 2) -> buffer(offset = i * 4 + j + r)>>)
