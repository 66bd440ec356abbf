// RUN: layout-opt %s --split-input-file --verify-diagnostics
// Check errors in the text, in the chip, and for the tensor.

// expected-error @below {{expected a mode: aligned, compact, matrix, strided, continuous}}
module attributes {test.a = #layout.npu_scatter<alinged, start = 0>} {}

// -----

// expected-error @below {{expected 'start = <core>': the strides depend on it}}
module attributes {test.a = #layout.npu_scatter<aligned>} {}

// -----

// expected-error @below {{expected integer value}}
module attributes {test.a = #layout.npu_scatter<matrix, start = 0>} {}

// -----

// expected-error @below {{the width of a channel must be at least 1, found 0}}
module attributes {test.a = #layout.npu_scatter<matrix 0, start = 0>} {}

// -----

// expected-error @below {{has 3 strides: a strided scatter has four, of N, C, H and W}}
module attributes {test.a = #layout.npu_scatter<strided [1, 2, 3], start = 0>} {}

// -----

// expected-error @below {{a stride must be at least 0, found -2}}
module attributes {test.a = #layout.npu_scatter<strided [120, 56, 16, -2], start = 0>} {}

// -----

// expected-error @below {{a start core must be at least 0, found -1}}
module attributes {test.a = #layout.npu_scatter<aligned, start = -1>} {}

// -----

// expected-error @below {{expected a number, found a truth value}}
module attributes {test.a = #layout.npu_scatter<aligned, start = true>} {}

// -----

// expected-error @below {{integer value too large}}
module attributes {test.a = #layout.npu_scatter<aligned, start = 99999999999999999999>} {}

// -----

// expected-error @below {{an offset must be at least 0, found -4}}
module attributes {test.a = #layout.npu_scatter<aligned, start = 0, offset = -4>} {}

// -----

// expected-error @below {{'start' is repeated}}
module attributes {test.a = #layout.npu_scatter<aligned, start = 0, start = 1>} {}

// -----

// expected-error @below {{unknown setting 'bank': known settings are start, pack, offset, axes and target}}
module attributes {test.a = #layout.npu_scatter<aligned, start = 0, bank = 1>} {}

// -----

// expected-error @below {{expected a packing: n4, n2, ic2}}
module attributes {test.a = #layout.npu_scatter<aligned, start = 0, pack = none>} {}

// -----

// expected-error @below {{expected #npu.target as the target, found "BM1684"}}
module attributes {test.a = #layout.npu_scatter<aligned, start = 0, target = "BM1684">} {}

// -----

// expected-error @below {{packs weights with ic2, whose channels are compact or have strides: write compact or strided}}
module attributes {test.a = #layout.npu_scatter<aligned, start = 0, pack = ic2>} {}

// -----

// expected-error @below {{a continuous tensor is not scattered: it must not have 'start'}}
module attributes {test.a = #layout.npu_scatter<continuous, start = 0>} {}

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{starts at core 4 of a target with 4 cores: start must be between 0 and 3}}
func.func private @f(tensor<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 4, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{starts at byte 1024 of a core, the target has 1024: offset must be between 0 and 1023}}
func.func private @f(tensor<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, offset = 1024, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{starts at address 1088, which is not a multiple of the 128 bytes of an execution unit: choose another offset}}
func.func private @f(tensor<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 1, offset = 64, target = #chip>>)

// -----

// If the core size is not a multiple of the alignment, the start core matters
// as well.
#chip = #npu.target<npus = 4, bytes_per_npu = 1000, eu_bytes = 128>
func.func private @fits(tensor<2x40xf32, #layout.npu_scatter<matrix 8, start = 1, offset = 24, target = #chip>>)
// expected-error @below {{starts at address 1000, which is not a multiple of the 128 bytes of an execution unit}}
func.func private @f(tensor<2x40xf32, #layout.npu_scatter<matrix 8, start = 1, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{starts at address 2, which is not a multiple of the 4 bytes that compact layouts start at}}
func.func private @f(tensor<2x3x4x5xf32, #layout.npu_scatter<compact, start = 0, offset = 2, target = #chip>>)

// -----

// expected-error @below {{needs the parameters of a chip: state `target = #npu.target<..>` in the layout (L1)}}
func.func private @f(tensor<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{has 4 dims, the tensor has rank 2 (L1)}}
func.func private @f(tensor<2x40xf32, #layout.npu_scatter<aligned, start = 0, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{has 2 dims, the tensor has rank 4 (L1)}}
func.func private @f(tensor<2x3x4x5xf32, #layout.npu_scatter<matrix 2, start = 0, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{has 41 columns per channel, the tensor 40: the width of a channel must be between 1 and 40 (L1)}}
func.func private @f(tensor<2x40xf32, #layout.npu_scatter<matrix 41, start = 0, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{stores integers and floats of whole bytes, found 'i4': choose another element type (L1)}}
func.func private @f(tensor<2x3x4x5xi4, #layout.npu_scatter<aligned, start = 0, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{stores integers and floats of whole bytes, found 'complex<f32>'}}
func.func private @f(tensor<2x3x4x5xcomplex<f32>, #layout.npu_scatter<aligned, start = 0, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{packs elements of 8 bits with n4, the tensor's have 32 (L1)}}
func.func private @f(tensor<6x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{packs elements of 16 bits with n2, the tensor's have 8 (L1)}}
func.func private @f(tensor<6x3x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n2, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{packs elements of 32 bits with ic2, the tensor's have 16 (L1)}}
func.func private @f(tensor<3x5x3x3xf16, #layout.npu_scatter<compact, start = 0, pack = ic2, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{aligns channels to 128 bytes, which storage units of 3 bytes cannot meet: use compact or strided (L1)}}
func.func private @f(tensor<2x3x4x5xi24, #layout.npu_scatter<aligned, start = 0, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{starts at byte 4 of a core, which is not a multiple of the 8 bytes of an element: choose another offset (L1)}}
func.func private @f(tensor<2x3x4x5xf64, #layout.npu_scatter<compact, start = 0, offset = 4, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{starts at address 2, which is not a multiple of the 4 bytes of a storage unit: choose another offset (L1)}}
func.func private @f(tensor<3x3x4x5xi16, #layout.npu_scatter<strided [60, 20, 5, 1], start = 0, pack = n2, offset = 2, target = #chip>>)

// -----

#bm1684 = #npu.target<npus = 64, bytes_per_npu = 16384, eu_bytes = 128>
func.func private @from_unit_0(tensor<1x64x56x56xf32, #layout.npu_scatter<aligned, start = 0, target = #bm1684>>)
// expected-error @below {{needs 25088 bytes of every core, the target has 16384: split the tensor, or start at a core where its channels take fewer rows (L1)}}
func.func private @from_unit_1(tensor<1x64x56x56xf32, #layout.npu_scatter<aligned, start = 1, target = #bm1684>>)

// -----

// Dynamic sizes are assumed to be at least 1.
#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
func.func private @may_fit(tensor<?x3x4x?xf32, #layout.npu_scatter<aligned, start = 0, target = #chip>>)
// expected-error @below {{needs 1152 bytes of every core, the target has 1024}}
func.func private @never_fits(tensor<?x33x4x?xf32, #layout.npu_scatter<aligned, start = 0, target = #chip>>)

// -----

// A column of a larger tensor at the end of a core: the bytes that the stride
// of N reserves after the last element are neither there nor needed.
#chip = #npu.target<npus = 49, bytes_per_npu = 256, eu_bytes = 8>
func.func private @column(tensor<3x7x1xi32, #layout.npu_scatter<strided [14, 14, 1, 1], start = 0, offset = 104, axes = "NCW", target = #chip>>)
// expected-error @below {{needs 264 bytes of every core, the target has 256}}
func.func private @behind(tensor<3x7x1xi32, #layout.npu_scatter<strided [14, 14, 1, 1], start = 0, offset = 148, axes = "NCW", target = #chip>>)

// -----

// Elements may extend beyond the stride of N.
#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{needs 1032 bytes of every core, the target has 1024}}
func.func private @f(tensor<1x3x1x2xf32, #layout.npu_scatter<strided [1, 1, 1, 257], start = 0, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// expected-error @below {{needs more than 2^63 - 1 bytes of every core, the target has 1024}}
func.func private @f(tensor<3x3x1x2xf32, #layout.npu_scatter<strided [4611686018427387904, 1, 1, 1], start = 0, target = #chip>>)

// -----

#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// Two rows of channels, with a stride of N for one.
// expected-error @below {{is not injective (L1): indices (0, 4, 0, 0) and (1, 0, 0, 0) share one storage point}}
func.func private @f(tensor<2x5x3x4xf32, #layout.npu_scatter<strided [12, 12, 4, 1], start = 0, target = #chip>>)

// -----

// These strides are valid if no core stores two channels, even though there are
// two rows if the tensor starts at core 3.
#chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
func.func private @f(tensor<2x4x3x4xf32, #layout.npu_scatter<strided [12, 12, 4, 1], start = 3, target = #chip>>)

// -----

// expected-error @below {{layout #layout.npu_scatter<aligned, ..> has a dim of axis 'M': axes are NCHW}}
module attributes {test.a = #layout.npu_scatter<aligned, start = 0, axes = "NM">} {}

// -----

// expected-error @below {{layout #layout.npu_scatter<matrix, ..> has a dim of axis 'C': axes are NM}}
module attributes {test.a = #layout.npu_scatter<matrix 4, start = 0, axes = "NC">} {}
