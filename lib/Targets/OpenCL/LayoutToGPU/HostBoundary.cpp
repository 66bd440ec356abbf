//===- HostBoundary.cpp - Transfers between host and device ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBoundary.h"
#include "Sizes.h"
#include "TensorStorage.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Support/EntryPoints.h"
#include "layout/Support/StatedSizes.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the plain tensor type of a laid-out tensor in the signature of a
/// public function: its storage array or, if the sizes of that do not determine
/// the dynamic sizes, a tensor with one dim per stored axis.
static RankedTensorType getHostArray(RankedTensorType type) {
  RankedTensorType storage = *getStorageType(type);
  return areSizesShown(type, storage) ? storage : *getPhysicalType(type);
}

static bool hasHostABI(func::FuncOp func) {
  return func.isExternal() || func.isPublic();
}

//===----------------------------------------------------------------------===//
// Plain tensors at the boundary
//===----------------------------------------------------------------------===//

static void exposeArguments(func::FuncOp func) {
  Block &entry = func.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  for (BlockArgument argument : entry.getArguments()) {
    if (!hasLayout(argument.getType()))
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    argument.setType(getHostArray(type));
    auto view = StorageViewOp::create(b, func.getLoc(), type, argument);
    argument.replaceAllUsesExcept(view.getResult(), view);
  }
}

static void exposeResults(func::FuncOp func) {
  SmallVector<Type> results;
  for (Type type : func.getResultTypes())
    results.push_back(
        hasLayout(type) ? getHostArray(cast<RankedTensorType>(type)) : type);
  func.walk([&](func::ReturnOp op) {
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Type type = results[operand.getOperandNumber()];
      if (operand.get().getType() != type)
        operand.set(StorageViewOp::create(b, op.getLoc(), type, operand.get()));
    }
  });
  func.setFunctionType(FunctionType::get(
      func.getContext(), func.getBody().front().getArgumentTypes(), results));
}

/// Sets the attribute `layout.signature`, from which launchers know the tensor
/// types, to the function type, in which laid-out tensors are plain tensors of
/// their storage. Functions that have the attribute, lack
/// `llvm.emit_c_interface`, or have other types than ranked tensors remain.
static void describeArrays(func::FuncOp func) {
  FunctionType type = func.getFunctionType();
  auto isTensor = llvm::IsaPred<RankedTensorType>;
  if (func->hasAttr(kCInterfaceAttrName) &&
      !func->hasAttr(kSignatureAttrName) &&
      llvm::all_of(type.getInputs(), isTensor) &&
      llvm::all_of(type.getResults(), isTensor))
    func->setAttr(kSignatureAttrName, TypeAttr::get(type));
}

/// Emits an error and fails if the host cannot call `func`: a tensor is
/// unranked, a declared function has layouts, or the name of a defined one
/// belongs to the runtime.
static LogicalResult checkHostSignature(func::FuncOp func) {
  if (func.getName().starts_with("layoutCl") && !func.isExternal())
    return func.emitError("convert-layout-to-gpu: '")
           << func.getName()
           << "' is a name of the OpenCL runtime; rename the function";
  bool isLaidOut = false;
  for (Type type : llvm::concat<const Type>(func.getArgumentTypes(),
                                            func.getResultTypes())) {
    if (isa<UnrankedTensorType>(type))
      return func.emitError("convert-layout-to-gpu: '")
             << func.getName() << "' has the type " << type
             << ", which has no size in memory; give it a rank";
    isLaidOut |= hasLayout(type);
  }
  if (isLaidOut && func.isExternal())
    return func.emitError("convert-layout-to-gpu: '")
           << func.getName()
           << "' is only declared, but takes or returns tensors with layouts, "
              "which its definition cannot expect; declare it on plain tensors";
  return success();
}

/// Redirects calls inside of the module, which pass device memory, to a private
/// copy of each public callee.
static void separateCallsFromHost(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::DenseMap<StringAttr, func::FuncOp> onDevice;
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    auto func = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!func || func.isExternal() || !func.isPublic() ||
        onDevice.count(func.getSymNameAttr()))
      continue;
    func::FuncOp inner = func.clone();
    inner.setPrivate();
    inner.setName((func.getName() + "_on_device").str());
    symbols.insert(inner, std::next(Block::iterator(func)));
    onDevice[func.getSymNameAttr()] = inner;
  }
  // Also redirects the calls inside of the copies.
  module.walk([&](func::CallOp call) {
    if (func::FuncOp inner = onDevice.lookup(call.getCalleeAttr().getAttr()))
      call.setCallee(inner.getName());
  });
}

LogicalResult layout::exposeStorage(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(checkHostSignature(func)))
      return failure();
  separateCallsFromHost(module);
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || !func.isPublic())
      continue;
    exposeArguments(func);
    exposeResults(func);
    describeArrays(func);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static MemRefType getHostType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Returns a one-dimensional view of a host memref.
static Value flatten(OpBuilder &b, Location loc, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  if (type.getRank() == 0)
    return memref::ExpandShapeOp::create(
        b, loc, MemRefType::get({1}, type.getElementType()), memory,
        ArrayRef<ReassociationIndices>());
  if (type.getRank() == 1)
    return memory;
  if (type.hasStaticShape()) {
    ReassociationIndices all =
        llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()));
    return memref::CollapseShapeOp::create(b, loc, memory,
                                           ArrayRef<ReassociationIndices>(all));
  }
  // Upstream's verifier and type inference disagree about collapsing a dynamic
  // size with a static 0.
  Value count;
  for (OpFoldResult size : memref::getMixedSizes(b, loc, memory)) {
    Value extent = getValueOrCreateConstantIndexOp(b, loc, size);
    count = count ? arith::MulIOp::create(b, loc, count, extent) : extent;
  }
  return memref::ReinterpretCastOp::create(
      b, loc, MemRefType::get({ShapedType::kDynamic}, type.getElementType()),
      memory, b.getIndexAttr(0), OpFoldResult(count),
      OpFoldResult(b.getIndexAttr(1)));
}

/// Emits the allocation of a host memref of the size of the one-dimensional
/// memref `line`, with elements of type `element`.
static Value allocateLike(OpBuilder &b, Location loc, Value line,
                          Type element) {
  auto type = cast<MemRefType>(line.getType());
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(memref::DimOp::create(b, loc, line, 0));
  return memref::AllocOp::create(
      b, loc, MemRefType::get(type.getShape(), element), sizes);
}

/// Emits a loop on the host that converts the elements of the one-dimensional
/// memref `from` to the type of `to`: on the device, i1 is i8 and index is i64.
static void convertElements(OpBuilder &b, Location loc, Value from, Value to) {
  Type element = cast<MemRefType>(to.getType()).getElementType();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = memref::DimOp::create(b, loc, from, 0);
  scf::ForOp::create(b, loc, zero, count, one, ValueRange(),
                     [&](OpBuilder &b, Location loc, Value i, ValueRange) {
                       Value value = memref::LoadOp::create(b, loc, from, i);
                       if (value.getType().isIndex() || element.isIndex())
                         value =
                             arith::IndexCastOp::create(b, loc, element, value);
                       else if (element.isInteger(1))
                         value =
                             arith::TruncIOp::create(b, loc, element, value);
                       else
                         value = arith::ExtUIOp::create(b, loc, element, value);
                       memref::StoreOp::create(b, loc, value, to, i);
                       scf::YieldOp::create(b, loc);
                     });
}

/// Returns the device storage of a tensor that is uploaded or downloaded. Emits
/// an error at `op` and fails if the device cannot store it.
static FailureOr<TensorStorage> getStorageFor(Operation *op,
                                              RankedTensorType type) {
  return getTensorStorage(type, [&](const Twine &why) {
    op->emitError("convert-layout-to-gpu: a value of type ")
        << type << " cannot be stored on the device: " << why;
  });
}

/// Emits an upload of a host memref to new device memory, and returns this as a
/// tensor. Emits an error and fails if the device cannot store `type`.
static FailureOr<Value> upload(OpBuilder &b, Operation *op, Value memory,
                               RankedTensorType type) {
  Location loc = op->getLoc();
  FailureOr<TensorStorage> storage = getStorageFor(op, type);
  if (failed(storage))
    return failure();
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, loc, memory);
  Value device = allocateOnDevice(b, loc, *storage, sizes);
  if (!hasNoElements(type)) {
    Value line = flatten(b, loc, memory);
    Type stored = storage->getStoredElement();
    if (stored == type.getElementType()) {
      gpu::MemcpyOp::create(b, loc, TypeRange(), ValueRange(), device, line);
    } else {
      Value wide = allocateLike(b, loc, line, stored);
      convertElements(b, loc, line, wide);
      gpu::MemcpyOp::create(b, loc, TypeRange(), ValueRange(), device, wide);
      memref::DeallocOp::create(b, loc, wide);
    }
  }
  return castFromDevice(b, loc, type, device, sizes);
}

/// Emits a download of a tensor to a new host memref, and returns that. Emits
/// an error and fails if the device cannot store the tensor.
static FailureOr<Value> download(OpBuilder &b, Operation *op, Value tensor) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  FailureOr<TensorStorage> storage = getStorageFor(op, type);
  if (failed(storage))
    return failure();
  SmallVector<Value> device = castToDevice(b, loc, tensor);
  Value memory = memref::AllocOp::create(b, loc, getHostType(type),
                                         ArrayRef(device).drop_front());
  if (hasNoElements(type))
    return memory;
  Value line = flatten(b, loc, memory);
  Type stored = storage->getStoredElement();
  bool isSame = stored == type.getElementType();
  Value wide = isSame ? line : allocateLike(b, loc, line, stored);
  gpu::MemcpyOp::create(b, loc, TypeRange(), ValueRange(), wide,
                        device.front());
  if (!isSame) {
    convertElements(b, loc, wide, line);
    memref::DeallocOp::create(b, loc, wide);
  }
  return memory;
}

static Type toHostType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? getHostType(tensor) : type;
}

/// Changes the type of the tensor `value`, an argument or result of `op`, to a
/// host memref, and uses of it to a copy that is uploaded to the device. A
/// value that is not a tensor remains. Emits an error and fails if the device
/// cannot store the tensor.
static LogicalResult uploadInPlace(OpBuilder &b, Operation *op, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return success();
  value.setType(getHostType(type));
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  FailureOr<Value> tensor = upload(b, op, value, type);
  if (failed(tensor))
    return failure();
  for (OpOperand *use : uses)
    use->set(*tensor);
  return success();
}

/// Replaces the tensor operands of `op` by downloaded memrefs. Emits an error
/// and fails if the device cannot store one of the tensors.
static LogicalResult downloadOperands(Operation *op) {
  OpBuilder b(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    FailureOr<Value> memory = download(b, op, operand.get());
    if (failed(memory))
      return failure();
    operand.set(*memory);
  }
  return success();
}

static LogicalResult convertFunction(func::FuncOp func) {
  if (!func.isExternal()) {
    Block &entry = func.getBody().front();
    OpBuilder b = OpBuilder::atBlockBegin(&entry);
    for (BlockArgument argument : entry.getArguments()) {
      // `bufferization.writable` is for tensors only.
      if (isa<RankedTensorType>(argument.getType()))
        func.removeArgAttr(
            argument.getArgNumber(),
            bufferization::BufferizationDialect::kWritableAttrName);
      if (failed(uploadInPlace(b, func, argument)))
        return failure();
    }
    WalkResult walked = func.walk(
        [](func::ReturnOp op) { return WalkResult(downloadOperands(op)); });
    if (walked.wasInterrupted())
      return failure();
  }
  func.setFunctionType(FunctionType::get(
      func.getContext(),
      llvm::map_to_vector(func.getArgumentTypes(), toHostType),
      llvm::map_to_vector(func.getResultTypes(), toHostType)));
  return success();
}

/// Downloads the tensor operands of a call of a declared function, which runs
/// on the host, and uploads its tensor results. Emits an error and fails if the
/// device cannot store one of them.
static LogicalResult convertCall(func::CallOp call) {
  if (failed(downloadOperands(call)))
    return failure();
  OpBuilder b(call);
  b.setInsertionPointAfter(call);
  for (Value result : call.getResults())
    if (failed(uploadInPlace(b, call, result)))
      return failure();
  return success();
}

LogicalResult layout::convertHostBoundary(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (callee && callee.isExternal())
      calls.push_back(call);
  });
  for (func::CallOp call : calls)
    if (failed(convertCall(call)))
      return failure();
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    if (hasHostABI(func) && failed(convertFunction(func)))
      return failure();
  return success();
}

/// Replaces a tensor.extract of host code by a download of the tensor and a
/// load. Emits an error and fails if the device cannot store the tensor.
static LogicalResult convertExtract(tensor::ExtractOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value tensor = op.getTensor();
  auto type = cast<RankedTensorType>(tensor.getType());
  if (hasLayout(type))
    tensor = ConvertOp::create(b, loc, withoutLayout(type), tensor);
  FailureOr<Value> memory = download(b, op, tensor);
  if (failed(memory))
    return failure();
  Value element = memref::LoadOp::create(b, loc, *memory, op.getIndices());
  memref::DeallocOp::create(b, loc, *memory);
  op.replaceAllUsesWith(element);
  op.erase();
  return success();
}

/// Replaces a tensor.from_elements of host code by stores to a host memref and
/// an upload of it. Emits an error and fails if the device cannot store the
/// tensor.
static LogicalResult convertFromElements(tensor::FromElementsOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getType(), plain = withoutLayout(type);
  Value memory = memref::AllocOp::create(b, loc, getHostType(plain));
  Value line = hasNoElements(plain) ? Value() : flatten(b, loc, memory);
  for (auto [i, element] : llvm::enumerate(op.getElements()))
    memref::StoreOp::create(b, loc, element, line,
                            Value(arith::ConstantIndexOp::create(b, loc, i)));
  FailureOr<Value> tensor = upload(b, op, memory, plain);
  if (failed(tensor))
    return failure();
  memref::DeallocOp::create(b, loc, memory);
  if (type != plain)
    tensor = ConvertOp::create(b, loc, type, *tensor).getResult();
  op.replaceAllUsesWith(*tensor);
  op.erase();
  return success();
}

LogicalResult layout::convertHostElements(ModuleOp module) {
  SmallVector<tensor::FromElementsOp> written;
  module.walk([&](tensor::FromElementsOp op) { written.push_back(op); });
  for (tensor::FromElementsOp op : written)
    if (failed(convertFromElements(op)))
      return failure();
  SmallVector<tensor::ExtractOp> reads;
  module.walk([&](tensor::ExtractOp op) {
    // In the body of an op the kernel reads the element.
    if (!op->getParentOfType<linalg::LinalgOp>())
      reads.push_back(op);
  });
  for (tensor::ExtractOp op : reads)
    if (failed(convertExtract(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

/// Returns the last op in the block of `memory` that uses it or contains a use,
/// or its definition if it is unused. If `memory` may have an alias, or a use
/// outside of the block, returns null.
static Operation *findLastUse(Value memory) {
  Block *block = memory.getParentBlock();
  Operation *last = memory.getDefiningOp();
  for (Operation *user : memory.getUsers()) {
    if (!isa<gpu::LaunchFuncOp, gpu::MemcpyOp, memref::DimOp>(user))
      return nullptr;
    Operation *here = block->findAncestorOpInBlock(*user);
    if (!here)
      return nullptr;
    if (last->isBeforeInBlock(here))
      last = here;
  }
  return last;
}

/// Adds calls of layoutClEnterScope and layoutClLeaveScope at the start and the
/// returns of all public functions with bodies. They free device memory without
/// a visible last use.
static void insertScopes(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  SymbolTable symbols(module);
  auto declare = [&](StringRef name) {
    if (auto known = symbols.lookup<func::FuncOp>(name))
      return known;
    auto func = func::FuncOp::create(b, module.getLoc(), name,
                                     b.getFunctionType({}, {}));
    func.setPrivate();
    return func;
  };
  func::FuncOp enter = declare("layoutClEnterScope");
  func::FuncOp leave = declare("layoutClLeaveScope");
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || !func.isPublic())
      continue;
    b.setInsertionPointToStart(&func.getBody().front());
    func::CallOp::create(b, func.getLoc(), enter);
    func.walk([&](func::ReturnOp op) {
      b.setInsertionPoint(op);
      func::CallOp::create(b, op.getLoc(), leave);
    });
  }
}

void layout::insertDeallocations(ModuleOp module) {
  bool allEnd = true;
  module.walk([&](gpu::AllocOp alloc) {
    if (alloc->hasAttr(kConstantAttrName))
      return;
    Operation *last = findLastUse(alloc.getMemref());
    if (!last) {
      allEnd = false;
      return;
    }
    OpBuilder b(alloc.getContext());
    b.setInsertionPointAfter(last);
    gpu::DeallocOp::create(b, alloc.getLoc(), TypeRange(), ValueRange(),
                           alloc.getMemref());
  });
  if (!allEnd)
    insertScopes(module);
}
