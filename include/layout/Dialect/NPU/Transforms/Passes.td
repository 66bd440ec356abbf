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
