//===- Reach.h - How cores get what they read -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A core computes the elements of a result that lie in it. The *channels* are
// the loops that lead the result from core to core. An operand that all of them
// index has its elements beside those of the result that they are for; one that
// none of them indexes is needed whole by all cores, which get it over the
// broadcast network or load it from system memory:
//
//   conv (n f oh ow | c kh kw), channel f
//     filter (f c kh kw)                 own
//     data (n c oh + kh ow + kw)         broadcast
//   a result along the channels d0 and d1, an operand along d0: neither
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_REACH_H
#define LAYOUT_DIALECT_NPU_UTILS_REACH_H

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir {
namespace npu {

enum class Reach { Own, Broadcast, Neither };

/// How cores reach an operand that is indexed by `map`. Without channels all is
/// in one core, and own.
Reach getReach(AffineMap map, const llvm::SmallBitVector &channels);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_UTILS_REACH_H
