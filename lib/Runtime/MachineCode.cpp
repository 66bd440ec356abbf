//===- MachineCode.cpp - From the LLVM dialect to object files ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineCode.h"
#include "AddressSanitizer.h"
#include "layout/Support/Profile.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/SplitModule.h"

using namespace mlir;
using namespace mlir::layout;

/// Adds the function `layout_entry`, which loads the arguments of `callee` from
/// an array of pointers and calls it. Makes all other symbols internal except
/// the global with the measured times of kernels.
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

/// The LLVM passes for code whose loops and vectors MLIR has simplified. LLVM's
/// default pipelines take more than twice the compile time, and networks do not
/// run faster. Loops that MLIR left scalar are vectorized here.
/// separate-const-offset-from-gep is not needed, because
/// layout-cpu-lower-accesses adds the constant offset of an address last.
static constexpr StringLiteral
    kPasses("function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
            "simplifycfg),"
            "cgscc(inline),"
            "function(loop-mssa(loop-rotate,licm),early-cse<memssa>,"
            "loop-vectorize,slp-vectorizer,vector-combine,loop-unroll,gvn,"
            "instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg,"
            "layout-hide-accesses)");

/// The size of the parts into which a module is split to compile them in
/// parallel, in LLVM instructions; the maximum number of parts; and their
/// maximum per processor, which balances the load. A part costs some
/// milliseconds.
static constexpr size_t kPartInstructions = 1000;
static constexpr size_t kMostParts = 16;
static constexpr size_t kPartsOfProcessor = 4;

/// Returns the maximum number of parts of a module on this machine: 1 if there
/// is one processor, which cannot compile parts in parallel.
static size_t getMostParts() {
  size_t processors = llvm::hardware_concurrency().compute_thread_count();
  return processors == 1 ? 1
                         : std::min(kMostParts, kPartsOfProcessor * processors);
}

static SmallString<0> toBitcode(const llvm::Module &module) {
  SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  return bitcode;
}

/// Returns the cache key of the compiled module: a hash of everything that its
/// machine code depends on. `bitcode` is the module before optimization,
/// without the large constants; it stands for the MLIR passes that made it.
static std::string makeKey(StringRef bitcode,
                           const llvm::TargetMachine &machine,
                           unsigned optLevel) {
  return ObjectCache::makeKey(
      {bitcode, machine.getTargetTriple().str(), machine.getTargetCPU(),
       machine.getTargetFeatureString(), std::to_string(optLevel), kPasses,
       std::to_string(kPartInstructions), std::to_string(getMostParts()),
       LLVM_VERSION_STRING, layout::hasAddressSanitizer() ? "checked" : ""});
}

/// Splits `module` into parts and returns the bitcode of each, to be compiled
/// separately. A part has about kPartInstructions instructions, or more if
/// getMostParts() limits their number. A module of one part is returned as
/// `bitcode`, which is that of the whole module.
static std::vector<SmallString<0>> split(std::unique_ptr<llvm::Module> module,
                                         SmallString<0> bitcode) {
  std::vector<SmallString<0>> parts;
  size_t count = std::clamp<size_t>(
      module->getInstructionCount() / kPartInstructions, 1, getMostParts());
  if (count == 1)
    parts.push_back(std::move(bitcode));
  else
    llvm::SplitModule(
        *module, count,
        [&](std::unique_ptr<llvm::Module> part) {
          parts.push_back(toBitcode(*part));
        },
        /*PreserveLocals=*/false, /*RoundRobin=*/true);
  return parts;
}

/// Returns true if `user` loads from or stores to the address `pointer`, or is
/// a getelementptr of it that has constant indices and no phi among its users.
static bool isAccessAt(const llvm::User *user, const llvm::Value *pointer) {
  auto *step = dyn_cast<llvm::GetElementPtrInst>(user);
  return step ? step->getPointerOperand() == pointer &&
                    step->hasAllConstantIndices() &&
                    llvm::none_of(step->users(), llvm::IsaPred<llvm::PHINode>)
              : llvm::getLoadStorePointerOperand(user) == pointer;
}

namespace {
/// Hides accesses at constant offsets of one pointer from loop strength
/// reduction, which weighs every access of an innermost loop and every pair of
/// them: a third of all code generation time. The accesses use a frozen copy of
/// the pointer, which that pass does not look through. Runs last, because the
/// copy hides aliasing from other passes.
struct HideAccesses : llvm::PassInfoMixin<HideAccesses> {
  static constexpr llvm::StringLiteral kName = "layout-hide-accesses";

  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses) {
    for (llvm::Loop *loop :
         analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
      if (loop->isInnermost())
        for (llvm::BasicBlock *block : loop->blocks())
          for (llvm::Instruction &pointer : *block)
            hideAccesses(*loop, pointer);
    llvm::PreservedAnalyses preserved;
    preserved.preserveSet<llvm::CFGAnalyses>();
    return preserved;
  }

private:
  static void hideAccesses(const llvm::Loop &loop, llvm::Instruction &pointer) {
    auto *step = dyn_cast<llvm::GetElementPtrInst>(&pointer);
    bool isBase =
        step ? !step->hasAllConstantIndices()
             : isa<llvm::PHINode>(pointer) && pointer.getType()->isPointerTy();
    auto isAccess = [&](const llvm::Use &use) {
      return loop.contains(cast<llvm::Instruction>(use.getUser())) &&
             isAccessAt(use.getUser(), &pointer);
    };
    if (!isBase || llvm::count_if(pointer.uses(), isAccess) < 2)
      return;
    llvm::IRBuilder<> b(pointer.getParent(),
                        *pointer.getInsertionPointAfterDef());
    llvm::Value *copy = b.CreateFreeze(&pointer);
    pointer.replaceUsesWithIf(copy, isAccess);
  }
};
} // namespace

/// Runs the passes of the textual pipeline `text`, then the checks of
/// AddressSanitizer in a process that has it.
static llvm::Error runPasses(llvm::Module &module, llvm::TargetMachine &machine,
                             StringRef text) {
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
  builder.registerPipelineParsingCallback(
      [](StringRef name, llvm::FunctionPassManager &passes,
         ArrayRef<llvm::PassBuilder::PipelineElement>) {
        if (name != HideAccesses::kName)
          return false;
        passes.addPass(HideAccesses());
        return true;
      });
  llvm::ModulePassManager passes;
  if (!text.empty())
    if (llvm::Error error = builder.parsePassPipeline(passes, text))
      return error;
  if (hasAddressSanitizer())
    addAddressSanitizer(passes);
  passes.run(module, modules);
  return llvm::Error::success();
}

using Object = llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>;

static Object compilePart(StringRef bitcode,
                          llvm::orc::JITTargetMachineBuilder builder,
                          unsigned optLevel) {
  auto machine = builder.createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, ""), context);
  if (!module)
    return module.takeError();
  if (llvm::Error error = runPasses(
          **module, **machine, optLevel ? StringRef(kPasses) : StringRef()))
    return error;
  return llvm::orc::SimpleCompiler(**machine)(**module);
}

/// Compiles parts of a module, given as bitcode, in parallel. Returns an
/// archive of their object files, or the errors of all parts that failed.
static Object compileParts(ArrayRef<SmallString<0>> parts,
                           const llvm::orc::JITTargetMachineBuilder &builder,
                           unsigned optLevel) {
  std::vector<std::optional<Object>> objects(parts.size());
  auto compile = [&](size_t i) {
    objects[i].emplace(compilePart(parts[i], builder, optLevel));
  };
  if (parts.size() == 1) {
    compile(0);
  } else {
    // Starts with the largest parts, so that all threads end at about the same
    // time.
    SmallVector<size_t> order = llvm::to_vector(llvm::seq(parts.size()));
    llvm::stable_sort(order, [&](size_t a, size_t b) {
      return parts[a].size() > parts[b].size();
    });
    llvm::DefaultThreadPool pool;
    for (size_t i : order)
      pool.async(compile, i);
    pool.wait();
  }
  llvm::Error failed = llvm::Error::success();
  std::vector<llvm::NewArchiveMember> members;
  for (std::optional<Object> &object : objects) {
    if (!*object) {
      failed = llvm::joinErrors(std::move(failed), object->takeError());
      continue;
    }
    members.emplace_back((*object)->get()->getMemBufferRef());
    members.back().MemberName = "part";
  }
  if (failed)
    return failed;
  return llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab,
                                    llvm::object::Archive::K_GNU,
                                    /*Deterministic=*/true, /*Thin=*/false);
}

llvm::Expected<MachineCode>
layout::compileToArchive(ModuleOp module, StringRef function,
                         const llvm::orc::JITTargetMachineBuilder &builder,
                         unsigned optLevel, const ObjectCache &cache) {
  auto machine =
      llvm::orc::JITTargetMachineBuilder(builder).createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context);
  if (!translated)
    return llvm::createStringError("it could not be converted to LLVM IR");
  translated->setDataLayout((*machine)->createDataLayout());
  translated->setTargetTriple((*machine)->getTargetTriple());
  addEntry(*translated, *translated->getFunction(function));

  SmallString<0> bitcode = toBitcode(*translated);
  std::string key = makeKey(bitcode, **machine, optLevel);
  if (std::unique_ptr<llvm::MemoryBuffer> archive = cache.find(key))
    return MachineCode{std::move(archive), /*isFromCache=*/true};
  Object archive = compileParts(
      split(std::move(translated), std::move(bitcode)), builder, optLevel);
  if (!archive)
    return archive.takeError();
  cache.add(key, [&](raw_ostream &os) { os << (*archive)->getBuffer(); });
  return MachineCode{std::move(*archive)};
}

llvm::Expected<SmallVector<std::unique_ptr<llvm::MemoryBuffer>>>
layout::readArchive(StringRef archive) {
  SmallVector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  auto read =
      llvm::object::Archive::create(llvm::MemoryBufferRef(archive, "code"));
  if (!read)
    return read.takeError();
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child &child : (*read)->children(error)) {
    llvm::Expected<StringRef> object = child.getBuffer();
    if (!object) {
      llvm::consumeError(std::move(error));
      return object.takeError();
    }
    // The copy has the alignment that objects require.
    objects.push_back(llvm::MemoryBuffer::getMemBufferCopy(*object));
  }
  if (error)
    return error;
  return objects;
}
