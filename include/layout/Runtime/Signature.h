//===- Signature.h - What a compiled function takes and returns -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the lowering to the LLVM dialect a function's tensors are opaque
// pointers. `layout.signature` keeps what they were: a type attribute with a
// function type over ranked tensors, put on the function before its types are
// lost, beside `llvm.emit_c_interface`.
//
//   func.func @main(%x: tensor<?x3xf32>) -> tensor<?x4xf32> attributes {
//     llvm.emit_c_interface,
//     layout.signature = (tensor<?x3xf32>) -> tensor<?x4xf32>}
//
// The attribute says how the *arrays at the boundary* look, so its tensors have
// no encoding: a function that takes packed storage has the storage's shape
// here. Laws:
//   - all inputs and results are ranked tensors without encoding, of an element
//     type that an array can have (Npy.h);
//   - a `?` is filled by the array at run time, a static extent must match.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_SIGNATURE_H
#define LAYOUT_RUNTIME_SIGNATURE_H

#include "layout/Support/EntryPoints.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
class Operation;
class FunctionOpInterface;
namespace layout {

/// Puts both attributes on `function`, whose type is still one over tensors. A
/// signature that is there already stays. Emits an error on the function when
/// its type is outside the laws above.
LogicalResult attachSignature(FunctionOpInterface function);

/// The signature of `function`; emits a located error when it is missing or
/// breaks a law.
FailureOr<FunctionType> readSignature(Operation *function);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_RUNTIME_SIGNATURE_H
