//===- Passes.td - Tensors to device memory and kernels ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_CONVERSION_LAYOUTTOGPU_PASSES
#define LAYOUT_CONVERSION_LAYOUTTOGPU_PASSES

include "mlir/Pass/PassBase.td"

def ConvertLayoutToGPUPass : Pass<"convert-layout-to-gpu", "ModuleOp"> {
  let summary = "Turns tensors into device images and buffers, and ops into kernels";
  let description = [{
    Every tensor becomes device memory: an image where its layout lives in an
    image space, a buffer otherwise. A kernel computes one tensor, four channels
    of one pixel for each work item where it is an image, or of some
    neighbors where a reduction of known sizes reads less then, of which the items
    of a group each compute a part where there are few with long sums, and is launched
    where the op was:

    * linalg ops, elementwise ops, pads, slices, concatenations, reshapes and
      `layout.convert` become kernels, and what can be computed where it is read
      becomes part of its reader: pads and reshapes always, elementwise ops that
      one op reads, a reduction that an elementwise op of the same layout reads;
    * an address is the layout's map at the index. What may lie outside of a
      buffer is clamped, and what is read there is not used; in front of an
      image are zeros, which is how an image is padded with zeros;
    * padding is never looked at, and holds what the type states;
    * constants are packed at compile time and are sent to the device once;
    * functions that others call keep their ABI on plain tensors, copied to
      buffers at the entry and from buffers at the return; laid-out arguments and
      results cross as the plain tensors of their storage;
    * what travels through control flow and private functions is device memory,
      with dynamic sizes beside it.

    Afterwards no tensor and no `layout` op is left. Memory spaces are the names
    of the storage spaces: `memref<10x6xvector<4xf32>, "image2d">` is an image of
    six columns and ten rows, `memref<60xf32, "buffer">` linear memory. A remark
    on every kernel says how often a work item reads images and buffers.

    An op that has no kernel is an error that names it and the way out. So is an
    image beyond the limits of the target, where one is known; what is only known
    when the program runs, the runtime checks.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "The device that images have to fit: a `#layout.opencl` attribute; "
           "without it `layout.target` of the module; without that the runtime "
           "checks them">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // LAYOUT_CONVERSION_LAYOUTTOGPU_PASSES
