//===- LoopValueTables.cpp - Tables of values over loops ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers/LoopValueTables.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

// The maximum number of values in a table. They are attributes, which the
// context never frees.
static constexpr int64_t kMostPoints = 1 << 18;
// The maximum number of elements of a float constant in a table; larger ones
// are treated as data.
static constexpr int64_t kMostNumbers = 1 << 12;

SmallVector<int64_t> LoopValueTable::getIntegers() const {
  return llvm::map_to_vector(values, [](Attribute value) {
    return cast<IntegerAttr>(value).getValue().getSExtValue();
  });
}

std::optional<int64_t>
LoopValueTables::countPoints(ArrayRef<unsigned> loops) const {
  int64_t points = 1;
  for (unsigned loop : loops)
    if (llvm::MulOverflow(points, ranges[loop], points) || points > kMostPoints)
      return std::nullopt;
  return points;
}

/// Calls `visit` for all iterations of `loops` in row-major order, with an
/// index per loop of the op; those of other loops are 0.
static void forEachPoint(ArrayRef<unsigned> loops, ArrayRef<int64_t> ranges,
                         function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> at(ranges.size(), 0);
  for (unsigned loop : loops)
    if (ranges[loop] == 0)
      return;
  while (true) {
    visit(at);
    unsigned i = loops.size();
    while (i > 0 && ++at[loops[i - 1]] == ranges[loops[i - 1]])
      at[loops[--i]] = 0;
    if (i == 0)
      return;
  }
}

static int64_t linearizeLoops(ArrayRef<unsigned> loops,
                              ArrayRef<int64_t> ranges, ArrayRef<int64_t> at) {
  int64_t index = 0;
  for (unsigned loop : loops)
    index = index * ranges[loop] + at[loop];
  return index;
}

/// Returns the bytes of a constant if their number is that of all elements of
/// the type `of`, or std::nullopt otherwise, e.g. for a splat.
static std::optional<ArrayRef<char>> getResourceBytes(Attribute constant,
                                                      Type of) {
  auto type = dyn_cast<RankedTensorType>(of);
  std::optional<ArrayRef<char>> bytes = getConstantBytes(constant);
  if (!type || !bytes || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() % 8 != 0 ||
      int64_t(bytes->size()) !=
          type.getNumElements() * type.getElementTypeBitWidth() / 8)
    return std::nullopt;
  return bytes;
}

/// Returns the elements of `value`, or a null attribute if it is not a constant
/// or its bytes are not known. Elements of a resource are copied into the
/// context.
static DenseElementsAttr getElements(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return {};
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    return dense;
  std::optional<ArrayRef<char>> bytes =
      getResourceBytes(constant, value.getType());
  if (!bytes)
    return {};
  return DenseElementsAttr::getFromRawBuffer(
      cast<RankedTensorType>(value.getType()), *bytes);
}

Attribute layout::getElement(Value value, int64_t place) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return {};
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    return *std::next(dense.getValues<Attribute>().begin(), place);
  std::optional<ArrayRef<char>> bytes =
      getResourceBytes(constant, value.getType());
  if (!bytes)
    return {};
  Type element = getElementTypeOrSelf(value);
  int64_t size = element.getIntOrFloatBitWidth() / 8;
  auto one = DenseElementsAttr::getFromRawBuffer(
      RankedTensorType::get({}, element), bytes->slice(place * size, size));
  return *one.getValues<Attribute>().begin();
}

std::optional<LoopValueTable>
LoopValueTables::makeOfOperand(OpOperand &operand) {
  Attribute number;
  if (!isa<ShapedType>(operand.get().getType())) {
    if (matchPattern(operand.get(), m_Constant(&number)))
      return LoopValueTable{{}, {number}};
    return std::nullopt;
  }
  if (op.isDpsInit(&operand))
    return std::nullopt;
  auto type = cast<ShapedType>(operand.get().getType());
  if (isa<ComplexType>(type.getElementType()))
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  LoopValueTable table;
  for (unsigned loop = 0; loop < ranges.size(); ++loop)
    if (map.isFunctionOfDim(loop))
      table.loops.push_back(loop);
  std::optional<int64_t> points = countPoints(table.loops);
  if (!points ||
      (isa<FloatType>(type.getElementType()) && *points > kMostNumbers))
    return std::nullopt;
  DenseElementsAttr elements = getElements(operand.get());
  if (!elements)
    return std::nullopt;
  ArrayRef<int64_t> shape = elements.getType().getShape();
  auto values = elements.getValues<Attribute>();
  forEachPoint(table.loops, ranges, [&](ArrayRef<int64_t> at) {
    int64_t index = 0;
    for (auto [expr, size] : llvm::zip_equal(map.compose(at), shape))
      index = index * size + expr;
    table.values.push_back(*std::next(values.begin(), index));
  });
  return table;
}

std::optional<LoopValueTable> LoopValueTables::makeOfOp(Operation *made) {
  if (made->getNumRegions() != 0 || made->getNumResults() != 1 || !isPure(made))
    return std::nullopt;
  SmallVector<const LoopValueTable *> operands;
  LoopValueTable table;
  for (Value operand : made->getOperands()) {
    operands.push_back(get(operand));
    if (!operands.back())
      return std::nullopt;
    llvm::append_range(table.loops, operands.back()->loops);
  }
  llvm::sort(table.loops);
  table.loops.erase(llvm::unique(table.loops), table.loops.end());
  if (!countPoints(table.loops))
    return std::nullopt;
  bool isKnown = true;
  forEachPoint(table.loops, ranges, [&](ArrayRef<int64_t> at) {
    if (!isKnown)
      return;
    SmallVector<Attribute> constants;
    for (const LoopValueTable *operand : operands)
      constants.push_back(
          operand->values[linearizeLoops(operand->loops, ranges, at)]);
    SmallVector<OpFoldResult> results;
    isKnown = succeeded(made->fold(constants, results)) && results.size() == 1;
    if (!isKnown)
      return;
    // x * 1 folds to an operand, not to a constant.
    auto value = dyn_cast<Value>(results.front());
    auto same = llvm::find(made->getOperands(), value);
    Attribute constant = !value ? dyn_cast<Attribute>(results.front())
                         : same == made->operand_end()
                             ? Attribute()
                             : constants[same.getIndex()];
    isKnown = isa_and_present<IntegerAttr, FloatAttr>(constant);
    table.values.push_back(constant);
  });
  return isKnown ? std::make_optional(std::move(table)) : std::nullopt;
}

std::optional<LoopValueTable> LoopValueTables::make(Value value) {
  Attribute number;
  if (matchPattern(value, m_Constant(&number)))
    return isa<IntegerAttr, FloatAttr>(number)
               ? std::make_optional(LoopValueTable{{}, {number}})
               : std::nullopt;
  if (value.getParentBlock() != op.getBlock())
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return makeOfOperand(op->getOpOperand(argument.getArgNumber()));
  auto index = value.getDefiningOp<linalg::IndexOp>();
  if (!index)
    return makeOfOp(value.getDefiningOp());
  LoopValueTable table{{unsigned(index.getDim())}, {}};
  if (!countPoints(table.loops))
    return std::nullopt;
  Builder builder(op.getContext());
  for (int64_t i = 0; i < ranges[index.getDim()]; ++i)
    table.values.push_back(builder.getIndexAttr(i));
  return table;
}

const LoopValueTable *LoopValueTables::get(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second.get();
  std::optional<LoopValueTable> made = make(value);
  auto &kept = known[value];
  if (made)
    kept = std::make_unique<LoopValueTable>(std::move(*made));
  return kept.get();
}
