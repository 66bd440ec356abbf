//===- GPUToOpenCLRuntime.cpp - Convert host code to runtime calls --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostPatterns.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CONVERTGPUTOOPENCLRUNTIMEPASS
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

FailureOr<EmbeddedBinaries> layout::embedBinaries(ModuleOp module) {
  EmbeddedBinaries binaries;
  for (auto binary :
       llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>())) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    StringRef bytes = object.getObject().getValue();
    if (object.getFormat() != gpu::CompilationTarget::Binary ||
        bytes.size() % sizeof(uint32_t))
      return binary.emitError()
             << "does not have SPIR-V words as its first object";
    OpBuilder builder(binary);
    // An array of aligned words. It is not a byte string because the launcher
    // keeps only tensors of words out of the code that it compiles.
    auto type = RankedTensorType::get(bytes.size() / 4, builder.getI32Type());
    auto words = DenseElementsAttr::getFromRawBuffer(
        type, ArrayRef(bytes.data(), bytes.size()));
    auto global = LLVM::GlobalOp::create(
        builder, binary.getLoc(),
        LLVM::LLVMArrayType::get(builder.getI32Type(), bytes.size() / 4),
        /*isConstant=*/true, LLVM::Linkage::Internal,
        (kOwnPrefix + "words_" + binary.getName()).str(), words,
        /*alignment=*/4);
    LLVM::GlobalOp source;
    if (std::optional<StringRef> text = getOpenCLSource(binary)) {
      std::string terminated = text->str() + '\0';
      source = LLVM::GlobalOp::create(
          builder, binary.getLoc(),
          LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size()),
          /*isConstant=*/true, LLVM::Linkage::Internal,
          (kOwnPrefix + "source_" + binary.getName()).str(),
          builder.getStringAttr(terminated));
    }
    binaries[binary.getName()] = {global, static_cast<int64_t>(bytes.size()),
                                  source, object.getKernels()};
  }
  return binaries;
}

/// Removes the memory spaces of all device memrefs.
static void dropMemorySpaces(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
    if (!isOnDevice(type))
      return std::nullopt;
    return MemRefType::Builder(type).setMemorySpace({});
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// Renames the functions of the OpenCL runtime to those of another one.
static LogicalResult renameFunctions(ModuleOp module, StringRef prefix) {
  for (Operation &op : module.getOps()) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    StringRef name = function ? function.getName() : "";
    if (!name.consume_front(kRuntimePrefix) || !function.isExternal())
      continue;
    auto renamed = StringAttr::get(module.getContext(), prefix + name);
    if (failed(SymbolTable::replaceAllSymbolUses(function, renamed, module)))
      return function.emitError() << "cannot be renamed to " << renamed;
    function.setName(renamed);
  }
  return success();
}

namespace {
struct ConvertGPUToOpenCLRuntime
    : layout::impl::ConvertGPUToOpenCLRuntimePassBase<
          ConvertGPUToOpenCLRuntime> {
  using ConvertGPUToOpenCLRuntimePassBase::ConvertGPUToOpenCLRuntimePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (prefix != kRuntimePrefix && prefix != kVulkanPrefix) {
      module.emitError() << "has no runtime with the prefix '" << prefix
                         << "': use " << kRuntimePrefix << " or "
                         << kVulkanPrefix;
      return signalPassFailure();
    }
    if (failed(checkHost(module)))
      return signalPassFailure();
    FailureOr<EmbeddedBinaries> binaries = embedBinaries(module);
    if (failed(binaries))
      return signalPassFailure();

    LLVMTypeConverter converter(&getContext());
    converter.addTypeAttributeConversion(
        [](BaseMemRefType type, StringAttr space) -> Attribute {
          return IntegerAttr::get(IntegerType::get(space.getContext(), 64), 0);
        });
    RewritePatternSet patterns(&getContext());
    populateHostPatterns(converter, *binaries, patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<gpu::GPUDialect>();
    target.addLegalOp<gpu::BinaryOp>();
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();

    for (auto binary :
         llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>()))
      binary.erase();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
    dropMemorySpaces(module);
    if (prefix != kRuntimePrefix && failed(renameFunctions(module, prefix)))
      signalPassFailure();
  }
};
} // namespace
