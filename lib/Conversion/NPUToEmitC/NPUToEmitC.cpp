//===- NPUToEmitC.cpp - NPU memory ops to C++ -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OkkCalls.h"
#include "layout/Conversion/NPUToEmitC/Passes.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::npu {
#define GEN_PASS_DEF_CONVERTNPUTOEMITCPASS
#include "layout/Conversion/NPUToEmitC/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

namespace {
/// One function.
class FunctionEmitter {
public:
  FunctionEmitter(func::FuncOp function, OpBuilder &builder, bool checks)
      : function(function), builder(builder), calls(builder), checks(checks) {}

  LogicalResult emit();

private:
  LogicalResult emitBlock(Block &block);
  LogicalResult emitAlloc(AllocOp op);
  LogicalResult emitCopy(CopyOp op);
  LogicalResult emitFill(FillOp op);
  LogicalResult emitCompute(linalg::LinalgOp op, StringRef name);

  /// The memref with the byte of its unit in its map.
  FailureOr<Storage> getPlaced(Operation *op, Value memref);
  std::optional<std::vector<Transfer>>
  plan(Operation *op, const LayoutMap &source, const LayoutMap &dest,
       ArrayRef<int64_t> shape, int64_t elementBytes);
  /// Where a transfer starts, as an argument of a call.
  Value getAddress(Value memref, const TransferSide &side);

  func::FuncOp function;
  OpBuilder &builder;
  OkkCalls calls;
  bool checks;
  DenseMap<Value, Value> systemAddresses;
  ChipAttr chip; // of all that is local
};
} // namespace

/// The memref of linear memory whose pointer a view of it counts from.
static Value getLinearMemory(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::SubViewOp, memref::CastOp>(op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

FailureOr<Storage> FunctionEmitter::getPlaced(Operation *op, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto emit = [&] { return op->emitOpError(); };
  if (!npu::isLocal(type)) {
    if (!getMemory(type) || getMemory(type).isSystem())
      return getStorage(type, emit);
    op->emitOpError() << "moves data of " << type.getMemorySpace()
                      << ", for which OKKernel has no transfer: only system "
                         "and local memory have";
    return failure();
  }
  auto alloc = getViewedMemory(memref).getDefiningOp<AllocOp>();
  if (!alloc) {
    op->emitOpError() << "takes local memory that an npu.alloc of the "
                         "function made";
    return failure();
  }
  FailureOr<Storage> storage = getStorageAt(type, *alloc.getByte(), emit);
  if (failed(storage))
    return failure();
  if (!chip)
    chip = storage->target;
  if (chip == storage->target)
    return storage;
  op->emitOpError() << "is on " << storage->target
                    << ", other ops of the function on " << chip;
  return failure();
}

std::optional<std::vector<Transfer>>
FunctionEmitter::plan(Operation *op, const LayoutMap &source,
                      const LayoutMap &dest, ArrayRef<int64_t> shape,
                      int64_t elementBytes) {
  TransferLimits limits;
  // System memory alone asks nothing of the units.
  if (chip) {
    limits.npus = chip.getNpus();
    limits.alignment = chip.getDmaAlignment();
    llvm::copy(chip.getMaxShape(), limits.maxShape.begin());
    limits.maxStride = chip.getMaxStride().value_or(0);
  }
  std::optional<std::vector<Transfer>> transfers =
      planTransfers(source, dest, shape, elementBytes, limits,
                    [&](const Twine &why) { op->emitOpError() << why; });
  if (!transfers)
    return std::nullopt;
  for (const Transfer &transfer : *transfers)
    if (!OkkCalls::canSay(transfer, chip ? chip.getBytesPerNpu() : 0)) {
      op->emitOpError() << "takes shapes, strides or addresses beyond the 32 "
                           "bits of OKKernel's: split the tensor";
      return std::nullopt;
    }
  return transfers;
}

Value FunctionEmitter::getAddress(Value memref, const TransferSide &side) {
  if (side.isLocal())
    return calls.getLocalAddress(side.unit * chip.getBytesPerNpu() + side.byte);
  return calls.getSystemAddress(systemAddresses[getLinearMemory(memref)],
                                side.byte);
}

LogicalResult FunctionEmitter::emitAlloc(AllocOp op) {
  if (!op.getAddress())
    return op.emitOpError() << "has no address: write one, or run "
                               "npu-assign-addresses";
  FailureOr<Storage> storage = getPlaced(op, op.getMemref());
  if (failed(storage))
    return failure();
  if (!checks)
    return success();
  ArrayRef<int64_t> shape = op.getMemref().getType().getShape();
  calls.declareTensor(
      int64_t(*op.getAddress()),
      getReservedBytes(*storage, shape) - storage->scatter.getOffset(),
      std::max(getAlignment(*storage), int64_t(op.getAlignment().value_or(1))));
  std::optional<std::vector<Transfer>> elements =
      plan(op, storage->map, storage->map, shape, storage->elementBytes);
  if (!elements)
    return failure();
  for (const Transfer &box : *elements)
    calls.declareElements(box, getAddress(op.getMemref(), box.dest));
  return success();
}

LogicalResult FunctionEmitter::emitCopy(CopyOp op) {
  FailureOr<Storage> from = getPlaced(op, op.getSource());
  FailureOr<Storage> to = getPlaced(op, op.getDest());
  if (failed(from) || failed(to))
    return failure();
  std::optional<std::vector<Transfer>> transfers =
      plan(op, op.getReadMap(from->map), to->map,
           op.getDest().getType().getShape(), to->elementBytes);
  if (!transfers)
    return failure();
  for (const Transfer &transfer : *transfers)
    calls.copy(transfer, getAddress(op.getDest(), transfer.dest),
               getAddress(op.getSource(), transfer.source));
  return success();
}

/// The bits of a constant.
static APInt getBits(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().bitcastToAPInt();
  return cast<IntegerAttr>(value).getValue();
}

LogicalResult FunctionEmitter::emitFill(FillOp op) {
  FailureOr<Storage> to = getPlaced(op, op.getDest());
  if (failed(to))
    return failure();
  std::optional<std::vector<Transfer>> transfers =
      plan(op, to->map, to->map, op.getDest().getType().getShape(),
           to->elementBytes);
  if (!transfers)
    return failure();
  APInt bits = getBits(op.getValue());
  for (const Transfer &transfer : *transfers) {
    unsigned width = transfer.elementBytes * 8;
    APInt word = bits.trunc(width);
    if (APInt::getSplat(bits.getBitWidth(), word) != bits)
      return op.emitOpError() << "writes elements of " << bits.getBitWidth()
                              << " bits in words of " << width
                              << ", which only a value of equal words can be";
    if (op.getEngine() == Engine::Compute && width != 32)
      return op.emitOpError() << "execution units write words of 32 bits: "
                                 "view the tensor as i32, or fill it on dma";
    calls.fill(transfer, getAddress(op.getDest(), transfer.dest),
               word.getZExtValue(), op.getEngine() == Engine::Compute);
  }
  return success();
}

/// The function of the execution units that computes what the op does, or
/// nothing.
static StringRef getFunction(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<linalg::AddOp>([](auto) { return "add"; })
      .Case<linalg::SubOp>([](auto) { return "sub"; })
      .Case<linalg::MulOp>([](auto) { return "mul"; })
      .Case<linalg::DivOp>([](auto) { return "div"; })
      .Case<linalg::NegFOp>([](auto) { return "neg"; })
      .Case<linalg::ReciprocalOp>([](auto) { return "reciprocal"; })
      .Default([](Operation *) { return StringRef(); });
}

/// Every unit computes on its own channels: all operands start at one unit.
LogicalResult FunctionEmitter::emitCompute(linalg::LinalgOp op,
                                           StringRef name) {
  SmallVector<Value> addresses;
  SmallVector<LoopSizes> strides;
  LoopSizes shape{1, 1, 1, 1};
  std::optional<int64_t> start;
  SmallVector<Value> operands(op.getDpsInits());
  llvm::append_range(operands, op.getDpsInputs());
  for (Value operand : operands) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type || !npu::isLocal(type) || !type.getElementType().isF32() ||
        type.getRank() != 4)
      return op->emitError()
             << "'" << op->getName()
             << "' runs on execution units, which take f32 tensors of four "
                "dims in local memory, found "
             << operand.getType();
    FailureOr<Storage> storage = getPlaced(op, operand);
    if (failed(storage))
      return failure();
    std::optional<TransferSide> box = getBox(
        storage->map, type.getShape(), storage->elementBytes, chip.getNpus());
    if (!box)
      return op->emitError() << "'" << op->getName()
                             << "' runs on execution units, which take "
                                "tensors that step evenly, found "
                             << type;
    if (start.value_or(box->unit) != box->unit)
      return op->emitError()
             << "'" << op->getName() << "' runs on execution units, which see "
             << "their own memory only: its operands start at units " << *start
             << " and " << box->unit << ", move one by npu.copy";
    start = box->unit;
    llvm::copy(type.getShape(), shape.begin());
    addresses.push_back(getAddress(operand, *box));
    strides.push_back(box->strides);
  }
  calls.compute(name, shape, addresses, strides);
  return success();
}

LogicalResult FunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    LogicalResult emitted =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<AllocOp>([&](auto alloc) { return emitAlloc(alloc); })
            .Case<CopyOp>([&](auto copy) { return emitCopy(copy); })
            .Case<FillOp>([&](auto fill) { return emitFill(fill); })
            .Case<DeallocOp>([&](DeallocOp dealloc) {
              auto alloc = dealloc.getMemref().getDefiningOp<AllocOp>();
              if (checks)
                calls.releaseTensor(int64_t(*alloc.getAddress()));
              return success();
            })
            .Case<ParallelOp>([&](ParallelOp parallel) {
              calls.call("okk_parallel_start", {});
              if (failed(emitBlock(parallel.getBody().front())))
                return failure();
              calls.call("okk_parallel_end", {});
              return success();
            })
            .Case<func::ReturnOp>([&](auto) {
              emitc::ReturnOp::create(builder, op.getLoc(), Value());
              return success();
            })
            .Case<SubViewOp, ViewOp, memref::SubViewOp, memref::CastOp>(
                [&](auto) { return success(); })
            .Default([&](Operation *other) {
              StringRef name = getFunction(other);
              if (!name.empty())
                return emitCompute(cast<linalg::LinalgOp>(other), name);
              return LogicalResult(
                  other->emitError()
                  << "'" << other->getName()
                  << "' has no function of OKKernel's: lower it to npu ops");
            });
    if (failed(emitted))
      return failure();
  }
  return success();
}

LogicalResult FunctionEmitter::emit() {
  FunctionType type = function.getFunctionType();
  if (!function.getBody().hasOneBlock() || type.getNumResults() != 0)
    return function.emitOpError()
           << "has one block and no results where it becomes OKKernel code: "
              "results are memrefs that it is given";
  Type address = calls.getSystemType();
  SmallVector<Type> inputs;
  for (Type input : type.getInputs()) {
    auto memref = dyn_cast<MemRefType>(input);
    if (!memref || !getMemory(memref) || !getMemory(memref).isSystem())
      return function.emitOpError()
             << "takes memrefs of system memory where it becomes OKKernel "
                "code, found "
             << input;
    inputs.push_back(address);
  }
  calls.setLoc(function.getLoc());
  auto emitted =
      emitc::FuncOp::create(builder, function.getLoc(), function.getName(),
                            builder.getFunctionType(inputs, {}));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = emitted.addEntryBlock();
  for (auto [old, argument] :
       llvm::zip_equal(function.getArguments(), block->getArguments()))
    systemAddresses[old] = argument;
  builder.setInsertionPointToStart(block);
  return emitBlock(function.getBody().front());
}

namespace {
struct ConvertNPUToEmitCPass
    : public npu::impl::ConvertNPUToEmitCPassBase<ConvertNPUToEmitCPass> {
  using ConvertNPUToEmitCPassBase::ConvertNPUToEmitCPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(verifyMemory(function, exactBytes)))
        return signalPassFailure();
    OpBuilder builder(module.getBody(), module.getBody()->begin());
    emitc::IncludeOp::create(builder, module.getLoc(),
                             checks ? "sim.h" : "okk.h");
    for (func::FuncOp function : functions) {
      builder.setInsertionPoint(function);
      if (failed(FunctionEmitter(function, builder, checks).emit()))
        return signalPassFailure();
      function.erase();
    }
  }
};
} // namespace
