// RUN: layout-opt %s --layout-prepare-for-canonicalizer | FileCheck %s

// A transposition gets the result type of the following cast.
// CHECK-LABEL: func.func @transpose
// CHECK: linalg.transpose ins(%{{.*}} : tensor<1x4xi64>) outs(%{{.*}} : tensor<4x1xi64>)
func.func @transpose(%x: tensor<1x?xi64>, %e: tensor<?x1xi64>) -> tensor<4x1xi64> {
  %t = linalg.transpose ins(%x : tensor<1x?xi64>) outs(%e : tensor<?x1xi64>) permutation = [1, 0]
  %r = tensor.cast %t : tensor<?x1xi64> to tensor<4x1xi64>
  return %r : tensor<4x1xi64>
}

// A view without elements becomes a new tensor.
// CHECK-LABEL: func.func @view_of_nothing
// CHECK-NOT: tensor.collapse_shape
// CHECK: %[[SIZE:.*]] = affine.apply
// CHECK: tensor.empty(%[[SIZE]]) : tensor<?x0xf32>
func.func @view_of_nothing(%x: tensor<?x3x0xf32>) -> tensor<?x0xf32> {
  %r = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x3x0xf32> into tensor<?x0xf32>
  return %r : tensor<?x0xf32>
}

// A view with elements does not.
// CHECK-LABEL: func.func @view
// CHECK: tensor.collapse_shape
func.func @view(%x: tensor<?x3xf32>) -> tensor<?xf32> {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<?x3xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}

// The dim that no tile divides is sliced before the unpack, the other one after it.
// CHECK-LABEL: func.func @slice_of_unpack
// CHECK: %[[DEST:.*]] = tensor.extract_slice %{{.*}}[0, 1] [10, 3] [1, 1]
// CHECK: %[[SOURCE:.*]] = tensor.extract_slice %{{.*}}[0, 1, 0] [2, 3, 5] [1, 1, 1]
// CHECK: %[[PART:.*]] = linalg.unpack %[[SOURCE]] {{.*}} into %[[DEST]]
// CHECK: tensor.extract_slice %[[PART]][1, 0] [9, 3] [1, 1]
func.func @slice_of_unpack(%x: tensor<2x4x5xf32>, %e: tensor<10x4xf32>) -> tensor<9x3xf32> {
  %u = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [5] into %e : tensor<2x4x5xf32> -> tensor<10x4xf32>
  %r = tensor.extract_slice %u[1, 1] [9, 3] [1, 1] : tensor<10x4xf32> to tensor<9x3xf32>
  return %r : tensor<9x3xf32>
}

// Parts without elements, by any of the types, are removed; if no part is left, the result is a new tensor.

// CHECK-LABEL: func.func @empty_parts
// CHECK-SAME:    (%[[X:.*]]: tensor<1x3xf32>
// CHECK:         %[[ONE:.*]] = tensor.concat dim(0) %[[X]] : (tensor<1x3xf32>) -> tensor<1x3xf32>
// CHECK:         %[[ZERO:.*]] = tensor.concat dim(0) %[[X]], %{{.*}} : (tensor<1x3xf32>, tensor<1x3xf32>)
// CHECK:         %[[ALL:.*]] = tensor.empty(%{{.*}}) : tensor<?x3xf32>
// CHECK:         return %[[ONE]], %[[ALL]], %[[ZERO]]
func.func @empty_parts(%x: tensor<1x3xf32>, %y: tensor<5x3xf32>)
    -> (tensor<1x3xf32>, tensor<?x3xf32>, tensor<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = arith.subi %c3, %c3 : index
  %e = tensor.empty(%c0) : tensor<?x3xf32>
  %s = tensor.extract_slice %y[0, 0] [%n, 3] [1, 1] : tensor<5x3xf32> to tensor<?x3xf32>
  %a = tensor.concat dim(0) %e, %x, %s : (tensor<?x3xf32>, tensor<1x3xf32>, tensor<?x3xf32>) -> tensor<1x3xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x3xf32>
  %z = tensor.concat dim(0) %x, %zeros : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %b = tensor.concat dim(0) %e, %s : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %a, %b, %z : tensor<1x3xf32>, tensor<?x3xf32>, tensor<2x3xf32>
}

// Only the first dims of size 1 can be dropped by a slice or added by an insertion; a reshape drops or adds others.

// CHECK-LABEL: func.func @last_dims
// CHECK: %[[WHOLE:.*]] = tensor.extract_slice %{{.*}} [1, 3, 1] [1, 1, 1] : tensor<2x3x5xf32> to tensor<1x3x1xf32>
// CHECK: %[[SLICE:.*]] = tensor.collapse_shape %[[WHOLE]] {{\[\[}}0], [1, 2]] : tensor<1x3x1xf32> into tensor<1x3xf32>
// CHECK: %[[WIDE:.*]] = tensor.expand_shape %[[SLICE]] {{\[\[}}0], [1, 2]] output_shape [1, 3, 1]
// CHECK: tensor.insert_slice %[[WIDE]] into %{{.*}} [1, 3, 1] [1, 1, 1] : tensor<1x3x1xf32> into tensor<2x3x5xf32>
func.func @last_dims(%x: tensor<2x3x5xf32>, %i: index) -> tensor<2x3x5xf32> {
  %s = tensor.extract_slice %x[0, 0, %i] [1, 3, 1] [1, 1, 1] : tensor<2x3x5xf32> to tensor<1x3xf32>
  %r = tensor.insert_slice %s into %x[1, 0, %i] [1, 3, 1] [1, 1, 1] : tensor<1x3xf32> into tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @first_dims
// CHECK: tensor.extract_slice %{{.*}} : tensor<2x3x5xf32> to tensor<3x1xf32>
// CHECK: tensor.insert_slice %{{.*}} : tensor<3x1xf32> into tensor<2x3x5xf32>
func.func @first_dims(%x: tensor<2x3x5xf32>, %i: index) -> tensor<2x3x5xf32> {
  %s = tensor.extract_slice %x[0, 0, %i] [1, 3, 1] [1, 1, 1] : tensor<2x3x5xf32> to tensor<3x1xf32>
  %r = tensor.insert_slice %s into %x[1, 0, %i] [1, 3, 1] [1, 1, 1] : tensor<3x1xf32> into tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @in_parallel
// CHECK: %[[ROW:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [1, {{.*}}, 1] : tensor<1x?xf32> into tensor<1x?x1xf32>
// CHECK: tensor.parallel_insert_slice %[[ROW]] into
func.func @in_parallel(%x: tensor<1x?xf32>, %n: index, %y: tensor<2x?x5xf32>) -> tensor<2x?x5xf32> {
  %r = scf.forall (%i) in (5) shared_outs(%o = %y) -> tensor<2x?x5xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[0, 0, %i] [1, %n, 1] [1, 1, 1] : tensor<1x?xf32> into tensor<2x?x5xf32>
    }
  }
  return %r : tensor<2x?x5xf32>
}

// An assertion moves up to what its condition needs, but not over an effect. A size is computed from what the measured
// tensor is computed from.

// CHECK-LABEL: func.func @assertions
// CHECK-SAME:    (%[[X:.*]]: tensor<?x4xf32>, %{{.*}}: tensor<?xi1>
// CHECK:         %[[ROWS:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK-NEXT:    %[[IS:.*]] = arith.cmpi eq, %[[ROWS]], %{{.*}}
// CHECK-NEXT:    cf.assert %[[IS]], "rows"
// CHECK:         linalg.fill
// CHECK-NEXT:    %[[FLAG:.*]] = tensor.extract
// CHECK-NEXT:    cf.assert %[[FLAG]], "flag"
// CHECK-NEXT:    linalg.exp
// CHECK:         call @effect
// CHECK-NEXT:    arith.cmpi sgt
// CHECK-NEXT:    cf.assert {{.*}}, "last"
// CHECK-NEXT:    tensor.cast
func.func private @effect()
func.func @assertions(%x: tensor<?x4xf32>, %flags: tensor<?xi1>) -> tensor<5x4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %flag = tensor.extract %flags[%c0] : tensor<?xi1>
  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %rows = tensor.dim %y, %c0 : tensor<?x4xf32>
  cf.assert %flag, "flag"
  %is = arith.cmpi eq, %rows, %c5 : index
  cf.assert %is, "rows"
  func.call @effect() : () -> ()
  %less = arith.cmpi sgt, %rows, %c4 : index
  cf.assert %less, "last"
  %r = tensor.cast %y : tensor<?x4xf32> to tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// Casts that contradict each other are in a branch that does not run. Sizes that the result does not state are those of
// the operand.

// CHECK-LABEL: func.func @contradicting_casts
// CHECK:         scf.if
// CHECK:           %[[NO:.*]] = arith.constant false
// CHECK-NEXT:      cf.assert %[[NO]], "tensor.cast casts a tensor<3x1x?xf32> to a tensor<3x2x?xf32>"
// CHECK:           %[[SIZE:.*]] = tensor.dim
// CHECK:           %[[EMPTY:.*]] = tensor.empty(%[[SIZE]]) : tensor<3x2x?xf32>
// CHECK:           scf.yield %[[EMPTY]]
func.func @contradicting_casts(%x: tensor<3x1x?xf32>, %is: i1, %y: tensor<3x2x?xf32>) -> tensor<3x2x?xf32> {
  %0 = tensor.cast %x : tensor<3x1x?xf32> to tensor<3x?x?xf32>
  %r = scf.if %is -> tensor<3x2x?xf32> {
    %1 = tensor.cast %0 : tensor<3x?x?xf32> to tensor<3x2x?xf32>
    scf.yield %1 : tensor<3x2x?xf32>
  } else {
    scf.yield %y : tensor<3x2x?xf32>
  }
  return %r : tensor<3x2x?xf32>
}
