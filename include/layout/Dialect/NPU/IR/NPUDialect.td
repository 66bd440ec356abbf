//===- NPUDialect.td - Memory of an NPU --------------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_NPUDIALECT_TD
#define LAYOUT_DIALECT_NPU_IR_NPUDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def NPU_Dialect : Dialect {
  let name = "npu";
  let cppNamespace = "::mlir::npu";
  let summary = "Memory of an NPU whose local memory is distributed over cores";
  let description = [{
    An NPU has X cores, each with a local memory of S bytes that only its own execution units
    access, and a DMA engine between the local memories and system memory. `#layout.npu_scatter`
    is the layout of tensors in local memory:

    ```mlir
    #scatter = #layout.npu_scatter<aligned, start = 2, target = #npu.target<"BM1684">>

    func.func @load(%from: memref<2x3x4x5xf32, #npu.memory<system>>) {
      %t = npu.alloc {address = 1048576} : memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
      npu.copy %from to %t : memref<2x3x4x5xf32, #npu.memory<system>>
                          to memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
      npu.dealloc %t : memref<2x3x4x5xf32, #scatter, #npu.memory<local>>
      return
    }
    ```

    The type of a memref states its memory (`#npu.memory`), its layout and, as part of the layout,
    the chip (`#npu.target`). The address of its `npu.alloc` is A = Q * S + R: core Q is the start
    core of the layout, and byte R of every core is stated or assigned by `npu-assign-addresses`.
    The `offset` of the layout is relative to R.

    Every address is computed from the canonical map of the layout; `docs/spec.md`, section 3.4,
    defines its meaning.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

#endif // LAYOUT_DIALECT_NPU_IR_NPUDIALECT_TD
