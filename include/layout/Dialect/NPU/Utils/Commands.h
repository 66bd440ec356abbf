//===- Commands.h - Loops as commands of execution units --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop nest that computes one function of single elements, as the commands
// that execution units take for it: four loops N, C, H and W with a stride for
// each operand, of which C goes from core to core on all operands in step. A
// stride of 0 repeats elements; loops that write an element again and again are
// one command after another, as are those that do not step evenly:
//
//     y[d0, d1] = x[d0, d1] + b[d1], 2x40, both as `matrix 15` on four cores:
//       shape (2, 2, 1, 15) and (2, 1, 1, 10), N stride 0 for b
//     s[d0] = s[d0] + x[d0, d1], 4x3:
//       three commands of shape (1, 4, 1, 1)
//
// As for transfers, canonical maps alone say where an element lies.
//
// Laws:
//  * the commands visit every index of the loops once, those of one element of
//    the destination in the order of the loops;
//  * all operands of a command start at one core, and each is within the limits
//    of the chip, or there is no plan and a reason.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_COMMANDS_H
#define LAYOUT_DIALECT_NPU_UTILS_COMMANDS_H

#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
namespace npu {

/// A tensor in local memory, and the dims that the loops lead to.
struct CommandOperand {
  layout::LayoutMap map;
  llvm::SmallVector<int64_t> shape;
  AffineMap index;
  int64_t elementBytes = 4;
};

struct Command {
  LoopSizes shape{1, 1, 1, 1};
  /// One for each operand; strides are in elements.
  llvm::SmallVector<TransferSide, 3> sides;
  /// Of an element of each side.
  llvm::SmallVector<int64_t, 3> elementBytes;
};

/// The commands for loops of `ranges`, the destination first among `operands`.
/// At most `kMaxCommands`.
std::optional<std::vector<Command>>
planCommands(llvm::ArrayRef<CommandOperand> operands,
             llvm::ArrayRef<int64_t> ranges, const TransferLimits &limits,
             layout::Refusal error);

constexpr int64_t kMaxCommands = 1 << 8;

/// An operand that four loops of `ranges` lead through as one box, as functions
/// of layers take it. Nothing where they do not step evenly, others than C go
/// from core to core, or the box is beyond the limits.
std::optional<TransferSide> getBox(const CommandOperand &operand,
                                   const LoopSizes &ranges,
                                   const TransferLimits &limits);

/// The strides of the aligned layout from `core` on, of channels aligned to
/// `euBytes`, and the first dim of a box whose stride is another one and has a
/// meaning.
LoopSizes getAlignedStrides(int64_t core, const LoopSizes &shape,
                            int64_t elementBytes, int64_t euBytes,
                            int64_t npus);
std::optional<int> findUnaligned(const TransferSide &box,
                                 const LoopSizes &shape,
                                 const LoopSizes &aligned, int64_t npus);

/// Whether the strides of a box of `shape` are those of the aligned layout, of
/// channels aligned to `euBytes`, and within the limits.
bool isAligned(const TransferSide &box, const LoopSizes &shape,
               int64_t elementBytes, int64_t euBytes,
               const TransferLimits &limits);

/// The same command as ones whose operands are all in the aligned layout, which
/// functions without strides ask for, of channels aligned to `euBytes`; nothing
/// where operands are not.
std::optional<std::vector<Command>> alignCommand(const Command &command,
                                                 int64_t euBytes,
                                                 const TransferLimits &limits);

/// Commands of a function that takes no strides.
struct UnstridedCommands {
  std::vector<Command> commands;
  bool isCompact = false; // or aligned
};

/// The same commands with all operands in the aligned layout, or, for functions
/// that may be told so, all in the compact one.
std::optional<UnstridedCommands> dropStrides(llvm::ArrayRef<Command> commands,
                                             int64_t euBytes,
                                             const TransferLimits &limits,
                                             bool mayBeCompact);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_UTILS_COMMANDS_H
