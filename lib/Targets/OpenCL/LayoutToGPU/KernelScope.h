//===- KernelScope.h - Variables and lanes of a kernel ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The variables of a kernel (KernelLoops.h) and their values. A kernel that
// stores an image computes the four lanes of a pixel at once: a value is a
// vector of four if it depends on the lane, else a scalar:
//
//   axes c1, w, h of the pixel, lane l      c = 4 * c1 + l
//   bias[c]                                 pixel c1 of its image: a vector
//   x[n, 4 * r1 + 2, h + kh, w + kw]        lane 2 of a pixel: a scalar
//
// A kernel that stores a buffer has no lane and only scalars.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELSCOPE_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELSCOPE_H

#include "layout/Targets/OpenCL/KernelLoops.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::layout {

class KernelScope : public KernelVariables {
public:
  /// Starts the body of the empty kernel `func`. `host` inserts code before the
  /// launch of the kernel, e.g. of sizes that become arguments.
  KernelScope(OpBuilder &host, gpu::GPUFuncOp func);

  OpBuilder &builder() { return b; }
  Location getLoc() const { return loc; }

  //===--------------------------------------------------------------------===//
  // Variables
  //===--------------------------------------------------------------------===//

  /// Adds a variable that has the value `value` in the kernel and returns it.
  /// The value is below `extent`, which is kUnknownSize for a dynamic or
  /// unknown bound.
  IndexExpr addVariable(Value value, int64_t extent);
  SmallVector<IndexExpr> addLane(ArrayRef<StoredAxis> axes);

  /// Returns the size of a dim of a tensor: a constant, or a symbol that a
  /// tensor.dim on the host defines.
  SizeExpr getSize(Value tensor, unsigned dim);
  SmallVector<SizeExpr> getSizes(Value tensor);

  //===--------------------------------------------------------------------===//
  // Emission
  //===--------------------------------------------------------------------===//

  /// Makes a host value available in the kernel, as a constant or as an
  /// argument, and returns it.
  Value import(Value hostValue);
  /// Returns the host values that became arguments, in order.
  ArrayRef<Value> getImports() const { return imports.getArrayRef(); }

  /// Adds memory that the work-items of a group share, and returns it. Its
  /// memory space is set, whatever that of `type` is.
  Value addGroupMemory(MemRefType type);
  /// Emits a return from the kernel if `condition` is false. Later code runs
  /// only if it is true.
  void endUnless(Value condition);
  /// Ends the kernel: adds a return if necessary, sets the function type from
  /// the arguments, and replaces work-group memory by attributions of the
  /// function, which follow the arguments.
  void finish();

  /// Emits the value of an index expression that does not depend on the lane.
  Value emit(const IndexExpr &x);
  Value emit(const SizeExpr &x) { return emit(IndexExpr(x)); }
  /// Emits the condition 0 <= x < size: a vector with one condition per lane if
  /// `x` depends on the lane, else a scalar. If the condition is proven to
  /// hold, returns null.
  Value emitInRange(const IndexExpr &x, const SizeExpr &size);
  /// Emits `x` clamped to 0 .. extent - 1, or 0 if `extent` is 0.
  Value emitClamped(const IndexExpr &x, const SizeExpr &extent);

  /// Emits a vector of the values of `emitOne` at each lane, or a scalar if
  /// `xs` do not depend on the lane.
  Value emitLanes(ArrayRef<IndexExpr> xs,
                  function_ref<Value(ArrayRef<IndexExpr>)> emitOne);
  /// Joins four scalars, one per lane, to a vector.
  Value join(ArrayRef<Value> lanes);
  Value broadcast(Value value);
  /// Returns element `number` of a vector, or `value` itself if it is a scalar.
  Value extract(Value value, int64_t number);
  Value select(Value condition, Value a, Value b);
  Value both(Value a, Value b); // null is true

private:
  OpBuilder b;
  OpBuilder &host;
  Location loc;
  gpu::GPUFuncOp func;
  SmallVector<Value> variables;
  SmallVector<Value> sizes; // on the host, by symbol
  DenseMap<std::pair<Value, unsigned>, unsigned> symbolOf;
  llvm::SetVector<Value> imports;
  DenseMap<Value, Value> argumentOf;
  SmallVector<UnrealizedConversionCastOp> groupMemory; // replaced by `finish`
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELSCOPE_H
