// Check that bundles print as written: formats by name with all parameters, and
// others in one canonical form, which parses back.
//
// RUN: layout-opt %s --verify-roundtrip --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func private @named
// CHECK-SAME: tensor<3x64xf32, #layout.bundle<"gguf.q4_0">>
// CHECK-SAME: tensor<64x256xf16, #layout.bundle<"awq", group = 64>>
// CHECK-SAME: tensor<64x256xf16, #layout.bundle<"awq", group = 128>>
// CHECK-SAME: tensor<24x5xbf16, #layout.bundle<"qkv.bf16", groups = 2, queries = 1, head = 4>>
func.func private @named(
    tensor<3x64xf32, #layout.bundle<"gguf.q4_0">>,
    tensor<64x256xf16, #layout.bundle<"awq", group = 64>>,
    tensor<64x256xf16, #layout.bundle<"awq">>,
    tensor<24x5xbf16, #layout.bundle<"qkv.bf16", head = 4, groups = 2, queries = 1>>)

// CHECK-LABEL: func.func private @components
// CHECK-SAME: #layout.bundle<scale(d0, d1),
// CHECK-SAME: value : ui4 excess 8 [d0, d1] in block (d0, d1, d2) -> bits(
// CHECK-SAME: scale : f16 [d0, d1 floordiv 32] in scales (d0, d1, d2) -> bits(d0, d1, d2),
// CHECK-SAME: padding(scales = 127)>
func.func private @components(
    tensor<3x64xf32, #layout.bundle<scale(r, k),
      value : ui4 excess 8 [r, k] in block (r, k, b) ->
        bits(bit = [r, k floordiv 32] * 128 + (k mod 16) * 8 + (k floordiv 16 mod 2) * 4 + b),
      scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b),
      padding(scales = 127)>>)

// CHECK-LABEL: func.func private @bits
// CHECK-SAME: value : ui4 [d0, d1] in data (d0, d1, d2) -> bits(d2, d0, d1)>
// CHECK-SAME: value : si6 [d0] in data (d0, d1) -> bits(d0 * 6 + d1)>
func.func private @bits(
    tensor<3x64xi4, #layout.bundle<value(r, k), value : ui4 [r, k] in data (r, k, b) -> bits(b, r, k)>>,
    tensor<5xi6, #layout.bundle<value(i), value : si6 [i] in data (i, b) -> bits(bit = i * 6 + b)>>)

// CHECK-LABEL: func.func private @pieces
// CHECK-SAME: in data {(d0 = 0 to ceil(size(d0), 2), d1, d2) -> bits(
// CHECK-SAME: (d0 = ceil(size(d0), 2) to size(d0), d1, d2) -> bits(
func.func private @pieces(
    tensor<6x8xbf16, #layout.bundle<value(r, k), value : bf16 [r, k] in data {
      (r = 0 to ceil(size(r), 2), k, b) -> bits(bit = r * (32 * size(k)) + k * 16 + b),
      (r = ceil(size(r), 2) to size(r), k, b) -> bits(bit = r * (32 * size(k)) + k * 16 + b + 16 * size(k))}>>)

// CHECK-LABEL: func.func @streams
func.func @streams(%block: tensor<72xi8>) -> (tensor<64xi8>, tensor<8xi8>, tensor<2x64xf32>) {
  %0 = layout.assemble %block : tensor<72xi8> to tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
  %1 = layout.convert %0 : tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
                        to tensor<2x64xf32, #layout.bundle<scale(r, k),
    value : ui4 excess 8 [r, k] in values (r, k, b) -> bits(r, k, b),
    scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>>
  %values, %scales = layout.streams %1 : tensor<2x64xf32, #layout.bundle<scale(r, k),
    value : ui4 excess 8 [r, k] in values (r, k, b) -> bits(r, k, b),
    scale : f16 [r, k floordiv 32] in scales (r, g, b) -> bits(r, g, b)>>
    to tensor<64xi8>, tensor<8xi8>
  %2 = layout.convert %0 : tensor<2x64xf32, #layout.bundle<"gguf.q4_0">> to tensor<2x64xf32>
  return %values, %scales, %2 : tensor<64xi8>, tensor<8xi8>, tensor<2x64xf32>
}
