//===- KernelMetadata.h - Facts about kernels -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Properties of a kernel in its metadata in a gpu.binary. The pass
// `layout-opencl-count-kernel-work` sets the first three as attributes of the
// gpu.func, which serialization copies; it adds the last three itself:
//
//   layout.operations = 72 : i64   element operations of a work-item
//   layout.bytes = 160 : i64       bytes that a work-item reads and writes
//   layout.items = array<i64: 7, -1, 1>
//                                  work-items along x, y and z that compute;
//                                  the others do nothing; -1: all compute
//   layout.any_groups              results do not depend on the work-group size
//   layout.may_repeat              running again gives the same results
//   layout.writes = array<i64: 2>  the arguments that the kernel stores to
//
// Operations and bytes of a kernel whose results depend on the work-group size
// are those of a work-group.
// Numbers that are only known at launch have no attribute.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_KERNELMETADATA_H
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_KERNELMETADATA_H

#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::layout {

inline constexpr llvm::StringLiteral kOperationsAttrName = "layout.operations",
                                     kBytesAttrName = "layout.bytes",
                                     kItemsAttrName = "layout.items",
                                     kAnyGroupsAttrName = "layout.any_groups",
                                     kMayRepeatAttrName = "layout.may_repeat",
                                     kWritesAttrName = "layout.writes";

/// Returns true if the results of the kernel may depend on the work-group size:
/// it reads ids, sizes or numbers of work-groups, or ids within a group, has a
/// barrier, or states its work-group size.
bool seesGroups(gpu::GPUFuncOp kernel);

/// Returns the dictionary of what is known about the kernel, e.g.
/// `layout.bytes`. Counts are the attributes that
/// layout-opencl-count-kernel-work has set; the others are found here.
DictionaryAttr makeKernelMetadata(gpu::GPUFuncOp kernel);

/// Converts the dictionary of makeKernelMetadata, which may be null, to the
/// struct that the runtime takes. Missing counts become -1, missing flags 0.
LayoutClKernelMetadata readKernelMetadata(DictionaryAttr metadata);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_KERNELMETADATA_H
