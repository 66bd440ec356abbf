//===- LowerBundles.cpp - layout-prepare-lower-bundles --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decode is one loop over the tensor that reads the codes of each value. A
// repack is one loop over the bytes of each new stream: the inverse of the new
// map gives the code and the bit at a position, and the old map gives where
// that bit was. Bits are moved in granules of 1, 2, 4 or 8 that both maps keep
// together.
//
//===----------------------------------------------------------------------===//

#include "ByteNests.h"
#include "CodeEmitter.h"
#include "DecodeLoops.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Algebra/Bits.h"
#include "layout/Algebra/Box.h"
#include "layout/Dialect/Layout/IR/Bundle.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "layout/Linalg/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <numeric>

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERBUNDLESPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Returns the position of bit `bit` of the codes of `piece`, over its dims.
static IndexExpr getPosition(const PlacedPiece &piece, int64_t bit) {
  SmallVector<IndexExpr> dims;
  SmallVector<SizeExpr> sizeOf;
  for (auto [d, size] : llvm::enumerate(piece.sizes)) {
    dims.push_back(IndexExpr::dim(d));
    sizeOf.push_back(SizeExpr(size));
  }
  dims.back() = IndexExpr(SizeExpr(bit));
  return substitute(piece.map.getCoordinates().front().value, dims, sizeOf,
                    piece.sizes);
}

/// Returns the greatest of 1, 2, 4 and 8 that divides all values of `position`,
/// by its strides.
static int64_t getAlignment(const IndexExpr &position) {
  int64_t all =
      std::gcd(int64_t(8), position.constant.getConstant().value_or(1));
  for (const DigitTerm &term : position.terms)
    all = std::gcd(all, term.stride.getConstant().value_or(1));
  return all;
}

/// Returns true if each group of `granule` bits of a code is adjacent in the
/// stream, at a multiple of `granule`.
static bool keepsGranules(const PlacedPiece &piece, int64_t granule) {
  if (piece.sizes.back() % granule || piece.begin.back() % granule)
    return false;
  for (int64_t bit = 0; bit < piece.sizes.back(); bit += granule) {
    IndexExpr first = getPosition(piece, bit);
    if (getAlignment(first) % granule)
      return false;
    for (int64_t i = 1; i < granule; ++i)
      if (getPosition(piece, bit + i) !=
          add(first, IndexExpr(SizeExpr(i)), piece.sizes))
        return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {
using Streams = SmallVector<Value>;

/// Emits the reads of codes at any index.
struct Emitter : CodeEmitter {
  Value evaluate(const IndexExpr &value, ValueRange dims,
                 ArrayRef<int64_t> sizes) {
    return emitValues(b, loc, value, dims, getSizes(sizes)).front();
  }
  SmallVector<OpFoldResult> getSizes(ArrayRef<int64_t> sizes) {
    return llvm::map_to_vector(sizes, [&](int64_t size) -> OpFoldResult {
      return b.getIndexAttr(size);
    });
  }
  Value both(Value x, Value y) {
    return !x ? y : !y ? x : arith::AndIOp::create(b, loc, x, y);
  }

  Value readBits(Value stream, const IndexExpr &position, ValueRange dims,
                 ArrayRef<int64_t> sizes, unsigned count, int64_t granule,
                 Value isValid);
  Value findInPiece(const PlacedPiece &piece, ArrayRef<int64_t> shape,
                    ValueRange index, SmallVectorImpl<Value> &dims);
  Value readCode(const PlacedComponent &at, Value stream, ValueRange index);
  Value decode(const Bundle &bundle, ArrayRef<PlacedComponent> placed,
               ArrayRef<Value> streams, ArrayRef<int64_t> shape,
               ValueRange index);
};
} // namespace

/// Returns the number of bytes that hold `count` bits from any multiple of
/// `granule` on.
static int64_t getReach(unsigned count, int64_t granule) {
  return llvm::divideCeil(8 - granule + count, 8);
}

/// Emits `count` bits of `stream` from `position` on, a multiple of `granule`,
/// as an i32 or i64. If `isValid` is not null and is false, the position may be
/// anywhere, and so may be the result.
Value Emitter::readBits(Value stream, const IndexExpr &position,
                        ValueRange dims, ArrayRef<int64_t> sizes,
                        unsigned count, int64_t granule, Value isValid) {
  int64_t last = cast<RankedTensorType>(stream.getType()).getDimSize(0) - 1;
  Value byte = evaluate(takeDigit(position, 8, 0, sizes), dims, sizes), shift;
  if (granule < 8)
    shift = evaluate(takeDigit(position, 1, 8, sizes), dims, sizes);
  if (isValid)
    byte = arith::SelectOp::create(b, loc, isValid, byte, index(0));
  return joinBytes(getReach(count, granule), count, shift, [&](int64_t i) {
    Value at = i ? arith::AddIOp::create(b, loc, byte, index(i)) : byte;
    // The bits may end before the last of these bytes.
    if (i && (isValid || i * 8 >= count))
      at = arith::MinSIOp::create(b, loc, at, index(last));
    return tensor::ExtractOp::create(b, loc, stream, at).getResult();
  });
}

/// Sets `dims` to the index of a code relative to the box of `piece`, without
/// the bit. Returns an i1 that is true if it is in the box, or a null value if
/// every index of `shape` is.
Value Emitter::findInPiece(const PlacedPiece &piece, ArrayRef<int64_t> shape,
                           ValueRange index, SmallVectorImpl<Value> &dims) {
  Value isInside;
  for (auto [d, at] : llvm::enumerate(index)) {
    Value relative = at;
    if (piece.begin[d])
      relative = arith::SubIOp::create(b, loc, at, this->index(piece.begin[d]));
    dims.push_back(relative);
    // As an unsigned number, an index before the box is too large.
    if (piece.sizes[d] != shape[d])
      isInside =
          both(isInside,
               arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                     relative, this->index(piece.sizes[d])));
  }
  return isInside;
}

/// Emits the code of a component at an index, as an i32 or i64.
Value Emitter::readCode(const PlacedComponent &at, Value stream,
                        ValueRange index) {
  Value code;
  for (const PlacedPiece &piece : at.pieces) {
    SmallVector<Value> dims;
    Value isInside = findInPiece(piece, at.shape, index, dims);
    dims.push_back(this->index(0));
    auto position = [&](int64_t bit) { return getPosition(piece, bit); };
    auto visit = [&](int64_t bit, const IndexExpr &first, int64_t count) {
      Value bits = readBits(stream, first, dims, piece.sizes, count,
                            getAlignment(first), isInside);
      if (isInside)
        bits = arith::SelectOp::create(b, loc, isInside, bits,
                                       integer(bits.getType(), 0));
      code = joinCode(*at.component, code, bits, piece.begin.back() + bit);
      return true;
    };
    forEachRun(piece.sizes.back(), piece.sizes, position, visit);
  }
  return code;
}

/// Emits the value of the tensor at `index`, an f32, or the code itself if the
/// decode function is `value` and codes are integers.
Value Emitter::decode(const Bundle &bundle, ArrayRef<PlacedComponent> placed,
                      ArrayRef<Value> streams, ArrayRef<int64_t> shape,
                      ValueRange index) {
  SmallVector<StringRef> names = bundle.getStreams();
  SmallVector<Value> x;
  for (StringRef name : getComponentNames(bundle.decode)) {
    const PlacedComponent &at =
        *llvm::find_if(placed, [&](const PlacedComponent &c) {
          return c.component->name == name;
        });
    SmallVector<Value> digits;
    for (const BoundedIndex &digit : at.component->index)
      digits.push_back(evaluate(digit.value, index, shape));
    size_t stream = llvm::find(names, at.component->stream) - names.begin();
    Value code = readCode(at, streams[stream], digits);
    if (bundle.decode == Decode::Value &&
        !isa<FloatType>(at.component->element))
      return code;
    x.push_back(toNumber(*at.component, code));
  }
  return applyDecode<Value>(bundle.decode, x, *this);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Emits a loop over all indices of `type` whose result at an index is
/// emit(builder, index).
static Value emitLoop(OpBuilder &b, Location loc, RankedTensorType type,
                      function_ref<Value(OpBuilder &, ValueRange index)> emit) {
  Value empty =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location, ValueRange) {
    SmallVector<Value> index;
    for (int64_t d = 0; d < type.getRank(); ++d)
      index.push_back(linalg::IndexOp::create(inner, loc, d));
    linalg::YieldOp::create(inner, loc, emit(inner, index));
  };
  return linalg::GenericOp::create(b, loc, type, ValueRange(), empty,
                                   b.getMultiDimIdentityMap(type.getRank()),
                                   loops, body)
      .getResult(0);
}

static std::vector<PlacedComponent> place(RankedTensorType type) {
  Attribute encoding = type.getEncoding();
  return *placeBundle(*cast<BundleAttr>(encoding).getBundle(), encoding,
                      type.getShape(), nullptr);
}

static Value emitDecode(OpBuilder &b, ConvertOp op, ArrayRef<Value> streams) {
  RankedTensorType from = op.getSource().getType(),
                   to = op.getResult().getType();
  if (to.getNumElements() == 0)
    return tensor::EmptyOp::create(b, op.getLoc(), to.getShape(),
                                   to.getElementType());
  const Bundle &bundle = *cast<BundleAttr>(from.getEncoding()).getBundle();
  std::vector<PlacedComponent> placed = place(from);
  if (Value result =
          emitDecodeOfDigits(b, op.getLoc(), bundle, placed, streams, to))
    return result;
  return emitLoop(
      b, op.getLoc(), to, [&](OpBuilder &inner, ValueRange index) -> Value {
        Emitter emitter{{inner, op.getLoc()}};
        return emitter.toElement(
            emitter.decode(bundle, placed, streams, to.getShape(), index),
            to.getElementType());
      });
}

/// Returns the greatest granule that the new map and all old ones keep.
static int64_t getGranule(const PlacedPiece &piece, const CodeMove &move) {
  for (int64_t granule : {8, 4, 2}) {
    auto keeps = [&](const PlacedPiece &each) {
      return keepsGranules(each, granule);
    };
    if (keeps(piece) && llvm::all_of(move.from->pieces, keeps))
      return granule;
  }
  return 1;
}

/// Emits the granule at bit `shift` of byte `byte` of a new stream that `piece`
/// holds, as an i32 at its place in the byte, and `isHeld`, an i1 that is true
/// if there is one. Returns failure if the inverse of the map has no formula.
static FailureOr<Value> emitGranule(Emitter emitter, const CodeMove &move,
                                    Value stream, const PlacedPiece &piece,
                                    Value byte, int64_t shift, int64_t granule,
                                    Value &isHeld) {
  OpBuilder &b = emitter.b;
  Location loc = emitter.loc;
  IndexExpr point =
      add(scale(IndexExpr::dim(0), SizeExpr(8)), IndexExpr(SizeExpr(shift)));
  FailureOr<EmittedIndex> code =
      emitBackwardOfPoint(b, loc, piece.map, piece.sizes,
                          emitter.evaluate(point, byte, {ShapedType::kDynamic}),
                          emitter.getSizes(piece.sizes));
  if (failed(code))
    return failure();
  SmallVector<Value> index;
  for (auto [i, begin] : llvm::zip_equal(code->index, piece.begin))
    index.push_back(
        begin
            ? arith::AddIOp::create(b, loc, i, emitter.index(begin)).getResult()
            : i);
  SmallVector<int64_t> box(move.from->shape);
  box.push_back(move.from->component->getWidth());
  isHeld = code->isElement;
  Value zero = emitter.integer(b.getI32Type(), 0), result;
  for (const PlacedPiece &source : move.from->pieces) {
    SmallVector<Value> dims;
    Value isHere =
        emitter.both(isHeld, emitter.findInPiece(source, box, index, dims));
    Value bits =
        emitter.readBits(stream, source.map.getCoordinates().front().value,
                         dims, source.sizes, granule, granule, isHere);
    if (shift)
      bits = arith::ShLIOp::create(b, loc, bits,
                                   emitter.integer(b.getI32Type(), shift));
    bits = arith::SelectOp::create(b, loc, isHere, bits, zero);
    result = result ? arith::OrIOp::create(b, loc, result, bits) : bits;
  }
  return result;
}

/// Emits byte `byte` of a new stream of the given components, from `streams`, an i8. Bits that
/// no code has are those of `padding`. Returns failure if the inverse of a map
/// has no formula.
static FailureOr<Value> emitByte(Emitter emitter, ArrayRef<CodeMove> moves,
                                 ArrayRef<Value> streams, int64_t padding,
                                 Value byte) {
  OpBuilder &b = emitter.b;
  Location loc = emitter.loc;
  Type type = b.getI32Type();
  Value zero = emitter.integer(type, 0), result = zero,
        free = emitter.integer(type, padding);
  for (const CodeMove &move : moves)
    for (const PlacedPiece &piece : move.to->pieces) {
      int64_t granule = getGranule(piece, move);
      for (int64_t shift = 0; shift < 8; shift += granule) {
        Value isHeld;
        FailureOr<Value> bits =
            emitGranule(emitter, move, streams[move.source], piece, byte, shift,
                        granule, isHeld);
        if (failed(bits))
          return failure();
        result = arith::OrIOp::create(b, loc, result, *bits);
        if (!padding)
          continue;
        int64_t mask = ((1 << granule) - 1) << shift;
        Value kept =
            arith::AndIOp::create(b, loc, free, emitter.integer(type, ~mask));
        free = arith::SelectOp::create(b, loc, isHeld, kept, free);
      }
    }
  result = arith::OrIOp::create(b, loc, result, free);
  return arith::TruncIOp::create(b, loc, b.getI8Type(), result).getResult();
}

/// Emits a new stream of `bytes` bytes by a loop over these. Returns failure if
/// the inverse of a map has no formula.
static FailureOr<Value> emitByteLoop(OpBuilder &b, Location loc,
                                     ArrayRef<CodeMove> moves,
                                     ArrayRef<Value> streams, int64_t bytes,
                                     int64_t padding) {
  bool hasFormula = true;
  Value stream = emitLoop(
      b, loc, RankedTensorType::get(bytes, b.getI8Type()),
      [&](OpBuilder &inner, ValueRange index) -> Value {
        Emitter emitter{{inner, loc}};
        FailureOr<Value> byte =
            emitByte(emitter, moves, streams, padding, index.front());
        hasFormula &= succeeded(byte);
        return succeeded(byte) ? *byte : emitter.integer(inner.getI8Type(), 0);
      });
  if (!hasFormula)
    return failure();
  return stream;
}

/// Emits the streams of the result of a repack, by loop nests over digits if
/// both maps have them.
static FailureOr<Streams> emitRepack(OpBuilder &b, ConvertOp op,
                                     ArrayRef<Value> streams, bool inBlocks) {
  RankedTensorType from = op.getSource().getType(),
                   to = op.getResult().getType();
  const Bundle &source = *cast<BundleAttr>(from.getEncoding()).getBundle();
  const Bundle &target = *cast<BundleAttr>(to.getEncoding()).getBundle();
  std::vector<PlacedComponent> before = place(from), after = place(to);
  SmallVector<StringRef> names = source.getStreams();
  SmallVector<StreamNests> plans;
  Streams results;
  for (auto [name, count] :
       llvm::zip_equal(target.getStreams(), *getStreamBytes(target, after))) {
    SmallVector<CodeMove> moves;
    for (const PlacedComponent &mine : after)
      for (const PlacedComponent &other : before)
        if (mine.component->stream == name &&
            other.component->name == mine.component->name) {
          size_t at =
              llvm::find(names, other.component->stream) - names.begin();
          moves.push_back({&other, &mine, static_cast<unsigned>(at)});
        }
    int64_t padding = target.getPadding(name).value_or(0);
    if (auto nests = planByteNests(moves, count)) {
      plans.push_back(
          {std::move(*nests), count, static_cast<uint8_t>(padding)});
      results.push_back({});
      continue;
    }
    FailureOr<Value> stream =
        emitByteLoop(b, op.getLoc(), moves, streams, count, padding);
    if (failed(stream))
      return op.emitOpError()
             << "cannot repack to " << to
             << ": the inverse of a map into stream '" << name
             << "' has no formula; use digits with nested strides";
    results.push_back(*stream);
  }
  SmallVector<Value> planned =
      emitByteNests(b, op.getLoc(), plans, streams, inBlocks);
  auto *next = planned.begin();
  for (Value &result : results)
    if (!result)
      result = *next++;
  return results;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct LowerBundlesPass
    : mlir::layout::impl::LowerBundlesPassBase<LowerBundlesPass> {
  using LowerBundlesPassBase::LowerBundlesPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> lowered;
    WalkResult walked = getOperation()->walk([&](Operation *op) {
      return lower(op, lowered) ? WalkResult::advance()
                                : WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (Operation *op : llvm::reverse(lowered))
      op->erase();
    for (tensor::CollapseShapeOp view : views)
      fuseDecode(view);
  }

private:
  /// Lowers `op` if it is an op on bundles, and adds it to `lowered`. Reports
  /// an error and returns false if another op has a bundle.
  bool lower(Operation *op, SmallVectorImpl<Operation *> &lowered);

  DenseMap<Value, Streams> streams;           // of tensors with bundles
  SmallVector<tensor::CollapseShapeOp> views; // of decoded digits
};
} // namespace

bool LowerBundlesPass::lower(Operation *op,
                             SmallVectorImpl<Operation *> &lowered) {
  OpBuilder b(op);
  auto convert = dyn_cast<ConvertOp>(op);
  if (auto assemble = dyn_cast<AssembleOp>(op)) {
    streams[assemble.getResult()] = Streams(assemble.getStreams());
  } else if (auto view = dyn_cast<StreamsOp>(op);
             view && streams.count(view.getSource())) {
    view.replaceAllUsesWith(streams[view.getSource()]);
  } else if (convert && streams.count(convert.getSource())) {
    Streams source = streams[convert.getSource()];
    if (!isBundle(convert.getType())) {
      Value decoded = emitDecode(b, convert, source);
      convert.replaceAllUsesWith(decoded);
      if (auto view = decoded.getDefiningOp<tensor::CollapseShapeOp>())
        views.push_back(view);
    } else {
      FailureOr<Streams> results = emitRepack(b, convert, source, inBlocks);
      if (failed(results))
        return false;
      streams[convert.getResult()] = *results;
    }
  } else {
    auto hasBundle = [](TypeRange types) {
      return llvm::any_of(types, isBundle);
    };
    bool isBoundary = llvm::any_of(op->getRegions(), [&](Region &region) {
      return llvm::any_of(region, [&](Block &block) {
        return hasBundle(block.getArgumentTypes());
      });
    });
    if (!hasBundle(op->getOperandTypes()) && !hasBundle(op->getResultTypes()) &&
        !isBoundary)
      return true;
    op->emitOpError() << "has a tensor with a #layout.bundle: pass its streams "
                         "(layout.streams, layout.assemble), or decode it with "
                         "layout.convert";
    return false;
  }
  lowered.push_back(op);
  return true;
}
