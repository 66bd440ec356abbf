//===- Commands.h - Commands of the execution units -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans the commands of execution units for a loop nest that applies one
// function elementwise. A command has four loops N, C, H and W with a stride
// per operand; the C loop goes from core to core on all operands in step. A
// stride of 0 repeats elements. Loops that write an element repeatedly are
// unrolled to one command per iteration, and so are loops with uneven steps:
//
//     y[d0, d1] = x[d0, d1] + b[d1], 2x40, both as `matrix 15` on four cores:
//       shape (2, 2, 1, 15) and (2, 1, 1, 10), N stride 0 for b
//     s[d0] = s[d0] + x[d0, d1], 4x3:
//       three commands of shape (1, 4, 1, 1)
//
// As in Transfers.h, only canonical maps determine the position of an element.
//
// Laws:
//  * the commands visit every index of the loops once, and the indices of one
//    destination element in loop order;
//  * all operands of a command start at one core, and each is within the limits
//    of the chip; otherwise there is no plan but a reason.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_COMMANDS_H
#define LAYOUT_DIALECT_NPU_UTILS_COMMANDS_H

#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::npu {

/// A tensor in local memory, and the map from loops to its dims.
struct CommandOperand {
  layout::LayoutMap map;
  llvm::SmallVector<int64_t> shape;
  AffineMap index;
  int64_t elementBytes = 4;
};

/// One command of the execution units.
struct Command {
  LoopSizes shape{1, 1, 1, 1};
  /// One side per operand; strides are in elements.
  llvm::SmallVector<TransferSide, 3> sides;
  /// The bytes of an element of each side.
  llvm::SmallVector<int64_t, 3> elementBytes;
};

/// Returns the commands, at most `kMaxCommands`, for loops with trip counts
/// `ranges`, or std::nullopt with a reason. The first operand is the
/// destination.
std::optional<std::vector<Command>>
planCommands(llvm::ArrayRef<CommandOperand> operands,
             llvm::ArrayRef<int64_t> ranges, const TransferLimits &limits,
             layout::FailureReason error);

constexpr int64_t kMaxCommands = 1 << 8;

/// Returns the operand as one box that four loops with trip counts `ranges`
/// traverse, as neural network functions require. Returns std::nullopt if the
/// loops step unevenly, a loop other than C goes from core to core, or the box
/// exceeds the limits.
std::optional<TransferSide> getBox(const CommandOperand &operand,
                                   const LoopSizes &ranges,
                                   const TransferLimits &limits);

/// Returns the strides of the aligned layout from `core` on, with channels
/// aligned to `euBytes`.
LoopSizes getAlignedStrides(int64_t core, const LoopSizes &shape,
                            int64_t elementBytes, int64_t euBytes,
                            int64_t npus);

/// Returns the first dim of `box` whose stride matters and differs from that in
/// `aligned`, or std::nullopt if there is none.
std::optional<int> findUnaligned(const TransferSide &box,
                                 const LoopSizes &shape,
                                 const LoopSizes &aligned, int64_t npus);

/// Returns true if `box` has the strides of the aligned layout, with channels
/// aligned to `euBytes`, and is within the limits.
bool isAligned(const TransferSide &box, const LoopSizes &shape,
               int64_t elementBytes, int64_t euBytes,
               const TransferLimits &limits);

/// Splits `command` into commands whose operands are all in the aligned layout,
/// with channels aligned to `euBytes`, for functions without stride arguments.
/// Returns std::nullopt if that is not possible.
std::optional<std::vector<Command>> alignCommand(const Command &command,
                                                 int64_t euBytes,
                                                 const TransferLimits &limits);

/// Commands of a function without stride arguments.
struct UnstridedCommands {
  std::vector<Command> commands;
  bool isCompact = false; // or aligned
};

/// Returns equivalent commands with all operands in the aligned layout, or, if
/// `mayBeCompact`, all in the compact layout. Returns std::nullopt if neither
/// is possible.
std::optional<UnstridedCommands> dropStrides(llvm::ArrayRef<Command> commands,
                                             int64_t euBytes,
                                             const TransferLimits &limits,
                                             bool mayBeCompact);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_UTILS_COMMANDS_H
