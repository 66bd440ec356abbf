//===- Passes.h - From GPU kernels on images to OpenCL ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of the OpenCL end; include/layout/Pipelines/OpenCLBackEnd.h
// strings them together. Their input is host code with `gpu` ops and GPU
// modules whose kernels work on images and buffers (Storage.h).
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

namespace mlir {
namespace layout {

/// What the name of a SPIR-V module has before that of its GPU module.
constexpr llvm::StringLiteral kSpirvModulePrefix = "__spv__";

/// On a GPU module: the OpenCL C of its kernels.
constexpr llvm::StringLiteral kSourceAttrName = "layout.opencl_source";

/// On a GPU module: f16 is computed in f16, not in f32, and products that are
/// added are fused.
constexpr llvm::StringLiteral kHalfArithmeticAttrName =
                                  "layout.half_arithmetic",
                              kFmaAttrName = "layout.fma";

/// On a GPU module: how many bits its addresses have in SPIR-V, 32 : i64 or, as
/// without it, 64.
constexpr llvm::StringLiteral kAddressBitsAttrName = "layout.address_bits";
bool has32BitAddresses(gpu::GPUModuleOp module);

/// Of a `gpu.launch_func`: a program that gets to it fails, as the sizes are
/// too large for indices of 32 bits.
constexpr llvm::StringLiteral kIsRefusedAttrName = "layout.is_refused";

/// The OpenCL C among the objects of a binary, if there is some.
std::optional<llvm::StringRef> getOpenCLSource(gpu::BinaryOp binary);

#define GEN_PASS_DECL
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PASSES_H
