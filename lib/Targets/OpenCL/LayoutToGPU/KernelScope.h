//===- KernelScope.h - Indices and lanes inside of a kernel -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The variables of a kernel (KernelLoops.h) and the values that they have in
// it. A kernel that stores an image computes the four lanes of one pixel at
// once: a value is a vector of four where it depends on the lane, and a scalar
// where it does not:
//
//   axes c1, w, h of the pixel, lane l      c = 4 * c1 + l
//   bias[c]                                 pixel c1 of its image: a vector
//   x[n, 4 * r1 + 2, h + kh, w + kw]        lane 2 of a pixel: a scalar
//
// In a kernel that stores a buffer there is no lane, and all is scalar.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELSCOPE_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELSCOPE_H

#include "layout/Targets/OpenCL/KernelLoops.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace mlir {
namespace layout {

class KernelScope : public KernelVariables {
public:
  /// Inside of `func`, which is empty; values of the host become arguments.
  KernelScope(OpBuilder &host, gpu::GPUFuncOp func);

  OpBuilder &builder() { return b; }
  Location getLoc() const { return loc; }

  //===--------------------------------------------------------------------===//
  // Variables
  //===--------------------------------------------------------------------===//

  /// A new variable with values below `extent` (kUnknownSize if not known).
  IndexExpr addVariable(Value value, int64_t extent);
  SmallVector<IndexExpr> addLane(ArrayRef<StoredAxis> axes);

  /// The size of a dim of a host tensor: a number or a symbol.
  SizeExpr getSize(Value tensor, unsigned dim);
  SmallVector<SizeExpr> getSizes(Value tensor);

  //===--------------------------------------------------------------------===//
  // Emission
  //===--------------------------------------------------------------------===//

  /// A value of the host, in the kernel: constants again, others as arguments.
  Value import(Value hostValue);
  /// The values of the host that became arguments, in their order.
  ArrayRef<Value> getImports() const { return imports.getArrayRef(); }

  /// Memory that the items of a group share.
  Value addGroupMemory(MemRefType type);
  /// The kernel ends here where a condition is false.
  void endUnless(Value condition);
  /// Gives the kernel the arguments and the memory that it has.
  void finish();

  /// An index that does not depend on the lane.
  Value emit(const IndexExpr &x);
  Value emit(const SizeExpr &x) { return emit(IndexExpr(x)); }
  /// 0 <= x < size; null where that is proven. With a lane, a vector.
  Value emitInRange(const IndexExpr &x, const SizeExpr &size);
  /// As `x`, but inside of 0 .. extent - 1 whatever happens.
  Value emitClamped(const IndexExpr &x, const SizeExpr &extent);

  /// One scalar for each lane, or one for all.
  Value emitLanes(ArrayRef<IndexExpr> xs,
                  function_ref<Value(ArrayRef<IndexExpr>)> emitOne);
  /// A vector of scalars, one per lane.
  Value join(ArrayRef<Value> lanes);
  Value broadcast(Value value);
  /// The scalar at a lane of a value that may be one for all.
  Value extract(Value value, int64_t number);
  Value select(Value condition, Value a, Value b);
  Value both(Value a, Value b); // null is true

private:
  OpBuilder b;
  OpBuilder &host;
  Location loc;
  gpu::GPUFuncOp func;
  SmallVector<Value> variables;
  SmallVector<Value> sizes; // of the host, by symbol
  DenseMap<std::pair<Value, unsigned>, unsigned> symbolOf;
  llvm::SetVector<Value> imports;
  DenseMap<Value, Value> argumentOf;
  SmallVector<UnrealizedConversionCastOp> groupMemory; // until it is finished
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELSCOPE_H
