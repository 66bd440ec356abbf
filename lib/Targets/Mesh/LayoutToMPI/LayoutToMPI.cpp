//===- LayoutToMPI.cpp - Lower tensors on a mesh to messages --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops are converted to blocks first. Then all conversions are planned, which
// reports those that cannot be lowered, and tensors on a mesh are replaced by
// the memory of their blocks.
//
//===----------------------------------------------------------------------===//

#include "ComputeOnBlocks.h"
#include "MeshBlocks.h"
#include "layout/Algebra/Families/Mesh.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Support/BufferAlignment.h"
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CONVERTLAYOUTTOMPIPASS
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

using PlansOfConversions = DenseMap<Operation *, PlannedMessages>;

static void populateBlockConversion(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](RankedTensorType type) -> std::optional<Type> {
    if (!liesOnMesh(type))
      return std::nullopt;
    return getBlockMemory(type);
  });
}

/// Returns the first tensor type on a mesh among the operands, results, block
/// arguments and the signature of `op`. If there is none, returns null.
static RankedTensorType findOnMesh(Operation *op) {
  RankedTensorType found;
  auto look = [&](TypeRange types) {
    for (Type type : types)
      if (!found && liesOnMesh(type))
        found = cast<RankedTensorType>(type);
  };
  look(op->getOperandTypes());
  look(op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      look(block.getArgumentTypes());
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    look(function.getArgumentTypes());
    look(function.getResultTypes());
  }
  return found;
}

namespace {

struct ConvertPattern : OpConversionPattern<ConvertOp> {
  ConvertPattern(const TypeConverter &converter, MLIRContext *context,
                 const PlansOfConversions &planned)
      : OpConversionPattern(converter, context), planned(planned) {}

  LogicalResult
  matchAndRewrite(ConvertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto found = planned.find(op);
    if (found == planned.end())
      return failure();
    const PlannedMessages &conversion = found->second;
    Location loc = op.getLoc();
    RankedTensorType from = getBlockMemory(op.getSource().getType());
    RankedTensorType to = getBlockMemory(op.getResult().getType());
    auto getBuffer = [](RankedTensorType type) {
      return MemRefType::get(type.getShape(), type.getElementType());
    };
    Value source = bufferization::ToBufferOp::create(
        rewriter, loc, getBuffer(from), adaptor.getSource(),
        /*read_only=*/true);
    Value target =
        memref::AllocOp::create(rewriter, loc, getBuffer(to),
                                rewriter.getI64IntegerAttr(kBufferAlignment));
    TypedAttr filler = statesPadding(op.getResult().getType())
                           ? getPadding(op.getResult().getType())
                           : TypedAttr();
    if (conversion.plan.reduction)
      filler = getNeutralElement(rewriter, loc, *conversion.plan.reduction,
                                 to.getElementType());
    if (filler) {
      Value value = arith::ConstantOp::create(rewriter, loc, filler);
      linalg::FillOp::create(rewriter, loc, value, target);
    }
    emitMessages(rewriter, loc, conversion, source, target);
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(
        op, to, target, /*restrict=*/true, /*writable=*/true);
    return success();
  }

  const PlansOfConversions &planned;
};

/// Replaces a cast between a tensor on a mesh and the memory of its block by
/// the converted operand, which already has the type of the memory.
struct CastPattern : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumOperands() != 1 ||
        adaptor.getInputs()[0].getType() !=
            typeConverter->convertType(op.getType(0)))
      return failure();
    rewriter.replaceOp(op, adaptor.getInputs());
    return success();
  }
};

struct ConvertLayoutToMPI
    : layout::impl::ConvertLayoutToMPIPassBase<ConvertLayoutToMPI> {
  using ConvertLayoutToMPIPassBase::ConvertLayoutToMPIPassBase;

  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  LogicalResult nameImplementation();
  LogicalResult plan(ConvertOp op);
  LogicalResult check(Operation *op);

  PlansOfConversions planned;
  SmallVector<ConvertOp> conversions; // in program order
};

} // namespace

LogicalResult ConvertLayoutToMPI::checkOptions() {
  if (maxExtraBytes < 0)
    return getOperation()->emitError()
           << "the option 'max-extra-bytes' is " << maxExtraBytes.getValue()
           << ": it must be at least 0";
  if (implementation != "OpenMPI" && implementation != "MPICH")
    return getOperation()->emitError()
           << "the option 'implementation' is '" << implementation
           << "': it must be OpenMPI or MPICH, which upstream can lower to";
  return success();
}

/// Sets the entry "MPI:Implementation" of the module to the option
/// `implementation`, for upstream's lowering of mpi ops. An existing entry
/// remains. Emits an error and fails if another data layout attribute of the
/// module lacks the entry.
LogicalResult ConvertLayoutToMPI::nameImplementation() {
  ModuleOp module = getOperation();
  constexpr StringLiteral name("MPI:Implementation");
  if (succeeded(dlti::query(module, {name})))
    return success();
  for (NamedAttribute attr : module->getAttrs())
    if (isa<DLTIQueryInterface>(attr.getValue()))
      return module.emitError()
             << "has '" << attr.getName().getValue() << "' without an entry '"
             << name
             << "', which states the MPI implementation of the program: add \""
             << name << "\" = \"" << implementation << '"';
  MLIRContext *context = &getContext();
  DataLayoutEntryInterface entry = DataLayoutEntryAttr::get(
      StringAttr::get(context, name), StringAttr::get(context, implementation));
  module->setAttr("dlti.map", mlir::MapAttr::get(context, ArrayRef(entry)));
  return success();
}

LogicalResult ConvertLayoutToMPI::plan(ConvertOp op) {
  RankedTensorType from = op.getSource().getType(),
                   to = op.getResult().getType();
  Type elementType = from.getElementType();
  auto refuse = [&](const Twine &why) {
    op.emitOpError() << "has no messages: " << why;
  };
  ReshardOptions options;
  // The byte count of an MPI message has 31 bits.
  options.maxExtraBytes = 2 * int64_t(std::numeric_limits<int32_t>::max());
  if (maxExtraBytes)
    options.maxExtraBytes =
        std::min(*options.maxExtraBytes, int64_t(maxExtraBytes));
  FailureOr<ReshardPlan> plan = ReshardPlan::get(from, to, options, refuse);
  if (failed(plan))
    return failure();
  if (!llvm::isPowerOf2_64(plan->elementBytes))
    return op.emitOpError()
           << "moves elements of " << plan->elementBytes << " bytes ("
           << elementType
           << "), which have padding in memory: use a type of 1, 2, "
           << "4, 8 or more bytes, a power of two";
  if (plan->reduction && isa<IntegerType>(elementType) &&
      !elementType.isSignlessInteger())
    return op.emitOpError()
           << "reduces elements of type " << elementType
           << " (P4): use a signless type, which is compared as signed";
  if (plan->reduction && statesPadding(to))
    return op.emitOpError()
           << "reduces to a type with a padding value (P1): reduce to the "
              "layout without it, and add it by a second layout.convert";
  FailureOr<MessageTables> tables = MessageTables::get(*plan, from, to, refuse);
  if (failed(tables))
    return failure();
  planned.try_emplace(op,
                      PlannedMessages{std::move(*plan), std::move(*tables)});
  conversions.push_back(op);
  return success();
}

LogicalResult ConvertLayoutToMPI::check(Operation *op) {
  RankedTensorType type = findOnMesh(op);
  if (!type)
    return success();
  if (auto convert = dyn_cast<ConvertOp>(op))
    return plan(convert);
  if (!getBlockMemory(type))
    return op->emitOpError()
           << "has a value of type " << type
           << ", whose blocks have dynamic sizes: messages need static shapes";
  return success();
}

void ConvertLayoutToMPI::runOnOperation() {
  ModuleOp module = getOperation();
  planned.clear();
  conversions.clear();
  if (failed(checkOptions()))
    return signalPassFailure();
  bool isOkay = true;
  MessageSymbols symbols(module);
  module->walk([&](func::FuncOp function) {
    isOkay &= succeeded(computeOnBlocks(function, symbols));
  });
  if (!isOkay)
    return signalPassFailure();
  module->walk([&](Operation *op) { isOkay &= succeeded(check(op)); });
  if (!isOkay)
    return signalPassFailure();
  for (ConvertOp op : conversions)
    if (failed(symbols.add(op.getLoc(),
                           op.getSource().getType().getElementType(),
                           planned.find(op)->second)))
      return signalPassFailure();
  if (!conversions.empty() && failed(nameImplementation()))
    return signalPassFailure();

  TypeConverter converter;
  populateBlockConversion(converter);
  RewritePatternSet patterns(&getContext());
  patterns.add<ConvertPattern>(converter, &getContext(), planned);
  patterns.add<CastPattern>(converter, &getContext());
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  scf::populateSCFStructuralTypeConversions(converter, patterns);
  cf::populateCFStructuralTypeConversions(converter, patterns);
  ConversionTarget target(getContext());
  target.markUnknownOpDynamicallyLegal(
      [](Operation *op) { return !findOnMesh(op); });
  if (failed(applyPartialConversion(module, target, std::move(patterns))))
    signalPassFailure();
}
