// RUN: layout-opt %s --npu-assign-addresses --split-input-file | FileCheck %s
// RUN: layout-opt %s --npu-assign-addresses --split-input-file --remarks-filter="npu" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Check that operands of a command are in different banks if all tensors fit. A
// bank has 128 bytes, and start cores are 0.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32, banks = 8>
!t = memref<1x4x4x4xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!two = memref<1x4x4x12xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!most = memref<1x4x8x28xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!all = memref<1x4x4x60xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!corner = memref<1x4x4x4xf32, #layout.npu_scatter<strided [240, 240, 60, 1], start = 0, target = #npu>, #npu.memory<local>>
!sys = memref<1x4x4x4xf32, #npu.memory<system>>

// 64 bytes each, one bank each; an in-place result has the address of its
// operand.
// CHECK-LABEL: func @apart
// CHECK: npu.alloc {address = 0 : i64}
// CHECK: npu.alloc {address = 128 : i64}
// CHECK: npu.alloc {address = 256 : i64}
// REMARK: Function=apart
// REMARK-SAME: BankConflicts=0, BytesPerCore=1024, CarelessConflicts=1, ConflictBound=0, ConflictCycleBound=0, ConflictCycles=0, LeastPeak=192, LowerBound=192, PeakBytes=320
func.func @apart() {
  %a = npu.alloc : !t
  %b = npu.alloc : !t
  %c = npu.alloc : !t
  linalg.add ins(%a, %b : !t, !t) outs(%c : !t)
  linalg.exp ins(%c : !t) outs(%c : !t)
  return
}

// 192 bytes span two banks if they start at a bank boundary.
// CHECK-LABEL: func @spanning
// CHECK: npu.alloc {address = 0 : i64}
// CHECK: npu.alloc {address = 256 : i64}
// CHECK: npu.alloc {address = 512 : i64}
// REMARK: Function=spanning
// REMARK-SAME: BankConflicts=0, {{.*}}CarelessConflicts=1
func.func @spanning() {
  %a = npu.alloc : !two
  %b = npu.alloc : !two
  %c = npu.alloc : !two
  linalg.add ins(%a, %b : !two, !two) outs(%c : !two)
  return
}

// One bank is free next to the fixed tensor: all tensors must fit, so a
// conflict remains.
// CHECK-LABEL: func @full
// CHECK: npu.alloc {address = 128 : i64}
// CHECK: npu.alloc {address = 0 : i64}
// CHECK: npu.alloc {address = 64 : i64}
// REMARK: Function=full
// REMARK-SAME: BankConflicts=1, BytesPerCore=1024, CarelessConflicts=1, ConflictBound=0, ConflictCycleBound=0, ConflictCycles=2, LeastPeak=1024, LowerBound=1024, PeakBytes=1024
func.func @full() {
  %x = npu.alloc {address = 128} : !most
  %a = npu.alloc : !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  return
}

// The operands span eight banks and one more, which is more than exist.
// CHECK-LABEL: func @sure
// REMARK: Function=sure
// REMARK-SAME: BankConflicts=1, {{.*}}ConflictBound=1
func.func @sure() {
  %a = npu.alloc : !all
  %b = npu.alloc : !t
  linalg.add ins(%a, %a : !all, !all) outs(%a : !all)
  linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : !t) outs(%b : !t) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
  }
  %v = npu.subview %a [0, 0, 0, 0] [1, 4, 4, 4] [1, 1, 1, 1] : !all to !corner
  linalg.exp ins(%v : !corner) outs(%b : !t)
  return
}

// Addresses and banks that are stated stay.
// CHECK-LABEL: func @kept
// CHECK: npu.alloc {address = 64 : i64}
// CHECK: npu.alloc {address = 0 : i64, bank = 0 : i64}
// CHECK: npu.alloc {address = 128 : i64}
// REMARK: Function=kept
// REMARK-SAME: BankConflicts=1, {{.*}}ConflictBound=0
func.func @kept() {
  %a = npu.alloc {address = 64} : !t
  %b = npu.alloc {bank = 0} : !t
  %c = npu.alloc : !t
  linalg.add ins(%a, %b : !t, !t) outs(%c : !t)
  return
}

// CHECK-LABEL: func @fixed
// REMARK: Function=fixed
// REMARK-SAME: BankConflicts=1, {{.*}}ConflictBound=1
func.func @fixed() {
  %a = npu.alloc {address = 64} : !t
  %b = npu.alloc {address = 0} : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  return
}

// Tensors that DMA accesses while %a and %b are in use are in other banks; %c
// and %d may share one.
// CHECK-LABEL: func @region
// CHECK: npu.alloc {address = 256 : i64}
// CHECK: npu.alloc {address = 64 : i64}
// CHECK: npu.alloc {address = 128 : i64}
// CHECK: npu.alloc {address = 192 : i64}
// REMARK: Function=region
// REMARK-SAME: BankConflicts=0, {{.*}}CarelessConflicts=1
func.func @region(%x: !sys, %y: !sys) {
  %a = npu.alloc : !t
  %b = npu.alloc : !t
  %c = npu.alloc : !t
  %d = npu.alloc : !t
  npu.parallel {
    linalg.exp ins(%a : !t) outs(%b : !t)
    npu.copy %x to %c : !sys to !t
    npu.copy %y to %d : !sys to !t
  }
  return
}

// For a tensor that spans all banks, the view determines the banks.
!part = memref<1x4x2x4xf32, #layout.npu_scatter<strided [8, 16, 4, 1], start = 0, target = #npu>, #npu.memory<local>>
!next = memref<1x4x2x4xf32, #layout.npu_scatter<strided [8, 16, 4, 1], start = 0, offset = 32, target = #npu>, #npu.memory<local>>
// CHECK-LABEL: func @views
// CHECK: npu.alloc {address = 96 : i64, alignment = 32 : i64}
// REMARK: Function=views
// REMARK-SAME: BankConflicts=0, {{.*}}CarelessConflicts=1
func.func @views() {
  %big = npu.alloc {alignment = 32} : !t
  %p = npu.subview %big [0, 0, 0, 0] [1, 4, 2, 4] [1, 1, 1, 1] : !t to !part
  %q = npu.subview %big [0, 0, 2, 0] [1, 4, 2, 4] [1, 1, 1, 1] : !t to !next
  linalg.exp ins(%p : !part) outs(%q : !next)
  return
}

// -----

// One bank: every command with two tensors conflicts, and that is the bound.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32, banks = 1>
!t = memref<1x4x4x4xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
// REMARK: Function=one_bank
// REMARK-SAME: BankConflicts=1, BytesPerCore=1024, CarelessConflicts=1, ConflictBound=1, ConflictCycleBound=2, ConflictCycles=2, LeastPeak=128, LowerBound=128, PeakBytes=128
func.func @one_bank() {
  %a = npu.alloc : !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  return
}

// One step of the result in each core for each of four indices, and one for the product of their average and 4.
!row = memref<1x4x4x1xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
// REMARK: Function=summed
// REMARK-SAME: ConflictCycles=5
func.func @summed() {
  %a = npu.alloc : !t
  %b = npu.alloc : !row
  linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a : !t) outs(%b : !row) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %i, %o : f32
      linalg.yield %s : f32
  }
  return
}

// The command loses its two steps. The engines alternate, so the region loses
// the time of the shorter one: 8 and 2 cycles, of 32 and 4 for 256 bytes.
!sys = memref<1x4x4x4xf32, #npu.memory<system>>
// REMARK: Function=overlapped
// REMARK-SAME: BankConflicts=2, {{.*}}ConflictCycles=12
func.func @overlapped(%x: !sys) {
  %a = npu.alloc : !t
  %b = npu.alloc : !t
  %c = npu.alloc : !t
  npu.parallel {
    linalg.exp ins(%a : !t) outs(%b : !t)
    npu.copy %x to %c : !sys to !t
  }
  return
}

// -----

// Unknown banks have no conflicts.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!t = memref<1x4x4x4xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
// REMARK: Function=unknown
// REMARK-NOT: Conflict
// REMARK-SAME: PeakBytes=128
func.func @unknown() {
  %a = npu.alloc : !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  return
}

// -----

// An operand that the body does not use is not read.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32, banks = 8>
!t = memref<1x4x4x4xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
#same = affine_map<(n, c, h, w) -> (n, c, h, w)>

// CHECK-LABEL: func @not_read
// REMARK: Function=not_read
// REMARK-SAME: BankConflicts=0, {{.*}}CarelessConflicts=0
func.func @not_read() {
  %a = npu.alloc {address = 0} : !t
  %b = npu.alloc {address = 64} : !t
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a : !t) outs(%b : !t) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %one : f32
  }
  return
}
