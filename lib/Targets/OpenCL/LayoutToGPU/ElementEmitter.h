//===- ElementEmitter.h - Elements of tensors in a kernel -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "The element of %t at this index" as IR in a kernel: read from memory, or
// computed from the elements that its op reads, where the fusion plan says so.
// Addresses are the coordinates of the map with the index put in; nothing else
// knows where an element is.
//
//   %t = tensor.pad %x low[0, 0, 1, 1] at (n, c, h, w)
//     in range of %x at (n, c, h - 1, w - 1) ? that element of %x : padding
//   %x in in_out_channel at (n, 4 * r1 + 2, h - 1, w - 1)
//     lane 2 of the pixel x = r1 * W + w - 1, y = n * H + h - 1, clamped
//
// Laws:
//  * an address outside of the storage is never touched: it is clamped, and
//    what was read is then not used, or is padding;
//  * a pixel is read once for each of its uses at one address;
//  * padding is never looked at: loops stop at the size of the tensor, lanes
//    past it keep what was accumulated before;
//  * what a reduction of halves carries is a float.
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

namespace mlir {
namespace layout {

/// The way out where an op is not what kernels are made of.
constexpr StringLiteral kRewrite =
    "; the way out is to rewrite it to ops that kernels know (linalg, "
    "elementwise ops, pad, slices, concat, reshapes), or to call it as a "
    "function that is only declared, which runs on the host";

/// What a kernel touches for one position that it computes.
struct AccessCount {
  int64_t imageReads = 0;
  int64_t bufferReads = 0;
  /// Of these, those in the loops of reductions.
  int64_t imageReadsInLoops = 0;
  int64_t bufferReadsInLoops = 0;
  /// A loop has a size that is only known when the program runs.
  bool isPerTrip = false;
};

/// One element that is asked for. Nobody uses it where `valid` is false; null
/// is true.
struct ElementPoint {
  SmallVector<IndexExpr> index;
  Value valid;
};

/// The index in the source of a view of what the view, of these sizes, shows at
/// `index`; `extents` are what is known of the variables of the index.
SmallVector<IndexExpr> getSourceIndex(const ViewRule &view,
                                      ArrayRef<IndexExpr> index,
                                      ArrayRef<SizeExpr> sizes, Sizes extents);

class ElementEmitter {
public:
  /// `memoryOf` gives the device memory of a stored tensor on the host.
  ElementEmitter(KernelScope &scope, const FusionPlan &plan,
                 std::function<Value(Value)> memoryOf)
      : scope(scope), b(scope.builder()), loc(scope.getLoc()), plan(plan),
        memoryOf(std::move(memoryOf)) {}

  /// The loop of a reduction that is one turn.
  void unroll(Operation *reduction, unsigned loop) {
    unrolled = {reduction, loop};
  }

  /// The items of a group that share a reduction: `number` is the one of this
  /// item. After the sum the kernel has the first item alone.
  struct Parts {
    Operation *reduction = nullptr, *combiner = nullptr;
    unsigned loop = 0;
    int64_t count = 1;
    Value number, isFirst;
  };
  void split(const Parts &newParts) { parts = newParts; }

  /// The element of `tensor` at `index`, wherever it comes from. `valid` is
  /// false where nobody will use it; null is true. Null where there is none:
  /// `whyNot` says why.
  Value evaluate(Value tensor, ArrayRef<IndexExpr> index, Value valid);

  /// The same for a tensor that is not read from memory.
  Value compute(OpResult tensor, ArrayRef<IndexExpr> index, Value valid);

  /// The same for several elements: these share the loops of a reduction, and
  /// what is read at the same address. Empty where there is no value.
  SmallVector<Value> computeAll(OpResult tensor, ArrayRef<ElementPoint> points);

  StringRef getReason() const { return whyNot; }
  const AccessCount &getAccesses() const { return accesses; }

private:
  using Point = ArrayRef<IndexExpr>;

  Value fail(const Twine &why);
  Value anyElement(Value tensor);

  /// Zeros that a pad adds around its source, and the index of that in each dim
  /// that it pads.
  struct Border {
    tensor::PadOp pad;
    SmallVector<std::pair<unsigned, IndexExpr>> index;

    bool operator==(const Border &other) const {
      return pad == other.pad && index == other.index;
    }
  };

  // Memory.
  Value load(Value tensor, Point index, const Border &border = {});
  /// The same for a tensor that views show; null where it is in no image.
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
  /// The index of what a view shows at `index`; nothing for other ops.
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
  /// A half as a float, or back.
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
  int64_t trips = 1; // of the loops around

  struct Cell {
    Value memory;
    SmallVector<IndexExpr> address;
    Border border;
    Value value;
  };
  /// What was loaded in the blocks around, innermost last.
  SmallVector<Cell> cells;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTEMITTER_H
