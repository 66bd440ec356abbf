//===- Passes.td - Passes on the memory of an NPU ----------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NPU_PASSES
#define NPU_PASSES

include "mlir/Pass/PassBase.td"

def NPUAssignAddressesPass
    : Pass<"npu-assign-addresses", "::mlir::func::FuncOp"> {
  let summary = "Gives every tensor of local memory an address";
  let description = [{
    Every `npu.alloc` without an address gets one: the start core of its layout,
    and a byte of every core from which on no tensor that lives at the same time
    owns the same bytes, holes included. Addresses that are there stay;
    alignment and `bank` are kept.

    A tensor lives from its `npu.alloc` to its `npu.dealloc`, or to the end of
    the function. The bytes that live at one time are a bound from below on the
    memory needed; placement stops when it is met, and keeps the best of many
    orders otherwise.

    Where the target knows its `banks`, tensors then go to other places at which
    commands that *conflict* lose fewer cycles, as long as all tensors still have
    one. A command conflicts where it uses one bank for two things at once: two
    operands of an op that computes (a result in an operand's place is one thing),
    which then takes its steps twice, or in an `npu.parallel` what DMA touches and
    what is computed with, which then take turns. The peak may grow up to the bytes
    of a core. The remark `LocalMemory` of the category `npu` has the peak, the
    least one found without that care and the bound of it; the commands that
    conflict, those that would have, and a bound of them, the commands whose
    operands take more banks than there are; and the cycles that are lost, with
    those of the bound:

    ```
    addresses assigned: Tensors=3, PeakBytes=1024, LeastPeak=640, LowerBound=640,
    BankConflicts=0, CarelessConflicts=2, ConflictBound=0, ConflictCycleBound=0,
    ConflictCycles=0, ..
    ```

    With `reuse-holes` a tensor owns the bytes of its elements alone: another one
    may lie in the holes of an aligned tensor and in cores that hold none of its
    channels, where the canonical maps prove that no element of one shares a byte
    with an element of the other or of its views. The function then says so
    (`npu.reuses_holes`), `npu-verify-memory` takes `exact-bytes`, and the bound
    is that of the core with the most bytes of elements.

    What does not fit is an error that says how many bytes are too many, and
    which tensors they belong to.
  }];
  let options = [
    Option<"reuseHoles", "reuse-holes", "bool", "false",
           "Tensors may lie in the holes of others">
  ];
}

def NPUSpillTensorsPass
    : Pass<"npu-spill-tensors", "::mlir::func::FuncOp"> {
  let summary = "Stores tensors outside while others need their bytes";
  let description = [{
    Where more lives at one time than a core has bytes, a tensor that is not
    used there is freed, and loaded again before its next use: of those the one
    that is needed last. What was loaded from memory that does not change is
    loaded from there once more; anything else is stored to system memory
    first, in an argument of the function (`npu.scratch`).

    The remark `Spill` of the category `npu` counts what was stored and loaded.
    What one op needs at once is never spilled: if it does not fit, the pass
    leaves it to `npu-assign-addresses` to say so.
  }];
  let options = [
    Option<"reuseHoles", "reuse-holes", "bool", "false",
           "What fits is asked as with `reuse-holes` of npu-assign-addresses">
  ];
  let dependentDialects = ["::mlir::npu::NPUDialect"];
}

def NPUOverlapTransfersPass
    : Pass<"npu-overlap-transfers", "::mlir::func::FuncOp"> {
  let summary = "Moves tensors while cores compute";
  let description = [{
    What an op loads from memory that does not change is loaded while the op
    before it computes, and what is stored to a result while the op after it
    does: both are put into one `npu.parallel`. A tensor lives longer that way,
    so this is done where all that lives then still fits a core.

    The remark `Overlap` of the category `npu` counts the transfers.
  }];
  let options = [
    Option<"reuseHoles", "reuse-holes", "bool", "false",
           "What fits is asked as with `reuse-holes` of npu-assign-addresses">
  ];
  let dependentDialects = ["::mlir::npu::NPUDialect"];
}

def NPUVerifyMemoryPass
    : Pass<"npu-verify-memory", "::mlir::func::FuncOp"> {
  let summary = "Checks that tensors of local memory do not share bytes";
  let description = [{
    From `npu.alloc` to `npu.dealloc` (or the end of the block) a tensor owns its
    bytes. Two that live at the same time and have addresses do not overlap, and
    no `npu.copy` reads what it writes.

    A tensor owns all that its layout reserves, from its byte on, in every core:
    the holes of an aligned tensor and the cores that hold none of its channels
    belong to it. With `exact-bytes` it owns only the bytes of its elements, and
    another tensor may lie in the holes. Elements that a view has where the
    tensor has padding count as elements.

    An overlap is an error that names both tensors and the first shared byte.
  }];
  let options = [
    Option<"exactBytes", "exact-bytes", "bool", "false",
           "Tensors own the bytes of their elements alone">
  ];
}

#endif // NPU_PASSES
