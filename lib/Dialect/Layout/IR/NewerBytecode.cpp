//===- NewerBytecode.cpp - Bytecode of newer versions of MLIR -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/NewerBytecode.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

/// The limits of affine maps, of which a file states the sizes.
static constexpr uint64_t kMostDims = 1024;
static constexpr unsigned kMostNesting = 128;

namespace {
/// Reads the builtin attributes whose encoding is newer than MLIR 22. Each
/// function emits an error and returns failure if the bytes are malformed.
class Reader {
public:
  explicit Reader(DialectBytecodeReader &reader)
      : reader(reader), context(reader.getContext()) {}

  FailureOr<AffineMap> readMap();
  FailureOr<IntegerSet> readSet();
  /// Returns null after an error.
  StridedLayoutAttr readStridedLayout();

private:
  /// Reads the position of a dim or symbol.
  FailureOr<unsigned> readPosition(uint64_t end) {
    uint64_t position;
    if (failed(reader.readVarInt(position)))
      return failure();
    if (position < end)
      return static_cast<unsigned>(position);
    reader.emitError() << "an affine expression has the dim or symbol "
                       << position << " of " << end;
    return failure();
  }

  /// Reads a number up to `kMostDims`.
  FailureOr<unsigned> readCount() {
    uint64_t count;
    if (failed(reader.readVarInt(count)))
      return failure();
    return checkCount(count);
  }
  FailureOr<unsigned> checkCount(uint64_t count) {
    if (count <= kMostDims)
      return static_cast<unsigned>(count);
    reader.emitError() << "an affine map or set has " << count
                       << " dims, symbols or results, but up to " << kMostDims
                       << " are read";
    return failure();
  }

  /// Reads an expression: the code of its operator, and then its operands.
  FailureOr<AffineExpr> readExpr(unsigned dims, unsigned symbols,
                                 unsigned nesting = kMostNesting);
  /// Reads expressions whose number comes first.
  FailureOr<SmallVector<AffineExpr>> readExprs(unsigned dims, unsigned symbols);

  DialectBytecodeReader &reader;
  MLIRContext *context;
};
} // namespace

FailureOr<AffineExpr> Reader::readExpr(unsigned dims, unsigned symbols,
                                       unsigned nesting) {
  static constexpr AffineExprKind kBinary[] = {
      AffineExprKind::Add, AffineExprKind::Mul, AffineExprKind::Mod,
      AffineExprKind::FloorDiv, AffineExprKind::CeilDiv};
  enum : uint64_t { Dim, Symbol, Constant, FirstBinary };
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return failure();
  if (code == Dim || code == Symbol) {
    auto position = readPosition(code == Dim ? dims : symbols);
    if (failed(position))
      return failure();
    return code == Dim ? getAffineDimExpr(*position, context)
                       : getAffineSymbolExpr(*position, context);
  }
  if (code == Constant) {
    int64_t value;
    if (failed(reader.readSignedVarInt(value)))
      return failure();
    return getAffineConstantExpr(value, context);
  }
  if (code - FirstBinary >= std::size(kBinary) || nesting == 0) {
    reader.emitError() << "an affine expression has the unknown code " << code
                       << " or more than " << kMostNesting << " levels";
    return failure();
  }
  auto lhs = readExpr(dims, symbols, nesting - 1);
  if (failed(lhs))
    return failure();
  auto rhs = readExpr(dims, symbols, nesting - 1);
  if (failed(rhs))
    return failure();
  return getAffineBinaryOpExpr(kBinary[code - FirstBinary], *lhs, *rhs);
}

FailureOr<SmallVector<AffineExpr>> Reader::readExprs(unsigned dims,
                                                     unsigned symbols) {
  auto count = readCount();
  if (failed(count))
    return failure();
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < *count; ++i) {
    auto expr = readExpr(dims, symbols);
    if (failed(expr))
      return failure();
    exprs.push_back(*expr);
  }
  return exprs;
}

FailureOr<AffineMap> Reader::readMap() {
  enum : unsigned { Identity, Permutation, SomeDims, General };
  // The number of dims and, in the two lowest bits, the form of the map.
  uint64_t header;
  if (failed(reader.readVarInt(header)))
    return failure();
  auto dims = checkCount(header >> 2);
  if (failed(dims))
    return failure();
  unsigned form = header & 3;
  if (form == Identity)
    return AffineMap::getMultiDimIdentityMap(*dims, context);
  if (form == General) {
    auto symbols = readCount();
    if (failed(symbols))
      return failure();
    auto exprs = readExprs(*dims, *symbols);
    if (failed(exprs))
      return failure();
    return AffineMap::get(*dims, *symbols, *exprs, context);
  }
  auto count = form == Permutation ? dims : readCount();
  if (failed(count))
    return failure();
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < *count; ++i) {
    auto position = readPosition(*dims);
    if (failed(position))
      return failure();
    exprs.push_back(getAffineDimExpr(*position, context));
  }
  return AffineMap::get(*dims, /*symbolCount=*/0, exprs, context);
}

FailureOr<IntegerSet> Reader::readSet() {
  auto dims = readCount();
  if (failed(dims))
    return failure();
  auto symbols = readCount();
  if (failed(symbols))
    return failure();
  auto exprs = readExprs(*dims, *symbols);
  if (failed(exprs))
    return failure();
  SmallVector<bool> areEqualities(exprs->size());
  for (bool &isEquality : areEqualities)
    if (failed(reader.readBool(isEquality)))
      return failure();
  if (!exprs->empty())
    return IntegerSet::get(*dims, *symbols, *exprs, areEqualities);
  reader.emitError("an affine set has no constraints");
  return failure();
}

StridedLayoutAttr Reader::readStridedLayout() {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(reader.readSignedVarInt(offset)) ||
      failed(reader.readSignedVarInts(strides)) ||
      failed(StridedLayoutAttr::verify([&] { return reader.emitError(); },
                                       offset, strides)))
    return {};
  return StridedLayoutAttr::get(context, offset, strides);
}

template <typename T> static Type getType(MLIRContext *context) {
  return T::get(context);
}

/// The types from code `kFirstType` on, which MLIR 22 writes as text.
static constexpr uint64_t kFirstType = 21;
static constexpr Type (*kTypes[])(MLIRContext *) = {
    getType<FloatTF32Type>,         getType<Float8E5M2Type>,
    getType<Float8E4M3Type>,        getType<Float8E4M3FNType>,
    getType<Float8E5M2FNUZType>,    getType<Float8E4M3FNUZType>,
    getType<Float8E4M3B11FNUZType>, getType<Float8E3M4Type>,
    getType<Float4E2M1FNType>,      getType<Float6E2M3FNType>,
    getType<Float6E3M2FNType>,      getType<Float8E8M0FNUType>};

/// Reads an attribute that starts with `code`. Does not set `attribute` if
/// MLIR 22 has the code.
static LogicalResult readAttribute(DialectBytecodeReader &bytes, uint64_t code,
                                   Attribute &attribute) {
  Reader reader(bytes);
  if (code == 23) {
    FailureOr<AffineMap> map = reader.readMap();
    if (failed(map))
      return failure();
    attribute = AffineMapAttr::get(*map);
  } else if (code == 24) {
    FailureOr<IntegerSet> set = reader.readSet();
    if (failed(set))
      return failure();
    attribute = IntegerSetAttr::get(*set);
  } else if (code == 25) {
    attribute = reader.readStridedLayout();
    return success(bool(attribute));
  }
  return success();
}

ParserConfig layout::getParserConfig(MLIRContext *context) {
  ParserConfig config(context);
  BytecodeReaderConfig &bytecode = config.getBytecodeReaderConfig();
  // MLIR reads from the beginning what a callback leaves null.
  bytecode.attachAttributeCallback([](DialectBytecodeReader &reader,
                                      StringRef dialect, Attribute &attribute) {
    uint64_t code;
    if (dialect != "builtin")
      return success();
    if (failed(reader.readVarInt(code)))
      return failure();
    return readAttribute(reader, code, attribute);
  });
  bytecode.attachTypeCallback(
      [](DialectBytecodeReader &reader, StringRef dialect, Type &type) {
        uint64_t code;
        if (dialect != "builtin")
          return success();
        if (failed(reader.readVarInt(code)))
          return failure();
        if (code >= kFirstType && code - kFirstType < std::size(kTypes))
          type = kTypes[code - kFirstType](reader.getContext());
        return success();
      });
  return config;
}

bool layout::isForeignBytecode(const llvm::MemoryBuffer &buffer) {
  if (!isBytecode(buffer.getMemBufferRef()))
    return false;
  // After the magic number and the version of the format, of one byte.
  StringRef producer = buffer.getBuffer().drop_front(5);
  return producer.take_until([](char c) { return c == '\0'; }) !=
         "MLIR" LLVM_VERSION_STRING;
}
