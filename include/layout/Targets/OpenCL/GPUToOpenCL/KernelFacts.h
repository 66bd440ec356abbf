//===- KernelFacts.h - What the runtime is told of a kernel -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes of a gpu.func, by `count-kernel-work`, and then of its metadata in
// a gpu.binary:
//
//   layout.operations = 72 : i64   on elements, that an item does
//   layout.bytes = 160 : i64       that an item reads and writes
//   layout.items = array<i64: 7, -1, 1>
//                                  so many items of the grid along x, y and z
//                                  compute, the others are past the end; -1:
//                                  all
//   layout.any_groups              it sees no groups, and gives the same
//                                  results in groups of any size
//   layout.may_repeat              it gives the same when it runs again
//
// Numbers of a kernel that sees its group are those of a group. What depends on
// values that only a launch knows has no attribute.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_KERNELFACTS_H
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_KERNELFACTS_H

#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::layout {

inline constexpr llvm::StringLiteral kOperationsAttrName = "layout.operations",
                                     kBytesAttrName = "layout.bytes",
                                     kItemsAttrName = "layout.items",
                                     kAnyGroupsAttrName = "layout.any_groups",
                                     kMayRepeatAttrName = "layout.may_repeat";

/// Whether the kernel asks for its group or states its size: then how many
/// items that has is part of what it computes.
bool seesGroups(gpu::GPUFuncOp kernel);

/// What is counted and what the kernel shows; null where that is nothing.
DictionaryAttr makeFacts(gpu::GPUFuncOp kernel);

/// The facts in the metadata of a kernel, which may be null.
LayoutClKernelFacts readFacts(DictionaryAttr metadata);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_KERNELFACTS_H
