// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-lower-accesses))" | FileCheck %s

// Two points of a tile share base pointers: one for the row next to the row,
// one for the column next to the column, then a constant offset.
// CHECK-LABEL: func.func @tile
// CHECK-SAME: %[[X:.*]]: memref<8x16x4xf32>
// CHECK: %[[PARTS:.*]] = builtin.unrealized_conversion_cast %[[X]]
// CHECK: %[[P:.*]] = llvm.extractvalue %[[PARTS]][1]
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[ROW:.*]] = builtin.unrealized_conversion_cast %[[I]] : index to i64
// CHECK: %[[C128:.*]] = llvm.mlir.constant(128 : i64)
// CHECK: %[[ROWS:.*]] = llvm.mul %[[ROW]], %[[C128]]
// CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][%[[ROWS]]] : {{.*}}, f32
// CHECK: scf.for %[[J:.*]] =
// CHECK: %[[R:.*]] = llvm.getelementptr %[[Q]][%{{.*}}]
// CHECK-NOT: arith.addi
// CHECK: %[[A:.*]] = llvm.load %[[R]] {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: %[[R1:.*]] = llvm.getelementptr %[[R]][68]
// CHECK: %[[B:.*]] = llvm.load %[[R1]] {alignment = 4 : i64}
// CHECK: llvm.store %{{.*}}, %[[R]] {alignment = 4 : i64}
func.func @tile(%x: memref<8x16x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c15 step %c1 {
      %row = arith.muli %i, %c2 : index
      %a = vector.load %x[%row, %j, %c0] : memref<8x16x4xf32>, vector<4xf32>
      %next_row = arith.addi %row, %c1 : index
      %next = arith.addi %j, %c1 : index
      %b = vector.load %x[%next_row, %next, %c0] : memref<8x16x4xf32>, vector<4xf32>
      %sum = arith.addf %a, %b : vector<4xf32>
      vector.store %sum, %x[%row, %j, %c0] : memref<8x16x4xf32>, vector<4xf32>
    }
  }
  return
}

// Memory attributes of the op stay, and so does the offset of the buffer. A
// scalar has the alignment of its type, which is not printed.
// CHECK-LABEL: func.func @what_is_known
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[13]
// CHECK: llvm.load %[[AT]] {alignment = 32 : i64, nontemporal} : !llvm.ptr -> vector<8xf32>
// CHECK: %[[AT1:.*]] = llvm.getelementptr %{{.*}}[3]
// CHECK: llvm.load %[[AT1]] : !llvm.ptr -> f32
func.func @what_is_known(%x: memref<4x8xf32, strided<[10, 1], offset: 3>>) -> (vector<8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = vector.load %x[%c1, %c0] {alignment = 32 : i64, nontemporal = true} : memref<4x8xf32, strided<[10, 1], offset: 3>>, vector<8xf32>
  %s = memref.load %x[%c0, %c0] : memref<4x8xf32, strided<[10, 1], offset: 3>>
  return %v, %s : vector<8xf32>, f32
}

// Factors cancel, and equal values become one term.
// CHECK-LABEL: func.func @terms
// CHECK: %[[C10:.*]] = llvm.mlir.constant(9 : i64)
// CHECK: llvm.mul %{{.*}}, %[[C10]]
// CHECK-NOT: llvm.mul
// CHECK: llvm.load
func.func @terms(%x: memref<8x8xf32>, %i: index, %j: index) -> f32 {
  %c-8 = arith.constant -8 : index
  %back = arith.muli %j, %c-8 : index
  %column = arith.addi %i, %back : index
  %row = arith.addi %i, %j : index
  %s = memref.load %x[%row, %column] : memref<8x8xf32>
  return %s : f32
}

// Left to upstream.
// CHECK-LABEL: func.func @others
// CHECK: memref.load
// CHECK: memref.load
// CHECK: vector.load
// CHECK: memref.load
func.func @others(%x: memref<?x?xf32>, %bits: memref<8xi1>, %y: memref<4x4xf32>, %n: memref<4xindex>, %i: index) -> (f32, i1, vector<2x4xf32>, index) {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%i, %i] : memref<?x?xf32>
  %b = memref.load %bits[%i] : memref<8xi1>
  %c = vector.load %y[%c0, %c0] : memref<4x4xf32>, vector<2x4xf32>
  %d = memref.load %n[%i] : memref<4xindex>
  return %a, %b, %c, %d : f32, i1, vector<2x4xf32>, index
}

// A block next to the access is not a loop around it.
// CHECK-LABEL: func.func @blocks
// CHECK: memref.load
func.func @blocks(%x: memref<8xf32>, %i: index, %again: i1) -> f32 {
  cf.br ^body(%i : index)
^body(%j: index):
  cf.cond_br %again, ^body(%j : index), ^end
^end:
  %a = memref.load %x[%j] : memref<8xf32>
  return %a : f32
}
