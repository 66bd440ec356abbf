// Check the errors of the lowering to linalg.
// RUN: layout-opt %s --convert-layout-to-linalg --split-input-file --verify-diagnostics

#image = #layout.map<(h, w, c) -> image2d(x = [c floordiv 4, w], y = h, lane = c mod 4)>
// expected-error @+1 {{'func.func' has the type 'tensor<4x4x8xf32, #layout.map<(d0, d1, d2) -> image2d(x = [d2 floordiv 4, d1], y = d0, lane = d2 mod 4)>>' in the space 'image2d', which this pass does not lower: run convert-layout-to-gpu}}
func.func @image(%x: tensor<4x4x8xf32, #image>) {
  return
}

// -----

#c16 = #layout.blocked<"CW" to "CW16c">
#c24 = #layout.blocked<"CW" to "CW24c">
func.func @breakpoints(%x: tensor<48x3xf32, #c16>, %y: tensor<48x3xf32, #c24>) -> tensor<48x3xf32> {
  %e = tensor.empty() : tensor<48x3xf32>
  // expected-error @+1 {{'linalg.add' cannot be lowered with a value of type 'tensor<48x3xf32, #layout.blocked<"CW" to "CW16c">>': loop d0 is cut at multiples of 16 and of 24, which do not nest; convert its tensors to other layouts, or to plain tensors, by layout.convert before and after it}}
  %0 = linalg.add ins(%x, %y : tensor<48x3xf32, #c16>, tensor<48x3xf32, #c24>) outs(%e : tensor<48x3xf32>) -> tensor<48x3xf32>
  return %0 : tensor<48x3xf32>
}

// -----

#c16 = #layout.blocked<"CW" to "CW16c">
func.func @unknown_op(%i: index) -> tensor<48x3xindex, #c16> {
  // expected-error @+1 {{'tensor.generate' cannot be lowered with a value of type 'tensor<48x3xindex, #layout.blocked<"CW" to "CW16c">>': no pattern supports this op on storage, and it does not implement linalg::AggregatedOpInterface; convert its tensors to other layouts}}
  %0 = tensor.generate {
  ^bb0(%c: index, %w: index):
    tensor.yield %c : index
  } : tensor<48x3xindex, #c16>
  return %0 : tensor<48x3xindex, #c16>
}

// -----

#c16 = #layout.blocked<"CW" to "CW16c">
func.func @size_from_storage(%x: tensor<?x3x16xf32>) -> tensor<?x3xf32, #c16> {
  // expected-error @+1 {{'layout.storage_view' cannot be lowered with a value of type 'tensor<?x3xf32, #layout.blocked<"CW" to "CW16c">>': the logical sizes of the result do not follow from its storage: make them static, or pass the logical tensor and convert it}}
  %0 = layout.storage_view %x : tensor<?x3x16xf32> to tensor<?x3xf32, #c16>
  return %0 : tensor<?x3xf32, #c16>
}

// -----

#t = #layout.map<(i, j) -> buffer(j, i)>
func.func @data_is_missing() -> tensor<2x3xi32, #t> {
  // expected-error @+1 {{'arith.constant' cannot be lowered with a value of type 'tensor<2x3xi32, #layout.map<(d0, d1) -> buffer(d1, d0)>>': its data has 4 bytes, which is not the size of its type; correct the data}}
  %0 = arith.constant dense_resource<w> : tensor<2x3xi32, #t>
  return %0 : tensor<2x3xi32, #t>
}
{-#
  dialect_resources: { builtin: { w: "0x0400000001000000" } }
#-}

// -----

#z = #layout.padded<#layout.map<(i, j) -> buffer(i, [j] align 16)>, zero>
func.func @too_large_to_pack() -> tensor<100000x99999xf32, #z> {
  // expected-error @+1 {{its storage is too large to pack at compile time}}
  %0 = arith.constant dense<1.0> : tensor<100000x99999xf32, #z>
  return %0 : tensor<100000x99999xf32, #z>
}

// -----

func.func @bundle(%block: tensor<72xi8>) -> tensor<2x64xf32> {
  // expected-error @+1 {{'layout.assemble' has a tensor with a #layout.bundle: run layout-prepare-lower-bundles first}}
  %0 = layout.assemble %block : tensor<72xi8> to tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
  %1 = layout.convert %0 : tensor<2x64xf32, #layout.bundle<"gguf.q4_0">> to tensor<2x64xf32>
  return %1 : tensor<2x64xf32>
}
