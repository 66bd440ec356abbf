//===- Products.cpp - Matmuls as okk_bdc_matmul ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionEmitter.h"
#include "Layers.h"
#include "layout/Algebra/Box.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

namespace {
/// A linalg op as matrix products: the loop of the rows of the result (m,
/// std::nullopt for one row), that of its columns (n), and the summed loop (k).
/// `batch` has the number of each other loop and its index in this product.
struct Product {
  unsigned left, right; // operand numbers
  std::optional<unsigned> m;
  unsigned n, k;
  SmallVector<std::pair<unsigned, int64_t>> batch;
};
} // namespace

/// Returns the matrix of an operand that loops `row` (one row if std::nullopt)
/// and `column` index, at the indices `batch` of the other loops, or
/// std::nullopt if it is not in the matrix layout.
std::optional<FunctionEmitter::Matrix> FunctionEmitter::findMatrix(
    linalg::LinalgOp op, OpOperand &use, const Operand &operand,
    std::optional<unsigned> row, unsigned column,
    ArrayRef<std::pair<unsigned, int64_t>> batch) const {
  MLIRContext *context = op.getContext();
  SmallVector<int64_t> all = op.getStaticLoopRanges();
  int64_t rows = row ? all[*row] : 1, columns = all[column];
  const NpuScatterAttr &scatter = operand.storage.scatter;
  std::string axes = scatter.getScatter().getAxes().str();
  int64_t width = columns;
  for (auto [index, axis] :
       llvm::zip_equal(op.getMatchingIndexingMap(&use).getResults(), axes))
    if (index == getAffineDimExpr(column, context))
      width = axis == 'M'   ? std::min<int64_t>(scatter.getWidth(), columns)
              : axis == 'C' ? 1
                            : columns;
  int64_t whole = columns / width, rest = columns % width;
  AffineExpr d0 = getAffineDimExpr(0, context),
             d1 = getAffineDimExpr(1, context),
             d3 = getAffineDimExpr(3, context);
  auto find = [&](AffineExpr at, const LoopSizes &ranges) {
    LoopPlaces places(op);
    if (row)
      places.set(*row, d0);
    places.set(column, at);
    for (auto [loop, index] : batch)
      places.set(loop, getAffineConstantExpr(index, context));
    return findBox(operand, places.getIndex(use), ranges);
  };
  const LoopSizes wholeRanges{rows, whole, 1, width};
  std::optional<TransferSide> box = find(d1 * width + d3, wholeRanges);
  if (!box || box->byte % chip.getEuBytes() != 0)
    return std::nullopt;
  int64_t npus = chip.getNpus(), maxStride = getComputeLimits(chip).maxStride;
  LoopSizes wanted =
      getAlignedStrides(box->core, {rows, whole + (rest != 0), 1, width},
                        /*elementBytes=*/4, chip.getEuBytes(), npus);
  if (findUnaligned(*box, wholeRanges, wanted, npus) ||
      (maxStride && wanted[0] > maxStride))
    return std::nullopt;
  if (rest) {
    const LoopSizes restRanges{rows, 1, 1, rest};
    std::optional<TransferSide> last = find(d3 + whole * width, restRanges);
    TransferSide expected = *box;
    expected.strides = wanted;
    expected = getPartSide(expected, {0, whole, 0, 0}, 4, npus);
    if (!last || last->core != expected.core || last->byte != expected.byte ||
        findUnaligned(*last, restRanges, wanted, npus))
      return std::nullopt;
  }
  return Matrix{*box, width};
}

/// Returns true if the last column of `memref`, along `dim`, is also the last
/// one of the npu.alloc that it is a view of, so that no other element is after
/// it in its channel.
static bool endsWithMemory(Value memref, unsigned dim) {
  while (auto part = memref.getDefiningOp<SubViewOp>()) {
    auto source = cast<MemRefType>(part.getSource().getType());
    if (part.getOffsets()[dim] + part.getSizes()[dim] != source.getDimSize(dim))
      return false;
    memref = part.getSource();
  }
  while (auto view = memref.getDefiningOp<ViewOp>())
    memref = view.getSource();
  return isa_and_present<AllocOp>(memref.getDefiningOp());
}

/// Returns the loops by falling trip count.
static SmallVector<unsigned> sortByLength(ArrayRef<unsigned> loops,
                                          ArrayRef<int64_t> ranges) {
  SmallVector<unsigned> sorted(loops);
  llvm::stable_sort(sorted,
                    [&](auto x, auto y) { return ranges[x] > ranges[y]; });
  return sorted;
}

bool FunctionEmitter::emitAsProduct(linalg::LinalgOp op,
                                    ArrayRef<Operand> operands) {
  auto factors = getFactors(op);
  FailureOr<linalg::ContractionDimensions> dims = getProductDims(op);
  if (!factors || failed(dims) || dims->k.size() != 1)
    return false;
  OpOperand &output = *op.getDpsInitOperand(0);
  SmallVector<int64_t> all = op.getStaticLoopRanges();
  // One loop of each input becomes rows or columns; each index of the other
  // loops is a command.
  auto emitAs = [&](unsigned l, unsigned r, std::optional<unsigned> m,
                    unsigned n) {
    Product product{l, r, m, n, dims->k[0], {}};
    SmallVector<int64_t> batches;
    for (const auto &loops : {dims->batch, dims->m, dims->n})
      for (unsigned loop : loops)
        if (m != loop && n != loop) {
          product.batch.push_back({loop, 0});
          batches.push_back(all[loop]);
        }
    OpOperand &left = op->getOpOperand(l), &right = op->getOpOperand(r);
    unsigned columnDim = *op.getMatchingIndexingMap(&output).getResultPosition(
        getAffineDimExpr(n, op.getContext()));
    SmallVector<std::array<Matrix, 3>> found;
    auto get = [&](OpOperand &use, std::optional<unsigned> row,
                   unsigned column) {
      return findMatrix(op, use, operands[use.getOperandNumber()], row, column,
                        product.batch);
    };
    bool isProduct = forEachIndex(batches, [&](ArrayRef<int64_t> index) {
      for (auto [loop, at] : llvm::zip_equal(product.batch, index))
        loop.second = at;
      std::optional<Matrix> to = get(output, product.m, product.n),
                            from = get(left, product.m, product.k),
                            with = get(right, product.k, product.n);
      if (!to || !from || !with || to->width != with->width ||
          to->start.core != with->start.core)
        return false;
      // The command writes whole channels, so other columns must not be in the
      // last one.
      if (all[n] % to->width != 0 && !endsWithMemory(output.get(), columnDim))
        return false;
      found.push_back({*to, *from, *with});
      return true;
    });
    if (!isProduct)
      return false;
    for (auto &[to, from, with] : found)
      calls.call(calls.getFunction("matmul"),
                 {getAddress(output.get(), to.start),
                  getAddress(left.get(), from.start),
                  getAddress(right.get(), with.start), calls.getLocalAddress(0),
                  calls.getInt(product.m ? all[*product.m] : 1),
                  calls.getInt(all[product.k]), calls.getInt(all[product.n]),
                  calls.getInt(from.width), calls.getInt(to.width),
                  calls.getBool(false), calls.getBool(true)});
    return true;
  };
  auto [a, b] = *factors;
  // dims->m are loops of the first input, dims->n those of the second.
  if (a > b)
    std::swap(a, b);
  // Try the longest loops first, which need the fewest commands, and single
  // rows last.
  auto emit = [&](unsigned l, unsigned r, ArrayRef<unsigned> m,
                  ArrayRef<unsigned> n) {
    SmallVector<std::optional<unsigned>> rows;
    llvm::append_range(rows, sortByLength(m, all));
    rows.push_back(std::nullopt);
    return llvm::any_of(sortByLength(n, all), [&](unsigned column) {
      return llvm::any_of(rows, [&](std::optional<unsigned> row) {
        return emitAs(l, r, row, column);
      });
    });
  };
  return emit(a, b, dims->m, dims->n) || emit(b, a, dims->n, dims->m);
}
