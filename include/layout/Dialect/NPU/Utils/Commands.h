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
// unrolled to one command per iteration, and so are loops without constant
// steps:
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

/// An operand of an elementwise loop nest: a tensor in local memory, with its
/// layout map, its shape, the map from loops to its dims, and the bytes of an
/// element.
struct CommandOperand {
  layout::LayoutMap map;
  llvm::SmallVector<int64_t> shape;
  AffineMap index;
  int64_t elementBytes = 4;
};

/// Returns the only dim of a tensor with indexing map `map` whose index
/// contains `loop`, or std::nullopt if there are none or several.
std::optional<unsigned> findIndexedDim(AffineMap map, unsigned loop);

/// One command of the execution units: nested loops N, C, H and W with the trip
/// counts `shape`, each iteration of which reads or writes one element per
/// operand.
struct Command {
  LoopSizes shape{1, 1, 1, 1};
  /// The first core, the start byte and the strides of each operand; strides
  /// are in elements.
  llvm::SmallVector<TransferSide, 3> sides;
  /// The bytes of an element of each operand.
  llvm::SmallVector<int64_t, 3> elementBytes;
};

/// Returns the commands that execute an elementwise loop nest with trip counts
/// `ranges`. The first operand is the destination. Returns std::nullopt with a
/// reason if there is no plan of at most `kMaxCommands` commands.
std::optional<std::vector<Command>>
planCommands(llvm::ArrayRef<CommandOperand> operands,
             llvm::ArrayRef<int64_t> ranges, const TransferLimits &limits,
             layout::FailureReason error);

constexpr int64_t kMaxCommands = 1 << 8;

/// Returns the core, byte and strides of an operand that the four loops N, C, H
/// and W with trip counts `ranges` traverse in one command, as neural network
/// functions require. Returns std::nullopt if a loop of several iterations does
/// not advance by a constant step, or if a limit is exceeded. On a chip with
/// several cores, also returns it if C stays in a core or another loop does
/// not.
std::optional<TransferSide> getBox(const CommandOperand &operand,
                                   const LoopSizes &ranges,
                                   const TransferLimits &limits);

/// Returns the strides, in elements, of a tensor of `shape` in the aligned
/// layout on `npus` cores: channel 0 is in core `core`, and channels begin at
/// multiples of `euBytes` bytes.
LoopSizes getAlignedStrides(int64_t core, const LoopSizes &shape,
                            int64_t elementBytes, int64_t euBytes,
                            int64_t npus);

/// Returns the first of the loops N, C, H and W whose stride in `box` has an
/// effect and differs from that in `aligned`, or std::nullopt if there is none.
/// The stride of a loop with one iteration has no effect, nor that of C within
/// one pass over the cores.
std::optional<int> findUnaligned(const TransferSide &box,
                                 const LoopSizes &shape,
                                 const LoopSizes &aligned, int64_t npus);

/// Returns true if `box` starts at a multiple of `euBytes` bytes and has the
/// strides of the aligned layout (getAlignedStrides), and if these do not
/// exceed the maximum stride of `limits`.
bool isAligned(const TransferSide &box, const LoopSizes &shape,
               int64_t elementBytes, int64_t euBytes,
               const TransferLimits &limits);

/// Splits `command` into commands whose operands are all in the aligned layout,
/// with channels aligned to `euBytes`, for functions without stride arguments.
/// Returns std::nullopt if that is not possible with at most `kMaxCommands`
/// commands.
std::optional<std::vector<Command>> alignCommand(const Command &command,
                                                 int64_t euBytes,
                                                 const TransferLimits &limits);

/// The commands of a function without stride arguments, whose operands must all
/// be in the aligned or all in the compact layout.
struct UnstridedCommands {
  std::vector<Command> commands;
  bool isCompact = false; // all operands; otherwise all are aligned
};

/// Returns equivalent commands with all operands in the aligned layout, with
/// channels aligned to `euBytes`. If that is not possible and `mayBeCompact`,
/// returns the commands as they are if all operands are in the compact layout.
/// Otherwise returns std::nullopt.
std::optional<UnstridedCommands> dropStrides(llvm::ArrayRef<Command> commands,
                                             int64_t euBytes,
                                             const TransferLimits &limits,
                                             bool mayBeCompact);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_UTILS_COMMANDS_H
