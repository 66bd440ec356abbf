//===- Passes.td - NPU memory ops to C++ -------------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUTOEMITC_PASSES_TD
#define LAYOUT_TARGETS_NPU_NPUTOEMITC_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertNPUToEmitCPass : Pass<"convert-npu-to-emitc", "::mlir::ModuleOp"> {
  let summary = "Convert npu and linalg ops to calls of the OKKernel API";
  let description = [{
    Every function becomes an `emitc.func` that calls OKKernel, the vendor's
    kernel API of the NPU; upstream's C++ emitter (`layout-translate
    --mlir-to-cpp`) prints it as text. Run it on the output of `layout-to-npu`.

    ```mlir
    func.func @load(%x: memref<2x3x4x5xf32, #npu.memory<system>>) {
      %t = npu.alloc {address = 2176} : memref<2x3x4x5xf32, #aligned, ..>
      npu.copy %x to %t : ..
    ```

    becomes, printed as text,

    ```cpp
    void npu_load(system_addr_t v1) {
      ..
      okk_gdma_32bit_cpy_S2L(2176u, v1, v3, v5, v7);
    ```

    * Arguments are memrefs in system memory, of type `system_addr_t`. If the
      module has constants (`memref.global`), every function has an additional
      first argument: the address of the block of constants. A
      `memref.get_global` becomes this address plus an offset.
      `layout-translate --npu-to-package` writes the block;
    * `npu.copy` becomes transfers (`okk_gdma_32bit_cpy_S2L` etc.), `npu.fill` a
      `set_C` function of the engine, `npu.parallel` a pair of
      `okk_parallel_start` and `okk_parallel_end`;
    * f32 linalg ops become the OKKernel functions that compute their bodies:
      `okk_bdc_conv2d`, `okk_bdc_matmul` and the pools if the layouts of the
      operands allow, or elementwise functions, with one command for each index
      that is summed over;
    * any other linalg op on local memory is an error with the reason. With
      `strict-okkernel=false` it becomes a kernel for the simulator only
      (`sim_compute.h`): a C++ function that runs the op's loops on dense copies
      of its operands. Ops of the same structure share the function. Each call
      declares the boxes of local memory that are copied;
    * shapes, strides and addresses are computed from the canonical maps of the
      layouts; views emit no code;
    * a function `main` becomes `npu_main`. A name with other characters than
      letters, digits and underscores gets a hash. A function with many calls is
      split, because host compilers compile short functions faster.

    An execution unit accesses only the memory of its own core, so an element of
    an operand must be in the core that holds the result computed from it. Only
    an operand of a contraction may be in other cores, and only if all cores
    need all of it: the input of a convolution, but not a bias.

    Every `npu.alloc` must have an address, and tensors must not overlap; the
    pass runs `npu-verify-memory` first. Any other op is an error. `emitc` ops in
    the input are errors, too: they contain C++ text, and no text of a module may
    become code.
  }];
  let options = [
    Option<"checks", "checks", "bool", "false",
           "Declare tensors, their elements and the bytes that each op moves "
           "to the simulator (sim_checks.h)">,
    Option<"exactBytes", "exact-bytes", "bool", "false",
           "Let tensors own only the bytes of their elements">,
    Option<"strictOKKernel", "strict-okkernel", "bool", "true",
           "Make an error of ops without an OKKernel function, which only the "
           "simulator can run">
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

#endif // LAYOUT_TARGETS_NPU_NPUTOEMITC_PASSES_TD
