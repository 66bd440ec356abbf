//===- CoreVisibility.h - Access of cores to operands -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A core computes the elements of a result in its own memory. The *channels*
// are the loops that go from core to core on the result. An operand that all
// channels index has its elements in the cores that need them. An operand that
// no channel indexes is needed by all cores, which get it over the broadcast
// network or load it from system memory:
//
//   conv (n f oh ow | c kh kw), channel f
//     filter (f c kh kw)                 own
//     data (n c oh + kh ow + kw)         broadcast
//   a result along the channels d0 and d1, an operand along d0: neither
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_COREVISIBILITY_H
#define LAYOUT_DIALECT_NPU_UTILS_COREVISIBILITY_H

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::npu {

/// The cores that need an element of an operand: only the core that stores it
/// (`Own`), all cores (`Broadcast`), or some other set (`Neither`).
enum class CoreVisibility { Own, Broadcast, Neither };

/// Returns which cores need an element of an operand with the indexing map
/// `map`. `channels` are the loops that go from core to core on the result.
/// Without channels everything is in one core, and the result is `Own`.
CoreVisibility getCoreVisibility(AffineMap map,
                                 const llvm::SmallBitVector &channels);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_UTILS_COREVISIBILITY_H
