// one-shot-bufferize takes a vector.transfer_write of 8 elements at the origin of a tensor with more dimensions than the
// vector for one that overwrites the whole tensor. It allocates a new buffer and does not copy the other 136 elements.

// RUN: mlir-opt-22 %s --one-shot-bufferize='bufferize-function-boundaries' | FileCheck %s --check-prefix=IF-MENDED-REMOVE-Bufferize-guardPartialTransferWrite

// IF-MENDED-REMOVE-Bufferize-guardPartialTransferWrite: %[[NEW:.*]] = memref.alloc() {{.*}} : memref<1x9x16xf32>
// IF-MENDED-REMOVE-Bufferize-guardPartialTransferWrite-NEXT: vector.transfer_write %{{.*}}, %[[NEW]]
// IF-MENDED-REMOVE-Bufferize-guardPartialTransferWrite-NOT: memref.copy
// IF-MENDED-REMOVE-Bufferize-guardPartialTransferWrite: return %[[NEW]]
func.func @write(%x: tensor<1x9x16xf32> {bufferization.writable = false}, %v: vector<8xf32>) -> tensor<1x9x16xf32> {
  %c0 = arith.constant 0 : index
  %r = vector.transfer_write %v, %x[%c0, %c0, %c0] {in_bounds = [true]} : vector<8xf32>, tensor<1x9x16xf32>
  return %r : tensor<1x9x16xf32>
}
