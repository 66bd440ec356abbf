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
    Every `npu.alloc` without an address gets one: the start unit of its layout,
    and a byte of every unit from which on no tensor that lives at the same time
    owns the same bytes, holes included. Addresses that are there stay;
    alignment and `bank` are kept.

    A tensor lives from its `npu.alloc` to its `npu.dealloc`, or to the end of
    the function. The bytes that live at one time are a bound from below on the
    memory needed; placement stops when it is met, and keeps the best of many
    orders otherwise. The remark `LocalMemory` of the category `npu` has both:

    ```
    addresses assigned: Tensors=3, PeakBytes=1024, LowerBound=1024, ..
    ```

    What does not fit is an error that says how many bytes are too many, and
    which tensors they belong to.
  }];
}

def NPUSpillTensorsPass
    : Pass<"npu-spill-tensors", "::mlir::func::FuncOp"> {
  let summary = "Stores tensors outside while others need their bytes";
  let description = [{
    Where more lives at one time than a unit has bytes, a tensor that is not
    used there is freed, and loaded again before its next use: of those the one
    that is needed last. What was loaded from memory that does not change is
    loaded from there once more; anything else is stored to system memory
    first, in an argument of the function (`npu.scratch`).

    The remark `Spill` of the category `npu` counts what was stored and loaded.
    What one op needs at once is never spilled: if it does not fit, the pass
    leaves it to `npu-assign-addresses` to say so.
  }];
  let dependentDialects = ["::mlir::npu::NPUDialect"];
}

def NPUOverlapTransfersPass
    : Pass<"npu-overlap-transfers", "::mlir::func::FuncOp"> {
  let summary = "Moves tensors while units compute";
  let description = [{
    What an op loads from memory that does not change is loaded while the op
    before it computes, and what is stored to a result while the op after it
    does: both are put into one `npu.parallel`. A tensor lives longer that way,
    so this is done where all that lives then still fits a unit.

    The remark `Overlap` of the category `npu` counts the transfers.
  }];
  let dependentDialects = ["::mlir::npu::NPUDialect"];
}

def NPUVerifyMemoryPass
    : Pass<"npu-verify-memory", "::mlir::func::FuncOp"> {
  let summary = "Checks that tensors of local memory do not share bytes";
  let description = [{
    From `npu.alloc` to `npu.dealloc` (or the end of the block) a tensor owns its
    bytes. Two that live at the same time and have addresses do not overlap, and
    no `npu.copy` reads what it writes.

    A tensor owns all that its layout reserves, from its byte on, in every unit:
    the holes of an aligned tensor and the units that hold none of its channels
    belong to it. With `exact-bytes` it owns only the bytes of its elements, and
    another tensor may lie in the holes.

    An overlap is an error that names both tensors and the first shared byte.
  }];
  let options = [
    Option<"exactBytes", "exact-bytes", "bool", "false",
           "Tensors own the bytes of their elements alone">
  ];
}

#endif // NPU_PASSES
