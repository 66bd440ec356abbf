//===- Elements.cpp - Elementwise functions -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionEmitter.h"
#include "Numbering.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

/// Returns the numbers of the operands that commands access: the result, the
/// inputs in the order of the function's parameters, and, if `hasWork`, the
/// work buffer, which is the second init.
static SmallVector<unsigned>
getNumbers(linalg::LinalgOp op, const ElementFunction &function, bool hasWork) {
  unsigned first = op.getDpsInitOperand(0)->getOperandNumber();
  SmallVector<unsigned> numbers{first};
  for (const ElementFunction::Argument &argument : function.arguments)
    if (argument.isOperand())
      numbers.push_back(argument.operand);
  if (hasWork)
    numbers.push_back(first + 1);
  return numbers;
}

/// Returns the side that begins `bytes` bytes after `side`.
static TransferSide moved(TransferSide side, int64_t bytes) {
  side.byte += bytes;
  return side;
}

/// Emits the selects that clamp the source of a function, e.g. exp, to its
/// valid range. `numbers`, `memrefs` and the sides of each command list the
/// result, the source and a work buffer. The clamped source is in the work
/// buffer, which replaces the source in all three lists. Each clamp runs in all
/// commands before the next one does.
void FunctionEmitter::emitClamps(linalg::LinalgOp op,
                                 const ElementFunction &function,
                                 SmallVectorImpl<unsigned> &numbers,
                                 MutableArrayRef<Value> memrefs,
                                 MutableArrayRef<Command> commands) {
  for (const ElementFunction &clamp : function.clamps) {
    // A select reads the source to compare it, and to return it.
    bool isExpected = expectElements(op, {numbers[2], numbers[1], numbers[1]});
    for (Command &command : commands) {
      Command bound = command;
      bound.sides = {command.sides[2], command.sides[1], command.sides[1]};
      emitElements(clamp, {memrefs[2], memrefs[1], memrefs[1]}, bound,
                   /*isCompact=*/false);
      command.sides[1] = command.sides[2];
    }
    numbers[1] = numbers[2];
    memrefs[1] = memrefs[2];
    if (isExpected)
      calls.endExpected();
  }
}

/// Returns a constant argument of `function` as its API passes it.
static Value getConstant(OkkCalls &calls, const KernelFunction &function,
                         const ElementFunction::Argument &argument) {
  if (argument.isCount)
    return calls.getInt(int32_t(argument.bits));
  return argument.isWord || function.takesScalars
             ? calls.getWord(argument.bits)
             : calls.getFloat(argument.bits);
}

void FunctionEmitter::emitSelect(const ElementFunction &function,
                                 ArrayRef<Value> addresses, Value shape) {
  SmallVector<Value> operands{addresses[0]};
  unsigned next = 1;
  for (auto [i, argument] : llvm::enumerate(function.arguments)) {
    std::optional<Value> address;
    if (argument.isOperand())
      address = addresses[next++];
    operands.push_back(
        calls.getAddressOrNumber(/*ofWords=*/i >= 2, address, argument.bits));
  }
  operands.push_back(shape);
  calls.call(calls.getFunction(function.name), operands);
}

/// Returns the distances from the first byte of the work memory of a function
/// of TPU-KERNEL to its second tensor, its coefficients and its table.
static std::array<int64_t, 3> getWorkParts(MemRefType work) {
  int64_t rest = 4 * work.getDimSize(1) - kCoefficientBytes - kTableBytes;
  return {rest / 2, rest, rest + kCoefficientBytes};
}

void FunctionEmitter::emitElements(const ElementFunction &function,
                                   ArrayRef<Value> memrefs,
                                   const Command &command, bool isCompact) {
  SmallVector<Value> addresses;
  for (auto [memref, side] : llvm::zip_equal(memrefs, command.sides))
    addresses.push_back(getAddress(memref, side));
  Value shape = calls.getDim4(command.shape);
  if (function.kind == ElementFunction::Select)
    return emitSelect(function, addresses, shape);
  bool isCast = function.kind == ElementFunction::FromBytes && calls.isTpu();
  KernelFunction callee =
      isCast ? KernelFunction{"tpu_bdc_cast",
                              {"DT_FP32",
                               function.isSigned ? "DT_INT8" : "DT_UINT8",
                               "RM_HALF_TO_EVEN"}}
             : calls.getFunction(function.name);
  SmallVector<Value> operands(addresses);
  if (function.kind == ElementFunction::AlignedWithWork && calls.isTpu()) {
    // The second work tensor is in the cores of the result. Coefficients and
    // table have the address of core 0 whatever these are.
    auto [second, coefficients, table] =
        getWorkParts(cast<MemRefType>(memrefs[2].getType()));
    TransferSide first = command.sides[2];
    first.core = 0;
    operands.append({getAddress(memrefs[2], moved(command.sides[2], second)),
                     getAddress(memrefs[2], moved(first, coefficients)),
                     getAddress(memrefs[2], moved(first, table))});
  }
  for (const ElementFunction::Argument &argument : function.arguments)
    if (!argument.isOperand())
      operands.push_back(getConstant(calls, callee, argument));
  operands.push_back(shape);
  // Without strides, operands are aligned, which takes half the time.
  bool areAligned = llvm::all_of(command.sides, [&](const TransferSide &side) {
    return isAligned(side, command.shape, /*elementBytes=*/4, chip.getEuBytes(),
                     getComputeLimits(chip));
  });
  if (function.kind == ElementFunction::Strided || isCast)
    for (const TransferSide &side : command.sides)
      operands.push_back(areAligned && !isCast ? calls.getNull()
                                               : calls.getDim4(side.strides));
  if (function.kind == ElementFunction::FromBytes && !isCast) {
    operands.push_back(calls.getBool(function.isSigned));
    operands.push_back(calls.getBool(/*is_aligned_layout=*/!isCompact));
  }
  calls.call(callee, operands);
}

/// Returns the functions of TPU-KERNEL that compute `function` one after the
/// other, or an empty list if it is one function there. tpu_bdc_less_C is true
/// for NaN, and tpu_bdc_equal_select false for 0 and -0.
///
///     C > x ? v : 0    neg(d, x), greater_C(d, d, -C, v)
///     a == b ? v : w   greater_select(d, a, b, w, v),
///                      greater_select(d, b, a, w, d)
static SmallVector<ElementStep> getTpuSteps(const ElementFunction &function) {
  SmallVector<unsigned> sideOf;
  unsigned next = 1;
  for (const ElementFunction::Argument &argument : function.arguments)
    sideOf.push_back(argument.isOperand() ? next++ : 0);
  SmallVector<ElementStep> steps;
  constexpr int kResult = -1;
  auto add = [&](StringRef name, std::initializer_list<int> arguments) {
    ElementStep step{{name.str(), function.kind, {}}, {0}};
    for (int i : arguments) {
      step.function.arguments.push_back(
          i == kResult ? ElementFunction::Argument{0} : function.arguments[i]);
      if (step.function.arguments.back().isOperand())
        step.sides.push_back(i == kResult ? 0 : sideOf[i]);
    }
    steps.push_back(std::move(step));
  };
  if (function.name == "C_greater_select_value") {
    add("neg", {0});
    add("greater_C_select_value", {kResult, 1, 2});
    steps.back().function.arguments[1].bits ^= 1u << 31;
  } else if (function.name == "equal_select") {
    add("greater_select", {0, 1, 3, 2});
    add("greater_select", {1, 0, 3, kResult});
  }
  return steps;
}

/// Emits the functions of `steps` for each command. Returns false, with the
/// reason in `why`, if the first one would overwrite a tensor that the second
/// one reads.
bool FunctionEmitter::emitSteps(ArrayRef<ElementStep> steps,
                                ArrayRef<Value> memrefs,
                                ArrayRef<Command> commands, std::string &why) {
  for (unsigned side : steps.back().sides)
    if (side && getViewedMemory(memrefs[side]) == getViewedMemory(memrefs[0])) {
      why = "its result overwrites an operand that a second command reads";
      return false;
    }
  for (const Command &command : commands)
    for (const ElementStep &step : steps) {
      Command part{command.shape, {}, {}};
      SmallVector<Value> tensors;
      for (unsigned side : step.sides) {
        part.sides.push_back(command.sides[side]);
        tensors.push_back(memrefs[side]);
      }
      emitElements(step.function, tensors, part, /*isCompact=*/false);
    }
  return true;
}

/// Adds the work memory of a function of TPU-KERNEL, which the loops do not
/// index, to the operands of all commands, in the first core of each. Emits the
/// calls that load its coefficients and its table in all cores.
void FunctionEmitter::addWork(linalg::LinalgOp op, ArrayRef<Operand> operands,
                              SmallVectorImpl<unsigned> &numbers,
                              SmallVectorImpl<Value> &memrefs,
                              MutableArrayRef<Command> commands) {
  unsigned number = op.getDpsInitOperand(1)->getOperandNumber();
  const Operand &work = operands[number];
  TransferSide side{/*core=*/0, work.storage.scatter.getOffset(), {}};
  auto [second, coefficients, table] = getWorkParts(work.type);
  calls.call("tpu_bdc_load_fp32_exp_coeff",
             getAddress(work.memref, moved(side, coefficients)));
  calls.call("tpu_bdc_load_fp32_exp_table",
             getAddress(work.memref, moved(side, table)));
  for (Command &command : commands) {
    side.core = command.sides[0].core;
    command.sides.push_back(side);
  }
  numbers.push_back(number);
  memrefs.push_back(work.memref);
}

bool FunctionEmitter::emitAsElements(linalg::LinalgOp op,
                                     ArrayRef<Operand> operands,
                                     std::string &why) {
  std::optional<ElementFunction> function = getElementFunction(op);
  if (!function)
    return false;
  // tpu_bdc_cast has strides and no work memory.
  bool isCast = function->kind == ElementFunction::FromBytes && calls.isTpu();
  bool takesWork = function->takesWork() && !isCast;
  SmallVector<unsigned> numbers =
      getNumbers(op, *function, takesWork && !calls.isTpu());
  if (takesWork && op.getNumDpsInits() != 2) {
    why = "'" + function->name + "' needs work memory, as a second result";
    return false;
  }
  SmallVector<CommandOperand> places;
  SmallVector<Value> memrefs;
  for (unsigned number : numbers) {
    const Operand &operand = operands[number];
    places.push_back({operand.storage.map,
                      SmallVector<int64_t>(operand.type.getShape()),
                      op.getMatchingIndexingMap(&op->getOpOperand(number)),
                      operand.storage.elementBytes});
    memrefs.push_back(operand.memref);
  }
  std::optional<std::vector<Command>> commands =
      planCommands(places, op.getStaticLoopRanges(), getComputeLimits(chip),
                   [&](const Twine &reason) { why = reason.str(); });
  if (!commands)
    return false;
  bool isCompact = false;
  if (function->kind != ElementFunction::Strided && !isCast) {
    std::optional<UnstridedCommands> unstrided =
        dropStrides(*commands, chip.getEuBytes(), getComputeLimits(chip),
                    function->mayBeCompact());
    if (!unstrided) {
      why = "'" + function->name + "' needs tensors in the aligned " +
            (function->mayBeCompact() ? "or in the compact " : "") + "layout";
      return false;
    }
    commands = std::move(unstrided->commands);
    isCompact = unstrided->isCompact;
  }
  if (takesWork && calls.isTpu())
    addWork(op, operands, numbers, memrefs, *commands);
  if (calls.isTpu())
    if (SmallVector<ElementStep> steps = getTpuSteps(*function); !steps.empty())
      return emitSteps(steps, memrefs, *commands, why);
  emitClamps(op, *function, numbers, memrefs, *commands);
  // mac adds to the result, so the result is also a source.
  if (StringRef(function->name).starts_with("mac"))
    numbers.push_back(numbers.front());
  // Source and result of a conversion of bytes have elements of different
  // sizes, and work memory of TPU-KERNEL has no index, so their bytes do not
  // correspond.
  bool isExpected = function->kind != ElementFunction::FromBytes &&
                    !(takesWork && calls.isTpu()) &&
                    expectElements(op, numbers);
  for (const Command &command : *commands)
    emitElements(*function, memrefs, command, isCompact);
  if (isExpected)
    calls.endExpected();
  return true;
}

/// Tells the simulator which elements of the operands `numbers`, the result
/// first, each iteration of `op` combines, so that it reports elements read
/// from a wrong address. Returns false, without a call, if checks are off or
/// the bytes of an operand have no numbers that are linear in its indices. The
/// same holds if the map of the result is not a permutation, or if a map has
/// other results than loops and 0.
bool FunctionEmitter::expectElements(linalg::LinalgOp op,
                                     ArrayRef<unsigned> numbers) {
  auto first = op.getMatchingIndexingMap(&op->getOpOperand(numbers.front()));
  if (!checks || !first.isPermutation())
    return false;
  SmallVector<Value> memrefs;
  SmallVector<AffineMap> maps;
  for (unsigned number : numbers) {
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
    memrefs.push_back(op->getOperand(number));
    maps.push_back(map);
  }
  return expect(op.getStaticLoopRanges(), memrefs, maps);
}
