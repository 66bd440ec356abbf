//===- FunctionEmitter.cpp - One function as C++ --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionEmitter.h"
#include "Numbering.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Support/EmittedText.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

/// Returns true if the op is a view of linear memory: it computes no data, and
/// the type of its result has the offset and strides.
static bool isLinearView(Operation *op) {
  return isa<memref::SubViewOp, memref::CastOp, memref::ExpandShapeOp,
             memref::CollapseShapeOp, memref::ReinterpretCastOp>(op);
}

std::string npu::getEmittedName(StringRef name) {
  return "npu_" + layout::toWord(name);
}

Value npu::getLinearMemory(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isLinearView(op))
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
                      << ", for which OKKernel has no transfer: it supports "
                         "only system and local memory";
    return failure();
  }
  auto alloc = getViewedMemory(memref).getDefiningOp<AllocOp>();
  if (!alloc) {
    op->emitOpError() << "needs local memory from an npu.alloc of the function";
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
                      int64_t elementBytes, const TransferLimits &limits) {
  std::optional<std::vector<Transfer>> transfers =
      planTransfers(source, dest, shape, elementBytes, limits,
                    [&](const Twine &why) { op->emitOpError() << why; });
  if (!transfers)
    return std::nullopt;
  for (const Transfer &transfer : *transfers)
    if (!OkkCalls::canSay(transfer, chip ? chip.getBytesPerNpu() : 0)) {
      op->emitOpError() << "needs shapes, strides or addresses of more than 32 "
                           "bits, the limit of OKKernel: split the tensor";
      return std::nullopt;
    }
  return transfers;
}

Value FunctionEmitter::getAddress(Value memref, const TransferSide &side) {
  if (side.isLocal())
    return calls.getLocalAddress(side.core * chip.getBytesPerNpu() + side.byte);
  return getSystemAddress(memref, side.byte);
}

Value FunctionEmitter::getSystemAddress(Value memref, int64_t byte) {
  auto [parameter, first] = systemAddresses[getLinearMemory(memref)];
  return calls.getSystemAddress(parts.back().getArgument(parameter),
                                first + byte);
}

/// Returns true if the tensor is declared to the simulator. A tensor without
/// elements is not: the simulator identifies tensors by address, which it may
/// share with another one.
static bool isDeclared(AllocOp op) {
  return op.getMemref().getType().getNumElements() != 0;
}

LogicalResult FunctionEmitter::emitAlloc(AllocOp op) {
  if (!op.getAddress())
    return op.emitOpError() << "has no address: write one, or run "
                               "npu-assign-addresses";
  FailureOr<Storage> storage = getPlaced(op, op.getMemref());
  if (failed(storage))
    return failure();
  if (!checks || !isDeclared(op))
    return success();
  ArrayRef<int64_t> shape = op.getMemref().getType().getShape();
  calls.declareTensor(
      int64_t(*op.getAddress()),
      getReservedBytes(*storage, shape) - storage->scatter.getOffset(),
      std::max(getAlignment(*storage), int64_t(op.getAlignment().value_or(1))));
  auto type = cast<MemRefType>(op.getMemref().getType());
  TransferLimits limits;
  limits.npus = chip.getNpus();
  std::optional<std::vector<Transfer>> elements =
      planImage(op, *storage, type, limits);
  if (!elements)
    return failure();
  for (const Transfer &box : *elements)
    calls.numberElements(box, getAddress(op.getMemref(), box.dest));
  SmallVector<int64_t> whole = getWholeChannels(*storage, shape);
  if (!sharesHoles() || ArrayRef(whole) == shape)
    return success();
  // okk_bdc_matmul writes whole channels, so the columns after the last one are
  // declared as elements, too.
  std::optional<std::vector<Transfer>> channels = plan(
      op, storage->map, storage->map, whole, storage->elementBytes, limits);
  if (!channels)
    return failure();
  for (const Transfer &box : *channels)
    calls.declareElements(box, getAddress(op.getMemref(), box.dest));
  return success();
}

std::optional<std::vector<Transfer>>
FunctionEmitter::planImage(Operation *op, const Storage &storage,
                           MemRefType type, const TransferLimits &limits) {
  auto dense =
      MemRefType::get(type.getShape(), type.getElementType(), AffineMap(),
                      MemoryAttr::get(op->getContext(), "system"));
  FailureOr<Storage> image = getStorage(dense, [&] { return op->emitError(); });
  if (failed(image))
    return std::nullopt;
  return plan(op, image->map, storage.map, type.getShape(),
              storage.elementBytes, limits);
}

/// Returns the numbers by which the simulator identifies the bytes of each
/// memref. The dims that index the bytes within an element get the same sizes
/// for all memrefs: the bytes of f32 elements are split into 2 x 2 if another
/// memref has them so. Returns std::nullopt if numbers are not linear in the
/// indices, or if these sizes cannot be made equal.
static std::optional<SmallVector<Numbering>> getNumberings(ValueRange memrefs) {
  SmallVector<Numbering> numberings;
  for (Value memref : memrefs) {
    std::optional<Numbering> numbering = getNumbering(memref);
    if (!numbering)
      return std::nullopt;
    numberings.push_back(std::move(*numbering));
  }
  if (!splitAlike(numberings))
    return std::nullopt;
  return numberings;
}

bool FunctionEmitter::expect(ArrayRef<int64_t> shape, ValueRange memrefs,
                             CopyOp copy) {
  if (!checks)
    return false;
  std::optional<SmallVector<Numbering>> numberings = getNumberings(memrefs);
  if (!numberings)
    return false;
  if (copy) {
    auto source = cast<MemRefType>(copy.getSource().getType());
    SmallVector<int64_t> strides;
    for (auto [d, size] : llvm::enumerate(shape)) {
      int64_t from = copy.getPermutation() ? (*copy.getPermutation())[d] : d;
      strides.push_back(
          source.getDimSize(from) == 1 ? 0 : (*numberings)[1].strides[from]);
    }
    (*numberings)[1].strides = strides;
  }
  return expect(shape, memrefs, MutableArrayRef<Numbering>(*numberings));
}

bool FunctionEmitter::expect(ArrayRef<int64_t> ranges, ValueRange memrefs,
                             ArrayRef<AffineMap> maps) {
  std::optional<SmallVector<Numbering>> numberings = getNumberings(memrefs);
  if (!checks || !numberings)
    return false;
  for (auto [numbering, map] : llvm::zip_equal(*numberings, maps)) {
    SmallVector<int64_t> strides(ranges.size(), 0);
    for (auto [expr, stride] :
         llvm::zip_equal(map.getResults(), numbering.strides))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        strides[loop.getPosition()] += stride;
    numbering.strides = strides;
  }
  return expect(ranges, memrefs, MutableArrayRef<Numbering>(*numberings));
}

bool FunctionEmitter::expect(ArrayRef<int64_t> shape, ValueRange memrefs,
                             MutableArrayRef<Numbering> numberings) {
  SmallVector<int64_t> sizes(shape);
  for (auto [size, _] : numberings[0].inside)
    sizes.push_back(size);
  SmallVector<Value> sides;
  for (auto [memref, numbering] : llvm::zip_equal(memrefs, numberings)) {
    SmallVector<int64_t> strides(numbering.strides);
    for (auto [_, stride] : numbering.inside)
      strides.push_back(stride);
    if (npu::isLocal(cast<MemRefType>(memref.getType()))) {
      auto alloc = getViewedMemory(memref).getDefiningOp<AllocOp>();
      sides.push_back(calls.getLocalSide(int64_t(*alloc.getAddress()),
                                         numbering.first, strides));
      continue;
    }
    sides.push_back(calls.getSystemSide(
        getSystemAddress(memref, numbering.first), strides));
  }
  calls.expect(sizes, sides);
  return true;
}

LogicalResult FunctionEmitter::emitCopy(CopyOp op) {
  FailureOr<Storage> from = getPlaced(op, op.getSource());
  FailureOr<Storage> to = getPlaced(op, op.getDest());
  if (failed(from) || failed(to))
    return failure();
  std::optional<std::vector<Transfer>> transfers = plan(
      op, op.getReadMap(from->map), to->map, op.getDest().getType().getShape(),
      to->elementBytes, getTransferLimits(chip));
  if (!transfers)
    return failure();
  bool isExpected = expect(cast<MemRefType>(op.getDest().getType()).getShape(),
                           {op.getDest(), op.getSource()}, op);
  for (const Transfer &transfer : *transfers)
    calls.copy(transfer, getAddress(op.getDest(), transfer.dest),
               getAddress(op.getSource(), transfer.source));
  if (isExpected)
    calls.endExpected();
  return success();
}

/// Returns the bits of a FloatAttr or an IntegerAttr.
static APInt getBits(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().bitcastToAPInt();
  return cast<IntegerAttr>(value).getValue();
}

LogicalResult FunctionEmitter::emitFill(FillOp op) {
  FailureOr<Storage> to = getPlaced(op, op.getDest());
  if (failed(to))
    return failure();
  std::optional<std::vector<Transfer>> transfers = plan(
      op, to->map, to->map, op.getDest().getType().getShape(), to->elementBytes,
      op.getEngine() == Engine::Compute ? getComputeLimits(chip)
                                        : getTransferLimits(chip));
  if (!transfers)
    return failure();
  APInt bits = getBits(op.getValue());
  bool isExpected =
      expect(cast<MemRefType>(op.getDest().getType()).getShape(), op.getDest());
  for (const Transfer &transfer : *transfers) {
    unsigned width = transfer.elementBytes * 8;
    APInt word = bits.trunc(width);
    if (APInt::getSplat(bits.getBitWidth(), word) != bits)
      return op.emitOpError() << "writes elements of " << bits.getBitWidth()
                              << " bits in words of " << width
                              << " bits, but the words of the value differ";
    bool isCompute = op.getEngine() == Engine::Compute;
    if (isCompute && width != 32)
      return op.emitOpError() << "execution units write 32-bit words: view the "
                                 "tensor as i32, or fill it on dma";
    calls.fill(transfer, getAddress(op.getDest(), transfer.dest),
               word.getZExtValue(), isCompute,
               isCompute && isAligned(transfer.dest, transfer.shape,
                                      transfer.elementBytes, chip.getEuBytes(),
                                      getComputeLimits(chip)));
  }
  if (isExpected)
    calls.endExpected();
  return success();
}

LogicalResult FunctionEmitter::emitConstant(memref::GetGlobalOp op) {
  auto place = shared.constants.offsets.find(op.getName());
  if (place == shared.constants.offsets.end())
    return op.emitOpError() << "reads '" << op.getName()
                            << "', which is not a constant of the module";
  systemAddresses[op.getResult()] = {0, place->second}; // block argument
  return success();
}

/// The number of calls after which a new C++ function begins, because host
/// compilers need more than linear time for a function.
static constexpr int64_t kMostCalls = 200;

LogicalResult FunctionEmitter::emitBlock(Block &block) {
  bool isProgram = &block == &function.getBody().front();
  for (Operation &op : block) {
    if (isProgram && calls.getCount() >= kMostCalls)
      startPart(parts.back().getFunctionType().getInputs());
    LogicalResult emitted =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<AllocOp>([&](auto alloc) { return emitAlloc(alloc); })
            .Case<CopyOp>([&](auto copy) { return emitCopy(copy); })
            .Case<FillOp>([&](auto fill) { return emitFill(fill); })
            .Case<DeallocOp>([&](DeallocOp dealloc) {
              auto alloc = dealloc.getMemref().getDefiningOp<AllocOp>();
              if (checks && isDeclared(alloc))
                calls.releaseTensor(int64_t(*alloc.getAddress()));
              return success();
            })
            .Case<ParallelOp>([&](ParallelOp parallel) {
              calls.callControl("parallel_start");
              if (failed(emitBlock(parallel.getBody().front())))
                return failure();
              calls.callControl("parallel_end");
              return success();
            })
            .Case<func::ReturnOp>([&](auto) { return success(); })
            .Case<memref::GetGlobalOp>(
                [&](auto global) { return emitConstant(global); })
            .Case<linalg::LinalgOp>(
                [&](auto compute) { return emitCompute(compute); })
            .Case<SubViewOp, ViewOp>([&](auto) { return success(); })
            .Default([&](Operation *other) {
              // Constants become arguments of the calls that use them.
              if (isLinearView(other) || matchPattern(other, m_Constant()))
                return success();
              return LogicalResult(
                  other->emitError()
                  << "'" << other->getName()
                  << "' has no OKKernel function: lower it to npu ops");
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
           << "must have one block and no results to become OKKernel code: "
              "pass results as memref arguments";
  Type address = calls.getSystemType();
  SmallVector<Type> inputs;
  if (!shared.constants.isEmpty())
    inputs.push_back(address);
  for (Type input : type.getInputs()) {
    auto memref = dyn_cast<MemRefType>(input);
    if (!memref || !getMemory(memref) || !getMemory(memref).isSystem())
      return function.emitOpError()
             << "needs memrefs in system memory to become OKKernel code, found "
             << input;
    inputs.push_back(address);
  }
  chip = findChip(function);
  if (chip && getKernelApi(chip) != shared.api)
    return function.emitOpError()
           << "is for a chip with the API " << getApiName(getKernelApi(chip))
           << ", another function of the module for one with "
           << getApiName(shared.api) << ": convert them in two modules";
  calls.setApi(shared.api);
  calls.setLoc(function.getLoc());
  unsigned first = !shared.constants.isEmpty();
  for (BlockArgument argument : function.getArguments())
    systemAddresses[argument] = {first + argument.getArgNumber(), 0};
  OpBuilder::InsertionGuard guard(builder);
  startPart(inputs);
  if (checks && sharesHoles())
    calls.call("okk_sim_share_holes", {});
  if (failed(emitBlock(function.getBody().front())))
    return failure();
  finishParts(inputs);
  return success();
}

void FunctionEmitter::startPart(TypeRange inputs) {
  builder.setInsertionPoint(function);
  parts.push_back(emitc::FuncOp::create(builder, function.getLoc(),
                                        getEmittedName(function.getName()),
                                        builder.getFunctionType(inputs, {})));
  builder.setInsertionPointToStart(parts.back().addEntryBlock());
  calls.startFunction();
}

void FunctionEmitter::finishParts(TypeRange inputs) {
  if (parts.size() > 1) {
    SmallVector<emitc::FuncOp> cut(parts);
    std::string name = getEmittedName(function.getName());
    startPart(inputs);
    for (auto [i, part] : llvm::enumerate(cut)) {
      // No other name starts with this prefix.
      part.setName("part_" + std::to_string(i) + "_of_" + name);
      part.setSpecifiersAttr(builder.getStrArrayAttr({"static"}));
      calls.call(part.getName(), parts.back().getArguments());
    }
  }
  for (emitc::FuncOp part : parts) {
    Block *block = &part.getBody().front();
    builder.setInsertionPointToEnd(block);
    // The host compiler warns about unused parameters.
    for (Value argument : block->getArguments())
      if (argument.use_empty())
        calls.call("static_cast<void>", argument);
    emitc::ReturnOp::create(builder, function.getLoc(), Value());
  }
}
