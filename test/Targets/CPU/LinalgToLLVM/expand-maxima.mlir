// RUN: layout-opt %s --layout-cpu-expand-math | FileCheck %s

// An accumulator that starts at a number and is only combined by maxnumf is never NaN, also through several blocks.
// CHECK-LABEL: func.func @row_maximum(
// CHECK: %[[X:.*]] = vector.load
// CHECK: %[[IS_LARGER:.*]] = arith.cmpf ogt, %[[X]], %[[LARGEST:.*]] : vector<8xf32>
// CHECK-NEXT: arith.select %[[IS_LARGER]], %[[X]], %[[LARGEST]]
// CHECK-NOT: arith.maxnumf
// CHECK: vector.shuffle {{.*}} [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [2, 3] : vector<4xf32>, vector<4xf32>
// CHECK: vector.shuffle {{.*}} [1] : vector<2xf32>, vector<2xf32>
// CHECK-NOT: arith.maxnumf
// CHECK: return
func.func @row_maximum(%row: memref<?xf32>, %size: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %least = arith.constant dense<0xFF800000> : vector<8xf32>
  cf.br ^head(%c0, %least : index, vector<8xf32>)
^head(%i: index, %largest: vector<8xf32>):
  %more = arith.cmpi slt, %i, %size : index
  cf.cond_br %more, ^body(%largest : vector<8xf32>), ^exit
^body(%old: vector<8xf32>):
  %x = vector.load %row[%i] : memref<?xf32>, vector<8xf32>
  %new = arith.maxnumf %x, %old : vector<8xf32>
  %next = arith.addi %i, %c8 : index
  cf.br ^head(%next, %new : index, vector<8xf32>)
^exit:
  %r = vector.reduction <maxnumf>, %largest : vector<8xf32> into f32
  return %r : f32
}

// An accumulator that starts at NaN or at an argument, or becomes a value that is not known, may be NaN.
// CHECK-LABEL: func.func @may_be_nan(
// CHECK-COUNT-3: arith.minnumf
// CHECK-NOT: arith.select
// CHECK: return
func.func @may_be_nan(%x: f32, %start: f32, %size: index) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  cf.br ^head(%c0, %nan, %start, %one : index, f32, f32, f32)
^head(%i: index, %a: f32, %b: f32, %c: f32):
  %more = arith.cmpi slt, %i, %size : index
  cf.cond_br %more, ^body, ^exit
^body:
  %a1 = arith.minnumf %x, %a : f32
  %b1 = arith.minnumf %b, %x : f32
  %c1f = arith.minnumf %c, %x : f32
  %c2 = arith.addf %c1f, %x : f32
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next, %a1, %b1, %c2 : index, f32, f32, f32)
^exit:
  return %a, %b, %c : f32, f32, f32
}

// NaN goes through maximumf; a maximum with a constant keeps the sign of zero.
// CHECK-LABEL: func.func @propagates(
// CHECK: llvm.intr.maximum(%{{.*}}, %{{.*}}) {fastmathFlags = #llvm.fastmath<nsz>} : (vector<8xf32>, vector<8xf32>)
// CHECK: llvm.intr.minimum(%{{.*}}, %{{.*}}) {fastmathFlags = #llvm.fastmath<nsz>} : (f64, f64)
// CHECK: arith.maximumf
// CHECK: arith.maximumf {{.*}} : f16
func.func @propagates(%x: vector<8xf32>, %y: vector<8xf32>, %p: f64, %q: f64, %h: f16)
    -> (vector<8xf32>, f64, vector<8xf32>, f16) {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %0 = arith.maximumf %x, %y : vector<8xf32>
  %1 = arith.minimumf %p, %q : f64
  %2 = arith.maximumf %x, %zero : vector<8xf32>
  %3 = arith.maximumf %h, %h : f16
  return %0, %1, %2, %3 : vector<8xf32>, f64, vector<8xf32>, f16
}
