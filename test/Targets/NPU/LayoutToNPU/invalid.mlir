// Check the errors of the lowering to NPU programs.
// RUN: layout-opt %s -split-input-file -verify-diagnostics --convert-layout-to-npu

// expected-error @below {{argument 0 is of type 'tensor<?x4xf32>', whose dim 0 is dynamic: NPU programs need static sizes; state the size, or compile a program for each}}
func.func @dynamic(%x: tensor<?x4xf32>) {
  return
}

// -----

// expected-error @below {{argument 0 is of type 'tensor<4xi1>', but is passed in system memory}}
func.func @bits(%x: tensor<4xi1>) {
  return
}

// -----

// expected-error @below {{has several blocks: an NPU program is one sequence of commands, so inline calls and unroll loops first}}
func.func @blocks() {
  cf.br ^bb1
^bb1:
  return
}

// -----

func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' has no NPU command: lower it to linalg on tensors with static sizes, inline calls, and unroll loops}}
  %r = func.call @call(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'linalg.exp' runs on cores, but its result of type 'tensor<4xf32>' is not in local memory}}
  // expected-note @below {{assign layouts for a target #layout.npu<..>; npu-tile-and-fuse splits ops that do not fit}}
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#blocked = #layout.blocked<"NC" to "NC4c">
func.func @other_space(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{needs plain tensors in system memory or tensors in local memory, found 'tensor<2x4xf32, #layout.blocked<"NC" to "NC4c">>': give it no layout, or a #layout.npu_scatter}}
  %y = layout.convert %x : tensor<2x4xf32> to tensor<2x4xf32, #blocked>
  %r = layout.convert %y : tensor<2x4xf32, #blocked> to tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @places(%x: tensor<4xf32>, %t: tensor<2xf32>) -> tensor<2xf32> {
  %i = arith.constant 1 : index
  %j = arith.addi %i, %i : index
  // expected-error @below {{has dynamic offsets or strides: NPU programs need constants; make them constants}}
  %r = tensor.extract_slice %x[%j] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, axes = "C", target = #npu>
#map = affine_map<(i) -> (i)>
func.func @gather(%table: tensor<9xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32, #t>
  // expected-error @below {{'linalg.generic' reads a tensor in its body by 'tensor.extract', for which cores have no command: npu-legalize-linalg makes reads at indices of the loops operands; for rows at data-dependent indices, multiply by a matrix of ones and zeros, or read them outside of the program}}
  %y = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e : tensor<4xf32, #t>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %v = tensor.extract %table[%i] : tensor<9xf32>
      linalg.yield %v : f32
  } -> tensor<4xf32, #t>
  %r = layout.convert %y : tensor<4xf32, #t> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @pad(%x: tensor<4xf32>) -> tensor<6xf32> {
  // expected-error @below {{has a dynamic value or dynamic sizes: NPU programs need constants; make them constants}}
  %p = tensor.pad %x low[1] high[1] {
    ^bb0(%i: index):
      %j = arith.index_cast %i : index to i32
      %v = arith.sitofp %j : i32 to f32
      tensor.yield %v : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %p : tensor<6xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32, dma_alignment = 4>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
func.func @between_words(%x: tensor<1x4x6x5xf16>) -> tensor<1x4x3x5xf16> {
  %p = tensor.extract_slice %x[0, 0, 3, 0] [1, 4, 3, 5] [1, 1, 1, 1] : tensor<1x4x6x5xf16> to tensor<1x4x3x5xf16>
  // expected-error @below {{a transfer would start at byte 30 of the source, which is not a multiple of the 4 bytes that the DMA engine requires: begin parts, batches and rows at such bytes, or use wider elements}}
  %a = layout.convert %p : tensor<1x4x3x5xf16> to tensor<1x4x3x5xf16, #t>
  %y = layout.convert %a : tensor<1x4x3x5xf16, #t> to tensor<1x4x3x5xf16>
  return %y : tensor<1x4x3x5xf16>
}

// -----

// No local memory is needed here, but the transfers use the chip of the program.
#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32, dma_alignment = 4>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
func.func @outside_alone(%x: tensor<3xi8>, %z: tensor<1x4x2x2xi8>) -> (tensor<6xi8>, tensor<1x4x2x2xi8>) {
  // expected-error @below {{a transfer would start at byte 3 of the destination}}
  %r = tensor.concat dim(0) %x, %x : (tensor<3xi8>, tensor<3xi8>) -> tensor<6xi8>
  %a = layout.convert %z : tensor<1x4x2x2xi8> to tensor<1x4x2x2xi8, #t>
  %y = layout.convert %a : tensor<1x4x2x2xi8, #t> to tensor<1x4x2x2xi8>
  return %r, %y : tensor<6xi8>, tensor<1x4x2x2xi8>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
#m = #layout.npu_scatter<matrix 4, start = 0, target = #npu>
func.func @columns_of_matrix(%x: tensor<4x16xf32>) -> tensor<4x6xf32> {
  %a = layout.convert %x : tensor<4x16xf32> to tensor<4x16xf32, #m>
  // expected-error @below {{'tensor.extract_slice' reads or writes a part of 'memref<4x16xf32, #layout.npu_scatter<matrix 4, start = 0, target = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>>, #npu.memory<local>>': a slice needs the dims N, C, H and W, or whole rows of a matrix: choose such a slice, or slice the tensor in system memory}}
  %p = tensor.extract_slice %a[0, 3] [4, 6] [1, 1] : tensor<4x16xf32, #m> to tensor<4x6xf32, #m>
  %r = layout.convert %p : tensor<4x6xf32, #m> to tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
