//===- Package.h - An NPU program with all that it needs --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory with what runs a module of npu ops whose tensors have addresses:
// program.cpp, the emitted C++; constants.bin, the block whose address it is
// given first, if it has constants, with
//
//   extern "C" void okk_program(const system_addr_t *arguments);
//
// and manifest.json:
//
//   {"function": "main", "constants": 1216,
//    "chip": {"npus": 64, "bytes_per_npu": 524288, "eu_bytes": 128,
//             "dma_alignment": 1, "max_shape": [0, 0, 0, 0], "max_stride": 0},
//    "arguments": [{"shape": [1, 3, 8, 8], "element": "f32", "bytes": 768,
//                   "role": "input", "slice": false}, ..]}
//
// Laws: limits that are not known are 0; an argument's role is "scratch" or
// "result" where the program says so (npu.scratch, npu.result), "result" where
// a copy or a fill writes it, through any views, and "input" otherwise; `bytes`
// is what its strides reach. A slice (npu.slice) is one index of an open batch:
// the kernel is given the whole, with as many times the bytes as `extent`,
// which follows the addresses, and calls the program for each index.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUTOEMITC_PACKAGE_H
#define LAYOUT_TARGETS_NPU_NPUTOEMITC_PACKAGE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::npu {

/// Writes the package of `function`; with `checks` the program declares its
/// tensors to the simulator; unless it is strict, ops that are no functions of
/// OKKernel's are kernels that only the simulator runs. The module is converted
/// to emitc.
LogicalResult writeNpuPackage(ModuleOp module, StringRef function,
                              StringRef directory, bool checks, bool isStrict);

} // namespace mlir::npu

#endif // LAYOUT_TARGETS_NPU_NPUTOEMITC_PACKAGE_H
