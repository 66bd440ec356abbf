//===- Emitter.h - Common parts of the loops of kernels ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a cpu.kernel and the parts of its loops: reads and writes at points,
// the bodies of stages, and the start and end of results.
//
// Derived classes emit the loops: over tiles in registers (KernelEmitter.cpp),
// or Winograd's transforms (WinogradEmitter.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_EMITTER_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_EMITTER_H

#include "Emitters/KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <map>

namespace mlir::layout {

/// A position in a tile: its offset in every dim, and the number of elements of
/// the vector that starts there (`width`; 0 for a scalar).
struct Point {
  SmallVector<int64_t> offset;
  int64_t width = 0;
};

class Emitter {
public:
  Emitter(OpBuilder &b, const Kernel &kernel, const KernelPlan &plan,
          const EmitOptions &options);
  virtual ~Emitter() = default;

  /// Emits the cpu.kernel and returns the results of its last stage.
  SmallVector<Value> run();

protected:
  /// Emits the loops in the body of the kernel.
  virtual void emitLoops() = 0;

  // Points.
  SmallVector<Point> lanesOf(const Point &point) const;
  Type typeAt(Type element, const Point &point) const;
  Value broadcast(Value value, const Point &point);
  SmallVector<Value> subscripts(AffineMap map, const Point &point);
  Value read(Value tensor, AffineMap map, const Point &point);
  Value readStrided(Value buffer, ArrayRef<Value> indices, int64_t stride,
                    const Point &point);
  Value readPattern(Value buffer, AffineMap map, const LanePattern &pattern,
                    const Point &point);
  Value readVector(VectorType type, Value buffer, ArrayRef<Value> indices);
  void write(Value value, Value buffer, AffineMap map, const Point &point);
  Value indexAt(unsigned dim, const Point &point);
  AffineMap resultMap(unsigned result) const {
    return kernel.last().maps[kernel.last().numInputs() + result];
  }

  // Bodies.
  using ReadCache = std::map<std::vector<int64_t>, Value>;
  Value readInput(const Stage &stage, unsigned input, const Point &point,
                  ReadCache &cache);
  /// Reads the elements of operand `operand` of `stage` at `point` from
  /// `tensor`, unless `cache` has them.
  Value readOnce(const Stage &stage, unsigned operand, Value tensor,
                 const Point &point, ReadCache &cache);
  SmallVector<Value> evaluate(const Stage &stage, ArrayRef<Value> inputs,
                              ArrayRef<Value> inits, const Point &point,
                              ArrayRef<Value> wanted, bool withEffects = true);
  /// Returns the initial accumulators of `kernel.root`, the op with the
  /// reduction: for each point, one value per result of the root. They are a
  /// scalar, elements of a tensor, or results of a producer that is computed in
  /// the kernel. A value that the root never reads is null.
  SmallVector<Value> start(ArrayRef<Point> points);
  /// Applies `kernel.finish`, the elementwise op after the reduction, if there
  /// is one, and writes the results. `values` are the accumulators: for each
  /// point, one value per result of the root.
  void finish(ArrayRef<Point> points, SmallVector<Value> values);

  void addBuffer(Value tensor);
  Value bufferOf(Value tensor);
  /// Returns the constant `value` at the start of the kernel's body. Each is
  /// created once, because every later pass visits all ops.
  Value index(int64_t value);
  Value toValue(OpFoldResult number);

  OpBuilder &b;
  Location loc;
  /// A copy of the kernel in which inputs with collapsed dims are replaced by
  /// tensor.collapse_shape.
  Kernel kernel;
  const KernelPlan &plan;
  const EmitOptions &options;
  /// The position of the current iteration along each kernel dim: the constant
  /// `fixed[dim]` if it is set, else the value `base[dim]`.
  SmallVector<Value> base;
  SmallVector<std::optional<int64_t>> fixed;
  SmallVector<OpFoldResult> extents;
  /// The body of the emitted cpu.kernel. Its arguments are the buffers of
  /// `tensors`, first the results, then the inputs.
  Region body;
  SmallVector<Value> tensors;
  /// True if threads share the loops over tiles.
  bool isShared;

private:
  Operation *loadInPlace(Operation *op);
  Value readLanes(const Stage &stage, tensor::ExtractOp extract,
                  const Point &point);
  Value startValue(const Start &start, const Stage &stage, unsigned result,
                   Value current, const Point &point, ReadCache &cache);
  Value expand(AffineExpr expr, ArrayRef<Value> positions);
  void findExtents();
  void collapseInputs();
  Value destinationOf(unsigned result);

  DenseMap<int64_t, Value> indices;
  DenseMap<Type, Value> paddings;
  /// The vectors of equal elements that each block has, by element.
  DenseMap<std::pair<Value, Block *>, Value> broadcasts;
};

/// Returns the values that the body of `stage.op` yields: the operands of its
/// terminator, not emitted values.
SmallVector<Value> yieldedBy(const Stage &stage);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_EMITTER_H
