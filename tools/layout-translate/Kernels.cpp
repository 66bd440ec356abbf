//===- Kernels.cpp - Binaries of kernels and packages ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/NewerBytecode.h"
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/OpenCLSpirvPatcher.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Package.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/SPIRV/Target.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// A parsed module with its context and diagnostics.
struct Parsed {
  Parsed() {
    DialectRegistry registry;
    registry.insert<LayoutDialect, arith::ArithDialect, cf::ControlFlowDialect,
                    cpu::CpuDialect, func::FuncDialect, gpu::GPUDialect,
                    index::IndexDialect, math::MathDialect,
                    memref::MemRefDialect, scf::SCFDialect, spirv::SPIRVDialect,
                    ub::UBDialect, vector::VectorDialect>();
    // Needed for the target of a `gpu.binary`.
    spirv::registerSPIRVTargetInterfaceExternalModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    // The op may be a module with the weights of a network.
    context.printOpOnDiagnostic(false);
  }
  MLIRContext context;
  llvm::SourceMgr sources;
  std::optional<SourceMgrDiagnosticHandler> handler;
  OwningOpRef<ModuleOp> module;

  LogicalResult read(std::unique_ptr<llvm::MemoryBuffer> source) {
    sources.AddNewSourceBuffer(std::move(source), SMLoc());
    handler.emplace(sources, &context);
    module =
        parseSourceFile<ModuleOp>(sources, layout::getParserConfig(&context));
    return success(module.get() != nullptr);
  }

  /// Lowers each `gpu.module` to a `gpu.binary` with SPIR-V and, for OpenCL,
  /// OpenCL C. Succeeds if there is none; returns failure after an error if a
  /// pass fails.
  LogicalResult lower(KernelAPI api = KernelAPI::OpenCL) {
    SmallVector<gpu::GPUModuleOp> modules(module->getOps<gpu::GPUModuleOp>());
    if (modules.empty())
      return success();
    PassManager pm(&context);
    pm.addPass(createCountKernelWorkPass());
    pm.addPass(createNarrowKernelIndicesPass());
    bool isVulkan = api == KernelAPI::Vulkan;
    if (!isVulkan)
      pm.addPass(createKernelsToSourcePass());
    auto spirvName = (kSpirvModulePrefix + modules.front().getName()).str();
    if (!module->lookupSymbol(spirvName))
      pm.addPass(isVulkan ? createKernelsToVulkanPass()
                          : createKernelsToSPIRVPass());
    pm.addPass(createSerializeKernelsPass());
    return pm.run(*module);
  }
};
} // namespace

/// Returns the module of kernels called `name`, or the only one if `name` is
/// empty: a `gpu.binary` or an unserialized `spirv.module`. Emits an error and
/// returns nullptr if there is none, or more than one.
static Operation *findKernels(ModuleOp module, StringRef name) {
  SmallVector<std::pair<StringRef, Operation *>> found;
  for (Operation &op : module.getOps()) {
    StringRef symbol;
    if (auto binary = dyn_cast<gpu::BinaryOp>(op))
      symbol = binary.getName();
    else if (auto spirvModule = dyn_cast<spirv::ModuleOp>(op))
      symbol = spirvModule.getName().value_or("");
    else
      continue;
    if (name.empty() || symbol == name)
      found.push_back({symbol, &op});
  }
  if (found.size() == 1)
    return found.front().second;
  InFlightDiagnostic error = module.emitError();
  if (found.empty() && !name.empty())
    error << "has no kernel module '" << name << "'";
  else if (found.empty())
    error << "has no kernel module: gpu.module, spirv.module or gpu.binary";
  else
    error << "has " << found.size()
          << " kernel modules; select one with --kernels";
  for (auto [symbol, op] : found)
    error.attachNote(op->getLoc()) << "has '" << symbol << "'";
  return nullptr;
}

/// Parses `source` into `parsed`, lowers its GPU modules, and returns the
/// module of kernels called `name`, or the only one if `name` is empty. Emits
/// an error and returns nullptr on failure.
static Operation *readKernels(Parsed &parsed,
                              std::unique_ptr<llvm::MemoryBuffer> source,
                              StringRef name) {
  if (failed(parsed.read(std::move(source))) || failed(parsed.lower()))
    return nullptr;
  return findKernels(*parsed.module, name);
}

FailureOr<std::string>
layout::writeSpirvBinary(std::unique_ptr<llvm::MemoryBuffer> source,
                         StringRef name) {
  Parsed parsed;
  Operation *op = readKernels(parsed, std::move(source), name);
  if (!op)
    return failure();
  if (auto binary = dyn_cast<gpu::BinaryOp>(op))
    return cast<gpu::ObjectAttr>(binary.getObjects()[0])
        .getObject()
        .getValue()
        .str();
  SmallVector<uint32_t, 0> words;
  if (failed(serializeForDevice(cast<spirv::ModuleOp>(op), words)))
    return failure();
  return std::string(reinterpret_cast<const char *>(words.data()),
                     words.size() * sizeof(uint32_t));
}

FailureOr<std::string>
layout::writeOpenCLSource(std::unique_ptr<llvm::MemoryBuffer> source,
                          StringRef name) {
  Parsed parsed;
  Operation *op = readKernels(parsed, std::move(source), name);
  if (!op)
    return failure();
  auto binary = dyn_cast<gpu::BinaryOp>(op);
  std::optional<StringRef> text =
      binary ? getOpenCLSource(binary) : std::nullopt;
  if (!text)
    return op->emitError()
           << "has no OpenCL C; run layout-opencl-kernels-to-source on the GPU "
              "module first, or pass the GPU module";
  return text->str();
}

LogicalResult layout::writePackage(std::unique_ptr<llvm::MemoryBuffer> source,
                                   StringRef function, StringRef directory,
                                   KernelAPI api) {
  Parsed parsed;
  return failure(
      failed(parsed.read(std::move(source))) || failed(parsed.lower(api)) ||
      failed(writeKernelPackage(*parsed.module, function, directory, api)));
}
