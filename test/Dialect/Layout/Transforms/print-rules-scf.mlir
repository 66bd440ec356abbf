// Check that tensors forwarded by control flow have one layout if they share a
// name t0, t1, ..; the types of `fixed` ones cannot change.
//
// RUN: layout-opt %s --layout-print-rules -o /dev/null | FileCheck %s --match-full-lines

// CHECK:      func.func @loop blocks (fixed, _, _)
// CHECK-NEXT:   %0 = scf.for (_, _, _, t2) -> (t2) blocks (_, t2)
// CHECK-NEXT:     %1 = scf.if (_) -> (t3)
// CHECK-NEXT:       %2 = math.exp ([i]) -> [i], loops i=8, tiles i, 1 op per point
// CHECK-NEXT:       scf.yield (t3)
// CHECK-NEXT:       scf.yield (t3)
// CHECK-NEXT:     scf.yield (t2)
// CHECK-NEXT:   func.return (fixed)
func.func @loop(%x: tensor<8xf32>, %n: index, %b: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %s = scf.if %b -> tensor<8xf32> {
      %e = math.exp %a : tensor<8xf32>
      scf.yield %e : tensor<8xf32>
    } else {
      scf.yield %a : tensor<8xf32>
    }
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The slices that the bodies insert are parts of the result.
// CHECK: %0 = scf.forall (t4) -> (t4) blocks (_, t4)
// CHECK: tensor.parallel_insert_slice one layout [d0 whole, d1], reads operand 0, writes a part, operand 0 in t4, operand 1 in t4
func.func @forall(%x: tensor<8x4xf32>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = scf.forall (%i) in (8) shared_outs(%o = %e) -> tensor<8x4xf32> {
    %p = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %o[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    }
  }
  return %r : tensor<8x4xf32>
}

// A private function: its arguments, its results and all calls.
// CHECK: func.func @callee blocks (t0)
// CHECK: func.return (t1)
// CHECK: %0 = func.call (t0) -> (t1)
func.func private @callee(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @caller(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @callee(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
