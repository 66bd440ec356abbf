//===- CodeEmitter.cpp - Arithmetic of the codes of bundles ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeEmitter.h"

using namespace mlir;
using namespace mlir::layout;

bool layout::forEachRun(int64_t width, Sizes sizes,
                        function_ref<IndexExpr(int64_t)> position,
                        function_ref<bool(int64_t, IndexExpr, int64_t)> visit) {
  for (int64_t bit = 0, count = 1; bit < width; bit += count) {
    IndexExpr first = position(bit);
    for (count = 1; bit + count < width &&
                    position(bit + count) ==
                        add(first, IndexExpr(SizeExpr(count)), sizes);)
      ++count;
    if (!visit(bit, first, count))
      return false;
  }
  return true;
}

Value CodeEmitter::joinBytes(int64_t reach, unsigned count, Value shift,
                             function_ref<Value(int64_t)> load) {
  Type type = b.getIntegerType(reach > 4 ? 64 : 32);
  Value word;
  for (int64_t i = 0; i < reach; ++i) {
    Value part = arith::ExtUIOp::create(b, loc, type, load(i));
    if (i)
      part = arith::ShLIOp::create(b, loc, part, integer(type, 8 * i));
    word = word ? arith::OrIOp::create(b, loc, word, part) : part;
  }
  if (shift) {
    shift = arith::IndexCastOp::create(b, loc, type, shift);
    word = arith::ShRUIOp::create(b, loc, word, shift);
  }
  return arith::AndIOp::create(
      b, loc, word,
      integer(type, int64_t(llvm::maskTrailingOnes<uint64_t>(count))));
}

Value CodeEmitter::joinCode(const BundleComponent &component, Value code,
                            Value bits, int64_t shift) {
  Type type = b.getIntegerType(component.getWidth() < 32 ? 32 : 64);
  if (bits.getType() != type)
    bits = type.isInteger(64)
               ? Value(arith::ExtUIOp::create(b, loc, type, bits))
               : Value(arith::TruncIOp::create(b, loc, type, bits));
  if (shift)
    bits = arith::ShLIOp::create(b, loc, bits, integer(type, shift));
  return code ? arith::OrIOp::create(b, loc, code, bits) : bits;
}

Value CodeEmitter::toNumber(const BundleComponent &component, Value code) {
  unsigned width = component.getWidth();
  Type f32 = b.getF32Type();
  Type element = component.element;
  auto resize = [&](unsigned bits) -> Value {
    Type type = b.getIntegerType(bits);
    if (code.getType() == type)
      return code;
    return arith::TruncIOp::create(b, loc, type, code);
  };
  if (element.isF32())
    return arith::BitcastOp::create(b, loc, f32, resize(32));
  if (isa<FloatType>(element)) {
    Value number = arith::BitcastOp::create(b, loc, element, resize(width));
    return arith::ExtFOp::create(b, loc, f32, number);
  }
  Type type = code.getType();
  if (element.isSignedInteger()) {
    Value unused = integer(type, type.getIntOrFloatBitWidth() - width);
    code = arith::ShLIOp::create(b, loc, code, unused);
    code = arith::ShRSIOp::create(b, loc, code, unused);
  }
  if (component.excess)
    code = arith::SubIOp::create(b, loc, code, integer(type, component.excess));
  Value result = arith::SIToFPOp::create(b, loc, f32, code);
  if (component.fraction)
    result = arith::MulFOp::create(
        b, loc, result, number(std::ldexp(1.0, -component.fraction)));
  return result;
}

Value CodeEmitter::toElement(Value value, Type element) {
  if (value.getType() == element)
    return value;
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() > 32)
    return arith::ExtFOp::create(b, loc, element, value);
  if (isa<FloatType>(element))
    return arith::TruncFOp::create(b, loc, element, value);
  return arith::TruncIOp::create(b, loc, element, value);
}
