//===- GroupByteProducts.cpp - Sums of byte products by words -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces four iterations of a reduction over products of bytes by one over
// words of four bytes, so that kernels read, pack, broadcast and accumulate
// 32-bit elements as in a product of f32:
//
//   c[m][n] += a[m][k] * b[k][n]      a: 6x64xi8, b: 64x32xi8
//   c[m][n] += dot(A[m][k], B[k][n])  A: 6x16xi32, B: 16x32xi32
//
//   A[m][k] has the bytes a[m][4 * k .. 4 * k + 3], so it is a view of a
//   B[k][n] has the bytes b[4 * k .. 4 * k + 3][n], a constant or a copy
//
// A reduction that is not a multiple of four is padded with zeros.
//
// If no instruction adds the products of bytes, and each word is used often, the
// words are those of two 16-bit halves, and twice as many. A kernel then extends
// no bytes.
//
//===----------------------------------------------------------------------===//

#include "CpuParams.h"
#include "Kernels/ByteWords.h"
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::layout {
#define GEN_PASS_DEF_GROUPBYTEPRODUCTSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// The minimum number of products with each element of an operand that is
/// copied at run time.
static constexpr int64_t kLeastUses = 4;

namespace {
/// A linalg op that sums the products of two tensors of bytes.
struct ByteProducts {
  linalg::LinalgOp op;
  /// True for each input whose bytes are unsigned.
  std::array<bool, 2> isUnsigned;
  /// The input whose last dim is `dim`, so that it is viewed as words. The
  /// words of the other input are gathered from `dim`.
  unsigned viewed;
  /// The reduction loop of which four iterations become one.
  unsigned dim;
  /// The parallel loop that becomes the last dim of the other input, if any.
  std::optional<unsigned> column;

  AffineMap map(unsigned input) const {
    linalg::LinalgOp own = op;
    return own.getMatchingIndexingMap(own.getDpsInputOperand(input));
  }
};

/// The parts of a word.
enum class WordParts { Bytes, UnsignedHalves, SignedHalves };

/// Maps a constant, its dims of words and of columns (-1 if there is none), and
/// the parts of words to the packed constant.
using PackedWords =
    DenseMap<std::tuple<Attribute, int64_t, int64_t, WordParts>, ElementsAttr>;

/// An input as a tensor of words, and its map.
struct Words {
  Value tensor;
  AffineMap map;
};
} // namespace

/// Returns which inputs are unsigned if the body of `op` adds the i32 product
/// of two extended bytes, one of each input, to its only result, and does
/// nothing else.
static std::optional<std::array<bool, 2>> matchBody(linalg::LinalgOp op) {
  constexpr size_t opsOfBody = 5;
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1)
    return std::nullopt;
  Block *body = op.getBlock();
  auto isSum = [](Operation *multiply, Operation *add) {
    return isa<arith::MulIOp>(multiply) && isa<arith::AddIOp>(add) &&
           multiply->getResult(0).getType().isInteger(32);
  };
  if (body->getOperations().size() != opsOfBody ||
      !linalg::detail::isContractionBody(*body, isSum))
    return std::nullopt;
  std::array<bool, 2> isUnsigned;
  for (unsigned input : {0u, 1u}) {
    BlockArgument byte = body->getArgument(input);
    if (!byte.getType().isInteger(8) || !byte.hasOneUse() ||
        !isa<arith::ExtUIOp, arith::ExtSIOp>(*byte.user_begin()))
      return std::nullopt;
    isUnsigned[input] = isa<arith::ExtUIOp>(*byte.user_begin());
  }
  return isUnsigned;
}

/// Returns the position of `dim` in the results of `map`, or std::nullopt
/// unless exactly one result depends on it, the dim itself.
static std::optional<unsigned> findPosition(AffineMap map, unsigned dim) {
  std::optional<unsigned> position =
      map.getResultPosition(getAffineDimExpr(dim, map.getContext()));
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (i != position && expr.isFunctionOfDim(dim))
      return std::nullopt;
  return position;
}

/// Returns true if there are at least `least` products with each element of an
/// input, or if their number is not known.
static bool isUsedOften(linalg::LinalgOp op, AffineMap map, int64_t least) {
  int64_t uses = 1;
  for (auto [dim, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    if (!map.isFunctionOfDim(dim))
      uses = std::min(least, uses * (ShapedType::isDynamic(extent)
                                         ? least
                                         : std::min(extent, least)));
  return uses >= least;
}

/// Returns true if the words of `input` are a constant or a view, or if each
/// element of their copy is used often.
static bool isWorthCopy(const ByteProducts &products, unsigned input) {
  linalg::LinalgOp op = products.op;
  OpOperand *operand = op.getDpsInputOperand(input);
  AffineMap map = products.map(input);
  if (matchPattern(operand->get(), m_Constant()))
    return true;
  unsigned position = *findPosition(map, products.dim);
  bool isView = position + 1 == map.getNumResults() &&
                op.getShape(operand)[position] % kWordBytes == 0;
  return isView || isUsedOften(op, map, kLeastUses);
}

/// Returns true if the reduction is a dim of static size in the type of `input`
/// and no other index depends on it, and if cpu.view_words and the copies
/// before it support the rank.
static bool hasReducedDim(const ByteProducts &products, unsigned input) {
  constexpr unsigned mostDims = 7;
  linalg::LinalgOp op = products.op;
  AffineMap map = products.map(input);
  std::optional<unsigned> position = findPosition(map, products.dim);
  return position && map.getNumResults() <= mostDims &&
         !ShapedType::isDynamic(
             op.getShape(op.getDpsInputOperand(input))[*position]);
}

/// Returns the products if `products.viewed` can be viewed as words, else
/// std::nullopt.
static std::optional<ByteProducts> findWords(ByteProducts products) {
  linalg::LinalgOp op = products.op;
  AffineMap own = products.map(products.viewed),
            other = products.map(1 - products.viewed);
  if (own.getNumResults() == 0 || !other.isProjectedPermutation())
    return std::nullopt;
  auto last = dyn_cast<AffineDimExpr>(own.getResults().back());
  if (!last)
    return std::nullopt;
  products.dim = last.getPosition();
  if (op.getIteratorTypesArray()[products.dim] !=
          utils::IteratorType::reduction ||
      op.getStaticLoopRanges()[products.dim] < kLeastGrouped ||
      !hasReducedDim(products, 0) || !hasReducedDim(products, 1))
    return std::nullopt;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : llvm::reverse(result.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && other.isFunctionOfDim(dim.getPosition()) &&
        !own.isFunctionOfDim(dim.getPosition())) {
      products.column = dim.getPosition();
      break;
    }
  if (!isWorthCopy(products, 0) || !isWorthCopy(products, 1))
    return std::nullopt;
  return products;
}

/// Returns how to group the products of `op`, or std::nullopt if they cannot be
/// grouped. If both inputs can be viewed as words, the one without the last dim
/// of the result is.
static std::optional<ByteProducts> findProducts(linalg::LinalgOp op) {
  std::optional<std::array<bool, 2>> isUnsigned = matchBody(op);
  // Without iterations, a constant may have no bytes to pack.
  if (!isUnsigned || llvm::is_contained(op.getStaticLoopRanges(), 0))
    return std::nullopt;
  std::optional<ByteProducts> found;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (unsigned viewed : {0u, 1u}) {
    std::optional<ByteProducts> products =
        findWords({op, *isUnsigned, viewed, 0, std::nullopt});
    if (!products)
      continue;
    if (products->column &&
        result.getResults().back() ==
            getAffineDimExpr(*products->column, op->getContext()))
      return products;
    if (!found)
      found = products;
  }
  return found;
}

/// Returns input `input` as words, of 16-bit halves if `asHalves`. Adds packed
/// constants to `known`.
static FailureOr<Words> group(OpBuilder &b, const ByteProducts &products,
                              unsigned input, bool asHalves,
                              PackedWords &known) {
  linalg::LinalgOp op = products.op;
  Value value = op.getDpsInputOperand(input)->get();
  AffineMap map = products.map(input);
  Location loc = op.getLoc();
  bool isViewed = input == products.viewed;
  WordDims dims;
  dims.from = *findPosition(map, products.dim);
  SmallVector<AffineExpr> results;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (!isViewed && products.column &&
        expr == b.getAffineDimExpr(*products.column))
      dims.column = i;
    else if (int64_t(i) != dims.from)
      dims.others.push_back(i);
  }
  for (int64_t dim : dims.others)
    results.push_back(map.getResult(dim));
  results.push_back(map.getResult(dims.from));
  if (dims.column)
    results.push_back(map.getResult(*dims.column));
  Words words{value,
              AffineMap::get(map.getNumDims(), 0, results, b.getContext())};
  int64_t wordDim = dims.others.size();
  ElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    WordParts parts = !asHalves                    ? WordParts::Bytes
                      : products.isUnsigned[input] ? WordParts::UnsignedHalves
                                                   : WordParts::SignedHalves;
    ElementsAttr &packed =
        known[{constant, dims.from, dims.column.value_or(-1), parts}];
    if (!packed) {
      packed = packWords(constant, dims);
      if (!packed)
        return failure();
      if (asHalves)
        packed = extendToHalves(packed, wordDim, products.isUnsigned[input]);
    }
    words.tensor = arith::ConstantOp::create(b, loc, cast<TypedAttr>(packed));
    return words;
  }
  words.tensor = padToWords(b, loc, value, dims.from);
  if (dims.from + 1 == map.getNumResults()) {
    words.map = map;
    wordDim = dims.from;
    words.tensor = viewWords(b, loc, words.tensor);
  } else {
    words.tensor = copyWords(b, loc, words.tensor, dims);
  }
  if (asHalves)
    words.tensor = extendToHalves(b, loc, words.tensor, wordDim,
                                  products.isUnsigned[input]);
  return words;
}

/// Returns `init` plus `offsets`, a constant whose dims are the loops `dims`.
static Value addOffsets(OpBuilder &b, const ByteProducts &products, Value init,
                        DenseElementsAttr offsets, ArrayRef<AffineExpr> dims) {
  linalg::LinalgOp op = products.op;
  Location loc = op.getLoc();
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<AffineExpr> positions;
  for (AffineExpr dim : dims)
    positions.push_back(b.getAffineDimExpr(*result.getResultPosition(dim)));
  unsigned rank = result.getNumResults();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  Value constant = arith::ConstantOp::create(b, loc, offsets);
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, init), b.getI32Type());
  return linalg::GenericOp::create(
             b, loc, init.getType(), ValueRange{init, constant}, empty,
             {identity, AffineMap::get(rank, 0, positions, b.getContext()),
              identity},
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [](OpBuilder &b, Location loc, ValueRange args) {
               Value sum = arith::AddIOp::create(b, loc, args[0], args[1]);
               linalg::YieldOp::create(b, loc, sum);
             })
      .getResult(0);
}

/// Makes one of two signed inputs unsigned if the other one, y, is constant:
///
///   sum x y = sum (x + 128) y - 128 sum y
///
/// Flips the signs of x in `inputs` and returns the init with the last term,
/// or returns `init` if no input is made unsigned.
static Value makeMixed(OpBuilder &b, ByteProducts &products,
                       MutableArrayRef<Value> inputs, Value init) {
  linalg::LinalgOp op = products.op;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (unsigned input : {0u, 1u}) {
    ElementsAttr constant;
    AffineMap map = products.map(1 - input);
    if (products.isUnsigned[0] || products.isUnsigned[1] ||
        !map.isProjectedPermutation() ||
        matchPattern(op.getDpsInputOperand(input)->get(), m_Constant()) ||
        !matchPattern(op.getDpsInputOperand(1 - input)->get(),
                      m_Constant(&constant)))
      continue;
    SmallVector<int64_t> kept;
    SmallVector<AffineExpr> dims;
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (result.getResultPosition(expr)) {
        kept.push_back(i);
        dims.push_back(expr);
      }
    DenseElementsAttr offsets = sumSignedBytes(constant, kept);
    if (!offsets)
      continue;
    inputs[input] = flipSigns(b, op.getLoc(), inputs[input]);
    products.isUnsigned[input] = true;
    return addOffsets(b, products, init, offsets, dims);
  }
  return init;
}

static void replace(RewriterBase &rewriter, ByteProducts products,
                    const CpuModelParams &target, PackedWords &known) {
  linalg::LinalgOp op = products.op;
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  bool asHalves =
      !hasByteProducts(target) && llvm::all_of(ArrayRef{0u, 1u}, [&](auto i) {
        return isUsedOften(op, products.map(i), kLeastUsesOfHalves);
      });
  for (unsigned input : {0u, 1u}) {
    FailureOr<Words> words = group(rewriter, products, input, asHalves, known);
    if (failed(words))
      return;
    inputs.push_back(words->tensor);
    maps.push_back(words->map);
  }
  maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  Value init = op.getDpsInits()[0];
  if (hasByteProducts(target))
    init = makeMixed(rewriter, products, inputs, init);
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, op->getResultTypes(), inputs, init, maps, op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value dot =
            asHalves ? Value(cpu::DotHalvesOp::create(b, loc, args[0], args[1]))
                     : cpu::DotBytesOp::create(b, loc, args[0], args[1],
                                               products.isUnsigned[0],
                                               products.isUnsigned[1]);
        Value sum = arith::AddIOp::create(b, loc, args[2], dot);
        linalg::YieldOp::create(b, loc, sum);
      });
}

namespace {
struct GroupByteProducts
    : layout::impl::GroupByteProductsPassBase<GroupByteProducts> {
  void runOnOperation() override {
    SmallVector<std::pair<ByteProducts, CpuModelParams>> found;
    getOperation()->walk([&](linalg::LinalgOp op) {
      CpuModelParams target = getCpuParams(op);
      if (!groupsBytes(target))
        return;
      if (std::optional<ByteProducts> products = findProducts(op))
        found.push_back({*products, target});
    });
    IRRewriter rewriter(&getContext());
    PackedWords known;
    for (const auto &[products, target] : found)
      replace(rewriter, products, target, known);
  }
};
} // namespace
