//===- MachineCode.cpp - From the LLVM dialect to an object file ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineCode.h"
#include "layout/Support/Profile.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
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

/// The passes that pay for loops and vectors which passes on MLIR have
/// simplified already; LLVM's own pipelines take more than twice their time,
/// and networks do not run faster by it. Loops that come without vectors get
/// them here.
static constexpr StringLiteral
    kPasses("function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
            "simplifycfg),"
            "cgscc(inline),"
            "function(loop-mssa(loop-rotate,licm),indvars,early-cse<memssa>,"
            "loop-vectorize,slp-vectorizer,vector-combine,loop-unroll,gvn,"
            "instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg)");

/// Of all that the object depends on. The module, before it is optimized, says
/// what the pipeline has done; large constants are no part of it.
static std::string makeKey(const llvm::Module &module,
                           const llvm::TargetMachine &machine,
                           unsigned optLevel) {
  SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  return ObjectCache::makeKey(
      {bitcode, machine.getTargetTriple().str(), machine.getTargetCPU(),
       machine.getTargetFeatureString(), std::to_string(optLevel), kPasses,
       LLVM_VERSION_STRING});
}

static llvm::Error optimize(llvm::Module &module,
                            llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, kPasses))
    return error;
  passes.run(module, modules);
  return llvm::Error::success();
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
  if (optLevel)
    if (llvm::Error error = optimize(*translated, machine))
      return error;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> object =
      llvm::orc::SimpleCompiler(machine)(*translated);
  if (!object)
    return object.takeError();
  cache.add(key, (*object)->getBuffer());
  return MachineCode{std::move(*object)};
}
