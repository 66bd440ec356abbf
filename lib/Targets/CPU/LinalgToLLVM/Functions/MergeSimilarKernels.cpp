//===- MergeSimilarKernels.cpp - Merge kernels that differ in numbers -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Merges kernels that differ in integers. Layers that differ in rows, columns
// or channels have the same register tiles in loops with other bounds and
// strides. LLVM compiles one kernel if the integers are arguments:
//
//   for row < 56: p = x + 928 * row     for row < 28: p = x + 480 * row
//     load p + 928, load p + 936          load p + 480, load p + 488
//
// become, called with (56, 928) and with (28, 480),
//
//   for row < n: p = x + s * row, q = p + s
//     load q, load q + 8
//
// so that accesses keep constant offsets, which addressing modes add for free.
//
// Kernels are compared by a sequence of words that is equal if they differ only
// in integers. LLVM's global-merge-func is not used: it makes one argument of
// each constant offset, and does not support parallel loops.
//
//===----------------------------------------------------------------------===//

#include "Functions/OutlinedKernels.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace mlir::layout {
#define GEN_PASS_DEF_MERGESIMILARKERNELSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// The maximum number of integer arguments that are added to a merged kernel.
/// More would be spilled and reloaded in loops.
static constexpr size_t kMostNumbers = 16;

namespace {
/// An integer in which otherwise equal kernels may differ: an operand, or the
/// constant offset of `step`. The other one of `operand` and `step` is null.
struct Number {
  OpOperand *operand;
  LLVM::GEPOp step;
  int64_t value;
};

struct Kernel {
  LLVM::LLVMFuncOp function;
  SmallVector<LLVM::CallOp> calls;
  SmallVector<Number> numbers;
};

/// Reads a kernel as a sequence of words, which is equal for kernels that
/// differ only in integers, and appends these integers to `numbers`. Both are
/// in the order of its ops.
class FormReader {
public:
  explicit FormReader(SmallVectorImpl<Number> &numbers) : numbers(numbers) {}

  std::vector<uintptr_t> read(LLVM::LLVMFuncOp function) {
    for (NamedAttribute each : function->getAttrs())
      if (each.getName() != SymbolTable::getSymbolAttrName()) {
        add(each.getName().getAsOpaquePointer());
        add(each.getValue().getAsOpaquePointer());
      }
    readRegion(function.getBody());
    return std::move(form);
  }

private:
  void add(const void *word) { form.push_back(uintptr_t(word)); }
  void addPlace(const void *each) {
    form.push_back(places.try_emplace(each, places.size()).first->second);
  }
  void readRegion(Region &region);
  void readOp(Operation &op);
  void readOperand(OpOperand &operand);

  std::vector<uintptr_t> form;
  SmallVectorImpl<Number> &numbers;
  /// The number of each value and block, in the order of their first
  /// occurrence.
  DenseMap<const void *, uintptr_t> places;
};
} // namespace

/// Returns true if `step` moves a pointer by one constant number of elements,
/// and false if it is null.
static bool isConstantStep(LLVM::GEPOp step) {
  return step && step.getDynamicIndices().empty() &&
         step.getRawConstantIndices().size() == 1;
}

/// Returns true if constant operands of `op` may become arguments. Divisors may
/// not, because LLVM replaces division by a constant by multiplication.
static bool takesNumbers(Operation *op) {
  if (auto step = dyn_cast<LLVM::GEPOp>(op))
    return step.getElemType().isIntOrFloat();
  return isa<LLVM::AddOp, LLVM::BrOp, LLVM::CondBrOp, LLVM::ICmpOp, LLVM::MulOp,
             LLVM::SubOp>(op) ||
         op->getName().getStringRef() == "omp.loop_nest";
}

void FormReader::readOperand(OpOperand &operand) {
  auto constant = operand.get().getDefiningOp<LLVM::ConstantOp>();
  if (!constant)
    return addPlace(operand.get().getAsOpaquePointer());
  auto number = dyn_cast<IntegerAttr>(constant.getValue());
  add(constant.getType().getAsOpaquePointer());
  if (number && constant.getType().isInteger(64) &&
      takesNumbers(operand.getOwner()))
    numbers.push_back({&operand, {}, number.getInt()});
  else
    add(constant.getValue().getAsOpaquePointer());
}

void FormReader::readOp(Operation &op) {
  if (isa<LLVM::ConstantOp>(op)) // read where it is used
    return;
  add(op.getName().getAsOpaquePointer());
  add(op.getDiscardableAttrDictionary().getAsOpaquePointer());
  auto step = dyn_cast<LLVM::GEPOp>(op);
  if (isConstantStep(step)) {
    add(step.getElemType().getAsOpaquePointer());
    form.push_back(uintptr_t(step.getNoWrapFlags()));
    numbers.push_back({nullptr, step, step.getRawConstantIndices()[0]});
  } else {
    add(op.getPropertiesAsAttribute().getAsOpaquePointer());
  }
  form.push_back(op.getNumOperands());
  for (OpOperand &operand : op.getOpOperands())
    readOperand(operand);
  for (Value result : op.getResults()) {
    add(result.getType().getAsOpaquePointer());
    addPlace(result.getAsOpaquePointer());
  }
  for (Block *successor : op.getSuccessors())
    addPlace(successor);
  for (Region &region : op.getRegions())
    readRegion(region);
}

void FormReader::readRegion(Region &region) {
  for (Block &block : region) {
    addPlace(&block);
    form.push_back(block.getNumArguments());
    for (BlockArgument argument : block.getArguments()) {
      add(argument.getType().getAsOpaquePointer());
      addPlace(argument.getAsOpaquePointer());
    }
    for (Operation &op : block)
      readOp(op);
  }
  add(nullptr);
}

namespace {
/// Merges kernels that are equal except for integers into one function.
class Sharing {
public:
  explicit Sharing(ArrayRef<Kernel> kernels) : kernels(kernels) {}

  /// Collects the integers that differ between the kernels and become arguments
  /// of the merged kernel. Returns false if they need more arguments than the
  /// maximum (kMostNumbers), or if two offsets of one pointer are too far apart
  /// for a GEP.
  bool plan();
  void apply();

private:
  /// The values that one integer has in the kernels, one per kernel.
  using Values = std::vector<int64_t>;
  Values getValues(size_t number) const;
  /// Returns the number of the added argument that passes `values`, one per
  /// kernel; integers with equal values share an argument.
  size_t getArgument(const Values &values) {
    return arguments.try_emplace(values, arguments.size()).first->second;
  }

  /// GEPs that add constant offsets to one pointer. From one kernel to another,
  /// all of these offsets differ by the same amount. The merged kernel adds its
  /// integer argument number `argument`, the offset of `first`, to the pointer
  /// once, and each GEP adds its distance from `first`.
  struct Steps {
    LLVM::GEPOp first;
    size_t argument;
    SmallVector<LLVM::GEPOp> all;
  };

  ArrayRef<Kernel> kernels;
  std::map<Values, size_t> arguments;
  SmallVector<std::pair<OpOperand *, size_t>> operands;
  SmallVector<Steps> steps;
};
} // namespace

Sharing::Values Sharing::getValues(size_t number) const {
  Values values;
  for (const Kernel &kernel : kernels)
    values.push_back(kernel.numbers[number].value);
  return values;
}

bool Sharing::plan() {
  std::map<std::pair<void *, Values>, size_t> places;
  for (auto [i, number] : llvm::enumerate(kernels.front().numbers)) {
    Values values = getValues(i);
    if (llvm::all_equal(values))
      continue;
    if (number.operand) {
      operands.emplace_back(number.operand, getArgument(values));
      continue;
    }
    Values more;
    for (int64_t value : values)
      more.push_back(value - number.value);
    LLVM::GEPOp step = number.step;
    auto [place, isNew] = places.try_emplace(
        {step.getBase().getAsOpaquePointer(), more}, steps.size());
    if (isNew)
      steps.push_back({step, getArgument(values), {}});
    Steps &same = steps[place->second];
    same.all.push_back(step);
    if (!llvm::isInt<32>(number.value - same.first.getRawConstantIndices()[0]))
      return false;
  }
  return arguments.size() <= kMostNumbers;
}

void Sharing::apply() {
  LLVM::LLVMFuncOp shared = kernels.front().function;
  OpBuilder b(shared.getContext());
  Type word = b.getI64Type();
  unsigned first = shared.getNumArguments();
  SmallVector<Type> words(arguments.size(), word), types;
  llvm::append_range(types, shared.getArgumentTypes());
  llvm::append_range(types, words);
  function_interface_impl::insertFunctionArguments(
      shared, SmallVector<unsigned>(arguments.size(), first), words,
      SmallVector<DictionaryAttr>(arguments.size()),
      SmallVector<Location>(arguments.size(), shared.getLoc()), first,
      LLVM::LLVMFunctionType::get(shared.getFunctionType().getReturnType(),
                                  types));
  for (auto [operand, argument] : operands)
    operand->set(shared.getArgument(first + argument));
  for (Steps &each : steps) {
    Value base = each.first.getBase();
    b.setInsertionPointAfterValue(base);
    Value begin = LLVM::GEPOp::create(
        b, each.first.getLoc(), base.getType(), each.first.getElemType(), base,
        LLVM::GEPArg(shared.getArgument(first + each.argument)));
    int32_t from = each.first.getRawConstantIndices()[0];
    for (LLVM::GEPOp step : each.all) {
      step.getBaseMutable().assign(begin);
      step.setRawConstantIndices({step.getRawConstantIndices()[0] - from});
    }
  }
  std::vector<const Values *> ordered(arguments.size());
  for (const auto &[values, argument] : arguments)
    ordered[argument] = &values;
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    LLVM::LLVMFuncOp function = kernel.function;
    for (LLVM::CallOp call : kernel.calls) {
      b.setInsertionPoint(call);
      for (const Values *values : ordered)
        call.getCalleeOperandsMutable().append(
            LLVM::ConstantOp::create(b, call.getLoc(), word, (*values)[i])
                .getResult());
      call.setCallee(shared.getName());
    }
    if (function != shared)
      function.erase();
  }
}

/// Replaces values that are extracted from memref descriptors by those that
/// were inserted into them, and erases dead ops.
static void removeDescriptors(ModuleOp module) {
  module.walk([](LLVM::ExtractValueOp op) {
    SmallVector<OpFoldResult> results;
    if (succeeded(op->fold(results)) && results.size() == 1)
      if (auto part = dyn_cast<Value>(results.front()))
        op.getResult().replaceAllUsesWith(part);
  });
  module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

namespace {
struct MergeSimilarKernels
    : layout::impl::MergeSimilarKernelsPassBase<MergeSimilarKernels> {
  void runOnOperation() override {
    removeDescriptors(getOperation());
    // Functions with uses other than calls stay unchanged. Symbol uses are
    // unknown if there are unregistered ops.
    auto symbols = SymbolTable::getSymbolUses(&getOperation().getBodyRegion());
    if (!symbols)
      return;
    llvm::StringMap<SmallVector<LLVM::CallOp>> calls;
    llvm::StringSet<> others;
    for (SymbolTable::SymbolUse use : *symbols) {
      StringRef name = use.getSymbolRef().getRootReference();
      auto call = dyn_cast<LLVM::CallOp>(use.getUser());
      if (call && call.getCallee() == name)
        calls[name].push_back(call);
      else
        others.insert(name);
    }
    std::map<std::vector<uintptr_t>, size_t> places;
    SmallVector<SmallVector<Kernel, 1>> forms;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (!function->hasAttr(layout::kKernelAttrName) ||
          function.isExternal() || others.contains(function.getName()))
        continue;
      Kernel kernel{function, calls.lookup(function.getName()), {}};
      auto [place, isNew] = places.try_emplace(
          FormReader(kernel.numbers).read(function), forms.size());
      if (isNew)
        forms.emplace_back();
      forms[place->second].push_back(std::move(kernel));
    }
    for (ArrayRef<Kernel> kernels : forms) {
      Sharing sharing(kernels);
      if (kernels.size() > 1 && sharing.plan())
        sharing.apply();
    }
  }
};
} // namespace
