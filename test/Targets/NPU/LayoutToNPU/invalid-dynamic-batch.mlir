// RUN: layout-opt %s -split-input-file -verify-diagnostics --npu-slice-dynamic-batch
// Check that an error names the dynamic size if a program cannot run once per index of a dynamic batch.

// expected-error @below {{argument 1 is of type 'tensor<4x?xf32>', whose dim 1 is dynamic: only dim 0 of a plain tensor may be dynamic, as a batch for each index of which the NPU program runs; state the other sizes, or compile a program for each}}
func.func @inner(%x: tensor<4xf32>, %y: tensor<4x?xf32>) -> tensor<4x?xf32> {
  return %y : tensor<4x?xf32>
}

// -----

// expected-error @below {{argument 0 is of type 'tensor<?x?xf32>', whose dim 1 is dynamic}}
func.func @two(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  return %x : tensor<?x?xf32>
}

// -----

// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @summed(%x: tensor<?x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.reduce' is not proven to compute each index of the dynamic batch independently, as the NPU program does: state the size, or compile a program for each}}
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?x4xf32>) outs(%s : tensor<4xf32>) dimensions = [0]
  return %r : tensor<4xf32>
}

// -----

// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @counted(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?x4xf32>
  // expected-error @below {{'arith.index_cast' is not proven to compute each index}}
  %k = arith.index_cast %n : index to i32
  return %x : tensor<?x4xf32>
}

// -----

// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @numbered(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'linalg.generic' is not proven to compute each index}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i32
      %v = arith.sitofp %j : i32 to f32
      linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @shifted(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?x4xf32>
  // expected-error @below {{'tensor.extract_slice' is not proven to compute each index}}
  %r = tensor.extract_slice %x[1, 0] [%n, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @appended(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{'tensor.concat' is not proven to compute each index}}
  %r = tensor.concat dim(0) %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Elements of two indices would become one element.
// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @regrouped(%x: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %i = arith.constant 0 : index
  %two = arith.constant 2 : index
  %n = tensor.dim %x, %i : tensor<?x4xf32>
  // expected-error @below {{'arith.divui' is not proven to compute each index}}
  %half = arith.divui %n, %two : index
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %r = tensor.expand_shape %c [[0, 1]] output_shape [%half, 8] : tensor<?xf32> into tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @split(%x: tensor<?x4xf32>, %n: index) -> tensor<?x8xf32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  // expected-error @below {{'tensor.expand_shape' is not proven to compute each index}}
  %r = tensor.expand_shape %c [[0, 1]] output_shape [%n, 8] : tensor<?xf32> into tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @lacks(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>) {
  // expected-error @below {{'func.return' is not proven to compute each index}}
  return %x, %y : tensor<?x4xf32>, tensor<4xf32>
}

// -----

// A tensor with four elements is not a batch of dynamic size.
// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @of_four(%x: tensor<?xf32>, %y: tensor<4xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'linalg.generic' is not proven to compute each index}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<?xf32>, tensor<4xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @compared(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %i = arith.constant 0 : index
  %two = arith.constant 2 : index
  %n = tensor.dim %x, %i : tensor<?x4xf32>
  // expected-error @below {{'arith.cmpi' is not proven to compute each index}}
  %is = arith.cmpi sge, %n, %two : index
  cf.assert %is, "two of them"
  return %x : tensor<?x4xf32>
}

// -----

// A size in an unsigned comparison may be the largest number.
// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @unsigned(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?x4xf32>
  // expected-error @below {{'arith.cmpi' is not proven to compute each index}}
  %is = arith.cmpi ugt, %n, %i : index
  cf.assert %is, "some"
  return %x : tensor<?x4xf32>
}

// -----

// An index of the batch other than that of the loop.
// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @first(%x: tensor<?xf32>) -> tensor<?xf32> {
  %i = arith.constant 0 : index
  %two = arith.constant 2 : index
  %n = tensor.dim %x, %i : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  // expected-error @below {{'linalg.generic' is not proven to compute each index}}
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %a = linalg.index 0 : index
    %is = arith.cmpi eq, %n, %two : index
    %at = arith.select %is, %i, %a : index
    %w = tensor.extract %x[%at] : tensor<?xf32>
    linalg.yield %w : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A program that tests whether the batch is empty differs for an empty batch.
// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @empty(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?x4xf32>
  // expected-error @below {{'arith.cmpi' is not proven to compute each index}}
  %is = arith.cmpi sgt, %n, %i : index
  cf.assert %is, "some"
  return %x : tensor<?x4xf32>
}

// -----

// One index and five of another tensor are not those of one index.
// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @unlike(%x: tensor<?x8xf32>, %y: tensor<?x5x8xf32>) -> tensor<?x8xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?x8xf32>
  %c = tensor.collapse_shape %y [[0, 1], [2]] : tensor<?x5x8xf32> into tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  // expected-error @below {{'linalg.add' is not proven to compute each index}}
  %r = linalg.add ins(%x, %c : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// The first indices of a batch, with a number that is unrelated to its size.
// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @some(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  // expected-error @below {{'tensor.extract_slice' is not proven to compute each index}}
  %r = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Results of consecutive indices must be outermost.
// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @inner_result(%x: tensor<?x4xf32>) -> tensor<4x?xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x4xf32>) outs(%e : tensor<4x?xf32>) permutation = [1, 0]
  // expected-error @below {{'func.return' is not proven to compute each index}}
  return %t : tensor<4x?xf32>
}

// -----

// Each element is divided by the size of the batch.
// expected-note @below {{the batch is dim 0 of argument 0}}
func.func @averaged(%x: tensor<?xf32>) -> tensor<?xf32> {
  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  // expected-error @below {{'linalg.generic' is not proven to compute each index}}
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %k = arith.index_cast %n : index to i32
    %f = arith.sitofp %k : i32 to f32
    %w = arith.divf %v, %f : f32
    linalg.yield %w : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
