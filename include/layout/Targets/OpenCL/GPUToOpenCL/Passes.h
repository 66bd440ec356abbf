//===- Passes.h - Passes from GPU kernels to OpenCL -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of the OpenCL backend;
// layout/Targets/OpenCL/Pipelines/OpenCLBackEnd.h builds the pipeline. Their
// input is host code with `gpu` ops and GPU modules whose kernels work on
// images and buffers (Storage.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PASSES_H
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::layout {

/// The prefix of the name of the spirv.module that a gpu.module is converted
/// to: `@__spv__m` for `@m`.
constexpr llvm::StringLiteral kSpirvModulePrefix = "__spv__";

/// Attribute of a GPU module: the OpenCL C of its kernels.
constexpr llvm::StringLiteral kSourceAttrName = "layout.opencl_source";

/// Attributes of a GPU module. With the first, f16 is computed in f16, not in
/// f32. With the second, multiplications and additions are fused.
constexpr llvm::StringLiteral kHalfArithmeticAttrName =
                                  "layout.half_arithmetic",
                              kFmaAttrName = "layout.fma";

/// The attribute `32 : i64` of a GPU module with 32-bit SPIR-V addresses.
/// Without the attribute, addresses have 64 bits.
constexpr llvm::StringLiteral kAddressBitsAttrName = "layout.address_bits";
bool has32BitAddresses(gpu::GPUModuleOp module);

/// Unit attribute of a `gpu.launch_func` whose sizes are too large for 32-bit
/// indices. The runtime reports an error instead of launching the kernel.
constexpr llvm::StringLiteral kIsRefusedAttrName = "layout.is_refused";

/// Returns the OpenCL C source among the objects of a gpu.binary, or
/// std::nullopt if there is none.
std::optional<llvm::StringRef> getOpenCLSource(gpu::BinaryOp binary);

#define GEN_PASS_DECL
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PASSES_H
