//===- Passes.td - NPU memory ops to C++ -------------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_CONVERSION_NPUTOEMITC_PASSES
#define LAYOUT_CONVERSION_NPUTOEMITC_PASSES

include "mlir/Pass/PassBase.td"

def ConvertNPUToEmitCPass : Pass<"convert-npu-to-emitc", "::mlir::ModuleOp"> {
  let summary = "Turns npu ops into calls of OKKernel's API";
  let description = [{
    Every function becomes an `emitc.func` that calls OKKernel; upstream's C++
    emitter (`layout-translate --mlir-to-cpp`) writes it as text.

    * Arguments are memrefs in system memory, of type `system_addr_t`. A module
      with constants (`memref.global`) gives every function one argument more,
      the first: the address of the block of them, in which `memref.get_global`
      is an offset. `layout-translate --npu-to-package` writes that block;
    * `npu.copy` becomes the transfers that it takes (`okk_gdma_32bit_cpy_S2L`
      and its kin), `npu.fill` a `set_C` of the engine, `npu.parallel` a pair of
      `okk_parallel_start` and `okk_parallel_end`;
    * linalg ops of f32 become the functions of OKKernel's that compute their
      bodies: `okk_bdc_conv2d`, `okk_bdc_matmul` and the pools where operands
      lie as these take them, and functions of single elements, in sums one
      command for each index that is summed over;
    * every other linalg op on local memory is an error that says why, or with
      `strict-okkernel=false` becomes a kernel, which the simulator alone can
      run (`sim_compute.h`): a C++ function of the op's loops on dense
      images of its operands, one for all ops of the same structure, and calls
      that say which boxes of local memory the images are of;
    * shapes, strides and addresses are computed from the canonical maps of the
      layouts; views take no code;
    * a function called `main` becomes `npu_main`, one whose name is no word of
      letters, digits and underscores gets a name with a hash, and one of many
      calls becomes a row of functions, which host compilers take faster.

    Execution units see their own memory only: an operand has every element in
    the core of the result that it is for. Only what a contraction reads may be
    elsewhere, and only where all cores need all of it: the input of a
    convolution, not the bias that is added to it.

    Every `npu.alloc` has an address, and tensors do not overlap
    (`npu-verify-memory` runs first). An op that is none of these is an error. So
    are `emitc` ops: they hold C++ as text, and nothing that a module says
    becomes code of its own wording.
  }];
  let options = [
    Option<"checks", "checks", "bool", "false",
           "Declare tensors to the simulator, number their elements, and say of "
           "every op which it moves: sim_compute.h">,
    Option<"exactBytes", "exact-bytes", "bool", "false",
           "Tensors own the bytes of their elements alone">,
    Option<"strictOKKernel", "strict-okkernel", "bool", "true",
           "Refuse what is no function of OKKernel's, which the simulator alone "
           "can run">
  ];
  let dependentDialects = ["::mlir::emitc::EmitCDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // LAYOUT_CONVERSION_NPUTOEMITC_PASSES
