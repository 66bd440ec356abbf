//===- CheckOnHost.cpp - Ranges of arguments for the host to check --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalize/WrappedIndex.h"
#include "layout/Dialect/NPU/IR/ArgumentRanges.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CHECKONHOSTPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The elements of a function argument that contain all values that an index
/// can have.
struct Elements {
  BlockArgument argument;
  /// The slice of the argument with these elements (first index and count per
  /// dim), or empty lists for all of it.
  SmallVector<int64_t> first, count;
  /// The size that is added to negative elements, which count from the end, or
  /// std::nullopt if none is.
  std::optional<int64_t> wrap;
};
} // namespace

static std::optional<Elements> findElements(Value number);

/// Returns the elements of a function argument that contain all values of
/// `tensor`: reshapes and elementwise ops are followed back to it. Returns
/// std::nullopt if it is computed in another way.
static std::optional<Elements> findAllElements(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return std::nullopt;
    return Elements{argument, {}, {}, std::nullopt};
  }
  Operation *op = tensor.getDefiningOp();
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    return findAllElements(op->getOperand(0));
  auto made = dyn_cast<linalg::LinalgOp>(op);
  if (!made || made.getNumReductionLoops() != 0)
    return std::nullopt;
  return findElements(made.getBlock()->getTerminator()->getOperand(
      cast<OpResult>(tensor).getResultNumber()));
}

/// Returns the elements of a function argument that contain all values of
/// `tensor` at `indices`, one per dim; std::nullopt stands for all indices of a
/// dim. Returns std::nullopt if they are not known.
static std::optional<Elements>
findElementsAt(Value tensor, ArrayRef<std::optional<int64_t>> indices) {
  std::optional<Elements> found = findAllElements(tensor);
  if (!found || llvm::none_of(indices, [](auto at) { return at.has_value(); }))
    return found;
  // A slice is only known if `tensor` is the argument itself.
  if (found->argument != tensor)
    return std::nullopt;
  for (auto [at, size] : llvm::zip_equal(
           indices, cast<RankedTensorType>(tensor.getType()).getShape())) {
    if (!at && ShapedType::isDynamic(size))
      return std::nullopt;
    found->first.push_back(at.value_or(0));
    found->count.push_back(at ? 1 : size);
  }
  return found;
}

/// Returns the elements of a function argument that `extract` reads over all
/// iterations. Returns std::nullopt if they are not known, or if an index is
/// neither a constant nor a loop over the whole dim.
static std::optional<Elements> findRead(tensor::ExtractOp extract) {
  auto loops = dyn_cast<linalg::LinalgOp>(extract->getParentOp());
  SmallVector<std::optional<int64_t>> indices;
  for (auto [index, size] : llvm::zip_equal(
           extract.getIndices(), extract.getTensor().getType().getShape())) {
    indices.push_back(getConstantIntValue(index));
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    if (!indices.back() &&
        !(loop && loops && loops.getStaticLoopRanges()[loop.getDim()] == size))
      return std::nullopt;
  }
  return findElementsAt(extract.getTensor(), indices);
}

/// Returns the elements of a function argument that contain all values of
/// `argument`, a block argument of a linalg op. Returns std::nullopt if they
/// are not known.
static std::optional<Elements> findOperand(BlockArgument argument) {
  auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
  if (!op || argument.getArgNumber() >= unsigned(op.getNumDpsInputs()))
    return std::nullopt;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  SmallVector<std::optional<int64_t>> indices;
  for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant && !isa<AffineDimExpr>(expr))
      return std::nullopt;
    indices.push_back(constant ? std::make_optional(constant.getValue())
                               : std::nullopt);
  }
  return findElementsAt(operand->get(), indices);
}

/// Returns the elements of a function argument for an index of the form x < 0 ?
/// x + n : x, which counts from the end if it is negative, with n as `wrap`.
/// Returns std::nullopt for other selects, or if the elements of x are not
/// known.
static std::optional<Elements> findWrapped(arith::SelectOp select) {
  std::optional<WrappedIndex> wrapped = matchWrappedIndex(select);
  if (!wrapped)
    return std::nullopt;
  std::optional<Elements> found = findElements(wrapped->index);
  if (!found || found->wrap)
    return std::nullopt;
  found->wrap = wrapped->size;
  return found;
}

/// Returns the elements of a function argument that contain all values of
/// `number`, or std::nullopt if it is computed in another way.
static std::optional<Elements> findElements(Value number) {
  while (Operation *cast = number.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::ExtSIOp>(cast))
      break;
    number = cast->getOperand(0);
  }
  if (auto argument = dyn_cast<BlockArgument>(number))
    return findOperand(argument);
  if (auto select = number.getDefiningOp<arith::SelectOp>())
    return findWrapped(select);
  auto extract = number.getDefiningOp<tensor::ExtractOp>();
  if (!extract)
    return std::nullopt;
  // layout-cpu-check-indices asserts about the largest of the elements, which a
  // reduction by arith.maxui computes. Follow its elements.
  auto most = extract.getTensor().getDefiningOp<linalg::GenericOp>();
  if (!most || most.getNumParallelLoops() != 0 || most.getNumLoops() == 0)
    return findRead(extract);
  auto larger = most.getBlock()
                    ->getTerminator()
                    ->getOperand(0)
                    .getDefiningOp<arith::MaxUIOp>();
  return larger ? findElements(larger.getLhs()) : std::nullopt;
}

/// Adds the range of values that `op` asserts for elements of a function
/// argument to the attribute npu.ranges of this argument. Returns false, and
/// changes nothing, if it asserts something else.
static bool recordRange(cf::AssertOp op) {
  auto is = op.getArg().getDefiningOp<arith::CmpIOp>();
  if (!is || is.getPredicate() != arith::CmpIPredicate::ult)
    return false;
  std::optional<int64_t> size = getConstantIntValue(is.getRhs());
  std::optional<Elements> found = findElements(is.getLhs());
  if (!size || !found || found->wrap.value_or(0) > *size)
    return false;
  auto function = cast<func::FuncOp>(found->argument.getOwner()->getParentOp());
  unsigned number = found->argument.getArgNumber();
  Builder builder(op);
  SmallVector<Attribute> ranges;
  if (auto known =
          function.getArgAttrOfType<ArrayAttr>(number, npu::kRangesArgument))
    llvm::append_range(ranges, known);
  auto range = builder.getDictionaryAttr(
      {builder.getNamedAttr(
           "least", builder.getI64IntegerAttr(-found->wrap.value_or(0))),
       builder.getNamedAttr("most", builder.getI64IntegerAttr(*size - 1)),
       builder.getNamedAttr("first",
                            builder.getDenseI64ArrayAttr(found->first)),
       builder.getNamedAttr("count",
                            builder.getDenseI64ArrayAttr(found->count)),
       builder.getNamedAttr("text", op.getMsgAttr())});
  if (!llvm::is_contained(ranges, range))
    ranges.push_back(range);
  function.setArgAttr(number, npu::kRangesArgument,
                      builder.getArrayAttr(ranges));
  return true;
}

/// Erases `op`, then the ops that compute its operands and have no other uses
/// and no side effects, and so on.
static void eraseWithOperands(Operation *op) {
  llvm::SetVector<Operation *> operands; // a set: each is erased once
  auto erase = [&](Operation *user) {
    for (Value operand : user->getOperands())
      if (Operation *made = operand.getDefiningOp())
        operands.insert(made);
    user->erase();
  };
  erase(op);
  while (!operands.empty())
    if (Operation *made = operands.pop_back_val(); isOpTriviallyDead(made))
      erase(made);
}

namespace {
struct CheckOnHost : layout::impl::CheckOnHostPassBase<CheckOnHost> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> asserts;
    getOperation()->walk([&](cf::AssertOp op) { asserts.push_back(op); });
    for (cf::AssertOp op : asserts) {
      // npu-legalize-linalg erases assertions in bodies, with a warning.
      if (isa<linalg::LinalgOp>(op->getParentOp()))
        continue;
      if (!recordRange(op))
        op.emitWarning()
            << "NPU programs do not check \"" << op.getMsg()
            << "\", and the host only checks elements of arguments: an index "
               "out of range reads another element of the same tensor; clamp "
               "it, or make it an argument";
      auto filter = dyn_cast<scf::IfOp>(op->getParentOp());
      eraseWithOperands(op);
      if (filter && filter.thenBlock()->without_terminator().empty())
        eraseWithOperands(filter);
    }
  }
};
} // namespace
