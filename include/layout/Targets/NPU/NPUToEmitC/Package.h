//===- Package.h - Packages of NPU programs ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a directory with all files to run a module of npu ops whose tensors
// have addresses. program.cpp is the emitted C++, which registers a kernel that
// gets a struct of the arguments' addresses. constants.bin, if there are
// constants, is the block of constants, whose address is the first in the
// struct. manifest.json describes the program, e.g.
//
//   {"function": "main", "kernel": "npu_main_kernel", "constants": 1216,
//    "chip": {"npus": 64, "bytes_per_npu": 524288, "eu_bytes": 128,
//             "dma_alignment": 1, "max_shape": [0, 0, 0, 0], "max_stride": 0,
//             "max_compute_stride": 524287, ..},
//    "arguments": [{"shape": [1, 3, 8, 8], "element": "f32", "bytes": 768,
//                   "role": "input", "slice": false, "ranges": []}, ..]}
//
// Laws: unknown limits are 0. The role of an argument is "scratch" or "result"
// if it has npu.scratch or npu.result, "result" if a copy or a fill writes it,
// also through views, and "input" otherwise. `bytes` is the extent by its
// strides. A slice (npu.slice) is one index of a dynamic batch: the kernel gets
// the whole batch, with `extent` times the bytes, and runs the program for each
// index. The struct has `extent` after the addresses.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUTOEMITC_PACKAGE_H
#define LAYOUT_TARGETS_NPU_NPUTOEMITC_PACKAGE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::npu {

/// Writes the C++ of `function`, its constants and a manifest into `directory`,
/// and converts the module to emitc. With `checks`, the C++ tells the simulator
/// which bytes tensors own and commands must move. Ops without a function of
/// OKKernel, the vendor's kernel API, become kernels that only the simulator
/// can run, or errors if `isStrict`.
LogicalResult writeNpuPackage(ModuleOp module, StringRef function,
                              StringRef directory, bool checks, bool isStrict);

} // namespace mlir::npu

#endif // LAYOUT_TARGETS_NPU_NPUTOEMITC_PACKAGE_H
