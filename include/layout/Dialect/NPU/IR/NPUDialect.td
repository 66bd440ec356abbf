//===- NPUDialect.td - Memory of an NPU --------------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NPU_DIALECT
#define NPU_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def NPU_Dialect : Dialect {
  let name = "npu";
  let cppNamespace = "::mlir::npu";
  let summary = "Memory of an NPU whose local memory is spread over cores";
  let description = [{
    An NPU has X cores, each with a local memory of S bytes that only its own
    execution units reach, and a DMA engine between the local memories and
    system memory. A tensor lies in local memory by `#layout.npu_scatter`:

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

    A memref says in which memory it is (`#npu.memory`) and by which layout; the
    chip stands in the layout (`#npu.target`). Where the tensor begins is the
    address of its `npu.alloc`, A = Q * S + R: start core Q is that of the
    layout, and byte R of every core is fixed by the user or by
    `npu-assign-addresses`. The layout's own `offset` counts from R.

    Every address is computed from the canonical map of the layout; what a
    layout means is said in `docs/spec.md`, section 3.4.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::layout::LayoutDialect"];
}

#endif // NPU_DIALECT
