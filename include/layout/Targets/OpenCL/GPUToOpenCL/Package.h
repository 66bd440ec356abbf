//===- Package.h - A program for another OpenCL runtime ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory that holds all that a runtime of one's own needs to run a program
// of OpenCL kernels: the modules as `<module>.spv` and as OpenCL C 1.2 in
// `<module>.cl`, constants as little-endian `<name>.bin`, and manifest.json:
//
//   {"function": "main",
//    "inputs": [{"name": "x", "type": "memref<240xf32>", "element": "f32",
//                "sizes": [240]}], "outputs": [..],
//    "kernels": [{"name": "copy", "file": "kernels.spv",
//       "source": "kernels.cl", "source_name": "kernel_copy", "arguments": [
//       {"name": "conv1", "kind": "image2d", "access": "read_only",
//        "element": "f32"},
//       {"name": "x", "kind": "buffer", "element": "f32"},
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
// Memory has the name of the input that it takes, else that of the location of
// its gpu.alloc, as a node of a network gives it, else of its constant or its
// output; a number keeps equal ones apart. A kernel's arguments have the names
// of what the first launch passes, and what is known of it is in "operations",
// "bytes", "items" and "may_repeat" (LayoutClKernelFacts). A kernel with
// "any_groups": true knows the place of an item in the whole grid alone, and
// may run in other groups. Memory with "constant": true takes its upload once,
// and nothing releases it. A scalar that JSON has no number for is "nan",
// "inf", "-inf" or "-0.0".
//
// Attributes of a gpu.alloc whose names start with "layout." are written with
// its memory, as text.
//
// Law: commands are in order and have no variables, so that the host function
// must be one block with static sizes; anything else is an error at the op.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PACKAGE_H
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PACKAGE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::layout {

/// Writes the package of `function` of a module whose kernels are `gpu.binary`
/// (serialize-image-kernels). Nothing is written where an op cannot be said.
LogicalResult writeOpenCLPackage(ModuleOp module, StringRef function,
                                 StringRef directory);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PACKAGE_H
