// RUN: layout-opt %s --convert-layout-to-mpi --split-input-file | FileCheck %s
// RUN: layout-opt %s --convert-layout-to-mpi="implementation=MPICH max-extra-bytes=16" --split-input-file | FileCheck %s --check-prefix=OPTIONS
// RUN: layout-opt %s --layout-to-mpi --split-input-file | FileCheck %s --check-prefix=LLVM
// Check that a program over a mesh becomes one program for all ranks: blocks instead of tensors, and a table with the
// steps of each rank.

// CHECK: module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "OpenMPI">}
// OPTIONS: module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "MPICH">}

// CHECK-LABEL: func.func @swap(%arg0: tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[SOURCE:.*]] = bufferization.to_buffer %arg0 read_only
// CHECK: %[[TARGET:.*]] = memref.alloc() {alignment = 64 : i64} : memref<3xf32>
// CHECK: memref.get_global @layout_messages : memref<[[SIZE:.*]]xi64>
// CHECK: %[[RANK:.*]] = call @layoutMPIEnter(
// CHECK: call @layout_move_elements(
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<12xi8>
// CHECK: scf.for
// CHECK: scf.if
// CHECK: func.call @layout_move_elements(
// CHECK: func.call @layout_send_bytes(
// CHECK: } else {
// CHECK: func.call @layout_receive_bytes(
// CHECK: func.call @layout_move_elements(
// CHECK: call @layoutMPILeave(
// CHECK: %[[RESULT:.*]] = bufferization.to_tensor %[[TARGET]] restrict writable
// CHECK: return %[[RESULT]]

// Ranks exchange 3 elements: rank 0 sends by row 0 and receives by row 3, rank 1 receives by row 1 and sends by row 2.
// CHECK: memref.global "private" constant @layout_messages : memref<46xi64> = dense<[
// CHECK-SAME: 0, 0, 3, 1, 1, 0, 0, 3, 1, 1, 0, 0, 3, 1, 1, 0, 0, 3, 1, 1,
// CHECK-SAME: 1, 1, 3, 0, 5, 1, 0, 3, 15, 20, 0, 0, 3, 5, 10, 0, 1, 3, 10, 15,
// CHECK-SAME: 0, 0, 0, 20, 30, 40]>
// CHECK: llvm.mlir.global private constant @layout_place("layout.convert at {{.*}}convert-layout-to-mpi.mlir{{.*}}\00")
// CHECK: func.func private @layout_move_elements(
// CHECK: func.func private @layout_send_bytes(
// CHECK: mpi.send
// CHECK: func.func private @layout_receive_bytes(
// CHECK: mpi.recv

// OPTIONS-LABEL: func.func @swap(
// OPTIONS: memref.alloc() {alignment = 64 : i64} : memref<8xi8>

// LLVM-LABEL: llvm.func @swap(
// LLVM: llvm.call @layoutMPIEnter(
// LLVM: llvm.call @layout_send_bytes(
// LLVM: llvm.call @layout_receive_bytes(
// LLVM: llvm.call @layoutMPILeave(
// LLVM: llvm.call @MPI_Send(
// LLVM: llvm.call @MPI_Recv(
#halves = #layout.mesh<[x = 2], [[x]]>
#others = #layout.map<(i) -> mesh(x = (i floordiv 3 + 1) mod 2, offset = i mod 3)>
func.func @swap(%a: tensor<6xf32, #halves>) -> tensor<6xf32, #others> {
  %0 = layout.convert %a : tensor<6xf32, #halves> to tensor<6xf32, #others>
  return %0 : tensor<6xf32, #others>
}

// -----

// Both blocks are on their ranks: no message, no buffer for one, and no function that sends.

// CHECK-LABEL: func.func @stays(%arg0: tensor<4xf32>) -> tensor<7xf32>
// CHECK: call @layout_move_elements(
// CHECK-NOT: memref.alloc()
// CHECK: call @layoutMPILeave(
// CHECK: memref.global "private" constant @layout_messages : memref<13xi64> = dense<[0, 3, 4, 1, 1, 0, 3, 4, 1, 1, 0, 5, 10]>
// CHECK-NOT: mpi.send
#halves = #layout.mesh<[x = 2], [[x]]>
#later = #layout.map<(i) -> mesh(x = i floordiv 4, offset = i mod 4 + 3)>
func.func @stays(%a: tensor<8xf32, #halves>) -> tensor<8xf32, #later> {
  %0 = layout.convert %a : tensor<8xf32, #halves> to tensor<8xf32, #later>
  return %0 : tensor<8xf32, #later>
}

// -----

// Types change in calls and control flow, and partial sums start from 0. Tensors outside of the mesh stay.

// CHECK-LABEL: func.func @flow(
// CHECK-SAME: %[[COND:.*]]: i1, %[[A:.*]]: tensor<6xf32>, %[[PLAIN:.*]]: tensor<4xf32>) -> (tensor<3xf32>, tensor<4xf32>)
// CHECK: scf.if %[[COND]] -> (tensor<3xf32>) {
// CHECK: call @reduce(%[[A]]) : (tensor<6xf32>) -> tensor<3xf32>
// CHECK: func.func private @reduce(%{{.*}}: tensor<6xf32>) -> tensor<3xf32>
// CHECK: %[[ZERO:.*]] = arith.constant {{-?}}0.0{{.*}} : f32
// CHECK: linalg.fill ins(%[[ZERO]] : f32)
// CHECK: call @layout_combine_elements(
// Both conversions read one table.
// CHECK: memref.global "private" constant @layout_messages :
// CHECK-NOT: memref.global
#sums = #layout.partial<#layout.mesh<[x = 2], [[]]>, sum, [x]>
#halves = #layout.mesh<[x = 2], [[x]]>
func.func @flow(%c: i1, %a: tensor<6xf32, #sums>, %plain: tensor<4xf32>) -> (tensor<6xf32, #halves>, tensor<4xf32>) {
  %0 = scf.if %c -> tensor<6xf32, #halves> {
    %1 = func.call @reduce(%a) : (tensor<6xf32, #sums>) -> tensor<6xf32, #halves>
    scf.yield %1 : tensor<6xf32, #halves>
  } else {
    %1 = layout.convert %a : tensor<6xf32, #sums> to tensor<6xf32, #halves>
    scf.yield %1 : tensor<6xf32, #halves>
  }
  return %0, %plain : tensor<6xf32, #halves>, tensor<4xf32>
}
func.func private @reduce(%a: tensor<6xf32, #sums>) -> tensor<6xf32, #halves> {
  %0 = layout.convert %a : tensor<6xf32, #sums> to tensor<6xf32, #halves>
  return %0 : tensor<6xf32, #halves>
}
