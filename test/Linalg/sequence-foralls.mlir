// RUN: layout-opt %s --layout-prepare-sequence-foralls --split-input-file | FileCheck %s

// A body reads the value that the shared tensor has before the loop.
// CHECK-LABEL: func @one_loop
// CHECK-SAME: %[[A:.*]]: tensor<6x8xf32>
// CHECK: %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[P:.*]] = %[[A]])
// CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %[[A]][%[[I]], 0] [1, 8] [1, 1]
// CHECK-NEXT: %[[T:.*]] = math.exp %[[S]]
// CHECK-NEXT: %[[N:.*]] = tensor.insert_slice %[[T]] into %[[P]][%[[I]], 0] [1, 8] [1, 1]
// CHECK-NEXT: scf.yield %[[N]]
// CHECK: return %[[R]]
func.func @one_loop(%a: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %r = scf.forall (%i) in (6) shared_outs(%o = %a) -> tensor<6x8xf32> {
    %s = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<1x8xf32>
    %t = math.exp %s : tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<6x8xf32>
    }
  }
  return %r : tensor<6x8xf32>
}

// -----

// Two dims and two tensors, one of which is written twice.
// CHECK-LABEL: func @two_loops
// CHECK-SAME: %{{.*}}: tensor<2xf32>, %[[A:[a-z0-9]*]]: tensor<6x8xf32>, %[[B:[a-z0-9]*]]: tensor<8xf32>, %[[N:[a-z0-9]*]]: index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[A1:.*]] = %[[A]], %[[B1:.*]] = %[[B]])
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[A2:.*]] = %[[A1]], %[[B2:.*]] = %[[B1]])
// CHECK: %[[A3:.*]] = tensor.insert_slice %{{.*}} into %[[A2]][%[[I]], %[[J]]] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x8xf32>
// CHECK: %[[B3:.*]] = tensor.insert_slice %{{.*}} into %[[B2]][%[[J]]]
// CHECK: %[[A4:.*]] = tensor.insert_slice %{{.*}} into %[[A3]][0, %[[J]]]
// CHECK: scf.yield %[[A4]], %[[B3]]
func.func @two_loops(%x: tensor<2xf32>, %a: tensor<6x8xf32>, %b: tensor<8xf32>, %n: index)
    -> (tensor<6x8xf32>, tensor<8xf32>) {
  %r:2 = scf.forall (%i, %j) = (1, 0) to (%n, 8) step (1, 2) shared_outs(%o = %a, %p = %b)
      -> (tensor<6x8xf32>, tensor<8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i, %j] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x8xf32>
      tensor.parallel_insert_slice %x into %p[%j] [2] [1] : tensor<2xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %x into %o[0, %j] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x8xf32>
    }
  }
  return %r#0, %r#1 : tensor<6x8xf32>, tensor<8xf32>
}
