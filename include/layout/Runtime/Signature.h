//===- Signature.h - Tensor signatures of compiled functions ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the lowering to the LLVM dialect, the arguments of a function are
// opaque pointers. `layout.signature` records the original type: a function
// type over ranked tensors, set before the types are lowered, along with
// `llvm.emit_c_interface`.
//
//   func.func @main(%x: tensor<?x3xf32>) -> tensor<?x4xf32> attributes {
//     llvm.emit_c_interface,
//     layout.signature = (tensor<?x3xf32>) -> tensor<?x4xf32>}
//
// The attribute describes the *arrays at the boundary*, so its tensors have no
// encoding: a function over packed storage has the storage's shape here. Laws:
//   - all inputs and results are ranked tensors without encoding, of an element
//     type that an array can have (Npy.h);
//   - a `?` is set by the array at run time; a static extent must match.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_SIGNATURE_H
#define LAYOUT_RUNTIME_SIGNATURE_H

#include "layout/Support/EntryPoints.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
class Operation;
class FunctionOpInterface;
} // namespace mlir

namespace mlir::layout {

/// Records the type of `function`, still over tensors, as its attribute
/// `layout.signature`, or keeps the attribute if there is one, and sets
/// `llvm.emit_c_interface`. Emits an error on the function and returns failure
/// if an input or result in the attribute is not a ranked tensor without
/// encoding, or has an element type that an array cannot have.
LogicalResult attachSignature(FunctionOpInterface function);

/// Returns the attribute `layout.signature` of `function`. Emits an error at
/// `function` and returns failure if it is missing, or has another type than
/// ranked tensors without encoding, with element types that an array can have.
FailureOr<FunctionType> readSignature(Operation *function);

} // namespace mlir::layout

#endif // LAYOUT_RUNTIME_SIGNATURE_H
