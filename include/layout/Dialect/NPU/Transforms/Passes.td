//===- Passes.td - Passes on the memory of an NPU ----------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_TRANSFORMS_PASSES_TD
#define LAYOUT_DIALECT_NPU_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NPUAssignAddressesPass
    : Pass<"npu-assign-addresses", "::mlir::func::FuncOp"> {
  let summary = "Assign an address to every npu.alloc";
  let description = [{
    Assigns an address to every `npu.alloc` without one: the start core of its
    layout and a byte offset in every core. No two live tensors own the same
    bytes; a tensor also owns the unused bytes between its elements (*holes*).
    Existing addresses stay; alignment and `bank` are respected.

    ```mlir
    %a = npu.alloc : !t                 // before
    %a = npu.alloc {address = 512} : !t // after
    ```

    A tensor is live from its `npu.alloc` to its `npu.dealloc`, or to the end of
    the function. The *peak* is the number of bytes of a core from byte 0 to the
    end of the last tensor. The largest sum of live bytes is a lower bound on it.
    Placement tries many orders of the tensors until the peak meets the bound,
    and otherwise uses the best order found.

    If the target has `banks`, tensors are then moved so that commands lose
    fewer cycles by *conflicts*, as long as all tensors still fit. A command
    conflicts if it uses one bank for two accesses at the same time:

    * two operands of a computation (a result in place of an operand counts
      once), which then executes its steps twice, or
    * in an `npu.parallel`, accesses by DMA and by a computation, which then run
      one after the other.

    The peak may grow up to the bytes of a core. The remark `LocalMemory` of the
    category `npu` reports these numbers:

    | name | meaning |
    |---|---|
    | `PeakBytes`, `LeastPeak`, `LowerBound` | the peak, the lowest peak before tensors were moved, its lower bound |
    | `BankConflicts`, `CarelessConflicts` | conflicts after and before tensors were moved |
    | `ConflictBound` | commands whose operands need more banks than exist |
    | `ConflictCycles`, `ConflictCycleBound` | lost cycles and their lower bound |

    With `reuse-holes` a tensor owns only the bytes of its elements. Another
    tensor may be placed in the holes of an aligned tensor and in cores without
    its channels, if the canonical maps prove that no element of one shares a
    byte with an element of the other or of its views. The function gets the
    attribute `npu.reuses_holes`, `npu-verify-memory` needs `exact-bytes`, and
    the bound is that of the core with the most bytes of elements.

    If the tensors do not fit, the error states the excess bytes and the live
    tensors. At its end, the pass runs `npu-verify-memory`. Run the pass after all
    passes that create or move `npu.alloc`, such as `npu-spill-tensors` and
    `npu-overlap-transfers`.
  }];
  let options = [
    Option<"reuseHoles", "reuse-holes", "bool", "false",
           "Place tensors in holes, the unused bytes in the layouts of others">
  ];
}

def NPUSpillTensorsPass
    : Pass<"npu-spill-tensors", "::mlir::func::FuncOp"> {
  let summary = "Spill tensors of local memory to system memory";
  let description = [{
    If more bytes are live than a core has, frees (*spills*) a tensor that is not
    used at that point, and creates it again before its next use. Of all tensors
    that can be spilled, the one with the latest next use is chosen. The same
    happens if the free bytes suffice, but are fragmented so that a tensor has no
    place.

    | written only by | how it is created again |
    |---|---|
    | a load from memory that does not change | the load is repeated |
    | an elementwise op on such loads, of at most the tensor's bytes together | the loads and the op are repeated |
    | anything else | it is stored to system memory, in a new argument of the function (`npu.scratch`), and loaded from there |

    If the next use of a tensor in system memory is a copy of a slice, only the
    slice is loaded. A copy between two tensors in local memory that together exceed
    a core becomes a store and a load.

    ```mlir
    // before
    npu.copy %x to %a : !sys to !t
    linalg.exp ins(%a : !t) outs(%b : !t)
    %c = npu.alloc : !t
    linalg.exp ins(%b : !t) outs(%c : !t)
    npu.dealloc %b : !t
    linalg.add ins(%a, %c : !t, !t) outs(%c : !t)
    // after, in cores with space for two tensors
    npu.copy %x to %a : !sys to !t
    linalg.exp ins(%a : !t) outs(%b : !t)
    npu.dealloc %a : !t
    %c = npu.alloc : !t
    linalg.exp ins(%b : !t) outs(%c : !t)
    npu.dealloc %b : !t
    %a2 = npu.alloc : !t
    npu.copy %x to %a2 : !sys to !t
    linalg.add ins(%a2, %c : !t, !t) outs(%c : !t)
    ```

    The remark `Spill` of the category `npu` counts stores and loads. Operands
    of one op are never spilled: if they do not fit, `npu-assign-addresses`
    reports it. Run the pass after `convert-layout-to-npu` and before
    `npu-assign-addresses`.
  }];
  let options = [
    Option<"reuseHoles", "reuse-holes", "bool", "false",
           "Assume `reuse-holes` of npu-assign-addresses when fitting tensors">
  ];
  let dependentDialects = ["::mlir::npu::NPUDialect"];
}

def NPUOverlapTransfersPass
    : Pass<"npu-overlap-transfers", "::mlir::func::FuncOp"> {
  let summary = "Overlap npu.copy with computation in npu.parallel";
  let description = [{
    Runs each load from unchanging memory in parallel with an op before the one
    that needs it, and each store to a result in parallel with the op after the
    one that computes it, both in an `npu.parallel`. A load runs with the nearest
    op that takes as long as all transfers beside it, by the clock of the chip,
    or else with the one that hides most of it. This extends the live range of a
    tensor, so it is done only if all live tensors still fit a core.

    ```mlir
    // before
    linalg.exp ins(%a : !t) outs(%b : !t)
    npu.copy %b to %u : !t to !sys
    npu.copy %z to %c : !sys to !t
    linalg.add ins(%b, %c : !t, !t) outs(%d : !t)
    // after
    npu.parallel {
      linalg.exp ins(%a : !t) outs(%b : !t)
      npu.copy %z to %c : !sys to !t
    }
    npu.parallel {
      linalg.add ins(%b, %c : !t, !t) outs(%d : !t)
      npu.copy %b to %u : !t to !sys
    }
    ```

    The remark `Overlap` of the category `npu` counts the transfers. Run it
    before `npu-assign-addresses`.
  }];
  let options = [
    Option<"reuseHoles", "reuse-holes", "bool", "false",
           "Assume `reuse-holes` of npu-assign-addresses when fitting tensors">
  ];
  let dependentDialects = ["::mlir::npu::NPUDialect"];
}

def NPUOrderConstantsPass : Pass<"npu-order-constants", "ModuleOp"> {
  let summary = "Store constants in the order of their destination";
  let description = [{
    Gives a `memref.global` that only `npu.copy` reads a `#layout.map` with the
    order of the local memory that it is loaded to, if this makes the contiguous
    rows of the transfers longer. `layout-translate --npu-to-package` writes the
    data in this order.

    ```mlir
    // before
    memref.global "private" constant @w : memref<64x32x3x3xf32, #npu.memory<system>> = ..
    // after
    memref.global "private" constant @w : memref<64x32x3x3xf32,
        #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 2, d2, d3, d1 mod 2)>,
        #npu.memory<system>> = ..
    ```

    The initial value keeps its logical order. If a constant is loaded in several
    layouts, the order with the fewest transfers and rows is used.
  }];
  let dependentDialects = ["::mlir::npu::NPUDialect"];
}

def NPUVerifyMemoryPass
    : Pass<"npu-verify-memory", "::mlir::func::FuncOp"> {
  let summary = "Verify that tensors of local memory do not share bytes";
  let description = [{
    Run it after `npu-assign-addresses`. A tensor owns its bytes from `npu.alloc`
    to `npu.dealloc` or the end of the block. Two live tensors with addresses must
    not overlap, and no `npu.copy` may read bytes that it writes.

    By default a tensor owns all bytes that its layout reserves, in every core,
    including the unused bytes between elements of an aligned tensor (*holes*) and
    cores without its channels.
    With `exact-bytes` it owns only the bytes of its elements and of the
    elements of its views, which may be in its padding. Another tensor may then
    be placed in the holes.

    ```mlir
    %a = npu.alloc {address = 2048} : !t
    %b = npu.alloc {address = 2304} : !t // error if !t needs more than 256 bytes of a core
    ```

    The error for an overlap has both tensors and the first shared byte.
  }];
  let options = [
    Option<"exactBytes", "exact-bytes", "bool", "false",
           "Let tensors own only the bytes of their elements">
  ];
}

#endif // LAYOUT_DIALECT_NPU_TRANSFORMS_PASSES_TD
