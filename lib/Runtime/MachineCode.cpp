//===- MachineCode.cpp - From the LLVM dialect to an object file ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineCode.h"
#include "layout/Support/Profile.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;
using namespace mlir::layout;

/// Adds the function that takes the arguments of `callee` as an array, and
/// leaves all others to the optimizer.
static void addEntry(llvm::Module &module, llvm::Function &callee) {
  llvm::IRBuilder<> b(module.getContext());
  auto *type = llvm::FunctionType::get(b.getVoidTy(), b.getPtrTy(), false);
  auto *entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       kEntryName, module);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", entry));
  SmallVector<llvm::Value *> arguments;
  for (unsigned i = 0; i < callee.arg_size(); ++i)
    arguments.push_back(b.CreateLoad(
        b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), entry->getArg(0), i)));
  b.CreateCall(&callee, arguments);
  b.CreateRetVoid();
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &each) {
    return &each == entry || each.getName() == kProfileGlobalName;
  });
}

/// Of all that the object depends on. The module, before it is optimized, says
/// what the pipeline has done; large constants are no part of it.
static std::string makeKey(const llvm::Module &module,
                           const llvm::TargetMachine &machine,
                           unsigned optLevel) {
  SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  return ObjectCache::makeKey({bitcode, machine.getTargetTriple().str(),
                               machine.getTargetCPU(),
                               machine.getTargetFeatureString(),
                               std::to_string(optLevel), LLVM_VERSION_STRING});
}

llvm::Expected<MachineCode>
layout::compileToObject(ModuleOp module, StringRef function,
                        llvm::TargetMachine &machine, unsigned optLevel,
                        const ObjectCache &cache) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context);
  if (!translated)
    return llvm::createStringError("it could not be converted to LLVM IR");
  translated->setDataLayout(machine.createDataLayout());
  translated->setTargetTriple(machine.getTargetTriple());
  addEntry(*translated, *translated->getFunction(function));

  std::string key = makeKey(*translated, machine, optLevel);
  if (std::unique_ptr<llvm::MemoryBuffer> object = cache.find(key))
    return MachineCode{std::move(object), /*isFromCache=*/true};
  if (llvm::Error error = makeOptimizingTransformer(optLevel, /*sizeLevel=*/0,
                                                    &machine)(translated.get()))
    return error;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> object =
      llvm::orc::SimpleCompiler(machine)(*translated);
  if (!object)
    return object.takeError();
  cache.add(key, (*object)->getBuffer());
  return MachineCode{std::move(*object)};
}
