//===- Kernels.h - Binaries of kernels and packages -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input is a module with GPU modules over images, which are lowered here, or
// with lowered ones: `spirv.module` or `gpu.binary`.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TOOLS_LAYOUT_TRANSLATE_KERNELS_H
#define LAYOUT_TOOLS_LAYOUT_TRANSLATE_KERNELS_H

#include "layout/Targets/OpenCL/GPUToOpenCL/KernelAPI.h"
#include "mlir/Support/LLVM.h"
#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace mlir::layout {

/// Returns the SPIR-V binary of a module of kernels in `source`: the one called
/// `name`, or the only one if `name` is empty. Emits an error and returns
/// failure if the source cannot be read or lowered, or if there is no such
/// module or more than one.
FailureOr<std::string>
writeSpirvBinary(std::unique_ptr<llvm::MemoryBuffer> source, StringRef name);

/// Returns the OpenCL C of a module of kernels in `source`: the one called
/// `name`, or the only one if `name` is empty. Emits an error and returns
/// failure in the cases of writeSpirvBinary, or if the module contains no
/// OpenCL C.
FailureOr<std::string>
writeOpenCLSource(std::unique_ptr<llvm::MemoryBuffer> source, StringRef name);

/// Writes a host function of a module as a package
/// (layout/Targets/OpenCL/GPUToOpenCL/Package.h): a directory with its kernels,
/// constants and commands. Emits an error and returns failure if it cannot.
LogicalResult writePackage(std::unique_ptr<llvm::MemoryBuffer> source,
                           StringRef function, StringRef directory,
                           KernelAPI api);

} // namespace mlir::layout

#endif // LAYOUT_TOOLS_LAYOUT_TRANSLATE_KERNELS_H
