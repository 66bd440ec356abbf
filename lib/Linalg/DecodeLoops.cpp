//===- DecodeLoops.cpp - Decodes as loops over digits ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecodeLoops.h"
#include "ByteNests.h"
#include "CodeEmitter.h"
#include "layout/Algebra/AffineMaps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The digits of the index of a tensor, from the slowest one of the first dim to
/// the fastest one of the last dim.
struct Digits {
  SmallVector<int64_t> extents;
  SmallVector<unsigned> loopOf; // the number of the loop of each digit
  SmallVector<ReassociationIndices> ofDims;
  /// The index of the tensor over the digits.
  SmallVector<IndexExpr> index;
};

/// A condition on an index over the digits: 0 <= value < size.
struct Range {
  AffineExpr value;
  int64_t size;
};

/// Adjacent bits of a code: `count` of them, from bit `offset` of the code on.
/// The first one is bit `shift` of the byte `byte`; both are over the digits.
/// The bits are 0 where a condition does not hold.
struct Bits {
  AffineExpr byte, shift;
  SmallVector<Range> conditions;
  unsigned count;
  int64_t offset;
  /// The number of bytes, and of the operand that is the first one.
  int64_t reach;
  unsigned operand;
};

class Decoder {
public:
  Decoder(MLIRContext *context, const Bundle &bundle,
          ArrayRef<PlacedComponent> placed, ArrayRef<int64_t> shape)
      : context(context), bundle(bundle), placed(placed), shape(shape) {}

  /// Plans the loops. Returns false if there are none.
  bool plan();
  Value emit(OpBuilder &b, Location loc, ArrayRef<Value> streams,
             RankedTensorType type);

private:
  IndexExpr getPosition(const PlacedComponent &at, const PlacedPiece &piece,
                        int64_t bit, ArrayRef<IndexExpr> index,
                        ArrayRef<int64_t> sizes);
  bool findDigits();
  bool findBits(const PlacedComponent &at, const PlacedPiece &piece,
                int64_t bytes, SmallVectorImpl<Bits> &bits);
  bool findConditions(const PlacedComponent &at, const PlacedPiece &piece,
                      SmallVectorImpl<Range> &conditions);
  AffineExpr toAffine(const IndexExpr &value) const;
  SmallVector<Value> getIndices(CodeEmitter emitter);
  Value emitCode(CodeEmitter emitter, unsigned component, ValueRange bytes);

  MLIRContext *context;
  const Bundle &bundle;
  ArrayRef<PlacedComponent> placed;
  ArrayRef<int64_t> shape;
  Digits digits;
  SmallVector<const PlacedComponent *> components; // those that decode reads
  SmallVector<SmallVector<Bits>> bitsOf;
};
} // namespace

/// Returns the position of bit `bit` of `piece` for the tensor's `index`, which
/// is over dims of the given sizes.
IndexExpr Decoder::getPosition(const PlacedComponent &at,
                               const PlacedPiece &piece, int64_t bit,
                               ArrayRef<IndexExpr> index,
                               ArrayRef<int64_t> sizes) {
  SmallVector<SizeExpr> ofTensor(shape), ofCodes;
  SmallVector<IndexExpr> dims;
  for (auto [digit, begin] : llvm::zip(at.component->index, piece.begin))
    dims.push_back(add(substitute(digit.value, index, ofTensor, sizes),
                       IndexExpr(SizeExpr(-begin)), sizes));
  dims.push_back(IndexExpr(SizeExpr(bit)));
  for (int64_t size : piece.sizes)
    ofCodes.push_back(SizeExpr(size));
  return substitute(piece.map.getCoordinates().front().value, dims, ofCodes,
                    sizes);
}

bool Decoder::findDigits() {
  SmallVector<IndexExpr> dims;
  for (size_t d = 0; d < shape.size(); ++d)
    dims.push_back(IndexExpr::dim(d));
  SmallVector<LinearPosition> positions;
  for (const PlacedComponent *at : components)
    for (const PlacedPiece &piece : at->pieces) {
      auto position =
          LinearPosition::get(getPosition(*at, piece, 0, dims, shape), shape);
      if (!position)
        return false;
      positions.push_back(std::move(*position));
    }
  for (auto [d, size] : llvm::enumerate(shape)) {
    SmallVector<ArrayRef<PositionTerm>> terms;
    for (const LinearPosition &position : positions)
      terms.push_back(position.terms[d]);
    auto units = findUnits(terms, size);
    if (!units || size % units->back())
      return false;
    // Codes of a component that differ in the fastest digit may share a byte,
    // and those of another one may be in different bytes.
    bool isInBytes = false, isAlongBytes = false;
    for (ArrayRef<PositionTerm> each : terms) {
      int64_t stride = getStride(each, 1);
      isInBytes |= stride % 8 != 0;
      isAlongBytes |= stride != 0 && stride % 8 == 0;
    }
    units->push_back(size);
    ReassociationIndices &own = digits.ofDims.emplace_back();
    IndexExpr index;
    for (size_t i = units->size() - 1; i-- > 0;) {
      int64_t extent = (*units)[i + 1] / (*units)[i];
      if (extent == 1 && (i || !own.empty()))
        continue;
      own.push_back(digits.extents.size());
      index = add(index, scale(IndexExpr::dim(digits.extents.size()),
                               SizeExpr((*units)[i])));
      digits.loopOf.push_back(digits.extents.size());
      digits.extents.push_back(extent);
    }
    digits.index.push_back(std::move(index));
    // Vectors are along bytes.
    if (isInBytes && !isAlongBytes && own.size() > 1)
      std::swap(digits.loopOf.back(), digits.loopOf.end()[-2]);
  }
  return true;
}

/// Returns `value` as an affine expression of the digits, or a null expression
/// if it has a swizzle.
AffineExpr Decoder::toAffine(const IndexExpr &value) const {
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < digits.extents.size(); ++d)
    dims.push_back(getAffineDimExpr(d, context));
  return isAffine(value) ? toAffineExpr(value, dims, {}, context)
                         : AffineExpr();
}

/// Finds the conditions under which a code is in `piece`.
bool Decoder::findConditions(const PlacedComponent &at,
                             const PlacedPiece &piece,
                             SmallVectorImpl<Range> &conditions) {
  SmallVector<SizeExpr> ofTensor(shape);
  for (auto [d, digit] : llvm::enumerate(at.component->index)) {
    if (piece.sizes[d] == at.shape[d])
      continue;
    AffineExpr value = toAffine(
        substitute(digit.value, digits.index, ofTensor, digits.extents));
    if (!value)
      return false;
    conditions.push_back({value - piece.begin[d], piece.sizes[d]});
  }
  return true;
}

bool Decoder::findBits(const PlacedComponent &at, const PlacedPiece &piece,
                       int64_t bytes, SmallVectorImpl<Bits> &bits) {
  ArrayRef<int64_t> sizes = digits.extents;
  SmallVector<Range> conditions;
  if (!findConditions(at, piece, conditions))
    return false;
  int64_t width = piece.sizes.back();
  auto position = [&](int64_t bit) {
    return getPosition(at, piece, bit, digits.index, sizes);
  };
  return forEachRun(
      width, sizes, position, [&](int64_t bit, IndexExpr first, int64_t count) {
        IndexExpr ofByte = takeDigit(first, 8, 0, sizes),
                  inByte = takeDigit(first, 1, 8, sizes);
        AffineExpr byte = toAffine(ofByte), shift = toAffine(inByte);
        // The bits of all iterations must end within as many bytes, and those where
        // conditions do not hold are read, too.
        std::optional<Interval> range = getRange(inByte, sizes),
                                place = getRange(ofByte, sizes);
        if (!byte || !shift || !range || !place)
          return false;
        int64_t reach = llvm::divideCeil(range->max + count, 8);
        if (reach > 8 ||
            reach != int64_t(llvm::divideCeil(range->min + count, 8)) ||
            place->min < 0 || place->max + reach > bytes)
          return false;
        bits.push_back({byte, shift, conditions, static_cast<unsigned>(count),
                        piece.begin.back() + bit, reach, 0});
        return true;
      });
}

bool Decoder::plan() {
  for (StringRef name : getComponentNames(bundle.decode)) {
    const auto *at = llvm::find_if(placed, [&](const PlacedComponent &each) {
      return each.component->name == name;
    });
    for (const PlacedPiece &piece : at->pieces)
      if (!piece.map.getReplicas().empty())
        return false;
    components.push_back(at);
  }
  std::optional<SmallVector<int64_t>> bytes = getStreamBytes(bundle, placed);
  SmallVector<StringRef> names = bundle.getStreams();
  if (!bytes || !findDigits())
    return false;
  unsigned operands = 0;
  for (const PlacedComponent *at : components) {
    SmallVector<Bits> &found = bitsOf.emplace_back();
    size_t stream = llvm::find(names, at->component->stream) - names.begin();
    for (const PlacedPiece &piece : at->pieces)
      if (!piece.isEmpty() && !findBits(*at, piece, (*bytes)[stream], found))
        return false;
    for (Bits &bits : found)
      operands += bits.reach, bits.operand = operands - bits.reach;
  }
  return true;
}

/// Emits the values of all digits.
SmallVector<Value> Decoder::getIndices(CodeEmitter emitter) {
  return llvm::map_to_vector(digits.loopOf, [&](unsigned loop) -> Value {
    return linalg::IndexOp::create(emitter.b, emitter.loc, loop);
  });
}

Value Decoder::emitCode(CodeEmitter emitter, unsigned component,
                        ValueRange bytes) {
  auto &[b, loc] = emitter;
  Value code;
  for (const Bits &bits : bitsOf[component]) {
    Value shift;
    if (!isa<AffineConstantExpr>(bits.shift)) {
      shift =
          affine::expandAffineExpr(b, loc, bits.shift, getIndices(emitter), {});
    } else if (int64_t by = cast<AffineConstantExpr>(bits.shift).getValue()) {
      shift = emitter.index(by);
    }
    Value word =
        emitter.joinBytes(bits.reach, bits.count, shift,
                          [&](int64_t i) { return bytes[bits.operand + i]; });
    for (const Range &condition : bits.conditions) {
      Value value = affine::expandAffineExpr(b, loc, condition.value,
                                             getIndices(emitter), {});
      // As an unsigned number, an index before the range is too large.
      Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          value, emitter.index(condition.size));
      word = arith::SelectOp::create(b, loc, holds, word,
                                     emitter.integer(word.getType(), 0));
    }
    code = emitter.joinCode(*components[component]->component, code, word,
                            bits.offset);
  }
  return code;
}

Value Decoder::emit(OpBuilder &b, Location loc, ArrayRef<Value> streams,
                    RankedTensorType type) {
  SmallVector<StringRef> names = bundle.getStreams();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  unsigned count = digits.extents.size();
  AffineMap order = AffineMap::getPermutationMap(digits.loopOf, context);
  for (auto [at, bits] : llvm::zip_equal(components, bitsOf))
    for (const Bits &each : bits)
      for (int64_t i = 0; i < each.reach; ++i) {
        Value stream =
            streams[llvm::find(names, at->component->stream) - names.begin()];
        AffineExpr byte = each.byte + i;
        // Linalg takes the extent of a loop that is a subscript by itself from
        // the operand.
        if (auto digit = dyn_cast<AffineDimExpr>(byte))
          stream = tensor::ExtractSliceOp::create(
              b, loc, stream, ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
              ArrayRef<OpFoldResult>{
                  b.getIndexAttr(digits.extents[digit.getPosition()])},
              ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
        operands.push_back(stream);
        maps.push_back(AffineMap::get(count, 0, byte).compose(order));
      }
  maps.push_back(order);
  Value init =
      tensor::EmptyOp::create(b, loc, digits.extents, type.getElementType());
  auto body = [&](OpBuilder &inner, Location, ValueRange bytes) {
    CodeEmitter emitter{inner, loc};
    SmallVector<Value> x;
    bool isCode = bundle.decode == Decode::Value &&
                  !isa<FloatType>(components.front()->component->element);
    for (unsigned i = 0; i < components.size(); ++i) {
      Value code = emitCode(emitter, i, bytes);
      x.push_back(isCode ? code
                         : emitter.toNumber(*components[i]->component, code));
    }
    Value value =
        isCode ? x.front() : applyDecode<Value>(bundle.decode, x, emitter);
    linalg::YieldOp::create(inner, loc,
                            emitter.toElement(value, type.getElementType()));
  };
  SmallVector<utils::IteratorType> parallel(count,
                                            utils::IteratorType::parallel);
  Value decoded = linalg::GenericOp::create(b, loc, init.getType(), operands,
                                            init, maps, parallel, body)
                      .getResult(0);
  return tensor::CollapseShapeOp::create(b, loc, type, decoded, digits.ofDims);
}

Value layout::emitDecodeOfDigits(OpBuilder &b, Location loc,
                                 const Bundle &bundle,
                                 ArrayRef<PlacedComponent> placed,
                                 ArrayRef<Value> streams,
                                 RankedTensorType type) {
  Decoder decoder(b.getContext(), bundle, placed, type.getShape());
  if (type.getRank() == 0 || !decoder.plan())
    return nullptr;
  return decoder.emit(b, loc, streams, type);
}

/// Returns true if `op` reduces and uses each element of `operand` once.
static bool usesOnce(linalg::LinalgOp op, OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!op.hasPureTensorSemantics() || !op.isDpsInput(&operand) ||
      !map.isProjectedPermutation() || op.getNumReductionLoops() == 0)
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (!map.isFunctionOfDim(loop) && extent != 1)
      return false;
  return true;
}

/// Transposes the other inputs of `op`, the user of the digits of `decode`, so
/// that their dims are in the order of the loops of `decode`, e.g. x[j, h] to
/// x[h, j] if h is a digit in bytes. Each is read for many digits of the weight.
static void orderInputs(IRRewriter &rewriter, linalg::GenericOp op,
                        linalg::GenericOp decode) {
  OpOperand *weight = nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == decode.getResult(0))
      weight = input;
  AffineMap order = decode.getIndexingMapsArray().back(),
            digits = op.getMatchingIndexingMap(weight);
  SmallVector<int64_t> position(op.getNumLoops(), -1);
  for (auto [digit, loop] :
       llvm::zip_equal(digits.getResults(), order.getResults()))
    position[cast<AffineDimExpr>(digit).getPosition()] =
        cast<AffineDimExpr>(loop).getPosition();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap &map = maps[input->getOperandNumber()];
    if (input == weight || !map.isProjectedPermutation())
      continue;
    auto permutation =
        llvm::to_vector(llvm::seq<int64_t>(0, map.getNumResults()));
    llvm::stable_sort(permutation, [&](int64_t a, int64_t b) {
      return position[map.getDimPosition(a)] < position[map.getDimPosition(b)];
    });
    if (llvm::is_sorted(permutation))
      continue;
    auto type = cast<RankedTensorType>(input->get().getType());
    Value init = tensor::EmptyOp::create(
        rewriter, op.getLoc(), applyPermutation(type.getShape(), permutation),
        type.getElementType());
    Value transposed =
        linalg::TransposeOp::create(rewriter, op.getLoc(), input->get(), init,
                                    permutation)
            ->getResult(0);
    SmallVector<AffineExpr> results(map.getResults());
    map = AffineMap::get(map.getNumDims(), 0,
                         applyPermutation(results, permutation),
                         rewriter.getContext());
    rewriter.modifyOpInPlace(op, [&] { input->set(transposed); });
  }
  op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

void layout::fuseDecode(tensor::CollapseShapeOp view) {
  auto decode = view.getSrc().getDefiningOp<linalg::GenericOp>();
  if (!view->hasOneUse())
    return;
  OpOperand &use = *view->use_begin();
  auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!user || !usesOnce(user, use))
    return;
  IRRewriter rewriter(view.getContext());
  rewriter.setInsertionPoint(user);
  if (!isa<linalg::GenericOp>(user) &&
      failed(linalg::generalizeNamedOp(rewriter, user)))
    return;
  // Expands the loops of the user by those of the digits.
  RewritePatternSet patterns(view.getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(
      patterns,
      [&](OpOperand *operand) { return operand->get() == view.getResult(); });
  (void)applyOpPatternsGreedily(view->use_begin()->getOwner(),
                                std::move(patterns));
  OpOperand &next = *decode->use_begin();
  if (!decode->hasOneUse() || !linalg::areElementwiseOpsFusable(&next))
    return;
  auto owner = cast<linalg::GenericOp>(next.getOwner());
  rewriter.setInsertionPoint(owner);
  orderInputs(rewriter, owner, decode);
  if (auto fused = linalg::fuseElementwiseOps(rewriter, &next);
      succeeded(fused)) {
    for (OpResult result : owner.getResults())
      rewriter.replaceAllUsesWith(result, fused->replacements.lookup(result));
    rewriter.eraseOp(owner);
    rewriter.eraseOp(decode);
  }
}
