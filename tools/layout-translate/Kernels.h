//===- Kernels.h - Binaries of kernels and packages -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both take a module with GPU modules over images, which they lower, or with
// what these were lowered to: `spirv.module` or `gpu.binary`.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_LAYOUT_TRANSLATE_KERNELS_H
#define TOOLS_LAYOUT_TRANSLATE_KERNELS_H

#include "mlir/Support/LLVM.h"
#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace mlir {
namespace layout {

/// The SPIR-V binary of the one module of kernels, or of the one with this
/// name.
FailureOr<std::string>
writeSpirvBinary(std::unique_ptr<llvm::MemoryBuffer> source, StringRef name);

/// The OpenCL C of the one module of kernels, or of the one with this name.
FailureOr<std::string>
writeOpenCLSource(std::unique_ptr<llvm::MemoryBuffer> source, StringRef name);

/// See layout/Targets/OpenCL/GPUToOpenCL/Package.h.
LogicalResult writePackage(std::unique_ptr<llvm::MemoryBuffer> source,
                           StringRef function, StringRef directory);

} // namespace layout
} // namespace mlir

#endif // TOOLS_LAYOUT_TRANSLATE_KERNELS_H
