// RUN: layout-opt %s --layout-set-target="target={#layout.cpu<lanes = 16, vector_bits = 512, two_source_permute_bytes = 4>}" --layout-cpu-look-up-codes --canonicalize | FileCheck %s
// RUN: layout-opt %s --layout-set-target="target={#layout.cpu<lanes = 16, vector_bits = 256>}" --layout-cpu-look-up-codes --canonicalize | FileCheck %s --check-prefix=AVX2
// AVX2-NOT: llvm.call_intrinsic

// A 4-bit code with an excess is an index of its 16 values.
// CHECK-LABEL: func.func @excess(
// CHECK-SAME: %[[X:.*]]: vector<16xi32>
// CHECK: %[[TABLE:.*]] = arith.constant dense<[-8.0{{.*}}, -7.0{{.*}}, {{.*}}, 7.0{{.*}}]> : vector<16xf32>
// CHECK-NEXT: %[[R:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]], %[[X]])
// CHECK-NEXT: return %[[R]]
func.func @excess(%x: vector<16xi32>) -> vector<16xf32> {
  %mask = arith.constant dense<15> : vector<16xi32>
  %excess = arith.constant dense<8> : vector<16xi32>
  %code = arith.andi %x, %mask : vector<16xi32>
  %value = arith.subi %code, %excess : vector<16xi32>
  %r = arith.sitofp %value : vector<16xi32> to vector<16xf32>
  return %r : vector<16xf32>
}

// The table of 2 bits repeats; a value with two users is one permutation, and other operands end the table.
// CHECK-LABEL: func.func @two_bits(
// CHECK: %[[TABLE:.*]] = arith.constant dense<[0.0{{[^,]*}}, 1.0{{[^,]*}}, 2.0{{[^,]*}}, 3.0{{[^,]*}}, 0.0{{[^,]*}}, 1.0
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]],
// CHECK-NOT: llvm.call_intrinsic
// CHECK: %[[FIRST:.*]] = arith.mulf %[[R]], %{{.*}}
// CHECK: arith.mulf %[[R]], %[[FIRST]]
func.func @two_bits(%x: vector<16xi32>, %scale: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %mask = arith.constant dense<3> : vector<16xi32>
  %code = arith.andi %x, %mask : vector<16xi32>
  %value = arith.uitofp %code : vector<16xi32> to vector<16xf32>
  %first = arith.mulf %value, %scale : vector<16xf32>
  %scaled = arith.mulf %value, %first : vector<16xf32>
  return %first, %scaled : vector<16xf32>, vector<16xf32>
}

// f4E2M1FN, whose expansion is integer arithmetic and a multiplication.
// CHECK-LABEL: func.func @e2m1(
// CHECK: arith.constant dense<[0.0{{[^,]*}}, 5.0{{[^,]*}}e-01, 1.0{{[^,]*}}, 1.5{{[^,]*}}, 2.0{{[^,]*}}, 3.0{{[^,]*}}, 4.0{{[^,]*}}, 6.0{{[^,]*}}, -0.0{{[^,]*}}, -5.0{{[^,]*}}e-01,
// CHECK-NEXT: llvm.call_intrinsic
// CHECK-NEXT: return
func.func @e2m1(%x: vector<16xi32>) -> vector<16xf32> {
  %mask = arith.constant dense<15> : vector<16xi32>
  %by = arith.constant dense<9> : vector<16xi16>
  %kept = arith.constant dense<-29184> : vector<16xi16>
  %power = arith.constant dense<1.638400e+04> : vector<16xf32>
  %code = arith.andi %x, %mask : vector<16xi32>
  %bits = arith.trunci %code : vector<16xi32> to vector<16xi4>
  %wide = arith.extsi %bits : vector<16xi4> to vector<16xi16>
  %moved = arith.shli %wide, %by : vector<16xi16>
  %number = arith.andi %moved, %kept : vector<16xi16>
  %half = arith.bitcast %number : vector<16xi16> to vector<16xf16>
  %single = arith.extf %half : vector<16xf16> to vector<16xf32>
  %r = arith.mulf %single, %power : vector<16xf32>
  return %r : vector<16xf32>
}

// Five bits, eight lanes, and masks that differ by lane have no table.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func @others(%x: vector<16xi32>, %y: vector<8xi32>) -> (vector<16xf32>, vector<16xf32>, vector<8xf32>) {
  %five = arith.constant dense<31> : vector<16xi32>
  %lanes = arith.constant dense<[1, 3, 7, 15, 1, 3, 7, 15, 1, 3, 7, 15, 1, 3, 7, 15]> : vector<16xi32>
  %four = arith.constant dense<15> : vector<8xi32>
  %a = arith.andi %x, %five : vector<16xi32>
  %b = arith.andi %x, %lanes : vector<16xi32>
  %c = arith.andi %y, %four : vector<8xi32>
  %0 = arith.sitofp %a : vector<16xi32> to vector<16xf32>
  %1 = arith.sitofp %b : vector<16xi32> to vector<16xf32>
  %2 = arith.sitofp %c : vector<8xi32> to vector<8xf32>
  return %0, %1, %2 : vector<16xf32>, vector<16xf32>, vector<8xf32>
}
