//===- ElementEmitter.h - Emit elements of tensors in a kernel --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits "the element of %t at this index" in a kernel: loaded from memory, or
// computed from the elements that its op reads if the fusion plan inlines %t.
// Addresses are the coordinates of the map at the index.
//
//   %t = tensor.pad %x low[0, 0, 1, 1] at (n, c, h, w)
//     in range of %x at (n, c, h - 1, w - 1) ? that element of %x : padding
//   %x in in_out_channel at (n, 4 * r1 + 2, h - 1, w - 1)
//     lane 2 of the pixel x = r1 * W + w - 1, y = n * H + h - 1, clamped
//
// Laws:
//  * no address is outside of the storage: addresses are clamped, and the value
//    is then unused or padding;
//  * a pixel is read once for all of its uses at one address;
//  * padding is never used: loops stop at the size of the tensor, lanes past it
//    keep the previous accumulator;
//  * the accumulator of an f16 reduction is f32.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTEMITTER_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTEMITTER_H

#include "FusionPlan.h"
#include "KernelScope.h"
#include "TensorStorage.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::layout {

/// The advice of errors at ops that cannot be part of a kernel.
constexpr StringLiteral kRewrite =
    "; rewrite it with ops that kernels support (linalg, elementwise ops, pad, "
    "slices, concat, reshapes), or call it as a function that is only "
    "declared, which runs on the host";

/// The number of loads from images and from buffers that a work-item of a
/// kernel executes.
struct AccessCount {
  int64_t imageReads = 0;
  int64_t bufferReads = 0;
  /// The loads among `imageReads` and `bufferReads` that are in reduction
  /// loops.
  int64_t imageReadsInLoops = 0;
  int64_t bufferReadsInLoops = 0;
  /// True if some loops have a dynamic size; counts are then those of one
  /// iteration of these loops.
  bool isPerTrip = false;
};

/// The logical index of an element to be emitted. If `valid` is false at run
/// time, the value of the element is not used; a null `valid` means true.
struct ElementPoint {
  SmallVector<IndexExpr> index;
  Value valid;
};

/// Returns the index in the source of a view for `index` in the view. `sizes`
/// are those of the view, `extents` those of the variables of the index.
SmallVector<IndexExpr> getSourceIndex(const ViewRule &view,
                                      ArrayRef<IndexExpr> index,
                                      ArrayRef<SizeExpr> sizes, Sizes extents);

class ElementEmitter {
public:
  /// For a tensor that is stored in device memory, `memoryOf` returns the
  /// memref of this memory in host code.
  ElementEmitter(KernelScope &scope, const FusionPlan &plan,
                 std::function<Value(Value)> memoryOf)
      : scope(scope), b(scope.builder()), loc(scope.getLoc()), plan(plan),
        memoryOf(std::move(memoryOf)) {}

  /// Makes the emission of the linalg op `reduction` unroll `loop` completely:
  /// a single iteration executes all indices of the loop as steps.
  void unroll(Operation *reduction, unsigned loop) {
    unrolled = {reduction, loop};
  }

  /// The division of `loop` of the linalg op `reduction` among the `count`
  /// work-items of a work-group; a null op means no division. Work-item
  /// `number` executes every count-th iteration. `combiner` combines the
  /// partial sums; only the first work-item (`isFirst`) continues after that.
  struct Parts {
    Operation *reduction = nullptr, *combiner = nullptr;
    unsigned loop = 0;
    int64_t count = 1;
    Value number, isFirst;
  };
  void split(const Parts &newParts) { parts = newParts; }

  /// Emits the element of `tensor` at `index`: its computation if the fusion
  /// plan inlines `tensor`, else a load. The value is unused if `valid` is
  /// false; a null `valid` means true. Returns null on failure, with the reason
  /// in getReason().
  Value evaluate(Value tensor, ArrayRef<IndexExpr> index, Value valid);

  /// Emits the computation of the element of `tensor` at `index` by the op that
  /// defines it, even if the element could be loaded. The value is unused if
  /// `valid` is false; a null `valid` means true. Returns null on failure, with
  /// the reason in getReason().
  Value compute(OpResult tensor, ArrayRef<IndexExpr> index, Value valid);

  /// Emits the computation of several elements of `tensor` by the op that
  /// defines it. The elements share the loops of a reduction and loads from one
  /// address. Returns an empty list on failure, with the reason in getReason().
  SmallVector<Value> computeAll(OpResult tensor, ArrayRef<ElementPoint> points);

  StringRef getReason() const { return whyNot; }
  const AccessCount &getAccesses() const { return accesses; }

private:
  using Point = ArrayRef<IndexExpr>;

  Value fail(const Twine &why);
  Value anyElement(Value tensor);

  /// The padded dims of `pad`, which pads with zeros: the number of each dim,
  /// and the index in the source of the pad. A load returns zero if an index is
  /// outside of the source.
  struct Border {
    tensor::PadOp pad;
    SmallVector<std::pair<unsigned, IndexExpr>> index;

    bool operator==(const Border &other) const {
      return pad == other.pad && index == other.index;
    }
  };

  // Memory.
  Value load(Value tensor, Point index, const Border &border = {});
  /// Loads an element of a zero-padded tensor that is stored in an image, or is
  /// a view of such a tensor. If an index of `border` is in the padding, the
  /// coordinate is -1, at which an image returns zeros. If the tensor is not in
  /// an image, returns null.
  Value loadPadded(Value tensor, Point index, const Border &border);
  Value loadAddress(Value tensor, const TensorStorage &storage,
                    ArrayRef<IndexExpr> address, const IndexExpr &lane,
                    const Border &border = {});
  Value loadCell(Value memory, const TensorStorage &storage,
                 ArrayRef<IndexExpr> address, ArrayRef<SizeExpr> extents,
                 const Border &border);
  Value isInside(const Border &border);
  Value loadDynamic(Value tensor, ValueRange index);
  Value fromStored(Value value, Type element);

  // Ops.
  /// Returns the source index of a view at `index`, or std::nullopt if `op` is
  /// not a view.
  std::optional<SmallVector<IndexExpr>> throughView(Operation *op, Point index);
  Value computePad(tensor::PadOp op, Point index, Value valid);
  Value computeSlice(tensor::ExtractSliceOp op, Point index, Value valid);
  Value computeInsert(tensor::InsertSliceOp op, Point index, Value valid);
  Value computeConcat(tensor::ConcatOp op, Point index, Value valid);
  Value computeStorageView(Operation *op, Point index, Value valid);
  Value computeCollapse(tensor::CollapseShapeOp op, Point index, Value valid);
  Value computeExpand(tensor::ExpandShapeOp op, Point index, Value valid);
  SmallVector<Value> evaluateAll(Value tensor, ArrayRef<ElementPoint> points);
  SmallVector<Value> computeElementwise(Operation *op,
                                        ArrayRef<ElementPoint> points);
  SmallVector<Value> computeLinalg(linalg::LinalgOp op, unsigned result,
                                   ArrayRef<ElementPoint> points);
  Value chooseIf(Value condition, function_ref<Value()> yes,
                 function_ref<Value()> no);
  Value isBelow(const IndexExpr &x, const SizeExpr &bound);
  IndexExpr offsetOf(OpFoldResult value);
  IndexExpr joinDigits(ArrayRef<IndexExpr> digits, ArrayRef<SizeExpr> extents);

  // Bodies and loops.
  struct Loops;
  bool startItem(Loops &loops, unsigned item);
  bool emitLoops(Loops &loops, unsigned depth);
  bool emitPoint(Loops &loops, Value valid);
  Value asSum(const Loops &loops, Value value);
  Value startPart(Value start);
  bool combineParts(Loops &loops);
  bool emitSteps(Loops &loops, ArrayRef<unsigned> stepped, Value valid);
  bool readOperands(Loops &loops, unsigned depth, Value valid);
  SmallVector<Value> emitBody(Block &body, ArrayRef<Value> args, Point loops,
                              Value valid);
  bool computeInFloat(Operation *op, MutableArrayRef<Value> values);
  SmallVector<Value> emitOp(Operation *op, ArrayRef<Value> operands,
                            Value valid);
  /// Casts a scalar or vector to the float type `element`; returns `value` if
  /// it has that type.
  Value castFloat(Value value, Type element);

  KernelScope &scope;
  OpBuilder &b;
  Location loc;
  const FusionPlan &plan;
  std::function<Value(Value)> memoryOf;
  std::pair<Operation *, unsigned> unrolled;
  Parts parts;
  std::string whyNot;
  AccessCount accesses;
  int64_t trips = 1; // the product of trip counts of the loops around

  struct Cell {
    Value memory;
    SmallVector<IndexExpr> address;
    Border border;
    Value value;
  };
  /// The loads whose values are available at the insertion point, in the order
  /// of their emission. Further reads at the same address reuse the values.
  SmallVector<Cell> cells;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTEMITTER_H
