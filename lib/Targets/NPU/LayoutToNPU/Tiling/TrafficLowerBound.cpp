//===- TrafficLowerBound.cpp - Lower bound of the memory traffic ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiling/TrafficLowerBound.h"
#include "Tiling/TileAndFuse.h"
#include "layout/Algebra/Box.h"
#include "layout/Analysis/ConversionPlan.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// A set of elements of a tensor: the product of one index set per dim.
struct Elements {
  SmallVector<llvm::BitVector, 4> dims;

  static Elements getAll(ArrayRef<int64_t> shape) {
    Elements all;
    for (int64_t size : shape)
      all.dims.emplace_back(size, true);
    return all;
  }
  int64_t count() const {
    int64_t elements = 1;
    for (const llvm::BitVector &dim : dims)
      elements *= dim.count();
    return elements;
  }
  /// Replaces the set by the one of both that has more elements, a lower bound
  /// of their union.
  void join(const Elements &other) {
    if (dims.empty() || other.count() > count())
      *this = other;
  }
};

using Sources = SmallVector<std::pair<Value, Elements>, 2>;

class Bound {
public:
  int64_t run(func::FuncOp function, NarrowConstants &narrow);

private:
  int64_t countStored(Value tensor, const Elements &elements);
  void visit(Operation *op);

  DenseMap<Value, Elements> needed; // elements that cores compute with
  DenseMap<Value, Elements> moved;  // elements moved to a result
};
} // namespace

/// Returns true if the tensor has a static shape of more than 2^32 elements,
/// which no memory holds, so that its index sets would be too large.
static bool isTooLarge(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  // A dim of size 0 must not hide the sizes of the others.
  SmallVector<int64_t> extents(tensor.getShape());
  llvm::replace(extents, int64_t(0), int64_t(1));
  std::optional<int64_t> count = countIndices(extents);
  return !count || *count > int64_t(1) << 32;
}
static bool isTooLarge(Operation *op) {
  auto hasMany = [](Type type) { return isTooLarge(type); };
  return llvm::any_of(op->getOperandTypes(), hasMany) ||
         llvm::any_of(op->getResultTypes(), hasMany);
}

static bool isKnown(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && type.hasStaticShape() && !isTooLarge(type);
}

static ArrayRef<int64_t> getShape(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

/// Returns offset + stride * i for all i of `set`, without those outside of [0,
/// size).
static llvm::BitVector shift(const llvm::BitVector &set, int64_t offset,
                             int64_t stride, int64_t size) {
  llvm::BitVector shifted(size);
  for (unsigned i : set.set_bits())
    if (int64_t at = offset + stride * i; at >= 0 && at < size)
      shifted.set(at);
  return shifted;
}

/// Returns the values of the index `expr`, without those outside of [0,
/// `size`), if loop l has the values `loops[l]`. Returns std::nullopt if it is
/// not a sum of loops times positive constants and of constants in [0, `size`).
static std::optional<llvm::BitVector>
getImage(AffineExpr expr, ArrayRef<llvm::BitVector> loops, int64_t size) {
  llvm::BitVector image(size);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    if (constant.getValue() < 0 || constant.getValue() >= size)
      return std::nullopt;
    image.set(constant.getValue());
    return image;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return shift(loops[dim.getPosition()], 0, 1, size);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
      factor && binary.getKind() == AffineExprKind::Mul) {
    std::optional<llvm::BitVector> of = getImage(binary.getLHS(), loops, size);
    return of && factor.getValue() > 0
               ? std::optional(shift(*of, 0, factor.getValue(), size))
               : std::nullopt;
  }
  if (binary.getKind() != AffineExprKind::Add)
    return std::nullopt;
  std::optional<llvm::BitVector> a = getImage(binary.getLHS(), loops, size);
  std::optional<llvm::BitVector> b = getImage(binary.getRHS(), loops, size);
  if (!a || !b)
    return std::nullopt;
  for (unsigned i : a->set_bits())
    image |= shift(*b, i, 1, size);
  return image;
}

static Sources getSourcesOfLoops(linalg::LinalgOp op,
                                 ArrayRef<std::optional<Elements>> results) {
  Sources sources;
  if (isTooLarge(op))
    return sources;
  SmallVector<llvm::BitVector> loops;
  for (int64_t range : op.getStaticLoopRanges())
    loops.emplace_back(range, true);
  // Only the elements of the first needed result restrict the loops.
  for (auto [init, result] :
       llvm::zip_equal(op.getDpsInitsMutable(), results)) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!result)
      continue;
    for (auto [expr, dim] : llvm::zip_equal(map.getResults(), result->dims)) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        return {};
      loops[loop.getPosition()] &= dim;
    }
    break;
  }
  if (llvm::any_of(loops, [](const auto &loop) { return loop.none(); }))
    return {};
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isKnown(operand.get()) || !op.payloadUsesValueFromOperand(&operand))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Elements read;
    llvm::SmallBitVector seen(loops.size());
    bool isProduct = true;
    for (auto [expr, size] :
         llvm::zip_equal(map.getResults(), getShape(operand.get()))) {
      for (unsigned l = 0; l < loops.size(); ++l)
        if (expr.isFunctionOfDim(l)) {
          isProduct &= !seen.test(l);
          seen.set(l);
        }
      std::optional<llvm::BitVector> image = getImage(expr, loops, size);
      isProduct &= image.has_value();
      read.dims.push_back(image.value_or(llvm::BitVector(size)));
    }
    if (isProduct)
      sources.push_back({operand.get(), std::move(read)});
  }
  return sources;
}

/// Returns those of the elements `result` of an insertion that come from its
/// destination, or some of them: the largest product that excludes the inserted
/// indices of one dim.
static Elements getAround(tensor::InsertSliceOp op, const Elements &result) {
  Elements best;
  for (unsigned d = 0, e = result.dims.size(); d < e; ++d) {
    Elements without = result;
    for (int64_t i = 0; i < op.getStaticSize(d); ++i)
      without.dims[d].reset(op.getStaticOffset(d) + i * op.getStaticStride(d));
    best.join(without);
  }
  return best;
}

/// Appends to `elements` index sets of the dims `shape` such that the joined
/// index of each of their elements is in `set`. They may cover less than `set`,
/// because not every set is a product of one set per dim.
static void expandSet(const llvm::BitVector &set, ArrayRef<int64_t> shape,
                      Elements &elements) {
  int64_t inner = ShapedType::getNumElements(shape.drop_front());
  llvm::BitVector outer(shape.front());
  for (int64_t i = 0; i < shape.front(); ++i)
    if (inner && set.find_first_unset_in(i * inner, (i + 1) * inner) < 0)
      outer.set(i);
  if (shape.size() > 1 && outer.none() && shape.front() == 1) {
    elements.dims.emplace_back(1, true);
    return expandSet(set, shape.drop_front(), elements);
  }
  elements.dims.push_back(shape.size() == 1 ? set : outer);
  for (int64_t size : shape.drop_front())
    elements.dims.emplace_back(size, true);
}

/// Returns the indices of a collapsed dim for the index sets of the dims that
/// it joins.
static llvm::BitVector collapseSets(ArrayRef<llvm::BitVector> sets) {
  llvm::BitVector all(1, true);
  for (const llvm::BitVector &set : sets) {
    llvm::BitVector next(all.size() * set.size());
    for (unsigned i : all.set_bits())
      for (unsigned j : set.set_bits())
        next.set(i * set.size() + j);
    all = std::move(next);
  }
  return all;
}

static Elements reshape(Value source, ArrayRef<ReassociationIndices> groups,
                        bool expands, const Elements &result) {
  Elements elements;
  if (groups.empty())
    return Elements::getAll(getShape(source));
  for (auto [g, group] : llvm::enumerate(groups))
    if (expands)
      elements.dims.push_back(
          collapseSets(ArrayRef(result.dims).slice(group[0], group.size())));
    else
      expandSet(result.dims[g], getShape(source).slice(group[0], group.size()),
                elements);
  return elements;
}

static Sources getMovedBy(tensor::ExtractSliceOp op, const Elements &result) {
  if (ShapedType::isDynamicShape(op.getStaticOffsets()) ||
      ShapedType::isDynamicShape(op.getStaticStrides()))
    return {};
  Elements from;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (unsigned d = 0, next = 0, e = dropped.size(); d < e; ++d)
    from.dims.push_back(
        shift(dropped.test(d) ? llvm::BitVector(1, true) : result.dims[next++],
              op.getStaticOffset(d), op.getStaticStride(d),
              op.getSourceType().getDimSize(d)));
  return {{op.getSource(), from}};
}

static Sources getMovedBy(tensor::InsertSliceOp op, const Elements &result) {
  if (ShapedType::isDynamicShape(op.getStaticOffsets()) ||
      ShapedType::isDynamicShape(op.getStaticStrides()) ||
      !isKnown(op.getSource()))
    return {};
  Elements from;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  bool isAny = true;
  for (unsigned d = 0, e = dropped.size(); d < e; ++d) {
    llvm::BitVector of(op.getStaticSize(d));
    for (unsigned i = 0; i < of.size(); ++i)
      if (result.dims[d].test(op.getStaticOffset(d) +
                              i * op.getStaticStride(d)))
        of.set(i);
    isAny &= of.any();
    if (!dropped.test(d))
      from.dims.push_back(of);
  }
  Sources sources{{op.getDest(), getAround(op, result)}};
  if (isAny)
    sources.push_back({op.getSource(), from});
  return sources;
}

static Sources getMovedBy(tensor::PadOp op, const Elements &result) {
  if (ShapedType::isDynamicShape(op.getStaticLow()))
    return {};
  Elements from;
  for (auto [dim, low, size] : llvm::zip_equal(result.dims, op.getStaticLow(),
                                               op.getSourceType().getShape()))
    from.dims.push_back(shift(dim, -low, 1, size));
  return {{op.getSource(), from}};
}

static Sources getMovedBy(tensor::ConcatOp op, const Elements &result) {
  Sources sources;
  int64_t offset = 0;
  for (Value input : op.getInputs()) {
    Elements from = result;
    int64_t size = getShape(input)[op.getDim()];
    from.dims[op.getDim()] = shift(result.dims[op.getDim()], -offset, 1, size);
    offset += size;
    sources.push_back({input, from});
  }
  return sources;
}

/// Returns tensors from which `op` moves elements to the elements `result` of
/// its result, each with these elements or some of them. Returns std::nullopt
/// if it is not an op that only moves elements.
static std::optional<Sources> getMovedFrom(Operation *op,
                                           const Elements &result) {
  using Moved = std::optional<Sources>;
  if (isTooLarge(op))
    return Sources();
  return llvm::TypeSwitch<Operation *, Moved>(op)
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::PadOp,
            tensor::ConcatOp>([&](auto op) { return getMovedBy(op, result); })
      .Case<tensor::ExpandShapeOp>([&](tensor::ExpandShapeOp op) -> Moved {
        return Sources{
            {op.getSrc(), reshape(op.getSrc(), op.getReassociationIndices(),
                                  /*expands=*/true, result)}};
      })
      .Case<tensor::CollapseShapeOp>([&](tensor::CollapseShapeOp op) -> Moved {
        return Sources{
            {op.getSrc(), reshape(op.getSrc(), op.getReassociationIndices(),
                                  /*expands=*/false, result)}};
      })
      .Case<tensor::CastOp>([&](tensor::CastOp op) -> Moved {
        return Sources{{op.getSource(), result}};
      })
      .Case<linalg::TransposeOp, linalg::CopyOp>([&](auto op) -> Moved {
        return getSourcesOfLoops(cast<linalg::LinalgOp>(op.getOperation()),
                                 {result});
      })
      .Default([](Operation *) -> Moved { return std::nullopt; });
}

/// Returns a lower bound of the bytes stored for `elements` of `tensor` that
/// are moved to a function result. Moves are followed back, and elements that
/// come from fills and splat constants do not count.
int64_t Bound::countStored(Value tensor, const Elements &elements) {
  if (!isKnown(tensor) || isFresh(tensor))
    return 0;
  Operation *op = tensor.getDefiningOp();
  std::optional<Sources> sources =
      op ? getMovedFrom(op, elements) : std::nullopt;
  if (!sources)
    return elements.count() *
           getElementBytes(getElementTypeOrSelf(tensor.getType()));
  int64_t bytes = 0;
  for (auto &[source, from] : *sources)
    if (isKnown(source))
      bytes += countStored(source, from);
  return bytes;
}

void Bound::visit(Operation *op) {
  SmallVector<std::optional<Elements>, 0> results;
  bool isAny = false;
  for (Value result : op->getResults()) {
    std::optional<Elements> elements;
    for (auto *all : {&needed, &moved})
      if (auto found = all->find(result); found != all->end()) {
        Elements both = found->second;
        if (elements)
          both.join(*elements);
        elements = both;
      }
    isAny |= elements.has_value();
    results.push_back(std::move(elements));
  }
  if (!isAny)
    return;
  auto add = [](DenseMap<Value, Elements> &to, const Sources &sources) {
    for (const auto &[source, elements] : sources)
      if (isKnown(source))
        to[source].join(elements);
  };
  bool isMove = op->getNumResults() == 1 &&
                getMovedFrom(op, *results.front()).has_value();
  if (isMove) {
    for (auto *all : {&needed, &moved})
      if (auto found = all->find(op->getResult(0)); found != all->end()) {
        Sources sources = *getMovedFrom(op, Elements(found->second));
        add(*all, sources);
      }
  } else if (auto linalg = dyn_cast<linalg::LinalgOp>(op);
             linalg && !linalg.hasDynamicShape()) {
    add(needed, getSourcesOfLoops(linalg, results));
  }
}

int64_t Bound::run(func::FuncOp function, NarrowConstants &narrow) {
  if (!function.getBody().hasOneBlock())
    return 0;
  Block &block = function.getBody().front();
  int64_t bytes = 0;
  for (Value result : block.getTerminator()->getOperands()) {
    if (!isKnown(result))
      continue;
    Elements all = Elements::getAll(getShape(result));
    bytes += countStored(result, all);
    moved[result] = std::move(all);
  }
  for (Operation &op : llvm::reverse(block.without_terminator()))
    visit(&op);
  // Equal constants are loaded once.
  llvm::MapVector<Attribute, std::pair<Value, Elements>> constants;
  for (auto &[tensor, elements] : needed) {
    Attribute value;
    if (isa<BlockArgument>(tensor))
      bytes += narrow.getBytes(tensor, elements.count());
    else if (!isFresh(tensor) && matchPattern(tensor, m_Constant(&value))) {
      auto &[constant, read] = constants[value];
      constant = tensor;
      read.join(elements);
    }
  }
  for (auto &[value, read] : constants)
    bytes += narrow.getBytes(read.first, read.second.count());
  return bytes;
}

int64_t layout::getTrafficLowerBound(func::FuncOp function,
                                     NarrowConstants &narrow) {
  return Bound().run(function, narrow);
}
