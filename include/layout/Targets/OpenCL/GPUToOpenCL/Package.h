//===- Package.h - Package of kernels for other runtimes --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory with all that a custom runtime needs to run a program of kernels:
// modules as `<module>.spv` and, for OpenCL, as OpenCL C 1.2 in `<module>.cl`,
// constants as little-endian `<name>.bin`, and manifest.json:
//
//   {"function": "main",
//    "inputs": [{"name": "x", "type": "memref<240xf32>", "element": "f32",
//                "sizes": [240]}], "outputs": [..],
//    "kernels": [{"name": "copy", "file": "kernels.spv",
//       "source": "kernels.cl", "source_name": "kernel_copy", "arguments": [
//       {"name": "conv1", "kind": "image2d", "access": "read_only",
//        "element": "f32"},
//       {"name": "x", "kind": "buffer", "access": "read_write",
//        "element": "f32"},
//       {"name": "scalar", "kind": "scalar", "type": "i64"}]}],
//    "memory": [{"name": "conv1", "kind": "image2d", "width": 6, "height": 10,
//                "channel_order": "CL_RGBA", "channel_type": "CL_FLOAT"},
//               {"name": "x", "kind": "buffer", "elements": 240,
//                "element": "f32"}],
//    "commands": [
//       {"command": "upload", "memory": 1, "input": 0},
//       {"command": "upload", "memory": 2, "file": "weights.bin"},
//       {"command": "launch", "kernel": "copy", "file": "kernels.spv",
//        "groups": [3, 5, 1], "items": [2, 2, 1],
//        "arguments": [{"memory": 0}, {"scalar": 5}]},
//       {"command": "copy", "memory": 1, "from": 0},
//       {"command": "download", "memory": 1, "output": 0},
//       {"command": "release", "memory": 1}]}
//
// Memory is named after its input, else the location of its gpu.alloc (e.g. a
// node of a network), else its constant or output; a number makes names unique.
// Kernel arguments are named after the operands of the first launch. Facts
// about a kernel are in "operations", "bytes", "items" and "may_repeat"
// (LayoutClKernelMetadata). A kernel with "any_groups": true may run with any
// work-group size. Memory with "constant": true is uploaded once and never
// released. A scalar that JSON cannot represent is "nan", "inf", "-inf" or
// "-0.0".
//
// Attributes of a gpu.alloc whose names start with "layout." are written as
// text with its memory.
//
// Law: commands are in order and have no variables, so the host function must
// be one block with static sizes; anything else is an error at the op.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PACKAGE_H
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PACKAGE_H

#include "layout/Targets/OpenCL/GPUToOpenCL/KernelAPI.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::layout {

/// Writes the package of `function` to `directory`: kernels, constants and
/// manifest.json. The kernels of the module must be `gpu.binary` ops for `api`
/// (layout-opencl-serialize-kernels). Emits an error and fails if an op of the
/// function is not supported, before any file is written, or if a file cannot
/// be written.
LogicalResult writeKernelPackage(ModuleOp module, StringRef function,
                                 StringRef directory, KernelAPI api);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PACKAGE_H
