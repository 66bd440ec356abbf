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
/// inputs in the order of the function's parameters, and, if the function takes
/// one, the work buffer, which is the second init.
static SmallVector<unsigned> getNumbers(linalg::LinalgOp op,
                                        const ElementFunction &function) {
  unsigned first = op.getDpsInitOperand(0)->getOperandNumber();
  SmallVector<unsigned> numbers{first};
  for (const ElementFunction::Argument &argument : function.arguments)
    if (argument.isOperand())
      numbers.push_back(argument.operand);
  if (function.takesWork())
    numbers.push_back(first + 1);
  return numbers;
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

void FunctionEmitter::emitElements(const ElementFunction &function,
                                   ArrayRef<Value> memrefs,
                                   const Command &command, bool isCompact) {
  SmallVector<Value> addresses;
  for (auto [memref, side] : llvm::zip_equal(memrefs, command.sides))
    addresses.push_back(getAddress(memref, side));
  Value shape = calls.getDim4(command.shape);
  std::string name = "okk_bdc_" + function.name;
  SmallVector<Value> operands;
  if (function.kind == ElementFunction::Select) {
    operands.push_back(addresses[0]);
    unsigned next = 1;
    for (auto [i, argument] : llvm::enumerate(function.arguments)) {
      std::optional<Value> address;
      if (argument.isOperand())
        address = addresses[next++];
      operands.push_back(
          calls.getAddressOrNumber(/*ofWords=*/i >= 2, address, argument.bits));
    }
    operands.push_back(shape);
    return calls.call(name, operands);
  }
  operands = addresses;
  for (const ElementFunction::Argument &argument : function.arguments)
    if (!argument.isOperand())
      operands.push_back(argument.isCount ? calls.getInt(int32_t(argument.bits))
                         : argument.isWord ? calls.getWord(argument.bits)
                                           : calls.getFloat(argument.bits));
  operands.push_back(shape);
  // Without strides, operands are aligned, which takes half the time.
  bool areAligned = llvm::all_of(command.sides, [&](const TransferSide &side) {
    return isAligned(side, command.shape, /*elementBytes=*/4, chip.getEuBytes(),
                     getComputeLimits(chip));
  });
  if (function.kind == ElementFunction::Strided)
    for (const TransferSide &side : command.sides)
      operands.push_back(areAligned ? calls.getNull()
                                    : calls.getDim4(side.strides));
  if (function.kind == ElementFunction::FromBytes) {
    operands.push_back(calls.getBool(function.isSigned));
    operands.push_back(calls.getBool(/*is_aligned_layout=*/!isCompact));
  }
  calls.call(name, operands);
}

bool FunctionEmitter::emitAsElements(linalg::LinalgOp op,
                                     ArrayRef<Operand> operands,
                                     std::string &why) {
  std::optional<ElementFunction> function = getElementFunction(op);
  if (!function)
    return false;
  SmallVector<unsigned> numbers = getNumbers(op, *function);
  if (function->takesWork() && op.getNumDpsInits() != 2) {
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
  if (function->kind != ElementFunction::Strided) {
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
  emitClamps(op, *function, numbers, memrefs, *commands);
  // mac adds to the result, so the result is also a source.
  if (StringRef(function->name).starts_with("mac"))
    numbers.push_back(numbers.front());
  // Source and result of int8_to_fp32 have elements of different sizes, so
  // their bytes do not correspond.
  bool isExpected = function->kind != ElementFunction::FromBytes &&
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
