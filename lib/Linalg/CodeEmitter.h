//===- CodeEmitter.h - Arithmetic of the codes of bundles -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_LINALG_CODEEMITTER_H
#define LAYOUT_LIB_LINALG_CODEEMITTER_H

#include "layout/Dialect/Layout/IR/Bundle.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::layout {

/// Calls `visit` with the first bit of each run of adjacent bits of a code of
/// `width` bits, its position over dims of the given sizes, and the number of
/// bits. Returns false as soon as a call does.
bool forEachRun(int64_t width, Sizes sizes,
                function_ref<IndexExpr(int64_t)> position,
                function_ref<bool(int64_t, IndexExpr, int64_t)> visit);

/// Emits the arithmetic of codes. It is that of applyDecode.
struct CodeEmitter {
  OpBuilder &b;
  Location loc;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value integer(Type type, int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  /// Adds the negative number, because emitters contract products only with
  /// additions.
  Value subtract(Value x, Value y) {
    return add(x, arith::NegFOp::create(b, loc, y));
  }
  Value multiply(Value x, Value y) {
    return arith::MulFOp::create(b, loc, x, y);
  }

  /// Emits `count` bits of the `reach` bytes that `load` emits, from bit
  /// `shift` on, or from the first bit if it is null, as an i32 or i64.
  Value joinBytes(int64_t reach, unsigned count, Value shift,
                  function_ref<Value(int64_t)> load);
  /// Emits `code | bits << shift`, an i32 or i64 as wide codes need; `code` may
  /// be null.
  Value joinCode(const BundleComponent &component, Value code, Value bits,
                 int64_t shift);
  /// Emits the number that a code stands for, an f32.
  Value toNumber(const BundleComponent &component, Value code);
  /// Converts a decoded value to the element type of the tensor.
  Value toElement(Value value, Type element);
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_LINALG_CODEEMITTER_H
