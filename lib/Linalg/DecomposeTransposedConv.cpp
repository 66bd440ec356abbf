//===- DecomposeTransposedConv.cpp - Dense from transposed convolutions ---===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decomposes transposed convolutions, which importers write as a convolution of
// an image with zeros between its pixels, into sub-pixel convolutions. Results
// whose indices have the same remainder use the same taps and adjacent pixels.
// Each remainder thus has a dense convolution, whose results are inserted with
// a stride:
//
//   v[2 i + 1]  = x[i], the others 0
//   y[p]        = v[p] w[0] + v[p + 1] w[1] + v[p + 2] w[2]
//
//   y[2 t]      = x[t] w[1]
//   y[2 t + 1]  = x[t] w[0] + x[t + 1] w[2]
//
//===----------------------------------------------------------------------===//

#include "SpreadImage.h"
#include "layout/Linalg/Passes.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::layout {
#define GEN_PASS_DEF_DECOMPOSETRANSPOSEDCONVPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// The maximum number of dense convolutions that replace one op, a bound on
/// code size. An op that needs more is not rewritten.
static constexpr int64_t kMostConvolutions = 64;

//===----------------------------------------------------------------------===//
// Windows and remainders
//===----------------------------------------------------------------------===//

namespace {
/// A dim of the image, the first input, that is read at index `step` * result +
/// `dilation` * tap, where the tap is an index of the weights. Without
/// `tapDim`, there is no tap.
struct Window {
  unsigned imageDim = 0, resultDim = 0;
  std::optional<unsigned> tapDim; // of the weights
  int64_t step = 1, dilation = 1;
  AffineExpr result, tap; // the loops over them
  SpreadDim spread;
};

/// A dense convolution, which computes the results `apart` * t + `first`, t <
/// `count`. Each is the sum over m < `taps` of weight `tapStep` * m + `tap`
/// times pixel `step` * t + `dilation` * m + `pixel`. Pixels are the elements
/// of the image without the zeros between them; DenseWindow has the other
/// factors.
struct Remainder {
  int64_t first = 0, count = 0;
  int64_t tap = 0, taps = 0;
  int64_t pixel = 0;
};

/// The factors that all dense convolutions of a window share. Each computes
/// every `apart`-th result from every `tapStep`-th weight. From one of these
/// results to the next, the pixel that is read advances by `step`, and from one
/// of these weights to the next, by `dilation`.
struct DenseWindow {
  int64_t apart, tapStep, step, dilation;
  explicit DenseWindow(const Window &window) {
    int64_t stride = window.spread.stride;
    int64_t ofResults = std::gcd(stride, window.step);
    int64_t ofTaps = std::gcd(stride, window.dilation);
    apart = stride / ofResults;
    tapStep = stride / ofTaps;
    step = window.step / ofResults;
    dilation = window.dilation / ofTaps;
  }
  /// Returns the distance from the first to the last pixel that a dense
  /// convolution reads, in pixels, i.e. without the zeros between them.
  int64_t getReach(const Remainder &remainder) const {
    return (remainder.count - 1) * step + (remainder.taps - 1) * dilation;
  }
};
} // namespace

/// Returns how `op` reads dim `dim` of its first input. Returns std::nullopt
/// unless the index is the sum of a result loop and an optional loop of the
/// weights, each times a positive constant, and no other dim of the input reads
/// these loops.
static std::optional<Window> findWindow(linalg::LinalgOp op, unsigned dim) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // A coefficient for each loop, and a constant.
  SmallVector<int64_t> terms;
  if (failed(getFlattenedAffineExpr(maps[0].getResult(dim), op.getNumLoops(), 0,
                                    &terms)) ||
      terms.size() != op.getNumLoops() + 1 || terms.pop_back_val() != 0)
    return std::nullopt;
  Window window;
  window.imageDim = dim;
  for (auto [loop, factor] : llvm::enumerate(terms)) {
    if (factor == 0)
      continue;
    AffineExpr expr = getAffineDimExpr(loop, op.getContext());
    std::optional<unsigned> ofTap = maps[1].getResultPosition(expr);
    std::optional<unsigned> ofResult = maps[2].getResultPosition(expr);
    bool isOfThisDim = llvm::count_if(maps[0].getResults(), [&](AffineExpr e) {
                         return e.isFunctionOfDim(loop);
                       }) == 1;
    if (factor < 0 || !isOfThisDim)
      return std::nullopt;
    if (ofResult && !window.result && !maps[1].isFunctionOfDim(loop)) {
      window.resultDim = *ofResult;
      window.result = expr;
      window.step = factor;
    } else if (ofTap && !window.tap && !maps[2].isFunctionOfDim(loop)) {
      window.tapDim = *ofTap;
      window.tap = expr;
      window.dilation = factor;
    } else {
      return std::nullopt;
    }
  }
  if (!window.result)
    return std::nullopt;
  return window;
}

static SmallVector<Remainder> findRemainders(const Window &window,
                                             int64_t results, int64_t taps) {
  DenseWindow dense(window);
  SmallVector<Remainder> remainders;
  for (int64_t first = 0; first < std::min(dense.apart, results); ++first) {
    Remainder remainder{first,
                        llvm::divideCeilSigned(results - first, dense.apart)};
    for (int64_t tap = 0; tap < std::min(dense.tapStep, taps); ++tap) {
      int64_t position =
          first * window.step + tap * window.dilation - window.spread.offset;
      if (position % window.spread.stride != 0)
        continue;
      remainder.tap = tap;
      remainder.taps = llvm::divideCeilSigned(taps - tap, dense.tapStep);
      remainder.pixel = position / window.spread.stride;
    }
    remainders.push_back(remainder);
  }
  return remainders;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Returns true if `op`, e.g. a convolution or a matmul, sums products of two
/// inputs, and all its tensors have static shapes and no encodings.
static bool isConvolution(linalg::LinalgOp op) {
  auto isPlain = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.getEncoding() && tensor.hasStaticShape();
  };
  auto isProduct = [](Operation *product, Operation *sum) {
    return (isa<arith::MulFOp>(product) && isa<arith::AddFOp>(sum)) ||
           (isa<arith::MulIOp>(product) && isa<arith::AddIOp>(sum));
  };
  return op.hasPureTensorSemantics() && op.getNumDpsInputs() == 2 &&
         op.getNumDpsInits() == 1 &&
         llvm::all_of(op->getOperandTypes(), isPlain) &&
         linalg::detail::isContractionBody(*op.getBlock(), isProduct);
}

namespace {
/// A strided slice of a static tensor.
struct Slice {
  SmallVector<int64_t> offsets, sizes, strides;

  explicit Slice(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    offsets.assign(type.getRank(), 0);
    sizes.assign(type.getShape().begin(), type.getShape().end());
    strides.assign(type.getRank(), 1);
  }
  void set(unsigned d, int64_t offset, int64_t size, int64_t stride = 1) {
    offsets[d] = offset;
    sizes[d] = size;
    strides[d] = stride;
  }
  Value extract(OpBuilder &b, Location loc, Value tensor) const;
  Value insert(OpBuilder &b, Location loc, Value part, Value whole) const;
};

/// Rewrites a convolution of an image with zeros inserted between its pixels
/// (SpreadImage.h) as dense convolutions of the pixels alone.
class Densifier {
public:
  Densifier(RewriterBase &rewriter, linalg::LinalgOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()) {}

  /// Finds the tensor without the zeros, how the op reads each dim with zeros,
  /// and the dense convolutions along it. Returns false if the op is not a
  /// convolution of an image with zeros between its pixels, or needs more than
  /// kMostConvolutions dense ones.
  bool analyze();
  void rewrite();

private:
  void padPixels();
  void adaptMaps();
  Value makeInit(const Slice &slice);
  /// Emits the dense convolution that `chosen` describes along each window, and
  /// returns `whole` with its results inserted. Returns `whole` itself if all
  /// weights along a window meet zeros.
  Value convolve(ArrayRef<Remainder> chosen, Value whole);

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  Location loc;
  SpreadImage image;
  SmallVector<Window> windows;
  SmallVector<SmallVector<Remainder>> remainders; // of each window
  Value pixels;                                   // with a border of zeros
};
} // namespace

Value Slice::extract(OpBuilder &b, Location loc, Value tensor) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (sizes == type.getShape())
    return tensor;
  return tensor::ExtractSliceOp::create(
      b, loc, tensor, getAsIndexOpFoldResult(b.getContext(), offsets),
      getAsIndexOpFoldResult(b.getContext(), sizes),
      getAsIndexOpFoldResult(b.getContext(), strides));
}

Value Slice::insert(OpBuilder &b, Location loc, Value part, Value whole) const {
  return tensor::InsertSliceOp::create(
      b, loc, part, whole, getAsIndexOpFoldResult(b.getContext(), offsets),
      getAsIndexOpFoldResult(b.getContext(), sizes),
      getAsIndexOpFoldResult(b.getContext(), strides));
}

bool Densifier::analyze() {
  if (!isConvolution(op))
    return false;
  std::optional<SpreadImage> found = findSpreadImage(op->getOperand(0));
  if (!found || llvm::all_of(found->dims, [](const SpreadDim &dim) {
        return dim.stride == 1;
      }))
    return false;
  image = std::move(*found);
  Slice whole(op->getOperand(0)), weights(op->getOperand(1)),
      results(op->getOperand(2));
  int64_t count = 1;
  for (auto [d, dim] : llvm::enumerate(image.dims)) {
    if (image.isDense(d, whole.sizes[d]))
      continue;
    std::optional<Window> window = findWindow(op, d);
    if (!window)
      return false;
    window->spread = dim;
    remainders.push_back(
        findRemainders(*window, results.sizes[window->resultDim],
                       window->tapDim ? weights.sizes[*window->tapDim] : 1));
    windows.push_back(*window);
    count *= remainders.back().size();
  }
  return count > 0 && count <= kMostConvolutions;
}

/// Pads the tensor without the zeros by those that results read outside of it,
/// and makes the first pixels of the dense convolutions relative to the padded
/// tensor.
void Densifier::padPixels() {
  pixels = image.makePixels(rewriter);
  auto type = cast<RankedTensorType>(pixels.getType());
  SmallVector<int64_t> low(type.getRank(), 0), shape(type.getShape());
  for (auto [window, each] : llvm::zip_equal(windows, remainders)) {
    int64_t first = 0, end = window.spread.size;
    for (const Remainder &remainder : each) {
      if (remainder.taps == 0)
        continue;
      first = std::min(first, remainder.pixel);
      end = std::max(end, remainder.pixel +
                              DenseWindow(window).getReach(remainder) + 1);
    }
    for (Remainder &remainder : each)
      remainder.pixel -= first;
    low[window.imageDim] = -first;
    shape[window.imageDim] = end - first;
  }
  if (shape == type.getShape())
    return;
  SmallVector<OpFoldResult> before, behind;
  for (auto [border, size, old] :
       llvm::zip_equal(low, shape, type.getShape())) {
    before.push_back(rewriter.getIndexAttr(border));
    behind.push_back(rewriter.getIndexAttr(size - old - border));
  }
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  pixels = tensor::PadOp::create(rewriter, loc, type.clone(shape), pixels,
                                 before, behind, zero);
}

/// Replaces steps and dilations in the indexing map of the image, which count
/// the zeros between pixels, by those of the dense convolutions, which do not.
void Densifier::adaptMaps() {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineExpr> exprs(maps[0].getResults());
  for (const Window &window : windows) {
    DenseWindow dense(window);
    exprs[window.imageDim] = window.result * dense.step;
    if (window.tap)
      exprs[window.imageDim] =
          exprs[window.imageDim] + window.tap * dense.dilation;
  }
  AffineMap adapted =
      AffineMap::get(maps[0].getNumDims(), 0, exprs, op.getContext());
  if (adapted == maps[0])
    return;
  maps[0] = adapted;
  if (!isa<linalg::GenericOp>(op.getOperation()))
    op = *linalg::generalizeNamedOp(rewriter, op);
  cast<linalg::GenericOp>(op.getOperation())
      .setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

/// Returns the init of a dense convolution, which has the results in `slice`.
/// It is a smaller linalg.fill or linalg.broadcast if the init of the op is a
/// fill, or a broadcast along the result dims of all windows. Otherwise, it is
/// a slice of that init.
Value Densifier::makeInit(const Slice &slice) {
  Value init = op->getOperand(2);
  auto makeEmpty = [&]() -> Value {
    return tensor::EmptyOp::create(
        rewriter, loc, slice.sizes,
        cast<RankedTensorType>(init.getType()).getElementType());
  };
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(rewriter, loc, fill.value(), makeEmpty())
        .getResult(0);
  auto broadcast = init.getDefiningOp<linalg::BroadcastOp>();
  if (broadcast && llvm::all_of(windows, [&](const Window &window) {
        return llvm::is_contained(broadcast.getDimensions(), window.resultDim);
      }))
    return linalg::BroadcastOp::create(rewriter, loc, broadcast.getInput(),
                                       makeEmpty(), broadcast.getDimensions())
        ->getResult(0);
  return slice.extract(rewriter, loc, init);
}

Value Densifier::convolve(ArrayRef<Remainder> chosen, Value whole) {
  Slice ofPixels(pixels), ofWeights(op->getOperand(1)), ofResult(whole);
  for (auto [window, remainder] : llvm::zip_equal(windows, chosen)) {
    if (remainder.taps == 0)
      return whole;
    DenseWindow dense(window);
    ofPixels.set(window.imageDim, remainder.pixel,
                 dense.getReach(remainder) + 1);
    if (window.tapDim)
      ofWeights.set(*window.tapDim, remainder.tap, remainder.taps,
                    dense.tapStep);
    ofResult.set(window.resultDim, remainder.first, remainder.count,
                 dense.apart);
  }
  Value init = makeInit(ofResult);
  Value operands[] = {ofPixels.extract(rewriter, loc, pixels),
                      ofWeights.extract(rewriter, loc, op->getOperand(1)),
                      init};
  Operation *dense = clone(rewriter, op, init.getType(), operands);
  return ofResult.insert(rewriter, loc, dense->getResult(0), whole);
}

void Densifier::rewrite() {
  rewriter.setInsertionPoint(op);
  padPixels();
  adaptMaps();
  Value whole = op->getOperand(2);
  bool sumsAll = llvm::all_of(remainders, [](ArrayRef<Remainder> each) {
    return llvm::all_of(each, [](const Remainder &r) { return r.taps != 0; });
  });
  if (sumsAll) {
    auto type = cast<RankedTensorType>(whole.getType());
    whole = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                    type.getElementType());
  }
  // All combinations of remainders, those of the last window fastest.
  SmallVector<SmallVector<Remainder>> choices(1);
  for (ArrayRef<Remainder> each : remainders) {
    SmallVector<SmallVector<Remainder>> longer;
    for (ArrayRef<Remainder> choice : choices)
      for (const Remainder &remainder : each) {
        longer.emplace_back(choice);
        longer.back().push_back(remainder);
      }
    choices = std::move(longer);
  }
  for (ArrayRef<Remainder> choice : choices)
    whole = convolve(choice, whole);
  rewriter.replaceOp(op, whole);
}

namespace {
struct DecomposeTransposedConv
    : layout::impl::DecomposeTransposedConvPassBase<DecomposeTransposedConv> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    bool changed = false;
    for (linalg::LinalgOp op : ops) {
      Densifier densifier(rewriter, op);
      if (!densifier.analyze())
        continue;
      densifier.rewrite();
      changed = true;
    }
    // Erase the zeros, which have no users left.
    if (changed)
      (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};
} // namespace
