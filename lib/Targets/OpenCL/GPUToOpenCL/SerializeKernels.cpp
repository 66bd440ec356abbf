//===- SerializeKernels.cpp - Serialize GPU modules to SPIR-V -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/GPUToOpenCL/KernelMetadata.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/OpenCLSpirvPatcher.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"

namespace mlir::layout {
#define GEN_PASS_DEF_SERIALIZEKERNELSPASS
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns a dictionary for each argument of the kernel. That of an image has
/// its "access": write_only if the kernel stores to it, else read_only. Others
/// are empty.
static ArrayAttr getAccess(gpu::GPUFuncOp kernel) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> attributes;
  for (BlockArgument argument :
       kernel.getBody().getArguments().take_front(kernel.getNumArguments())) {
    NamedAttrList list;
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (type && type.getRank() > 1) {
      bool isStored = llvm::any_of(argument.getUsers(), [](Operation *user) {
        return isa<memref::StoreOp>(user);
      });
      list.set("access",
               builder.getStringAttr(isStored ? "write_only" : "read_only"));
    }
    attributes.push_back(list.getDictionary(kernel.getContext()));
  }
  return builder.getArrayAttr(attributes);
}

/// Returns the objects of a gpu.binary: the SPIR-V words, and the OpenCL C if
/// the module has any.
static SmallVector<Attribute> makeObjects(gpu::GPUModuleOp module,
                                          spirv::ModuleOp spirvModule,
                                          ArrayRef<uint32_t> words) {
  MLIRContext *context = module.getContext();
  SmallVector<gpu::KernelMetadataAttr> kernels;
  for (auto kernel : module.getOps<gpu::GPUFuncOp>())
    kernels.push_back(gpu::KernelMetadataAttr::get(
        kernel.getNameAttr(), kernel.getFunctionType(), getAccess(kernel),
        makeKernelMetadata(kernel)));
  StringRef bytes(reinterpret_cast<const char *>(words.data()),
                  words.size() * sizeof(uint32_t));
  auto target = spirv::TargetEnvAttr::get(
      *spirvModule.getVceTriple(), spirv::getDefaultResourceLimits(context));
  auto table = gpu::KernelTableAttr::get(context, kernels);
  auto make = [&](gpu::CompilationTarget format, StringAttr contents) {
    return gpu::ObjectAttr::get(context, target, format, contents,
                                /*properties=*/nullptr, table);
  };
  SmallVector<Attribute> objects{
      make(gpu::CompilationTarget::Binary, StringAttr::get(context, bytes))};
  if (auto source = module->getAttrOfType<StringAttr>(kSourceAttrName))
    objects.push_back(make(gpu::CompilationTarget::Assembly, source));
  return objects;
}

std::optional<StringRef> layout::getOpenCLSource(gpu::BinaryOp binary) {
  for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>())
    if (object.getFormat() == gpu::CompilationTarget::Assembly)
      return object.getObject().getValue();
  return std::nullopt;
}

namespace {
struct SerializeKernels
    : layout::impl::SerializeKernelsPassBase<SerializeKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<gpu::GPUModuleOp> modules(
        getOperation().getOps<gpu::GPUModuleOp>());
    for (gpu::GPUModuleOp module : modules) {
      auto spirvModule = symbols.lookup<spirv::ModuleOp>(
          (kSpirvModulePrefix + module.getName()).str());
      if (!spirvModule) {
        module.emitError() << "has no '" << kSpirvModulePrefix
                           << module.getName()
                           << "'; run layout-opencl-kernels-to-spirv first";
        return signalPassFailure();
      }
      SmallVector<uint32_t, 0> words;
      if (failed(serializeForDevice(spirvModule, words)))
        return signalPassFailure();
      OpBuilder builder(module);
      gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                            /*offloadingHandler=*/nullptr,
                            makeObjects(module, spirvModule, words));
      module.erase();
      spirvModule.erase();
    }
  }
};
} // namespace
