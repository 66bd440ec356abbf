// RUN: layout-opt %s -split-input-file -layout-cpu-outline-kernels | FileCheck %s

// Loops that differ only in their buffers, here in the arena offset and in the global, are one function, which has its
// own constants.
// CHECK-LABEL: func.func @shared
// CHECK: %[[A:.*]] = memref.view %{{.*}}[%c0]
// CHECK-NEXT: %[[V:.*]] = memref.get_global @v
// CHECK-NEXT: call @layout_kernel(%[[V]], %[[A]])
// CHECK-NEXT: %[[B:.*]] = memref.view %{{.*}}[%c64]
// CHECK-NEXT: %[[W:.*]] = memref.get_global @w
// CHECK-NEXT: call @layout_kernel(%[[W]], %[[B]])
// CHECK: return
// CHECK: func.func private @layout_kernel(%[[FROM:.*]]: memref<16xf32>, %[[TO:.*]]: memref<16xf32>)
// CHECK-SAME: llvm.bareptr, llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[SIXTEEN:.*]] = arith.constant 16 : index
// CHECK: scf.for %[[I:.*]] = %[[ZERO]] to %[[SIXTEEN]]
// CHECK: memref.load %[[FROM]][%[[I]]]
// CHECK: memref.store %{{.*}}, %[[TO]][%[[I]]]
// CHECK-NOT: @layout_kernel_
memref.global "private" constant @v : memref<16xf32> = dense<1.0>
memref.global "private" constant @w : memref<16xf32> = dense<2.0>
func.func @shared(%arena: memref<128xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  %v = memref.get_global @v : memref<16xf32>
  scf.for %i = %c0 to %c16 step %c1 {
    %x = memref.load %v[%i] : memref<16xf32>
    memref.store %x, %a[%i] : memref<16xf32>
  }
  %b = memref.view %arena[%c64][] : memref<128xi8> to memref<16xf32>
  %w = memref.get_global @w : memref<16xf32>
  scf.for %i = %c0 to %c16 step %c1 {
    %x = memref.load %w[%i] : memref<16xf32>
    memref.store %x, %b[%i] : memref<16xf32>
  }
  return
}

// -----

// A sum is equal in both orders of its operands; a difference is not, and neither is a sum of other
// values.
// CHECK-LABEL: func.func @orders
// CHECK: call @layout_kernel(
// CHECK: call @layout_kernel(
// CHECK: call @layout_kernel_0(
// CHECK: call @layout_kernel_1(
// CHECK-NOT: @layout_kernel_2
func.func @orders(%a: memref<16xf32>, %b: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %x = memref.load %a[%i] : memref<16xf32>
    %y = memref.load %b[%i] : memref<16xf32>
    %difference = arith.subf %x, %y : f32
    %sum = arith.addf %difference, %y : f32
    memref.store %sum, %a[%i] : memref<16xf32>
  }
  scf.for %i = %c0 to %c16 step %c1 {
    %x = memref.load %a[%i] : memref<16xf32>
    %y = memref.load %b[%i] : memref<16xf32>
    %difference = arith.subf %x, %y : f32
    %sum = arith.addf %y, %difference : f32
    memref.store %sum, %a[%i] : memref<16xf32>
  }
  scf.for %i = %c0 to %c16 step %c1 {
    %x = memref.load %a[%i] : memref<16xf32>
    %y = memref.load %b[%i] : memref<16xf32>
    %difference = arith.subf %y, %x : f32
    %sum = arith.addf %y, %difference : f32
    memref.store %sum, %a[%i] : memref<16xf32>
  }
  scf.for %i = %c0 to %c16 step %c1 {
    %x = memref.load %a[%i] : memref<16xf32>
    %y = memref.load %b[%i] : memref<16xf32>
    %difference = arith.subf %x, %y : f32
    %sum = arith.addf %y, %y : f32
    memref.store %sum, %a[%i] : memref<16xf32>
    memref.store %difference, %b[%i] : memref<16xf32>
  }
  return
}

// -----

// A value computed only from constants is cloned like a constant: two loops that use it are two kernels, not one with
// everything in between.
// CHECK-LABEL: func.func @constants
// CHECK: call @layout_kernel(%arg0)
// CHECK: call @layout_kernel(%arg1)
// CHECK: func.func private @layout_kernel(%{{.*}}: memref<16xf32>)
// CHECK: %[[LIMIT:.*]] = arith.constant -1.7976931348623157E+308 : f64
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[LIMIT]] : f64 to f32
// CHECK: memref.store %[[ROUNDED]]
// CHECK-NOT: @layout_kernel_
func.func @constants(%a: memref<16xf32>, %b: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %limit = arith.constant -1.7976931348623157E+308 : f64
  %rounded = arith.truncf %limit : f64 to f32
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %rounded, %a[%i] : memref<16xf32>
  }
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %rounded, %b[%i] : memref<16xf32>
  }
  return
}

// -----

// Other element types, strides, bodies, constants and uses of the arguments are different
// functions.
// CHECK-LABEL: func.func @apart
// CHECK: call @layout_kernel(%arg0, %arg1)
// CHECK-NEXT: call @layout_kernel_0(%arg2, %arg3)
// CHECK-NEXT: call @layout_kernel_1(%arg0, %arg4)
// CHECK-NEXT: call @layout_kernel_2(%arg0, %arg1)
// CHECK-NEXT: call @layout_kernel_3(%arg0, %arg1)
// CHECK-NEXT: call @layout_kernel_4(%arg0)
// CHECK-NEXT: call @layout_kernel_5(%arg0, %arg1)
// CHECK-NEXT: call @layout_kernel_6(%arg0, %arg1)
// CHECK-NEXT: return
func.func @apart(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xi32>, %d: memref<8xi32>,
                 %e: memref<8xf32, strided<[2]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %a[%i] : memref<8xf32>
    memref.store %x, %b[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %c[%i] : memref<8xi32>
    memref.store %x, %d[%i] : memref<8xi32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %a[%i] : memref<8xf32>
    memref.store %x, %e[%i] : memref<8xf32, strided<[2]>>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %a[%i] : memref<8xf32>
    %y = arith.negf %x : f32
    memref.store %y, %b[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %x = memref.load %a[%i] : memref<8xf32>
    memref.store %x, %b[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %a[%i] : memref<8xf32>
    memref.store %x, %a[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %a[%i] : memref<8xf32>
    %y = memref.load %b[%i] : memref<8xf32>
    %z = arith.subf %x, %y : f32
    memref.store %z, %b[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %a[%i] : memref<8xf32>
    %y = memref.load %b[%i] : memref<8xf32>
    %z = arith.subf %y, %x : f32
    memref.store %z, %b[%i] : memref<8xf32>
  }
  return
}

// -----

// Dynamic sizes are arguments, and so are whole memrefs.
// CHECK-LABEL: func.func @dynamic
// CHECK: call @layout_kernel(%[[N:.*]], %arg0, %arg1)
// CHECK: call @layout_kernel(%[[N]], %arg1, %arg0)
// CHECK: func.func private @layout_kernel(%{{.*}}: index, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>)
// CHECK-NOT: llvm.bareptr
func.func @dynamic(%a: memref<?xf32>, %b: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<?xf32>
    memref.store %x, %b[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %b[%i] : memref<?xf32>
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return
}

// -----

// Parallel loops are outlined, too. Ops that compute on the results of a loop move with it, but not a view between them
// that has another user.
// CHECK-LABEL: func.func @threads_and_results
// CHECK: call @layout_kernel(%arg0)
// CHECK: %[[VIEW:.*]] = memref.collapse_shape
// CHECK: call @layout_kernel_0(%arg0, %[[VIEW]])
// CHECK-NEXT: return %[[VIEW]]
// CHECK: func.func private @layout_kernel(
// CHECK: scf.parallel
// CHECK: func.func private @layout_kernel_0(
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[HALF:.*]] = arith.mulf %[[SUM]]
// CHECK: memref.store %[[HALF]]
func.func @threads_and_results(%a: memref<4x4xf32>) -> memref<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %half = arith.constant 0.5 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c1) {
    memref.store %half, %a[%i, %j] : memref<4x4xf32>
  }
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %half) -> f32 {
    %x = memref.load %a[%i, %i] : memref<4x4xf32>
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  }
  %b = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  %r = arith.mulf %sum, %half : f32
  memref.store %r, %b[%c0] : memref<16xf32>
  return %b : memref<16xf32>
}

// -----

// A loop that calls functions, or allocates memory that others free, stays; its inner loops move. Values that another
// op needs, here the return, stay, too.
// CHECK-LABEL: func.func @stays
// CHECK: scf.for
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: call @layout_kernel(
// CHECK-NEXT: call @layout_kernel(
// CHECK-NEXT: memref.dealloc
// CHECK: scf.forall
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: call @layout_kernel_0(
// CHECK: %[[LAST:.*]] = scf.for
// CHECK: return %[[LAST]]
func.func @stays(%a: memref<4xf32>, %zero: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %k = %c0 to %c4 step %c1 {
    %t = memref.alloc() : memref<4xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      %x = memref.load %a[%i] : memref<4xf32>
      memref.store %x, %t[%i] : memref<4xf32>
    }
    scf.for %i = %c0 to %c4 step %c1 {
      %x = memref.load %t[%i] : memref<4xf32>
      memref.store %x, %a[%i] : memref<4xf32>
    }
    memref.dealloc %t : memref<4xf32>
  }
  scf.forall (%k) in (4) {
    %t = memref.alloc() : memref<4xf32>
    linalg.fill ins(%zero : f32) outs(%t : memref<4xf32>)
    memref.dealloc %t : memref<4xf32>
  }
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> f32 {
    %x = memref.load %a[%i] : memref<4xf32>
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  }
  return %sum : f32
}

// -----

// A function of the program keeps its name.
// CHECK-LABEL: func.func @layout_kernel(
// CHECK: call @layout_kernel_0(
// CHECK: func.func private @layout_kernel_0(
func.func @layout_kernel(%a: memref<4xf32>, %v: f32) {
  linalg.fill ins(%v : f32) outs(%a : memref<4xf32>)
  return
}

// -----

// Memory that only the loads and stores of a loop use moves with it.
// CHECK-LABEL: func.func @own_memory
// CHECK-NOT: scf.for
// CHECK-NOT: memref.alloc
// CHECK: call @layout_kernel(
// CHECK: func.func private @layout_kernel(
// CHECK: scf.for
// CHECK: memref.alloc
func.func @own_memory(%a: memref<64xf32>, %b: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c8 {
    %stage = memref.alloc() : memref<8xf32>
    %x = vector.load %a[%i] : memref<64xf32>, vector<8xf32>
    vector.store %x, %stage[%c0] : memref<8xf32>, vector<8xf32>
    %y = vector.load %stage[%c0] : memref<8xf32>, vector<8xf32>
    vector.store %y, %b[%i] : memref<64xf32>, vector<8xf32>
  }
  return
}
