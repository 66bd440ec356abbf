// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-cpu-plan-memory))" | FileCheck %s

// The smaller buffer is live within the live range of the larger one: they share nothing.
// CHECK-LABEL: func.func @within
// CHECK: memref.alloc() {{.*}} : memref<192xi8>
// CHECK-DAG: memref.view %{{.*}}[%c0{{.*}}][] : memref<192xi8> to memref<32xf32>
// CHECK-DAG: memref.view %{{.*}}[%c128{{.*}}][] : memref<192xi8> to memref<16xf32>
func.func @within(%v: f32, %i: index) {
  %large = memref.alloc() : memref<32xf32>
  memref.store %v, %large[%i] : memref<32xf32>
  %small = memref.alloc() : memref<16xf32>
  memref.store %v, %small[%i] : memref<16xf32>
  memref.store %v, %large[%i] : memref<32xf32>
  return
}

// -----

// The converse.
// CHECK-LABEL: func.func @around
// CHECK: memref.alloc() {{.*}} : memref<192xi8>
// CHECK-DAG: memref.view %{{.*}}[%c0{{.*}}][] : memref<192xi8> to memref<32xf32>
// CHECK-DAG: memref.view %{{.*}}[%c128{{.*}}][] : memref<192xi8> to memref<16xf32>
func.func @around(%v: f32, %i: index) {
  %small = memref.alloc() : memref<16xf32>
  memref.store %v, %small[%i] : memref<16xf32>
  %large = memref.alloc() : memref<32xf32>
  memref.store %v, %large[%i] : memref<32xf32>
  memref.store %v, %small[%i] : memref<16xf32>
  return
}

// -----

// %p and %r share one position; %s, with 128 bytes, does not fit into the 64 between %r and %q.
// CHECK-LABEL: func.func @gap
// CHECK: memref.alloc() {{.*}} : memref<576xi8>
// CHECK-DAG: memref.view %{{.*}}[%c0{{.*}}][] : memref<576xi8> to memref<64xf32>
// CHECK-DAG: memref.view %{{.*}}[%c256{{.*}}][] : memref<576xi8> to memref<48xf32>
// CHECK-DAG: memref.view %{{.*}}[%c0{{.*}}][] : memref<576xi8> to memref<40xf32>
// CHECK-DAG: memref.view %{{.*}}[%c448{{.*}}][] : memref<576xi8> to memref<32xf32>
func.func @gap(%v: f32, %i: index) {
  %p = memref.alloc() : memref<64xf32>
  %q = memref.alloc() : memref<48xf32>
  memref.store %v, %q[%i] : memref<48xf32>
  memref.store %v, %p[%i] : memref<64xf32>
  %r = memref.alloc() : memref<40xf32>
  %s = memref.alloc() : memref<32xf32>
  memref.store %v, %s[%i] : memref<32xf32>
  memref.store %v, %r[%i] : memref<40xf32>
  memref.store %v, %q[%i] : memref<48xf32>
  return
}

// -----

// With a gap of 128, %s fits in.
// CHECK-LABEL: func.func @fitting_gap
// CHECK: memref.alloc() {{.*}} : memref<448xi8>
// CHECK-DAG: memref.view %{{.*}}[%c256{{.*}}][] : memref<448xi8> to memref<48xf32>
// CHECK-DAG: memref.view %{{.*}}[%c0{{.*}}][] : memref<448xi8> to memref<33xf32>
// CHECK-DAG: memref.view %{{.*}}[%c192{{.*}}][] : memref<448xi8> to memref<16xf32>
func.func @fitting_gap(%v: f32, %i: index) {
  %p = memref.alloc() : memref<64xf32>
  %q = memref.alloc() : memref<48xf32>
  memref.store %v, %q[%i] : memref<48xf32>
  memref.store %v, %p[%i] : memref<64xf32>
  %r = memref.alloc() : memref<33xf32>
  %s = memref.alloc() : memref<16xf32>
  memref.store %v, %s[%i] : memref<16xf32>
  memref.store %v, %r[%i] : memref<33xf32>
  memref.store %v, %q[%i] : memref<48xf32>
  return
}

// -----

// A buffer is live as long as views of views of it.
// CHECK-LABEL: func.func @views
// CHECK: memref.alloc() {{.*}} : memref<128xi8>
// CHECK-DAG: memref.view %{{.*}}[%c0{{.*}}][] : memref<128xi8> to memref<4x4xf32>
// CHECK-DAG: memref.view %{{.*}}[%c64{{.*}}][] : memref<128xi8> to memref<16xf32>
func.func @views(%v: f32, %i: index) {
  %a = memref.alloc() : memref<4x4xf32>
  %line = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  %part = memref.subview %line[4][8][1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 4>>
  %b = memref.alloc() : memref<16xf32>
  memref.store %v, %b[%i] : memref<16xf32>
  memref.store %v, %part[%i] : memref<8xf32, strided<[1], offset: 4>>
  return
}

// -----

// A callee may keep its arguments.
// CHECK-LABEL: func.func @called
// CHECK-NOT: memref.view
// CHECK: memref.alloc() : memref<4xf32>
func.func private @keep(memref<4xf32>)
func.func @called() {
  %a = memref.alloc() : memref<4xf32>
  call @keep(%a) : (memref<4xf32>) -> ()
  return
}

// -----

// Elements smaller than a byte occupy one byte.
// CHECK-LABEL: func.func @bits
// CHECK: memref.alloc() {{.*}} : memref<80xi8>
// CHECK-DAG: memref.view %{{.*}}[%c0{{.*}}][] : memref<80xi8> to memref<16xi1>
// CHECK-DAG: memref.view %{{.*}}[%c64{{.*}}][] : memref<80xi8> to memref<16xi1>
func.func @bits(%v: i1, %i: index) {
  %a = memref.alloc() : memref<16xi1>
  %b = memref.alloc() : memref<16xi1>
  memref.store %v, %a[%i] : memref<16xi1>
  memref.store %v, %b[%i] : memref<16xi1>
  return
}
