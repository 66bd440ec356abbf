// Check that layouts of dynamic sizes with all axes stored are verified: static
// sizes between dynamic ones, many dims, nested tiles.
//
// RUN: layout-opt %s | layout-opt | FileCheck %s

// CHECK-COUNT-3: func.func private
func.func private @known_between(tensor<2x?x2x1x?x1xf32, #layout.map<(a, b, c, d, e, f) -> buffer(a, e, c, d, f, b floordiv 8, b mod 8)>>)
func.func private @two_aligned(tensor<3x?x3x?x?x?x?x?x?x2xf32, #layout.map<(a, b, c, d, e, f, g, h, i, j) -> buffer(a, d, c, e, f, g, [h] align 2, i, [b] align 8, j)>>)
func.func private @tiles_of_tiles(tensor<?x?x?xf32, #layout.import<xla, "{0,2,1:T(2,3)(4,8,3)}">>)
