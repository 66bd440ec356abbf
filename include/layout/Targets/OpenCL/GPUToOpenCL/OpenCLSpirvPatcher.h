//===- OpenCLSpirvPatcher.h - Patch SPIR-V binaries for OpenCL --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Patches the words of a serialized module, because the dialect cannot express
// them: `spirv.image` requires a sampled type other than void and has no access
// qualifier (docs/upstream/spirv-image.mlir shows this with stock tools), and
// there are no samplers and no ops for some OpenCL.std instructions.
//
//   %img = OpTypeImage %float 2D 0 0 0 2 Unknown
//   %f   = OpTypeFunction %void %img %img
//   OpImageRead .. %a ..                    // %a, %b parameters of type %img
//   OpImageWrite %b ..
// becomes
//   %ro  = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
//   %wo  = OpTypeImage %void 2D 0 0 0 0 Unknown WriteOnly
//   %f'  = OpTypeFunction %void %ro %wo
//   %s   = OpConstantSampler %sampler Clamp 0 Nearest
//   %as  = OpSampledImage %ros %a %s       // %ros = OpTypeSampledImage %ro
//   OpImageSampleExplicitLod .. %as .. Lod %zero
//
// and a call of an imported function with linkage name "OpenCL.std/NAME"
// becomes OpExtInst NAME.
//
// Laws:
//   - An image parameter is WriteOnly if an OpImageWrite uses it, else
//     ReadOnly; reading and writing one image is an error.
//   - A read at a negative coordinate returns zeros.
//   - The words of a module without images and such calls are unchanged.
//   - The order of sections is kept; a type precedes its users.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_OPENCLSPIRVPATCHER_H
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_OPENCLSPIRVPATCHER_H

#include "layout/Support/FailureReason.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace mlir {
namespace spirv {
class ModuleOp;
} // namespace spirv
} // namespace mlir

namespace mlir::layout {

/// The prefix of the linkage name of an imported function whose calls become an
/// instruction of the set OpenCL.std, e.g. "OpenCL.std/cbrt".
constexpr llvm::StringLiteral kOpenCLStdPrefix = "OpenCL.std/";

/// Rewrites the words of a SPIR-V module that MLIR serialized so that OpenCL
/// 1.2 devices accept it: images get access qualifiers, reads a sampler, and
/// calls of imported OpenCL.std functions become OpExtInst. Calls `report` with
/// the reason and fails if that is impossible.
LogicalResult patchSpirvForOpenCL(SmallVectorImpl<uint32_t> &words,
                                  FailureReason report);

/// The name of the composite specialization constant of a module for Vulkan
/// that is the size of its work-groups.
constexpr llvm::StringLiteral kGroupSizeName = "layout_group_size";

/// Decorates the only composite specialization constant of a module as
/// WorkgroupSize, for which the dialect has no attribute. The words of a module
/// without one are unchanged.
void patchSpirvForVulkan(SmallVectorImpl<uint32_t> &words);

/// Serializes a module to SPIR-V words and rewrites these for the API that its
/// addresses tell: with logical ones Vulkan (patchSpirvForVulkan), else OpenCL
/// 1.2 (patchSpirvForOpenCL). Emits an error at the module and fails if it
/// cannot be serialized or rewritten.
LogicalResult serializeForDevice(spirv::ModuleOp module,
                                 SmallVectorImpl<uint32_t> &words);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_OPENCLSPIRVPATCHER_H
