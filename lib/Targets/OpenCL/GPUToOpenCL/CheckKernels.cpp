//===- CheckKernels.cpp - Check kernels for OpenCL 1.2 --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPatterns.h"
#include "layout/Support/EmittedText.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::layout;

static LogicalResult checkImageUses(gpu::GPUFuncOp kernel,
                                    BlockArgument image) {
  Operation *load = nullptr, *store = nullptr;
  for (OpOperand &use : image.getUses()) {
    Operation *user = use.getOwner();
    if (isa<memref::LoadOp>(user))
      load = user;
    else if (isa<memref::StoreOp>(user) && use.getOperandNumber() == 1)
      store = user;
    else
      return user->emitError() << "uses an image; images are only loaded and "
                                  "stored, by memref.load and memref.store";
  }
  if (load && store) {
    InFlightDiagnostic error =
        store->emitError()
        << "stores to argument " << image.getArgNumber() << " of the kernel '"
        << kernel.getName()
        << "', which also loads from it: an image of OpenCL 1.2 is either "
           "read_only or write_only; write to another image";
    error.attachNote(load->getLoc()) << "loaded here";
    return error;
  }
  return success();
}

static LogicalResult checkKernel(gpu::GPUFuncOp kernel) {
  if (failed(checkKernelName(kernel, kernel.getName())))
    return failure();
  if (!kernel.isKernel())
    return kernel.emitError() << "is not a kernel; a function that kernels "
                                 "call must be inlined into them";
  if (kernel.getNumPrivateAttributions())
    return kernel.emitError() << "has private memory, which is not lowered to "
                                 "OpenCL; keep it in values";
  for (BlockArgument memory : kernel.getWorkgroupAttributions()) {
    auto type = dyn_cast<BaseMemRefType>(memory.getType());
    if (!type || !isGroupMemory(type))
      return kernel.emitError()
             << "has workgroup memory " << memory.getType()
             << ": it must have one static dim in the space "
                "#gpu.address_space<workgroup>, of elements "
             << kBufferElementTypes << " except f16, or vectors of them";
    for (Operation *user : memory.getUsers())
      if (!isa<memref::LoadOp, memref::StoreOp>(user))
        return user->emitError()
               << "uses workgroup memory, which is only loaded and stored, by "
                  "memref.load and memref.store";
  }
  for (BlockArgument argument :
       kernel.getBody().getArguments().take_front(kernel.getNumArguments())) {
    auto emitError = [&] {
      return kernel.emitError()
             << "has argument " << argument.getArgNumber() << ": ";
    };
    Type type = argument.getType();
    if (auto memref = dyn_cast<BaseMemRefType>(type)) {
      FailureOr<DeviceStorage> storage = getDeviceStorage(memref, emitError);
      auto line = dyn_cast<MemRefType>(memref);
      if (line && line.hasStaticShape() &&
          !llvm::isInt<32>(line.getNumElements()) &&
          has32BitAddresses(kernel->getParentOfType<gpu::GPUModuleOp>()))
        return emitError() << memref
                           << " has more elements than 32-bit addresses reach; "
                              "compile for address_bits = 64";
      if (failed(storage) ||
          (storage->isImage() && failed(checkImageUses(kernel, argument))))
        return failure();
      continue;
    }
    if (!type.isIndex() && !type.isF16() && !type.isF32() && !type.isF64() &&
        !type.isSignlessInteger(8) && !type.isSignlessInteger(16) &&
        !type.isSignlessInteger(32) && !type.isSignlessInteger(64))
      return emitError() << type
                         << " is not a type of kernel arguments; pass index, "
                            "i8 to i64, f16, f32 or f64";
  }
  return success();
}

static LogicalResult checkOp(Operation *op) {
  for (Value value : op->getResults())
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      if (vector.getRank() > 1 || vector.getNumElements() > 4)
        return op->emitError()
               << "creates " << vector
               << ", but OpenCL kernels support vectors of at most 4 elements";
  if (isa<arith::BitcastOp, vector::BitCastOp>(op) &&
      !op->getParentOfType<gpu::GPUModuleOp>()->hasAttr(
          kHalfArithmeticAttrName)) {
    if (getElementTypeOrSelf(op->getOperand(0).getType()).isF16())
      return op->emitError()
             << "reads the bits of an f16, but f16 is computed in f32";
    if (getElementTypeOrSelf(op->getResult(0).getType()).isF16())
      return op->emitError()
             << "creates an f16 from bits, but f16 is computed in f32";
  }
  return success();
}

LogicalResult layout::checkKernelName(Operation *op, StringRef name) {
  if (isWord(name))
    return success();
  return op->emitError() << "names a kernel '" << toUtf8(name.take_front(40))
                         << "', which is not an OpenCL C identifier: use at "
                            "most 100 letters, digits and underscores";
}

bool layout::has32BitAddresses(gpu::GPUModuleOp module) {
  auto bits = module->getAttrOfType<IntegerAttr>(kAddressBitsAttrName);
  return bits && bits.getValue() == 32;
}

LogicalResult layout::checkKernels(gpu::GPUModuleOp module) {
  for (Operation &op : module.getOps()) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
    if (!kernel)
      return op.emitError() << "is not a kernel: a GPU module for OpenCL must "
                               "contain only gpu.func";
    if (failed(checkKernel(kernel)))
      return failure();
  }
  WalkResult result = module.walk([](Operation *op) {
    return failed(checkOp(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
