// Check the errors of the verifiers of layout ops.
// RUN: layout-opt %s --split-input-file --verify-diagnostics

#blocked = #layout.blocked<"NCHW" to "NCHW16c">
func.func @f(%x: tensor<1x17x7x7xf32>) {
  // expected-error@+1 {{keeps the element type, found 'f32' and 'f16'}}
  %0 = layout.convert %x : tensor<1x17x7x7xf32> to tensor<1x17x7x7xf16, #blocked>
  return
}

// -----

#blocked = #layout.blocked<"NCHW" to "NCHW16c">
func.func @f(%x: tensor<1x17x7x7xf32>) {
  // expected-error@+1 {{keeps the logical shape, found 'tensor<1x17x7x7xf32>' and 'tensor<1x32x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>'; only the layout of the two types may differ}}
  %0 = layout.convert %x : tensor<1x17x7x7xf32> to tensor<1x32x7x7xf32, #blocked>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{takes plain tensors and tensors with a layout, found the encoding "csr"}}
  %0 = layout.convert %x : tensor<4xf32> to tensor<4xf32, "csr">
  return
}

// -----

#blocked = #layout.blocked<"NCHW" to "NCHW16c">
func.func @f(%x: tensor<1x17x7x7xf32, #blocked>) {
  // expected-error@+1 {{the storage of 'tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>' is 'tensor<1x2x7x7x16xf32>', found 'tensor<1x17x7x7xf32>'}}
  %0 = layout.storage_view %x : tensor<1x17x7x7xf32, #blocked> to tensor<1x17x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs one tensor with a layout and one plain tensor}}
  %0 = layout.storage_view %x : tensor<4xf32> to tensor<2x2xf32>
  return
}

// -----

#blocked = #layout.blocked<"NCHW" to "NCHW16c">
func.func @f(%x: tensor<1x17x7x7xf32, #blocked>) {
  // expected-error@+1 {{needs one tensor with a layout and one plain tensor}}
  %0 = layout.storage_view %x : tensor<1x17x7x7xf32, #blocked> to tensor<1x17x7x7xf32, #blocked>
  return
}

// -----

func.func @f(%x: tensor<1x2x7x7x16xf32>) {
  // expected-error@+1 {{must not state a padding value, because what the padding of plain storage holds is unknown (P3): read it without one and use layout.convert to set it}}
  %0 = layout.storage_view %x : tensor<1x2x7x7x16xf32> to tensor<1x17x7x7xf32, #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>>
  return
}

// -----

func.func @f(%x: tensor<4xf32, "csr">) {
  // expected-error@+1 {{takes plain tensors and tensors with a layout, found the encoding "csr"}}
  %0 = layout.storage_view %x : tensor<4xf32, "csr"> to tensor<4xf32, #layout.map<(a) -> buffer(a)>>
  return
}
