// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// RUN: layout-opt %s --layout-canonicalize | layout-opt --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// Check named axes with relations. If #layout.blocked expresses the same
// layout, the maps are equal. A fused axis that is stored is one stored dim.

// AS-WRITTEN: @split_and_fuse(tensor<1x17x7x7xf32, #layout.relations<(n, c, h, w), split c -> (co, ci : 16), fuse (h, w) -> hw, store (n, co, hw, ci)>>
// CHECK: @split_and_fuse(tensor<1x17x7x7xf32, #layout.map<(d0, d1, d2, d3) -> [[MAP:buffer\(d0, d1 floordiv 16, d2, d3, d1 mod 16\)]] stored(d0, d1 floordiv 16, [d2, d3], d1 mod 16)>>, tensor<1x17x7x7xf32, #layout.map<(d0, d1, d2, d3) -> [[MAP]]>>)
func.func private @split_and_fuse(
  tensor<1x17x7x7xf32, #layout.relations<(n, c, h, w), split c -> (co, ci : 16), fuse (h, w) -> hw, store (n, co, hw, ci)>>,
  tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>)

// Several parts, from major to minor.
// CHECK: @parts(tensor<60x20x3x3xf32, #[[MAP:layout.map<.*>]]>, tensor<60x20x3x3xf32, #[[MAP]]>)
func.func private @parts(
  tensor<60x20x3x3xf32, #layout.relations<(o, i, h, w), split i -> (io, im : 4, ii : 4), split o -> (oo, oi : 16), store (oo, io, h, w, im, oi, ii)>>,
  tensor<60x20x3x3xf32, #layout.blocked<"OIHW" to "OIHW4i16o4i">>)

// Two parts fused into one stored axis.
// CHECK: @fused_parts(tensor<64x28x7x7xf32, #[[MAP:layout.map<.*>]]>, tensor<64x28x7x7xf32, #[[MAP]]>)
func.func private @fused_parts(
  tensor<64x28x7x7xf32, #layout.relations<(o, i, h, w), split o -> (oo, oi : 4), split i -> (io, ii : 4), fuse (oi, ii) -> oi4, store (oo, io, h, w, oi4)>>,
  tensor<64x28x7x7xf32, #layout.blocked<"OIHW" to "OIHW[4o4i]">>)

// Fuse and split: NCHW16c to NCHW8c in one list, in any order.
// AS-WRITTEN: @reblock(tensor<1x2x7x7x16xf32, #layout.relations<(n, co, h, w, ci : 16), fuse (co, ci) -> c, split c -> (cp, cq : 8), store (n, cp, h, w, cq)>>
// CHECK: @reblock(tensor<1x2x7x7x16xf32, #[[MAP:layout.map<.*>]]>, tensor<1x2x7x7x16xf32, #[[MAP]]>, tensor<1x2x7x7x16xf32, #[[MAP]]>)
func.func private @reblock(
  tensor<1x2x7x7x16xf32, #layout.relations<(n, co, h, w, ci : 16), fuse (co, ci) -> c, split c -> (cp, cq : 8), store (n, cp, h, w, cq)>>,
  tensor<1x2x7x7x16xf32, #layout.relations<(n, co, h, w, ci : 16), split c -> (cp, cq : 8), fuse (co, ci) -> c, store (n, cp, h, w, cq)>>,
  tensor<1x2x7x7x16xf32, #layout.blocked<"NCHW16c" to "NCHW8c">>)

// Without an extent, the size of the inner dim is part of the map.
// CHECK: @reblock_any(tensor<1x2x7x?xf32, #layout.map<(d0, d1, d2, d3) -> buffer(d0, [d1, d3] floordiv 8, d2, [d1, d3] mod 8)>>)
func.func private @reblock_any(
  tensor<1x2x7x?xf32, #layout.relations<(n, co, h, ci), fuse (co, ci) -> c, split c -> (cp, cq : 8), store (n, cp, h, cq)>>)

// A dim of static size is split like any other.
// CHECK: @unfuse(tensor<2x3x16xf32, #[[MAP:layout.map<.*>]]>, tensor<2x3x16xf32, #[[MAP]]>)
func.func private @unfuse(
  tensor<2x3x16xf32, #layout.relations<(o, i, oi : 16), split oi -> (o4, i4 : 4), fuse (o, o4) -> os, fuse (i, i4) -> is, store (os, is)>>,
  tensor<2x3x16xf32, #layout.blocked<"OI[4o4i]" to "OI">>)

// Names may be keywords of the notation.
// CHECK: @words(tensor<2x3xf32, #layout.map<(d0, d1) -> buffer(d1, d0)>>)
func.func private @words(tensor<2x3xf32, #layout.relations<(store, split), store (split, store)>>)

// CHECK: @dynamic(tensor<?x?x?x?xf32, #[[MAP:layout.map<.*>]]>, tensor<?x?x?x?xf32, #[[MAP]]>)
func.func private @dynamic(
  tensor<?x?x?x?xf32, #layout.relations<(n, c, h, w), split c -> (co, ci : 16), store (n, co, h, w, ci)>>,
  tensor<?x?x?x?xf32, #layout.blocked<"NCHW" to "NCHW16c">>)

// CHECK: @row_major(tensor<2x3xf32>, tensor<f32>)
func.func private @row_major(
  tensor<2x3xf32, #layout.relations<(a, b), store (a, b)>>,
  tensor<f32, #layout.relations<(), store ()>>)

// CHECK: @padded(tensor<17xf32, #layout.padded<#layout.map<(d0) -> buffer([d0] align 16) stored(d0 floordiv 16, d0 mod 16)>, zero>>)
func.func private @padded(
  tensor<17xf32, #layout.padded<#layout.relations<(c), split c -> (co, ci : 16), store (co, ci)>, zero>>)
