//===- NarrowConstants.cpp - f32 constants stored as i8 -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers/NarrowConstants.h"
#include "Tiling/TileAndFuse.h"
#include "layout/Analysis/ConversionPlan.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Support/ConstantBytes.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "layout/Targets/NPU/NpuSeeds.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

namespace mlir::layout {
#define GEN_PASS_DEF_NARROWCONSTANTSPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns the elements of an f32 constant as int8. Returns std::nullopt for
/// other tensors, for splats, and if an element has no int8 value with the same
/// f32 bits, such as -0.
static std::optional<std::vector<int8_t>> getAsBytes(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  ElementsAttr values;
  if (!type || !type.getElementType().isF32() || type.getEncoding() ||
      !matchPattern(tensor, m_Constant(&values)))
    return std::nullopt;
  std::optional<ArrayRef<char>> data = getConstantBytes(values);
  if (!data || data->size() != size_t(type.getNumElements()) * 4)
    return std::nullopt; // a splat is filled where it is needed
  std::vector<int8_t> bytes(type.getNumElements());
  for (auto [i, byte] : llvm::enumerate(bytes)) {
    float number;
    std::memcpy(&number, data->data() + 4 * i, 4);
    if (!(number >= -128 && number <= 127))
      return std::nullopt;
    byte = int8_t(number);
    float back = byte;
    if (std::memcmp(&back, &number, 4) != 0)
      return std::nullopt;
  }
  return bytes;
}

/// Returns true if loading i8 elements and converting them takes less time than
/// loading f32 elements.
bool NarrowConstants::savesTime(int64_t elements) const {
  ChipClock::Work work;
  work.function = "int8_to_fp32";
  work.isSigned = true;
  Cost narrowed = addCosts(times.getTransfers(Direction::S2L, 1, elements),
                           times.getCommands(times.getCommand(
                               work, times.divideAmongCores(elements))));
  return narrowed <
         times.getTransfers(Direction::S2L, 1, scaleCost(elements, 4));
}

bool NarrowConstants::canBeNarrow(Value tensor) {
  while (isa_and_present<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
                         tensor::CollapseShapeOp>(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  auto constant = tensor.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return false;
  auto [known, isNew] = narrow.try_emplace(constant.getValue(), false);
  if (isNew) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    known->second = type && savesTime(type.getNumElements()) &&
                    getAsBytes(tensor).has_value();
  }
  return known->second;
}

int64_t NarrowConstants::getBytes(Value tensor, int64_t elements) {
  return getBytes(tensor.getType(), elements, canBeNarrow(tensor));
}

int64_t NarrowConstants::getBytes(Type type, int64_t elements, bool isNarrow) {
  return elements *
         (isNarrow ? 1 : getElementBytes(getElementTypeOrSelf(type)));
}

namespace {
/// The uses of a constant: slices and reshapes of it (`moves`), and per tensor,
/// the constant or one of these, the operands of linalg ops that read it.
struct Readers {
  SmallVector<Operation *> moves;
  llvm::MapVector<Value, SmallVector<OpOperand *>> reads;

  /// Collects the uses of `tensor`. Returns false if one is neither a slice nor
  /// a reshape nor an input, in the same block, of a linalg op that cores
  /// compute and whose operands have no layouts.
  bool collect(Value tensor);
};

class Narrower {
public:
  Narrower(func::FuncOp function, NpuTargetAttr target)
      : function(function), target(target),
        costs(cast<TargetInterface>(target)), narrow(NpuTimes(target)),
        builder(function.getContext()) {}

  void run();

private:
  bool isLoadedAsBytes(const Readers &readers);
  void change(arith::ConstantOp constant, const Readers &readers);

  func::FuncOp function;
  NpuTargetAttr target;
  CostModel costs;
  NarrowConstants narrow;
  OpBuilder builder;
};
} // namespace

bool Readers::collect(Value tensor) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp>(op)) {
      moves.push_back(op);
      return collect(op->getResult(0));
    }
    auto reader = dyn_cast<linalg::LinalgOp>(op);
    reads[tensor].push_back(&use);
    return reader && op->getBlock() == tensor.getParentBlock() &&
           isForCores(reader) && !reader.isDpsInit(&use) &&
           llvm::none_of(op->getOperandTypes(), hasLayout);
  });
}

/// Returns true if every reader can get its operand from i8 data
/// (acceptsInt8Operand).
bool Narrower::isLoadedAsBytes(const Readers &readers) {
  for (auto &[tensor, uses] : readers.reads)
    for (OpOperand *use : uses)
      if (!acceptsInt8Operand(*use, costs, target.getChip()))
        return false;
  return true;
}

/// Creates the i8 constant with the values of `constant`, as a dense_resource
/// if `constant` is one.
static arith::ConstantOp makeBytes(OpBuilder &builder,
                                   arith::ConstantOp constant) {
  auto type =
      cast<RankedTensorType>(constant.getType()).clone(builder.getI8Type());
  std::vector<int8_t> bytes = *getAsBytes(constant);
  TypedAttr value;
  if (auto resource =
          dyn_cast<DenseResourceElementsAttr>(constant.getValue())) {
    value = DenseResourceElementsAttr::get(
        cast<RankedTensorType>(type), resource.getRawHandle().getKey(),
        HeapAsmResourceBlob::allocateAndCopyInferAlign(
            ArrayRef<int8_t>(bytes)));
  } else {
    value = DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes));
  }
  return arith::ConstantOp::create(builder, constant.getLoc(), value);
}

static linalg::LinalgOp makeFloatsOfBytes(OpBuilder &builder, Value bytes) {
  Location loc = bytes.getLoc();
  auto type =
      cast<RankedTensorType>(bytes.getType()).clone(builder.getF32Type());
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                       type.getElementType());
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(type), ValueRange(bytes), ValueRange(init),
      ArrayRef<AffineMap>{map, map}, kinds,
      [](OpBuilder &body, Location loc, ValueRange element) {
        linalg::YieldOp::create(
            body, loc,
            arith::SIToFPOp::create(body, loc, body.getF32Type(), element[0])
                .getResult());
      });
  return cast<linalg::LinalgOp>(generic.getOperation());
}

/// Replaces the constant and its slices and reshapes by i8 ones, and converts
/// each tensor that is read to f32 before its first reader.
void Narrower::change(arith::ConstantOp constant, const Readers &readers) {
  IRMapping mapping;
  builder.setInsertionPoint(constant);
  mapping.map(constant.getResult(), makeBytes(builder, constant).getResult());
  for (Operation *move : readers.moves) {
    builder.setInsertionPoint(move);
    Operation *clone = builder.clone(*move, mapping);
    clone->getResult(0).setType(
        cast<RankedTensorType>(move->getResult(0).getType())
            .clone(builder.getI8Type()));
  }
  for (auto &[tensor, uses] : readers.reads) {
    Operation *first = uses.front()->getOwner();
    for (OpOperand *use : uses)
      if (use->getOwner()->isBeforeInBlock(first))
        first = use->getOwner();
    builder.setInsertionPoint(first);
    linalg::LinalgOp floats =
        makeFloatsOfBytes(builder, mapping.lookup(tensor));
    for (OpOperand *use : uses)
      use->set(floats->getResult(0));
  }
  for (Operation *move : llvm::reverse(readers.moves))
    move->erase();
  constant.erase();
}

void Narrower::run() {
  if (!function.getBody().hasOneBlock())
    return;
  int64_t numConstants = 0, numBytes = 0;
  for (auto constant : llvm::to_vector(
           function.getBody().front().getOps<arith::ConstantOp>())) {
    Readers readers;
    if (!narrow.canBeNarrow(constant) || !readers.collect(constant) ||
        !isLoadedAsBytes(readers))
      continue;
    ++numConstants;
    numBytes += cast<ShapedType>(constant.getType()).getNumElements();
    change(constant, readers);
  }
  if (numConstants)
    remark::passed(function.getLoc(),
                   remark::RemarkOpts::name("Narrow").category("npu").function(
                       function.getName()))
        << "constants are stored as bytes in system memory"
        << remark::metric("Constants", numConstants)
        << remark::metric("Bytes", numBytes);
}

namespace {
struct NarrowConstantsPass
    : layout::impl::NarrowConstantsPassBase<NarrowConstantsPass> {
  using NarrowConstantsPassBase::NarrowConstantsPassBase;

  void runOnOperation() override {
    FailureOr<NpuTargetAttr> npu =
        getNpuTarget(getOperation(), target, getArgument());
    if (failed(npu))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        Narrower(function, *npu).run();
  }
};
} // namespace
