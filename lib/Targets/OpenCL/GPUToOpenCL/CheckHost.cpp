//===- CheckHost.cpp - Check the preconditions of host lowering -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostPatterns.h"
#include "KernelPatterns.h"
#include "layout/Support/EmittedText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

static LogicalResult checkAsync(gpu::AsyncOpInterface op) {
  if (!op.getAsyncToken() && op.getAsyncDependencies().empty())
    return success();
  return op->emitError() << "is asynchronous, but commands of the OpenCL queue "
                            "run in order; write it without tokens";
}

static LogicalResult checkCopy(gpu::MemcpyOp op) {
  auto to = cast<MemRefType>(op.getDst().getType());
  auto from = cast<MemRefType>(op.getSrc().getType());
  if (!isOnDevice(to) && !isOnDevice(from))
    return op.emitError() << "copies between host memory; use memref.copy";
  for (MemRefType type : {to, from}) {
    if (!isOnDevice(type)) {
      if (type.getMemorySpace() || !type.getLayout().isIdentity())
        return op.emitError()
               << "copies host memory of type " << type
               << ", which is not contiguous; copy it to a plain memref first";
      continue;
    }
    FailureOr<DeviceStorage> storage =
        getDeviceStorage(type, [&] { return op.emitError(); });
    if (failed(storage))
      return failure();
    if (storage->isImage())
      return op.emitError() << "copies an image, but only kernels convert "
                               "between images and buffers";
  }
  if (to.getElementType() != from.getElementType())
    return op.emitError() << "copies " << from << " to " << to
                          << ", which has a different element type";
  if (to.hasStaticShape() && from.hasStaticShape() &&
      to.getNumElements() != from.getNumElements())
    return op.emitError() << "copies " << from.getNumElements()
                          << " elements to " << to.getNumElements();
  return success();
}

static LogicalResult checkLaunch(gpu::LaunchFuncOp op, ModuleOp module) {
  if (op.getDynamicSharedMemorySize() || op.hasClusterSize())
    return op.emitError()
           << "uses shared memory or clusters, which are not lowered to OpenCL";
  auto binary = SymbolTable::lookupNearestSymbolFrom<gpu::BinaryOp>(
      module, op.getKernelModuleName());
  if (!binary)
    return op.emitError() << "launches a kernel of '"
                          << op.getKernelModuleName().getValue()
                          << "', which is not a gpu.binary; run "
                             "layout-opencl-serialize-kernels first";
  auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  if (failed(checkKernelName(op, op.getKernelName().getValue())))
    return failure();
  if (!object.getKernels())
    return success();
  auto kernel = object.getKernels().lookup(op.getKernelName());
  if (!kernel)
    return op.emitError() << "launches '" << op.getKernelName().getValue()
                          << "', which '" << binary.getName()
                          << "' does not have";
  TypeRange expected = cast<FunctionType>(kernel.getFunctionType()).getInputs();
  TypeRange given = op.getKernelOperands().getTypes();
  if (expected.size() != given.size())
    return op.emitError() << "passes " << given.size() << " arguments to '"
                          << op.getKernelName().getValue() << "', which takes "
                          << expected.size();
  for (auto [i, want, have] : llvm::enumerate(expected, given)) {
    auto wantMemref = dyn_cast<MemRefType>(want);
    auto haveMemref = dyn_cast<MemRefType>(have);
    // Sizes of device memory are not passed to kernels.
    bool fits =
        wantMemref && haveMemref
            ? wantMemref.getElementType() == haveMemref.getElementType() &&
                  wantMemref.getMemorySpace() == haveMemref.getMemorySpace()
            : want == have;
    if (!fits)
      return op.emitError()
             << "passes " << have << " as argument " << i << " of '"
             << op.getKernelName().getValue() << "', which takes " << want;
  }
  return success();
}

/// Checks a gpu.alloc that is a constant of the program (attribute
/// `layout.constant`): `data` must name a constant memref.global with as many
/// elements of the same type, and no op may free the memory. Otherwise emits an
/// error and fails.
static LogicalResult checkConstant(gpu::AllocOp op, FlatSymbolRefAttr data) {
  auto global =
      SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(op, data);
  if (!global || !global.getConstant())
    return op.emitError() << "'s " << kConstantAttrName << " names " << data
                          << ", which is not a constant memref.global";
  MemRefType type = op.getType();
  int64_t lanes = 1;
  if (auto pixel = dyn_cast<VectorType>(type.getElementType()))
    lanes = pixel.getNumElements();
  if (!type.hasStaticShape() ||
      global.getType().getNumElements() != type.getNumElements() * lanes ||
      global.getType().getElementType() !=
          getElementTypeOrSelf(type.getElementType()))
    return op.emitError() << "of type " << type << " cannot hold the data of "
                          << data << ", of type " << global.getType();
  for (Operation *user : op->getUsers())
    if (isa<gpu::DeallocOp>(user))
      return user->emitError() << "frees memory of a constant, which must live "
                                  "as long as the program";
  return success();
}

/// Emits an error at `op` and fails if a constant size is negative. Later
/// passes make constant sizes static.
static LogicalResult checkSizes(Operation *op, ValueRange sizes) {
  for (Value size : sizes) {
    IntegerAttr known;
    if (matchPattern(size, m_Constant(&known)) && known.getInt() < 0)
      return op->emitError() << "has a size of " << known.getInt()
                             << ", but sizes must not be negative; correct the "
                                "computation of the size";
  }
  return success();
}

static LogicalResult checkOp(Operation *op, ModuleOp module) {
  if (auto async = dyn_cast<gpu::AsyncOpInterface>(op))
    if (failed(checkAsync(async)))
      return failure();
  if (auto alloc = dyn_cast<gpu::AllocOp>(op)) {
    if (alloc.getHostShared())
      return op->emitError() << "allocates memory that the host shares, which "
                                "OpenCL 1.2 does not support";
    if (failed(
            getDeviceStorage(alloc.getType(), [&] { return op->emitError(); })))
      return failure();
    if (failed(checkSizes(op, alloc.getDynamicSizes())))
      return failure();
    if (auto data = op->getAttrOfType<FlatSymbolRefAttr>(kConstantAttrName))
      return checkConstant(alloc, data);
    return success();
  }
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    if (failed(checkSizes(op, alloc.getDynamicSizes())))
      return failure();
  if (auto copy = dyn_cast<gpu::MemcpyOp>(op))
    return checkCopy(copy);
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
    return checkLaunch(launch, module);
  if (isa<memref::LoadOp, memref::StoreOp, memref::CopyOp, memref::DeallocOp,
          memref::AllocOp, memref::SubViewOp>(op))
    for (Value value :
         llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                             SmallVector<Value>(op->getResults())))
      if (auto type = dyn_cast<BaseMemRefType>(value.getType());
          type && isOnDevice(type))
        return op->emitError()
               << "accesses memory of the device on the host; use gpu.alloc, "
                  "gpu.dealloc, gpu.memcpy and kernels";
  return success();
}

/// Emits an error and fails if the name of a symbol starts with a prefix that
/// is reserved for the symbols that the conversion creates. Accepts
/// declarations of the functions in kScopes.
static LogicalResult checkNames(ModuleOp module) {
  for (Operation &op : module.getOps()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!symbol)
      continue;
    StringRef name = symbol.getName();
    // The scopes of convert-layout-to-gpu already are functions of the runtime.
    if (auto func = dyn_cast<func::FuncOp>(op);
        func && func.isExternal() && llvm::is_contained(kScopes, name) &&
        func.getFunctionType() ==
            FunctionType::get(module.getContext(), {}, {}))
      continue;
    for (StringRef prefix : {kRuntimePrefix, kVulkanPrefix, kOwnPrefix})
      if (name.starts_with(prefix))
        return op.emitError()
               << "is named '" << toUtf8(name.take_front(40))
               << "', but names that start with '" << prefix
               << "' belong to the runtimes of devices: rename it";
  }
  return success();
}

LogicalResult layout::checkHost(ModuleOp module) {
  bool usesDevice =
      module
          .walk([](Operation *op) {
            return isa_and_present<gpu::GPUDialect>(op->getDialect())
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  if (usesDevice && failed(checkNames(module)))
    return failure();
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op)) {
      op->emitError() << "remains; run layout-opencl-kernels-to-spirv and "
                         "layout-opencl-serialize-kernels first";
      return WalkResult::interrupt();
    }
    return failed(checkOp(op, module)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
