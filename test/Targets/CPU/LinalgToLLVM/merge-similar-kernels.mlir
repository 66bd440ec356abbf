// RUN: layout-opt %s -split-input-file -layout-cpu-merge-similar-kernels | FileCheck %s

// Bounds, strides and differences of offsets become arguments, equal ones once.
// A constant difference of 8 stays in the body.

// CHECK-LABEL: llvm.func @main(
// CHECK-DAG:     %[[ROWS:.*]] = llvm.mlir.constant(56 : i64)
// CHECK-DAG:     %[[STRIDE:.*]] = llvm.mlir.constant(928 : i64)
// CHECK:         llvm.call @first(%{{.*}}, %[[STRIDE]], %[[ROWS]])
// CHECK-DAG:     %[[ROWS:.*]] = llvm.mlir.constant(28 : i64)
// CHECK-DAG:     %[[STRIDE:.*]] = llvm.mlir.constant(480 : i64)
// CHECK:         llvm.call @first(%{{.*}}, %[[STRIDE]], %[[ROWS]])
// CHECK:       llvm.func internal @first(%[[X:.*]]: !llvm.ptr, %[[S:.*]]: i64, %[[N:.*]]: i64)
// CHECK:         %[[ROW:.*]] = llvm.getelementptr %[[X]][%{{.*}}]
// CHECK-NEXT:    %[[NEXT:.*]] = llvm.getelementptr %[[ROW]][%[[S]]]
// CHECK-NEXT:    llvm.getelementptr %[[NEXT]][0]
// CHECK:         llvm.getelementptr %[[NEXT]][8]
// CHECK:         llvm.getelementptr %[[ROW]][4]
// CHECK:         llvm.icmp "slt" %{{.*}}, %[[N]]
// CHECK-NOT:   @second
llvm.func @main(%x: !llvm.ptr) {
  llvm.call @first(%x) : (!llvm.ptr) -> ()
  llvm.call @second(%x) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @first(%x: !llvm.ptr) attributes {layout.kernel} {
  %zero = llvm.mlir.constant(0 : index) : i64
  %one = llvm.mlir.constant(1 : index) : i64
  %rows = llvm.mlir.constant(56 : index) : i64
  %stride = llvm.mlir.constant(928 : i64) : i64
  %v = llvm.mlir.constant(0.0 : f32) : f32
  llvm.br ^loop(%zero : i64)
^loop(%i: i64):
  %far = llvm.mul %i, %stride : i64
  %row = llvm.getelementptr %x[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %p = llvm.getelementptr %row[928] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %p : f32, !llvm.ptr
  %q = llvm.getelementptr %row[936] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %q : f32, !llvm.ptr
  %r = llvm.getelementptr %row[4] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %r : f32, !llvm.ptr
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp "slt" %next, %rows : i64
  llvm.cond_br %more, ^loop(%next : i64), ^end
^end:
  llvm.return
}
llvm.func internal @second(%x: !llvm.ptr) attributes {layout.kernel} {
  %rows = llvm.mlir.constant(28 : index) : i64
  %zero = llvm.mlir.constant(0 : index) : i64
  %one = llvm.mlir.constant(1 : index) : i64
  %stride = llvm.mlir.constant(480 : i64) : i64
  %v = llvm.mlir.constant(0.0 : f32) : f32
  llvm.br ^loop(%zero : i64)
^loop(%i: i64):
  %far = llvm.mul %i, %stride : i64
  %row = llvm.getelementptr %x[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %p = llvm.getelementptr %row[480] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %p : f32, !llvm.ptr
  %q = llvm.getelementptr %row[488] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %q : f32, !llvm.ptr
  %r = llvm.getelementptr %row[4] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %r : f32, !llvm.ptr
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp "slt" %next, %rows : i64
  llvm.cond_br %more, ^loop(%next : i64), ^end
^end:
  llvm.return
}

// -----

// Divisors stay constants; functions without layout.kernel are not shared.

// CHECK-LABEL: llvm.func @main(
// CHECK-DAG:     llvm.call @thirds(%{{.*}}) : (i64) -> ()
// CHECK-DAG:     llvm.call @quarters(%{{.*}}) : (i64) -> ()
// CHECK-DAG:     llvm.call @plain(%{{.*}}) : (i64) -> ()
// CHECK-DAG:     llvm.call @same(%{{.*}}) : (i64) -> ()
llvm.func @use(i64)
llvm.func @main(%x: i64) {
  llvm.call @thirds(%x) : (i64) -> ()
  llvm.call @quarters(%x) : (i64) -> ()
  llvm.call @plain(%x) : (i64) -> ()
  llvm.call @same(%x) : (i64) -> ()
  llvm.return
}
llvm.func internal @thirds(%x: i64) attributes {layout.kernel} {
  %three = llvm.mlir.constant(3 : i64) : i64
  %part = llvm.udiv %x, %three : i64
  llvm.call @use(%part) : (i64) -> ()
  llvm.return
}
llvm.func internal @quarters(%x: i64) attributes {layout.kernel} {
  %four = llvm.mlir.constant(4 : i64) : i64
  %part = llvm.udiv %x, %four : i64
  llvm.call @use(%part) : (i64) -> ()
  llvm.return
}
llvm.func internal @plain(%x: i64) {
  llvm.call @use(%x) : (i64) -> ()
  llvm.return
}
llvm.func internal @same(%x: i64) {
  llvm.call @use(%x) : (i64) -> ()
  llvm.return
}

// -----

// Parts of a descriptor are forwarded from their insertion.

// CHECK-LABEL: llvm.func @descriptor(
// CHECK-SAME:    %[[X:.*]]: !llvm.ptr
// CHECK-NEXT:    llvm.return %[[X]]
llvm.func @descriptor(%x: !llvm.ptr) -> !llvm.ptr {
  %none = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64)>
  %zero = llvm.mlir.constant(0 : i64) : i64
  %a = llvm.insertvalue %x, %none[1] : !llvm.struct<(ptr, ptr, i64)>
  %b = llvm.insertvalue %zero, %a[2] : !llvm.struct<(ptr, ptr, i64)>
  %pointer = llvm.extractvalue %b[1] : !llvm.struct<(ptr, ptr, i64)>
  llvm.return %pointer : !llvm.ptr
}

// -----

// A function whose address is taken, or that is defined elsewhere, stays.

// CHECK-LABEL: llvm.func @address(
// CHECK-DAG:     llvm.mlir.addressof @pointed
// CHECK-DAG:     llvm.call @called(
// CHECK-DAG:     llvm.call @other(
// CHECK-DAG:     llvm.call @another(
llvm.func @address(%x: i64) -> !llvm.ptr {
  llvm.call @called(%x) : (i64) -> ()
  llvm.call @pointed(%x) : (i64) -> ()
  llvm.call @other(%x) : (i64) -> ()
  llvm.call @another(%x) : (i64) -> ()
  %pointer = llvm.mlir.addressof @pointed : !llvm.ptr
  llvm.return %pointer : !llvm.ptr
}
llvm.func internal @called(%x: i64) attributes {layout.kernel} {
  llvm.return
}
llvm.func internal @pointed(%x: i64) attributes {layout.kernel} {
  llvm.return
}
llvm.func @other(i64) attributes {layout.kernel}
llvm.func @another(i64) attributes {layout.kernel}
