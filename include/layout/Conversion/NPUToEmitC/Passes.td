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

    * Arguments are memrefs in system memory, of type `system_addr_t`;
    * `npu.copy` becomes the transfers that it takes (`okk_gdma_32bit_cpy_S2L`
      and its kin), `npu.fill` a `set_C` of the engine, `npu.parallel` a pair of
      `okk_parallel_start` and `okk_parallel_end`;
    * elementwise linalg ops of f32 (`add`, `sub`, `mul`, `div`, `negf`,
      `reciprocal`) on tensors that start at one unit become the `okk_bdc`
      function of that name;
    * shapes, strides and addresses are computed from the canonical maps of the
      layouts; views take no code.

    Every `npu.alloc` has an address, and tensors do not overlap
    (`npu-verify-memory` runs first). An op that OKKernel has no function for is
    an error.
  }];
  let options = [
    Option<"checks", "checks", "bool", "false",
           "Declare tensors to the simulator (sim.h), which then checks that "
           "every access stays in one">,
    Option<"exactBytes", "exact-bytes", "bool", "false",
           "Tensors own the bytes of their elements alone">
  ];
  let dependentDialects = ["::mlir::emitc::EmitCDialect"];
}

#endif // LAYOUT_CONVERSION_NPUTOEMITC_PASSES
