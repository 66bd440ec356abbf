// Check the errors of bundles: text, shapes, bits that two codes share, and
// conversions between different values, which print both bundles.
//
// RUN: layout-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{unknown format 'gguf.q9'; the formats are gguf.q4_0, }}
func.func private @f(tensor<3x64xf32, #layout.bundle<"gguf.q9">>)

// -----

// expected-error @+1 {{format 'gguf.q4_0' has no parameter 'group'}}
func.func private @f(tensor<3x64xf32, #layout.bundle<"gguf.q4_0", group = 2>>)

// -----

// expected-error @+1 {{unknown decode function 'scaled' (B5): use value, scale, scale2, zero, min or min2}}
func.func private @f(tensor<3xf32, #layout.bundle<scaled(r), value : ui4 [r] in s (r, b) -> bits(r, b)>>)

// -----

// expected-error @+1 {{decode function 'scale' needs one component 'scale' (B5)}}
func.func private @f(tensor<3xf32, #layout.bundle<scale(r), value : ui4 [r] in s (r, b) -> bits(r, b)>>)

// -----

// expected-error @+1 {{decode function 'value' does not read a component 'min' (B5): it reads value}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s (r, b) -> bits(r, b), min : ui4 [r] in t (r, b) -> bits(r, b)>>)

// -----

// expected-error @+1 {{component 'value' has codes of another type than floats and integers with a sign, of at most 32 bits (B2): write ui4 or si8 for integers}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : i4 [r] in s (r, b) -> bits(r, b)>>)

// -----

// expected-error @+1 {{component 'value' has a map into space 'buffer' (B1): codes are stored in space 'bits'}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s (r, b) -> buffer(r, b)>>)

// -----

// expected-error @+1 {{component 'value' has an index of 1 digits and a map of 1 dims (B1): the map has one more, the bit of a code}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s (r) -> bits(r)>>)

// -----

// expected-error @+1 {{has 1 dims, the tensor has rank 2 (B1): write the bundle over the dims of the tensor}}
func.func private @f(tensor<3x4xi4, #layout.bundle<value(r), value : ui4 [r] in s (r, b) -> bits(r, b)>>)

// -----

// expected-error @+1 {{needs a static shape (B1)}}
func.func private @f(tensor<?xi4, #layout.bundle<value(r), value : ui4 [r] in s (r, b) -> bits(r, b)>>)

// -----

// expected-error @+1 {{holds values of 'ui4', the tensor holds 'i8' (B5): use the element type 'i4'}}
func.func private @f(tensor<3xi8, #layout.bundle<value(r), value : ui4 [r] in s (r, b) -> bits(r, b)>>)

// -----

// expected-error @+1 {{decodes to floats, the tensor holds 'i8' (B5): use a float element type}}
func.func private @f(tensor<3x64xi8, #layout.bundle<"gguf.q4_0">>)

// -----

// The scale covers the lowest bits of the first values.
// expected-error @+1 {{stores two bits at one position of stream 's' (B4): 'value' (0) bit 0 and 'scale' () bit 0}}
func.func private @f(tensor<3xf32, #layout.bundle<scale(r), value : ui4 [r] in s (r, b) -> bits(r, b), scale : f16 [] in s (b) -> bits(b)>>)

// -----

// expected-error @+1 {{stores two bits at one position of stream 's' (B4): 'value' (0) bit 2 and 'value' (1) bit 0}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s (r, b) -> bits(bit = r * 2 + b)>>)

// -----

// expected-error @+1 {{the pieces hold 8 of 12 indices: each index must be in one piece}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s {(r = 0 to 2, b) -> bits(r, b)}>>)

// -----

// expected-error @+1 {{pieces 0 and 1 share indices: each index must be in one piece}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s {(r = 0 to 2, b) -> bits(r, b), (r = 1 to 3, b) -> bits(bit = r * 4 + b + 8)}>>)

// -----

// expected-error @+1 {{piece 0 has a range of dim 0 that is not in [0, 3]: state ranges within the size of the dim}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s {(r = 0 to 4, b) -> bits(r, b)}>>)

// -----

// expected-error @+1 {{component 'value' has strides, ranges or extents that do not fit 64 bits (L1): use smaller factors}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s (r = ceil(size(r), 9223372036854775807) to size(r), b) -> bits(r, b)>>)

// -----

// expected-error @+1 {{'padding' names a stream 't' that no component is in (B6)}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s (r, b) -> bits(r, b), padding(t = 0)>>)

// -----

// expected-error @+1 {{padding of stream 's' is 256 (B6): state a byte, 0 to 255}}
func.func private @f(tensor<3xi4, #layout.bundle<value(r), value : ui4 [r] in s (r, b) -> bits(r, b), padding(s = 256)>>)

// -----

func.func @quantize(%x: tensor<2x64xf32, #layout.bundle<"gguf.q8_0">>) {
  // expected-error @+3 {{cannot convert between bundles of different values (B7): the codes of 'value' differ in their type; decode and quantize instead}}
  // expected-note @+2 {{the source is #layout.bundle<scale(d0, d1), value : si8 [d0, d1] in block }}
  // expected-note @+1 {{the result is #layout.bundle<scale(d0, d1), value : ui4 excess 8 [d0, d1] in block }}
  %0 = layout.convert %x : tensor<2x64xf32, #layout.bundle<"gguf.q8_0">> to tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
  return
}

// -----

func.func @groups(%x: tensor<2x64xf32, #layout.bundle<"mxfp4", group = 32>>) {
  // expected-error @+3 {{the codes of 'scale' differ in their group}}
  // expected-note @+2 {{the source is }}
  // expected-note @+1 {{the result is }}
  %0 = layout.convert %x : tensor<2x64xf32, #layout.bundle<"mxfp4", group = 32>> to tensor<2x64xf32, #layout.bundle<"mxfp4", group = 16>>
  return
}

// -----

func.func @from_plain(%x: tensor<2x64xf32>) {
  // expected-error @+1 {{a conversion decodes a bundle to a plain tensor or repacks it, and never quantizes}}
  %0 = layout.convert %x : tensor<2x64xf32> to tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
  return
}

// -----

// An op that takes scales in tiles does not take linear ones.
func.func private @gemm(tensor<128x64xf32, #layout.bundle<"nvfp4.128x4">>)
func.func @linear_scales(%w: tensor<128x64xf32, #layout.bundle<"nvfp4">>) {
  // expected-error @+1 {{operand type mismatch: expected operand type 'tensor<128x64xf32, #layout.bundle<"nvfp4.128x4">>', but provided 'tensor<128x64xf32, #layout.bundle<"nvfp4">>' for operand number 0}}
  call @gemm(%w) : (tensor<128x64xf32, #layout.bundle<"nvfp4">>) -> ()
  return
}

// -----

func.func @streams(%block: tensor<70xi8>) {
  // expected-error @+1 {{needs the streams ('tensor<72xi8>') of 'tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>' (B1), found ('tensor<70xi8>')}}
  %0 = layout.assemble %block : tensor<70xi8> to tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
  return
}
