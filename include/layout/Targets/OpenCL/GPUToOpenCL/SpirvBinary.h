//===- SpirvBinary.h - SPIR-V words as OpenCL wants them --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `spirv.image` has a sampled type that is not void and no access qualifier,
// and the dialect has no samplers and no op for some instructions of
// OpenCL.std; docs/upstream/spirv-image.mlir shows the former with stock tools.
// All are put right on the words of the serialized module:
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
// and a call of an imported function whose linkage name is "OpenCL.std/NAME"
// becomes OpExtInst NAME.
//
// Laws:
//   - An image parameter is WriteOnly where OpImageWrite takes it, else
//     ReadOnly; one that is read and written is an error.
//   - A read at a negative coordinate gives zeros.
//   - The words of a module without images and such calls stay as they are.
//   - The order of sections is kept; a type comes before its users.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_SPIRVBINARY_H
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_SPIRVBINARY_H

#include "layout/Support/Refusal.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace mlir {
namespace spirv {
class ModuleOp;
} // namespace spirv
namespace layout {

/// "OpenCL.std/": what linkage names of extended instructions start with.
constexpr llvm::StringLiteral kOpenCLStdPrefix = "OpenCL.std/";

/// Rewrites `words` as above. `report` gets the reason of a failure.
LogicalResult fixOpenCLWords(SmallVectorImpl<uint32_t> &words, Refusal report);

/// Serializes a module for OpenCL; errors are emitted on it.
LogicalResult serializeForOpenCL(spirv::ModuleOp module,
                                 SmallVectorImpl<uint32_t> &words);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_SPIRVBINARY_H
