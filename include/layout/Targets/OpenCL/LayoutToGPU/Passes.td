//===- Passes.td - Tensors to device memory and kernels ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_PASSES_TD
#define LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertLayoutToGPUPass : Pass<"convert-layout-to-gpu", "ModuleOp"> {
  let summary = "Lower tensor ops to GPU kernels on images and buffers";
  let description = [{
    Converts every tensor to device memory: an image if its layout is in an image
    space, otherwise a buffer. Each stored tensor is computed by one kernel, which is
    launched in place of the op:

    ```mlir
    // before, for an argument %x0
    %x = layout.convert %x0 : tensor<1x6x8x8xf32> to tensor<1x6x8x8xf32, #img>
    // after
    %b = gpu.alloc () : memref<384xf32, "buffer">
    gpu.memcpy %b, %host : memref<384xf32, "buffer">, memref<384xf32>
    %i = gpu.alloc () : memref<8x16xvector<4xf32>, "image2d">
    gpu.launch_func @kernels::@layout_convert_0 .. args(%b : .., %i : ..)
    gpu.dealloc %b : memref<384xf32, "buffer">
    ```

    | stored tensor | a work-item computes |
    |---|---|
    | buffer | one element |
    | image | the four lanes of one pixel |
    | image, and a reduction reads less if blocked | a block of neighboring pixels |
    | few elements that are long sums | a part of each sum; its work-group adds the parts |

    * linalg ops, elementwise ops, pads, slices, concatenations, reshapes and
      `layout.convert` become kernels. Some ops are fused into their readers: all pads and
      reshapes, elementwise ops with a single reader, and a reduction whose reader is an
      elementwise op of the same layout;
    * an address is the layout's map at the index. Addresses outside of a buffer are
      clamped and the loaded values unused; an image returns zeros at negative
      coordinates, which implements zero padding;
    * the padding of a layout is never read, and holds the value that the type states;
    * constants are packed at compile time and uploaded once;
    * public functions keep their ABI on plain tensors, which are uploaded at the entry
      and downloaded at the return. Laid-out arguments and results are passed as the
      plain tensors of their storage;
    * control flow and private functions pass device memory and its dynamic sizes.

    The result has no tensors and no `layout` ops. Memory spaces are the names of the
    storage spaces: `memref<10x6xvector<4xf32>, "image2d">` is an image of six columns
    and ten rows, `memref<60xf32, "buffer">` linear memory. A remark on every kernel
    reports the image and buffer reads of a work-item. Run the pass after layouts are
    assigned, and before the passes of `layout-gpu-to-opencl`.

    An op that cannot become a kernel is an error, and so is an image that exceeds the
    limits of the target, if there is one. The runtime checks dynamic sizes.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "The `#layout.opencl` attribute of the device whose limits images "
           "must meet; by default `layout.target` of the module, and without "
           "both only the runtime checks them">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_PASSES_TD
