//===- AddressSanitizer.cpp - Check accesses of compiled code -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddressSanitizer.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include <dlfcn.h>

using namespace mlir;

bool layout::hasAddressSanitizer() {
  static const bool has = dlsym(RTLD_DEFAULT, "__asan_report_store_n");
  return has;
}

namespace {
/// Marks all functions as to be checked.
struct MarkFunctions : llvm::PassInfoMixin<MarkFunctions> {
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &) {
    for (llvm::Function &function : module)
      if (!function.isDeclaration())
        function.addFnAttr(llvm::Attribute::SanitizeAddress);
    return llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};
} // namespace

void layout::addAddressSanitizer(llvm::ModulePassManager &passes) {
  passes.addPass(MarkFunctions());
  // The library is already initialized, and the JIT engine runs no
  // constructors.
  llvm::AddressSanitizerOptions options;
  options.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
  passes.addPass(llvm::AddressSanitizerPass(
      options, /*UseGlobalGC=*/false, /*UseOdrIndicator=*/false,
      llvm::AsanDtorKind::None, llvm::AsanCtorKind::None));
}
