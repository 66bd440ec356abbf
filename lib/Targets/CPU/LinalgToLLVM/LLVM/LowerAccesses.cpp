//===- LowerAccesses.cpp - Reads and writes of buffers at pointers --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers loads and stores with shared address computations. The points of a
// register tile differ by constant offsets. Upstream computes each address
// separately, in about ten ops, which later passes and LLVM have to simplify.
// Here, an address is one pointer for each value that it depends on, starting
// with the outermost one, and a constant:
//
//   p = buffer                      after the definition of the buffer
//   q = p + 960 * row               after that of `row`
//   r = q + 16 * column             after that of `column`
//   load r + 480
//
// All accesses share the pointers that they have in common.
//
// Upstream's conversions of memref and vector lower the rest: dynamic strides,
// multi-dimensional vectors, masks, and elements that are not whole bytes.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERACCESSESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {
/// A read or write of a buffer.
struct Access {
  Value buffer;
  ValueRange indices;
  /// The written value, or a null value for a read.
  Value written;
  Type type;
  std::optional<uint64_t> alignment;
  bool isNontemporal;
};

/// The distance in elements from the aligned pointer of a buffer to an access:
/// the sum of index values times their factors, and a constant, which includes
/// the offset of the buffer.
struct Distance {
  llvm::SmallMapVector<Value, int64_t, 4> factors;
  int64_t constant = 0;

  void add(Value index, int64_t factor) {
    APInt number;
    if (matchPattern(index, m_ConstantInt(&number))) {
      constant += factor * number.getSExtValue();
      return;
    }
    if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
      add(sum.getLhs(), factor);
      return add(sum.getRhs(), factor);
    }
    auto product = index.getDefiningOp<arith::MulIOp>();
    if (product && matchPattern(product.getRhs(), m_ConstantInt(&number)))
      return add(product.getLhs(), factor * number.getSExtValue());
    factors[index] += factor;
  }
};

class AccessLowering {
public:
  explicit AccessLowering(MLIRContext *context)
      : b(context), converter(context),
        pointerType(LLVM::LLVMPointerType::get(context)) {}

  void lower(Operation *op);

private:
  Value getPointer(Location loc, Value previous, Value value, int64_t factor,
                   Type element);
  Value getFirst(Value buffer);
  Value getWord(Value index);
  Value emit(Location loc, const Access &access, Value pointer);

  OpBuilder b;
  LLVMTypeConverter converter;
  Type pointerType;
  /// The emitted pointers, by what they are computed from: a previous pointer,
  /// an index that is added to it, and the factor of that index.
  DenseMap<std::tuple<Value, Value, int64_t>, Value> pointers;
  DenseMap<Value, Value> firsts, words;
};
} // namespace

static std::optional<Access> findAccess(Operation *op) {
  auto make = [](Value buffer, auto access, Value written, Type type) {
    auto alignment = access.getAlignment();
    return Access{buffer,
                  access.getIndices(),
                  written,
                  type,
                  alignment ? std::optional<uint64_t>(*alignment)
                            : std::nullopt,
                  access.getNontemporal()};
  };
  return llvm::TypeSwitch<Operation *, std::optional<Access>>(op)
      .Case([&](memref::LoadOp op) {
        return make(op.getMemRef(), op, {}, op.getType());
      })
      .Case([&](vector::LoadOp op) {
        return make(op.getBase(), op, {}, op.getType());
      })
      .Case([&](memref::StoreOp op) {
        return make(op.getMemRef(), op, op.getValue(), op.getValue().getType());
      })
      .Case([&](vector::StoreOp op) {
        return make(op.getBase(), op, op.getValueToStore(),
                    op.getValueToStore().getType());
      })
      .Default(std::nullopt);
}

/// Sets the insertion point after the definition of `value`, or to the start of
/// its block if it is a block argument.
static void setInsertionPointBehind(OpBuilder &b, Value value) {
  if (Operation *definition = value.getDefiningOp())
    b.setInsertionPointAfter(definition);
  else
    b.setInsertionPointToStart(value.getParentBlock());
}

/// Returns true if `first` is defined before `second`. Their blocks are the
/// same, or one of them encloses the other.
static bool isBefore(Value first, Value second) {
  Block *block = first.getParentBlock(), *other = second.getParentBlock();
  if (block != other)
    return block->getParent()->isProperAncestor(other->getParent());
  Operation *definition = second.getDefiningOp();
  if (!first.getDefiningOp() || !definition)
    return !first.getDefiningOp() && definition;
  return first.getDefiningOp()->isBeforeInBlock(definition);
}

/// Returns the aligned pointer of `buffer`, without its offset.
Value AccessLowering::getFirst(Value buffer) {
  Value &pointer = firsts[buffer];
  if (!pointer) {
    setInsertionPointBehind(b, buffer);
    Location loc = buffer.getLoc();
    Value parts = UnrealizedConversionCastOp::create(
                      b, loc, converter.convertType(buffer.getType()), buffer)
                      .getResult(0);
    pointer = LLVM::ExtractValueOp::create(b, loc, parts, 1); // aligned
  }
  return pointer;
}

Value AccessLowering::getWord(Value index) {
  Value &word = words[index];
  if (!word) {
    setInsertionPointBehind(b, index);
    word = UnrealizedConversionCastOp::create(b, index.getLoc(), b.getI64Type(),
                                              index)
               .getResult(0);
  }
  return word;
}

/// Returns the pointer `previous` advanced by `factor` * `value` elements,
/// defined as early as possible.
Value AccessLowering::getPointer(Location loc, Value previous, Value value,
                                 int64_t factor, Type element) {
  auto [known, isNew] = pointers.try_emplace({previous, value, factor});
  if (!isNew)
    return known->second;
  Value count = getWord(value);
  setInsertionPointBehind(b, isBefore(previous, count) ? count : previous);
  if (factor != 1)
    count = LLVM::MulOp::create(
        b, loc, count,
        LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(factor)));
  return known->second = LLVM::GEPOp::create(b, loc, pointerType, element,
                                             previous, LLVM::GEPArg(count));
}

Value AccessLowering::emit(Location loc, const Access &access, Value pointer) {
  auto vector = dyn_cast<VectorType>(access.type);
  // Vectors are aligned to elements, unless the op states more.
  uint64_t bytes = llvm::PowerOf2Ceil(
      getElementTypeOrSelf(access.type).getIntOrFloatBitWidth() / 8);
  unsigned alignment = access.alignment.value_or(vector ? bytes : 0);
  if (!access.written)
    return LLVM::LoadOp::create(b, loc, access.type, pointer, alignment,
                                /*isVolatile=*/false, access.isNontemporal);
  LLVM::StoreOp::create(b, loc, access.written, pointer, alignment,
                        /*isVolatile=*/false, access.isNontemporal);
  return {};
}

void AccessLowering::lower(Operation *op) {
  std::optional<Access> access = findAccess(op);
  if (!access)
    return;
  auto type = dyn_cast<MemRefType>(access->buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic) ||
      !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() % 8 != 0 ||
      converter.convertType(type.getElementType()) != type.getElementType() ||
      getElementTypeOrSelf(access->type) != type.getElementType())
    return;
  auto vector = dyn_cast<VectorType>(access->type);
  if (vector && (vector.getRank() != 1 || vector.isScalable()))
    return;
  Distance distance;
  distance.constant = offset;
  for (auto [index, stride] : llvm::zip_equal(access->indices, strides))
    distance.add(index, stride);
  auto terms = distance.factors.takeVector();
  // Only blocks that enclose the op are ordered.
  auto isAround = [&](Value value) {
    return value.getParentBlock()->findAncestorOpInBlock(*op);
  };
  if (!isAround(access->buffer) ||
      !llvm::all_of(llvm::make_first_range(terms), isAround))
    return;
  llvm::stable_sort(terms, [](const auto &first, const auto &second) {
    return isBefore(first.first, second.first);
  });
  Location loc = op->getLoc();
  Value pointer = getFirst(access->buffer);
  for (auto [value, factor] : terms)
    if (factor != 0)
      pointer = getPointer(loc, pointer, value, factor, type.getElementType());
  b.setInsertionPoint(op);
  if (distance.constant != 0) {
    LLVM::GEPArg constant =
        llvm::isInt<32>(distance.constant)
            ? LLVM::GEPArg(static_cast<int32_t>(distance.constant))
            : LLVM::GEPArg(LLVM::ConstantOp::create(
                               b, loc, b.getI64IntegerAttr(distance.constant))
                               .getResult());
    pointer = LLVM::GEPOp::create(b, loc, pointerType, type.getElementType(),
                                  pointer, constant);
  }
  if (Value read = emit(loc, *access, pointer))
    op->replaceAllUsesWith(ValueRange(read));
  op->erase();
}

namespace {
struct LowerAccesses : layout::impl::LowerAccessesPassBase<LowerAccesses> {
  void runOnOperation() override {
    AccessLowering lowering(&getContext());
    getOperation()->walk([&](Operation *op) { lowering.lower(op); });
    // Erase the address computations that are dead now.
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>(
        [](Operation *op) {
          if (isOpTriviallyDead(op))
            op->erase();
        });
  }
};
} // namespace
