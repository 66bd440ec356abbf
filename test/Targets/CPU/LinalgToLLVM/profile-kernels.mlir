// RUN: layout-opt %s -split-input-file -layout-cpu-profile-kernels -verify-diagnostics | FileCheck %s

// Calls of kernels, and loops and copies outside of kernels, are measured; here 16 operations in 8 times 4 iterations.

// CHECK: module attributes {layout.profile = ["/conv1/Conv + /relu/Relu", "/copy", "/sum"]}
// CHECK: llvm.mlir.global external @layout_profile() {{.*}}: !llvm.array<6 x i64>
// CHECK: func.func private @layout_clock() -> i64
// CHECK-LABEL: func.func @main
// CHECK: scf.for
// CHECK: %[[BEGIN:.*]] = func.call @layout_clock()
// CHECK-NEXT: func.call @kernel
// CHECK-NEXT: %[[END:.*]] = func.call @layout_clock()
// CHECK-NEXT: %[[TAKEN:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %{{.*}}[0]
// CHECK-NEXT: %[[BEFORE:.*]] = llvm.load %[[SLOT]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[BEFORE]], %[[TAKEN]]
// CHECK-NEXT: llvm.store %[[SUM]], %[[SLOT]]
// CHECK-NEXT: %[[COUNT:.*]] = arith.constant 512 : i64
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %{{.*}}[1]
// CHECK-NEXT: %[[BEFORE:.*]] = llvm.load %[[SLOT]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[BEFORE]], %[[COUNT]]
// CHECK-NEXT: llvm.store %[[SUM]], %[[SLOT]]
// CHECK: memref.copy
// CHECK-NEXT: call @layout_clock
// CHECK: getelementptr %{{.*}}[2]
// CHECK-NOT: layout_clock
// CHECK: call @own
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @own
// CHECK: call @layout_clock
// CHECK: scf.for
// CHECK: call @layout_clock
// CHECK-LABEL: func.func private @kernel
// CHECK-NOT: layout_clock
func.func @main(%a: memref<8xf32>, %b: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @kernel(%a) : (memref<8xf32>) -> () loc(fused["/conv1/Conv", "/relu/Relu"])
  }
  memref.copy %a, %b : memref<8xf32> to memref<8xf32> loc("/copy")
  call @own(%a) : (memref<8xf32>) -> ()
  return
}
func.func private @own(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %a[%i] : memref<8xf32>
    %y = arith.mulf %x, %x : f32
    %z = arith.addf %x, %y : f32
    memref.store %z, %a[%i] : memref<8xf32>
  } loc("/sum")
  return
}
func.func private @kernel(%a: memref<8xf32>) attributes {layout.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c2) {
    %f = arith.constant dense<1.0> : vector<8xf32>
    %x = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
    %y = arith.mulf %x, %f : vector<8xf32>
    scf.for %k = %c0 to %c1 step %c1 {
      %z = arith.addf %x, %y {tag = 1} : vector<8xf32>
      vector.store %z, %a[%c0] : memref<8xf32>, vector<8xf32>
    }
    %even = arith.muli %i, %j : index
  }
  return
}

// -----

// The number of iterations of a loop may be unknown.

// Operations are then not counted.
// CHECK: layout.profile = ["/dynamic"]
// CHECK-NOT: llvm.getelementptr %{{.*}}[1]
func.func @dynamic(%a: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %a[%i] : memref<?xf32>
  } loc("/dynamic")
  return
}

// -----

// expected-error @below {{layout-cpu-profile-kernels: 'layout_clock' is the name of a symbol that the pass creates; rename this one}}
func.func private @layout_clock()
