// Check the lowering of conversions, whose steps are those of the printed plan.
// RUN: layout-opt %s --convert-layout-to-linalg --canonicalize | FileCheck-22 %s
// RUN: layout-opt %s --layout-print-cost='target={#layout.cpu<lanes = 16>}' -o /dev/null | FileCheck-22 %s --check-prefix=PLAN

#nc16 = #layout.blocked<"NCHW" to "NCHW16c">
#nc8 = #layout.blocked<"NCHW" to "NCHW8c">
#nhwc = #layout.blocked<"NCHW" to "NHWC">
#zero = #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>
#two_zero = #layout.padded<#layout.blocked<"OI" to "IO16i16o">, zero>
#holes = #layout.map<(i, j) -> buffer(offset = i * 8 + j * 2)>

// If the tiles divide the sizes: a view and one transposition.
// CHECK-LABEL: @pack_whole
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<1x2x7x7x16xf32>
// CHECK-NEXT: %[[X:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3], [4]] output_shape [1, 2, 16, 7, 7]
// CHECK-NEXT: %[[T:.*]] = linalg.transpose ins(%[[X]] {{.*}}) outs(%[[E]] {{.*}}) permutation = [0, 1, 3, 4, 2]
// CHECK-NEXT: return %[[T]]
func.func @pack_whole(%x: tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32, #nc16> {
  %0 = layout.convert %x : tensor<1x32x7x7xf32> to tensor<1x32x7x7xf32, #nc16>
  return %0 : tensor<1x32x7x7xf32, #nc16>
}

// Whole tiles, then the remainder and the padding after it: the emitted steps are those of the plan that is priced. No
// element is moved twice.
// PLAN: 1x17x7x7xf32  relayout
// PLAN: read 3332, written 6272
// PLAN-NEXT: digits d0:1 d1/16:2 d2:7 d3:7 d1%16:16; from [d0] [d1/16 d1%16] [d2] [d3]; to [d0] [d1/16] [d2] [d3] [d1%16]; fill d1/16=1..2 d1%16=1..16; copy d1/16=0..1; copy d1/16=1..2 d1%16=0..1
// CHECK-LABEL: @pack_non_divisible
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 16, 7, 7]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0, 0] [1, 1, 7, 7, 16]
// CHECK: linalg.generic
// CHECK: %[[PADDING:.*]] = tensor.extract_slice %{{.*}}[0, 1, 0, 0, 1] [1, 1, 7, 7, 15]
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[PADDING]] :
// CHECK: tensor.extract_slice %{{.*}}[0, 16, 0, 0] [1, 1, 7, 7]
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0, 0, 0] [1, 1, 7, 7, 1]
// CHECK: linalg.generic
// CHECK-NOT: tensor.pad
// CHECK-NOT: select
// CHECK: return
func.func @pack_non_divisible(%x: tensor<1x17x7x7xf32>) -> tensor<1x17x7x7xf32, #zero> {
  %0 = layout.convert %x : tensor<1x17x7x7xf32> to tensor<1x17x7x7xf32, #zero>
  return %0 : tensor<1x17x7x7xf32, #zero>
}

// PLAN: read 3332, written 3332
// PLAN-NEXT: digits {{.*}}; from [d0] [d1/16] [d2] [d3] [d1%16]; to [d0] [d1/16 d1%16] [d2] [d3]; copy d1/16=0..1; copy d1/16=1..2 d1%16=0..1
// CHECK-LABEL: @unpack
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0, 0] [1, 1, 7, 7, 16]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 16, 7, 7]
// CHECK: linalg.generic
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0, 0, 0] [1, 1, 7, 7, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 16, 0, 0] [1, 1, 7, 7]
// CHECK: linalg.generic
func.func @unpack(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x17x7x7xf32> {
  %0 = layout.convert %x : tensor<1x17x7x7xf32, #nc16> to tensor<1x17x7x7xf32>
  return %0 : tensor<1x17x7x7xf32>
}

// Blocked to blocked is one transposition, without the plain tensor in between.
// CHECK-LABEL: @reblock
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, 2, 7, 7, 2, 8]
// CHECK: linalg.transpose {{.*}} permutation = [0, 1, 4, 2, 3, 5]
// CHECK: tensor.collapse_shape {{.*}} into tensor<1x4x7x7x8xf32>
// CHECK-NEXT: return
func.func @reblock(%x: tensor<1x32x7x7xf32, #nc16>) -> tensor<1x32x7x7xf32, #nc8> {
  %0 = layout.convert %x : tensor<1x32x7x7xf32, #nc16> to tensor<1x32x7x7xf32, #nc8>
  return %0 : tensor<1x32x7x7xf32, #nc8>
}

// H = W = 1: NCHW and NHWC have identical storage, and so has a conversion that only drops what the type states of
// padding.
// CHECK-LABEL: @same_storage
// CHECK-NEXT: %[[V:.*]] = tensor.{{collapse|expand}}_shape
// CHECK-NOT: linalg
// CHECK: return
func.func @same_storage(%x: tensor<4x17x1x1xf32>, %y: tensor<1x17x7x7xf32, #zero>) -> (tensor<4x17x1x1xf32, #nhwc>, tensor<1x17x7x7xf32, #nc16>) {
  %0 = layout.convert %x : tensor<4x17x1x1xf32> to tensor<4x17x1x1xf32, #nhwc>
  %1 = layout.convert %y : tensor<1x17x7x7xf32, #zero> to tensor<1x17x7x7xf32, #nc16>
  return %0, %1 : tensor<4x17x1x1xf32, #nhwc>, tensor<1x17x7x7xf32, #nc16>
}

// Only the padding changes. If the source has other uses, it is copied, with a select on the padding.
// PLAN: 1x17x7x7xf32  relayout
// PLAN: read 6272, written 6272
// PLAN-NEXT: digits {{.*}}; masked d1; copy all
// CHECK-LABEL: @state_padding
// CHECK: linalg.generic
// CHECK: arith.cmpi slt
// CHECK: arith.select
func.func @state_padding(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x17x7x7xf32, #zero> {
  %0 = layout.convert %x : tensor<1x17x7x7xf32, #nc16> to tensor<1x17x7x7xf32, #zero>
  return %0 : tensor<1x17x7x7xf32, #zero>
}

// If the source has no other use, only the padding is written and priced (P1).
// PLAN: 1x17x7x7xf32  padding
// PLAN: read 0, written 2940
// PLAN-NEXT: digits {{.*}}; fill d1/16=1..2 d1%16=1..16{{$}}
// CHECK-LABEL: @fill_padding
// CHECK: %[[ABS:.*]] = linalg.generic
// CHECK: %[[PADDING:.*]] = tensor.extract_slice %[[ABS]][0, 1, 0, 0, 1] [1, 1, 7, 7, 15]
// CHECK: %[[FILL:.*]] = linalg.fill ins(%{{.*}}) outs(%[[PADDING]] :
// CHECK: tensor.insert_slice %[[FILL]] into %[[ABS]]
// CHECK-NOT: linalg
func.func @fill_padding(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x17x7x7xf32, #zero> {
  %a = math.absf %x : tensor<1x17x7x7xf32, #nc16>
  %0 = layout.convert %a : tensor<1x17x7x7xf32, #nc16> to tensor<1x17x7x7xf32, #zero>
  return %0 : tensor<1x17x7x7xf32, #zero>
}

// CHECK-LABEL: @views
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x7x7x16xf32>) -> tensor<1x2x7x7x16xf32>
// CHECK-NEXT: return %[[X]]
func.func @views(%x: tensor<1x17x7x7xf32, #nc16>) -> tensor<1x17x7x7xf32, #nc16> {
  %0 = layout.storage_view %x : tensor<1x17x7x7xf32, #nc16> to tensor<1x2x7x7x16xf32>
  %1 = layout.storage_view %0 : tensor<1x2x7x7x16xf32> to tensor<1x17x7x7xf32, #nc16>
  return %1 : tensor<1x17x7x7xf32, #nc16>
}

// Strides with holes stay expressions.
// CHECK-LABEL: @strided
// CHECK: linalg.generic
// CHECK: -> tensor<29xf32>
func.func @strided(%x: tensor<4x3xf32>) -> tensor<4x3xf32, #holes> {
  %0 = layout.convert %x : tensor<4x3xf32> to tensor<4x3xf32, #holes>
  return %0 : tensor<4x3xf32, #holes>
}

// The size of c cannot be derived from storage and becomes an additional value.
// CHECK-LABEL: @carried_size
// CHECK-SAME: (%[[X:.*]]: tensor<1x?x7x7xf32>) -> (tensor<1x?x7x7x16xf32>, index)
// CHECK: %[[C:.*]] = tensor.dim %[[X]], %c1
// CHECK: return %{{.*}}, %[[C]]
func.func @carried_size(%x: tensor<1x?x7x7xf32>) -> tensor<1x?x7x7xf32, #nc16> {
  %0 = layout.convert %x : tensor<1x?x7x7xf32> to tensor<1x?x7x7xf32, #nc16>
  return %0 : tensor<1x?x7x7xf32, #nc16>
}

// If the tiles divide neither of two dims, the padding of the fastest one is split like the copies, each part after its
// copy; no position is filled twice.
// PLAN: read 1700, written 4096
// PLAN-NEXT: {{.*}}; fill d0/16=1..2 d1/16=0..1 d0%16=1..16; fill d0/16=1..2 d1/16=1..2 d0%16=1..16 d1%16=0..9; fill d0/16=0..2 d1/16=1..2 d1%16=9..16; copy
// CHECK-LABEL: @pack_two_non_divisible_dims
// CHECK: linalg.fill {{.*}} tensor<1x2x7x16xf32>
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: linalg.fill {{.*}} tensor<1x1x16x15xf32>
// CHECK: linalg.generic
// CHECK: linalg.fill {{.*}} tensor<1x1x9x15xf32>
// CHECK: linalg.generic
// CHECK-NOT: linalg.fill
func.func @pack_two_non_divisible_dims(%x: tensor<17x25xf32>) -> tensor<17x25xf32, #two_zero> {
  %0 = layout.convert %x : tensor<17x25xf32> to tensor<17x25xf32, #two_zero>
  return %0 : tensor<17x25xf32, #two_zero>
}
