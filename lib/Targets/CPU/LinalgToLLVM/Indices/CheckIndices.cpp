//===- CheckIndices.cpp - Checks of indices that are computed from data ---===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inserts checks before accesses to tensors.
//
// Law: no access runs before its check has succeeded, and no check fails if all
// accesses are in range, unless the op computes no element.
//
//===----------------------------------------------------------------------===//

#include "Emitters/IndexMaximum.h"
#include "Indices/IndexRanges.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CHECKINDICESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The indices of one dim that an op accesses: `count` indices, `step` apart,
/// starting at `first`.
struct Access {
  Operation *op;
  Value tensor;
  unsigned dim;
  OpFoldResult first, count, step;

  bool isElement() const { return isOneInteger(count); }
  int64_t getSize() const {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static void addElement(Operation *op, Value tensor, ValueRange indices,
                       SmallVectorImpl<Access> &accesses) {
  OpFoldResult one = Builder(op).getIndexAttr(1);
  for (auto [dim, index] : llvm::enumerate(indices))
    accesses.push_back({op, tensor, unsigned(dim), index, one, one});
}

static void addSlice(OffsetSizeAndStrideOpInterface op, Value tensor,
                     SmallVectorImpl<Access> &accesses) {
  for (auto [dim, first, count, step] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides()))
    accesses.push_back({op, tensor, unsigned(dim), first, count, step});
}

static bool dependsOnData(OpFoldResult value) {
  auto dynamic = dyn_cast<Value>(value);
  return dynamic && layout::dependsOnData(dynamic);
}

/// Returns the accesses whose indices depend on data, in program order.
static SmallVector<Access> findAccesses(Operation *root) {
  SmallVector<Access> accesses;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      addElement(op, extract.getTensor(), extract.getIndices(), accesses);
    else if (auto insert = dyn_cast<tensor::InsertOp>(op))
      addElement(op, insert.getDest(), insert.getIndices(), accesses);
    else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      addSlice(slice, slice.getSource(), accesses);
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      addSlice(insert, insert.getDest(), accesses);
    else if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op))
      addSlice(insert, insert.getDest(), accesses);
  });
  llvm::erase_if(accesses, [](const Access &access) {
    return isOpTriviallyDead(access.op) ||
           (!dependsOnData(access.first) && !dependsOnData(access.count) &&
            !dependsOnData(access.step));
  });
  return accesses;
}

static bool isProven(const Access &access, const IndexRanges &ranges) {
  auto first = dyn_cast<Value>(access.first);
  std::optional<int64_t> count = getConstantIntValue(access.count);
  std::optional<int64_t> step = getConstantIntValue(access.step);
  if (!first || !count || !step)
    return false;
  return *count == 0 || ranges.isInRange(first, (*count - 1) * *step,
                                         access.tensor, access.dim);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {
/// Inserts run-time checks that the data-dependent indices of a function are in
/// range: one check for each slice. Accesses of elements have one check for
/// each combination of an index, a size and the block that contains them.
/// Accesses come in program order.
class CheckInserter {
public:
  CheckInserter(MLIRContext *context, bool isTextFixed)
      : builder(context), isTextFixed(isTextFixed) {}

  void insert(const Access &access);

private:
  bool insertMaximum(const Access &access);
  void insertInPlace(const Access &access);
  void insertAssert(const Access &access, Value holds, Value index, Value size);
  Value makeSize(const Access &access);
  Value toWord(OpFoldResult value);
  Value isInside(Value index, Value size);

  OpBuilder builder;
  bool isTextFixed;
  // The inserted checks: the index, the size, the tensor and its dim if the
  // size is dynamic, and the block of the access.
  DenseSet<std::tuple<Value, int64_t, Value, unsigned, Block *>> done;
};
} // namespace

/// Returns the linalg op whose body contains `op`, directly or in branches of
/// scf.if, or a null op if there is none.
static linalg::LinalgOp findLinalgOp(Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa<scf::IfOp>(parent))
    parent = parent->getParentOp();
  return dyn_cast<linalg::LinalgOp>(parent);
}

static bool isDefinedIn(Operation *op, Value value) {
  return op->isAncestor(value.getParentBlock()->getParentOp());
}

Value CheckInserter::toWord(OpFoldResult value) {
  Location loc = builder.getUnknownLoc();
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return arith::ConstantIntOp::create(builder, loc, *known, 64);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                    cast<Value>(value));
}

Value CheckInserter::makeSize(const Access &access) {
  return toWord(tensor::getMixedSize(builder, access.op->getLoc(),
                                     access.tensor, access.dim));
}

/// Emits the condition 0 <= `index` < `size`, as one unsigned comparison.
Value CheckInserter::isInside(Value index, Value size) {
  return arith::CmpIOp::create(builder, index.getLoc(),
                               arith::CmpIPredicate::ult, index, size);
}

/// Returns the name of the user's operation at `loc`, or null without a name.
static StringAttr findNode(MLIRContext *context, Location loc) {
  auto name = loc->findInstanceOf<NameLoc>();
  return name ? name.getName() : StringAttr();
}

void CheckInserter::insertAssert(const Access &access, Value holds, Value index,
                                 Value size) {
  Location loc = access.op->getLoc();
  StringAttr node = findNode(builder.getContext(), loc);
  if (auto parent = findLinalgOp(access.op); !node && parent)
    node = findNode(builder.getContext(), parent.getLoc());
  if (!isTextFixed) {
    cpu::AssertIndexOp::create(builder, loc, holds, index, size, access.dim,
                               node);
    return;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  if (node)
    os << "node '" << node.getValue() << "': ";
  os << "index is out of range for dim " << access.dim;
  if (std::optional<int64_t> known = getConstantIntValue(size))
    os << " of size " << *known;
  cf::AssertOp::create(builder, loc, holds, text);
}

/// Inserts a check that the maximum of the index over all iterations is in
/// range, before the linalg op whose body has the access. Indices are compared
/// as unsigned integers, so a negative one is out of range, too. Returns true
/// without a check if the op is known to have no iterations. Returns false
/// without a check for accesses outside of linalg ops on tensors, for slices,
/// and for tensors or indices that are only known in the body. Also does so in
/// branches if the dim may have size 0.
bool CheckInserter::insertMaximum(const Access &access) {
  linalg::LinalgOp op = findLinalgOp(access.op);
  if (!op || !op.hasPureTensorSemantics() || !access.isElement() ||
      isDefinedIn(op, access.tensor))
    return false;
  // The maximum of no indices is 0, which is out of range for a dim of size 0.
  bool mayBeEmpty =
      access.getSize() == 0 || ShapedType::isDynamic(access.getSize());
  if (mayBeEmpty && access.op->getParentOp() != op)
    return false;
  builder.setInsertionPoint(op);
  std::optional<Value> filter;
  if (!ShapedType::isDynamic(access.getSize()))
    filter = filterIndices(builder, op, cast<Value>(access.first), access.op,
                           access.getSize());
  if (filter)
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, op.getLoc(), *filter).thenBlock());
  std::optional<IndexMaximum> most =
      computeIndexMaximum(builder, op, cast<Value>(access.first), access.op);
  if (!most)
    return false;
  if (most->isNever)
    return true;
  Value size = makeSize(access);
  Value holds = isInside(most->index, size);
  if (mayBeEmpty)
    for (Value extent : most->extents) {
      Value zero = arith::ConstantIndexOp::create(builder, op.getLoc(), 0);
      Value isEmpty = arith::CmpIOp::create(
          builder, op.getLoc(), arith::CmpIPredicate::eq, extent, zero);
      holds = arith::OrIOp::create(builder, op.getLoc(), holds, isEmpty);
    }
  insertAssert(access, holds, most->index, size);
  return true;
}

/// Returns the outermost op, `op` or an scf.for around it, before which
/// `values` and the bounds of all loops in between are defined. Appends these
/// loops to `loops`, innermost first.
static Operation *hoist(Operation *op, SmallVector<Value> values,
                        SmallVectorImpl<scf::ForOp> &loops) {
  while (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
    if (!llvm::all_of(values, [&](Value value) {
          return loop.isDefinedOutsideOfLoop(value);
        }))
      break;
    loops.push_back(loop);
    values.append({loop.getLowerBound(), loop.getUpperBound()});
    op = loop;
  }
  return op;
}

void CheckInserter::insertInPlace(const Access &access) {
  Location loc = access.op->getLoc();
  SmallVector<Value> values;
  for (OpFoldResult each : {access.first, access.count, access.step})
    if (auto value = dyn_cast<Value>(each))
      values.push_back(value);
  if (ShapedType::isDynamic(access.getSize()))
    values.push_back(access.tensor);
  Operation *place = access.op;
  if (isa<tensor::ParallelInsertSliceOp>(place))
    place = place->getParentOp();
  // One check before a linalg op covers all iterations if its body always runs
  // the access and defines none of the values.
  if (linalg::LinalgOp op = findLinalgOp(place);
      op && place->getParentOp() == op &&
      llvm::all_of(values,
                   [&](Value value) { return !isDefinedIn(op, value); }))
    place = op;
  SmallVector<scf::ForOp> loops;
  place = hoist(place, values, loops);
  builder.setInsertionPoint(place);

  Value size = makeSize(access), index = toWord(access.first);
  Value holds = isInside(index, size);
  if (!access.isElement()) {
    Value count = toWord(access.count);
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
    Value last = arith::AddIOp::create(
        builder, loc, index,
        arith::MulIOp::create(builder, loc,
                              arith::SubIOp::create(builder, loc, count, one),
                              toWord(access.step)));
    index = arith::SelectOp::create(builder, loc, holds, last, index);
    holds = arith::AndIOp::create(builder, loc, holds, isInside(last, size));
    Value isEmpty = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, count, zero);
    holds = arith::OrIOp::create(builder, loc, holds, isEmpty);
  }
  for (scf::ForOp loop : loops) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (trips && !trips->isZero())
      continue;
    Value isEmpty =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                              loop.getLowerBound(), loop.getUpperBound());
    holds = arith::OrIOp::create(builder, loc, holds, isEmpty);
  }
  insertAssert(access, holds, index, size);
}

void CheckInserter::insert(const Access &access) {
  if (access.isElement()) {
    bool isStatic = !ShapedType::isDynamic(access.getSize());
    if (!done.insert({cast<Value>(access.first), access.getSize(),
                      isStatic ? Value() : access.tensor,
                      isStatic ? 0 : access.dim, access.op->getBlock()})
             .second)
      return;
  }
  if (!insertMaximum(access))
    insertInPlace(access);
}

namespace {
struct CheckIndices : layout::impl::CheckIndicesPassBase<CheckIndices> {
  using CheckIndicesPassBase::CheckIndicesPassBase;

  void runOnOperation() override {
    WalkResult walked = getOperation()->walk([](tensor::GatherOp op) {
      op.emitOpError("has indices that are not checked; decompose it with "
                     "layout-prepare-decompose-aggregates");
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    // tensor.generate becomes a linalg op.
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::GenerateOp> generates;
    for (const Access &access : findAccesses(getOperation()))
      if (auto op = dyn_cast<tensor::GenerateOp>(access.op->getParentOp());
          op && !llvm::is_contained(generates, op))
        generates.push_back(op);
    for (tensor::GenerateOp op : generates) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::rewriteInDestinationPassingStyle(rewriter, op))) {
        op.emitOpError("reads a tensor at data-dependent indices and cannot "
                       "become a linalg.generic; make its body one block");
        return signalPassFailure();
      }
    }
    SmallVector<Access> accesses = findAccesses(getOperation());
    if (accesses.empty())
      return markAllAnalysesPreserved();
    {
      IndexRanges ranges(getOperation());
      llvm::erase_if(accesses, [&](const Access &access) {
        return isProven(access, ranges);
      });
    }
    CheckInserter inserter(&getContext(), fixedText);
    for (const Access &access : accesses)
      inserter.insert(access);
  }
};
} // namespace
