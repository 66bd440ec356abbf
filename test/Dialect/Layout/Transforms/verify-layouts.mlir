// Check that ops that do not support the layouts of their types are errors.
// RUN: layout-opt %s --layout-verify --split-input-file --verify-diagnostics

#t = #layout.map<(i, j) -> buffer(j, i)>
#b = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
func.func @good(%x: tensor<3x5xf32, #b>, %y: tensor<3x5xf32, #t>, %z: tensor<3x8xf32, #b>) {
  %e = tensor.empty() : tensor<3x5xf32, #b>
  %0 = linalg.exp ins(%x : tensor<3x5xf32, #b>) outs(%e : tensor<3x5xf32, #b>) -> tensor<3x5xf32, #b>
  // A plain operand next to a tiled one is read by the same digits.
  %p = tensor.empty() : tensor<3x5xf32>
  %1 = linalg.exp ins(%y : tensor<3x5xf32, #t>) outs(%p : tensor<3x5xf32>) -> tensor<3x5xf32>
  // Slices of whole tiles are supported.
  %2 = tensor.extract_slice %z[0, 4] [3, 4] [1, 1] : tensor<3x8xf32, #b> to tensor<3x4xf32, #b>
  return
}

// -----

// Loops with zero iterations support any digits, and softmax converts
// unsupported layouts.
#packed = #layout.map<(i, j) -> buffer([i, j floordiv 4, j mod 4] align 6)>
#twice = #layout.map<(i, j) replicate(r : 2) -> buffer(i, r, j)>
func.func @anywhere(%x: tensor<2x0xf32, #packed>, %y: tensor<3x5xf32, #twice>) {
  %e = tensor.empty() : tensor<2x0xf32, #packed>
  %0 = linalg.exp ins(%x : tensor<2x0xf32, #packed>) outs(%e : tensor<2x0xf32, #packed>) -> tensor<2x0xf32, #packed>
  %f = tensor.empty() : tensor<3x5xf32, #twice>
  %1 = linalg.softmax dimension(0) ins(%y : tensor<3x5xf32, #twice>) outs(%f : tensor<3x5xf32, #twice>) -> tensor<3x5xf32, #twice>
  return
}

// -----

#b4 = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
#b6 = #layout.map<(i, j) -> buffer(j floordiv 6, i, j mod 6)>
func.func @digits_that_do_not_nest(%x: tensor<3x24xf32, #b4>, %e: tensor<3x24xf32, #b6>) {
  // expected-error@+1 {{cannot run on the layouts of its operands}}
  %0 = linalg.exp ins(%x : tensor<3x24xf32, #b4>) outs(%e : tensor<3x24xf32, #b6>) -> tensor<3x24xf32, #b6>
  return
}

// -----

#b4 = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
func.func @not_a_view(%x: tensor<3x8xf32, #b4>) {
  // expected-error@+1 {{is a view of 'tensor<3x8xf32, #layout.map<(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)>>', whose storage}}
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<3x8xf32, #b4> into tensor<24xf32>
  return
}

// -----

#b4 = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
func.func @pad_of_a_divided_dim(%x: tensor<3x8xf32, #b4>, %c: f32) {
  // expected-error@+1 {{changes dim 1, which layout (d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4) divides; convert the tensor with layout.convert}}
  %0 = tensor.pad %x low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<3x8xf32, #b4> to tensor<3x9xf32, #b4>
  return
}

// -----

#b4 = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
func.func @two_layouts(%x: tensor<3x8xf32, #b4>, %c: f32) {
  // expected-error@+1 {{needs one layout on all its tensors}}
  %0 = tensor.pad %x low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<3x8xf32, #b4> to tensor<4x8xf32>
  return
}

// -----

#a4 = #layout.map<(i) -> buffer([i] align 4)>
#a6 = #layout.map<(i) -> buffer([i] align 6)>
func.func @storage_that_cannot_be_compared(%x: tensor<?xf32, #a6>, %e: tensor<?xf32, #a4>) {
  // expected-error@+1 {{the stored extent of operand 0 of type tensor<?xf32, #layout.map<(d0) -> buffer([d0] align 6)>> cannot be compared with what the loops need}}
  %0 = linalg.exp ins(%x : tensor<?xf32, #a6>) outs(%e : tensor<?xf32, #a4>) -> tensor<?xf32, #a4>
  return
}
