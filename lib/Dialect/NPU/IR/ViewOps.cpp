//===- ViewOps.cpp - Views of local memory --------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Views.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// SubViewOp
//===----------------------------------------------------------------------===//

/// Verifies that the box of the slice is within the source and not empty.
/// Otherwise emits an error and fails.
static LogicalResult verifySlice(MemRefType source, ArrayRef<int64_t> offsets,
                                 ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> strides,
                                 EmitErrorFn emitError) {
  size_t rank = source.getRank();
  if (offsets.size() != rank || sizes.size() != rank || strides.size() != rank)
    return emitError()
           << "needs an offset, a size and a stride for each of the " << rank
           << " dims";
  for (size_t d = 0; d < rank; ++d) {
    int64_t steps, last;
    if (offsets[d] < 0 || sizes[d] < 1 || strides[d] < 1 ||
        llvm::MulOverflow(sizes[d] - 1, strides[d], steps) ||
        llvm::AddOverflow(offsets[d], steps, last) ||
        last >= source.getDimSize(d))
      return emitError() << "dim " << d << " takes " << sizes[d]
                         << " elements from " << offsets[d] << " with stride "
                         << strides[d] << ", which are not among the "
                         << source.getDimSize(d) << " of the source";
  }
  return success();
}

/// Returns the map from indices of a slice to positions in local memory. If
/// there is none, emits the reason by `emitError` and fails.
static FailureOr<LayoutMap>
getSliceMap(const Storage &storage, MemRefType source,
            ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
            ArrayRef<int64_t> strides, EmitErrorFn emitError) {
  std::optional<LayoutMap> map =
      slice(storage.map, source.getShape(), offsets, sizes, strides, {},
            [&](const Twine &why) { emitError() << why; });
  if (!map)
    return failure();
  return *map;
}

/// Returns the type of a slice of some rows of a matrix with all their columns,
/// again as a matrix. Returns a null type if the slice has another form.
static MemRefType getRowsOfMatrix(const Storage &storage, MemRefType source,
                                  ArrayRef<int64_t> offsets,
                                  ArrayRef<int64_t> sizes,
                                  ArrayRef<int64_t> strides) {
  NpuScatterAttr whole = storage.scatter;
  auto getByte = [&] {
    for (const Coordinate &coordinate : storage.map.getCoordinates())
      if (coordinate.name == "offset")
        return coordinate.value.evaluate(offsets, source.getShape());
    return std::optional<int64_t>();
  };
  std::optional<int64_t> first = getByte();
  if (!first)
    return {};
  auto layout = NpuScatterAttr::get(
      source.getContext(), whole.getMode(), whole.getWidth(),
      whole.getStrides(), whole.getStart(), whole.getPack(),
      *first * storage.elementBytes, whole.getAxes(), whole.getTarget());
  MemRefType result = MemRefType::get(sizes, source.getElementType(), layout,
                                      source.getMemorySpace());
  auto ignore = [] { return InFlightDiagnostic(); };
  FailureOr<Storage> part = getStorage(result, ignore);
  FailureOr<LayoutMap> map =
      getSliceMap(storage, source, offsets, sizes, strides, ignore);
  return succeeded(part) && succeeded(map) &&
                 haveSamePoints(*map, part->map, sizes)
             ? result
             : MemRefType();
}

/// Returns for each of N, C, H and W the dim that has this letter in `axes`, or
/// -1 for a letter without a dim. Returns fewer than four dims if a letter has
/// several dims or the tensor is a matrix.
static SmallVector<int64_t> getDimsOfAxes(StringRef axes) {
  SmallVector<int64_t> dimOf;
  for (char axis : StringRef("NCHW")) {
    if (axes.count(axis) > 1 || axes.contains('M'))
      break;
    size_t dim = axes.find(axis);
    dimOf.push_back(dim == StringRef::npos ? -1 : int64_t(dim));
  }
  return dimOf;
}

/// Returns the #layout.npu_scatter in mode `strided` of a slice whose axes N,
/// C, H and W are the dims `dimOf`. Emits an error and returns a null attribute
/// if it is invalid.
static NpuScatterAttr
getStridedScatter(const Storage &storage, MemRefType source,
                  ArrayRef<int64_t> dimOf, ArrayRef<int64_t> offsets,
                  ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                  StringRef axes, EmitErrorFn emitError) {
  int64_t lanes = getLanes(storage.scatter.getPack());
  int64_t cores = storage.target.getNpus();
  // An index may exceed the tensor by one step: the formulas are valid there.
  auto point = [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> values;
    for (const Coordinate &coordinate : storage.map.getCoordinates())
      values.push_back(
          coordinate.value.evaluate(index, source.getShape()).value_or(0));
    return values;
  };
  SmallVector<int64_t> first(offsets), at = point(first);
  // The number of indices of N, C, H and W per stride: the batches that share a
  // storage unit, and the channels of one pass over the cores.
  int64_t perStep[] = {lanes, cores, 1, 1};
  SmallVector<int64_t> steps(4, 1);
  for (auto [axis, d] : llvm::enumerate(dimOf)) {
    if (d < 0)
      continue;
    SmallVector<int64_t> next(first);
    next[d] += perStep[axis] * strides[d];
    steps[axis] = (point(next)[1] - at[1]) / lanes;
  }
  auto sizeOf = [&](unsigned axis) {
    return dimOf[axis] < 0 ? 1 : sizes[dimOf[axis]];
  };
  // A single batch needs only the bytes up to its last element.
  if (llvm::divideCeil(sizeOf(0), lanes) == 1)
    steps[0] =
        (int64_t(llvm::divideCeil(at[0] + sizeOf(1), cores)) - 1) * steps[1] +
        (sizeOf(2) - 1) * steps[2] + (sizeOf(3) - 1) * steps[3] + 1;
  return NpuScatterAttr::getChecked(
      emitError, source.getContext(), NpuMode::Strided, int64_t(0),
      ArrayRef<int64_t>(steps), at[0], storage.scatter.getPack(),
      at[1] * storage.elementBytes, axes, storage.scatter.getTarget());
}

FailureOr<MemRefType> SubViewOp::inferType(MemRefType source,
                                           ArrayRef<int64_t> offsets,
                                           ArrayRef<int64_t> sizes,
                                           ArrayRef<int64_t> strides,
                                           EmitErrorFn emitError) {
  FailureOr<Storage> storage = getStorage(source, emitError);
  if (failed(storage) ||
      failed(verifySlice(source, offsets, sizes, strides, emitError)))
    return failure();
  std::string axes;
  SmallVector<int64_t> dimOf;
  bool isMatrix = false;
  if (storage->isLocal()) {
    axes = storage->scatter.getScatter().getAxes().str();
    isMatrix = storage->scatter.getMode() == NpuMode::Matrix;
    if (MemRefType rows = isMatrix ? getRowsOfMatrix(*storage, source, offsets,
                                                     sizes, strides)
                                   : MemRefType())
      return rows;
    // A matrix with one column per channel is a tensor of channels.
    if (isMatrix && storage->scatter.getWidth() == 1)
      std::replace(axes.begin(), axes.end(), 'M', 'C');
    dimOf = getDimsOfAxes(axes);
  }
  if (dimOf.size() != 4) {
    emitError()
        << "a slice needs the dims N, C, H and W, or whole rows of a matrix: "
           "choose such a slice, or slice the tensor in system memory";
    return failure();
  }
  NpuScatterAttr layout = getStridedScatter(
      *storage, source, dimOf, offsets, sizes, strides,
      isMatrix ? StringRef(axes) : storage->scatter.getAxes(), emitError);
  if (!layout)
    return failure();
  MemRefType result = MemRefType::get(sizes, source.getElementType(), layout,
                                      source.getMemorySpace());
  FailureOr<Storage> part = getStorage(result, emitError);
  FailureOr<LayoutMap> map =
      getSliceMap(*storage, source, offsets, sizes, strides, emitError);
  if (failed(part) || failed(map))
    return failure();
  if (haveSamePoints(*map, part->map, sizes))
    return result;
  emitError()
      << "the slice has no #layout.npu_scatter: its channels are not in "
         "successive cores, or its batches are not whole storage units";
  return failure();
}

LogicalResult SubViewOp::verify() {
  MemRefType source = getSource().getType(), result = getResult().getType();
  auto emit = [&] { return emitOpError(); };
  if (!isLocal(source) || !isLocal(result))
    return emitOpError() << "views local memory, found " << source << " and "
                         << result << ": memref.subview is for linear memory";
  FailureOr<Storage> whole = getStorage(source, emit);
  FailureOr<Storage> part = getStorage(result, emit);
  if (failed(whole) || failed(part) ||
      failed(verifySlice(source, getOffsets(), getSizes(), getStrides(), emit)))
    return failure();
  if (source.getElementType() != result.getElementType() ||
      result.getShape() != getSizes() || whole->target != part->target)
    return emitOpError() << "keeps element type and chip and has the sizes of "
                            "the slice, found "
                         << source << " and " << result;
  FailureOr<LayoutMap> map =
      getSliceMap(*whole, source, getOffsets(), getSizes(), getStrides(), emit);
  if (failed(map))
    return failure();
  if (haveSamePoints(*map, part->map, getSizes()))
    return success();
  InFlightDiagnostic diag = emitOpError();
  diag << "the elements of the slice are not where " << result
       << " has them (L7)";
  FailureOr<MemRefType> expected =
      SubViewOp::inferType(source, getOffsets(), getSizes(), getStrides(),
                           [&] { return emitRemark(); });
  if (succeeded(expected))
    diag << ": the type must be " << *expected;
  return diag;
}

//===----------------------------------------------------------------------===//
// ViewOp
//===----------------------------------------------------------------------===//

/// Returns `map` as a map of `rank` dims in elements that are `factor` times
/// smaller: dim d of `map` becomes the expression `dims[d]`, and the offset in
/// a core becomes offset * `factor` + `lane`.
static LayoutMap rewrite(const LayoutMap &map, unsigned rank,
                         ArrayRef<IndexExpr> dims, ArrayRef<int64_t> oldShape,
                         Sizes sizes, int64_t factor, const IndexExpr &lane) {
  std::vector<SizeExpr> sizeOf;
  for (int64_t size : oldShape)
    sizeOf.push_back(SizeExpr(size));
  std::vector<Coordinate> coordinates;
  for (const Coordinate &coordinate : map.getCoordinates()) {
    IndexExpr value = substitute(coordinate.value, dims, sizeOf, sizes);
    SizeExpr extent = coordinate.extent.specialize(oldShape);
    if (coordinate.name == "offset") {
      value = add(layout::scale(value, SizeExpr(factor), sizes), lane, sizes);
      extent = extent * SizeExpr(factor);
    }
    coordinates.push_back({coordinate.name, value, extent});
  }
  return LayoutMap::get(rank, map.getSpace(), coordinates);
}

/// Returns true if each element of `coarse` is the storage unit of several
/// elements of `fine`, e.g. an i32 that holds four i8 in 4N mode. Compares the
/// positions of both in elements of `fine`, lane by lane.
static bool isPackingOf(MemRefType fineType, const Storage &fine,
                        MemRefType coarseType, const Storage &coarse) {
  int64_t lanes = coarse.elementBytes / fine.elementBytes;
  if (coarse.elementBytes % fine.elementBytes != 0 || lanes < 2 ||
      fineType.getRank() != 4 || coarseType.getRank() != 4 ||
      getLanes(fine.scatter.getPack()) != lanes ||
      getLanes(coarse.scatter.getPack()) != 1 ||
      coarseType.getDimSize(0) !=
          int64_t(llvm::divideCeil(fineType.getDimSize(0), lanes)) ||
      coarseType.getShape().drop_front() != fineType.getShape().drop_front())
    return false;
  // The box is (m, c, h, w, lane) with n = m * lanes + lane.
  SmallVector<int64_t> box(coarseType.getShape());
  box.push_back(lanes);
  IndexExpr lane = IndexExpr::dim(4);
  IndexExpr n = add(scale(IndexExpr::dim(0), SizeExpr(lanes), box), lane, box);
  SmallVector<int64_t> fineShape(fineType.getShape());
  fineShape[0] = box[0] * lanes;
  LayoutMap left = rewrite(
      fine.map, 5, {n, IndexExpr::dim(1), IndexExpr::dim(2), IndexExpr::dim(3)},
      fineShape, box, 1, IndexExpr());
  LayoutMap right = rewrite(coarse.map, 5,
                            {IndexExpr::dim(0), IndexExpr::dim(1),
                             IndexExpr::dim(2), IndexExpr::dim(3)},
                            coarseType.getShape(), box, lanes, lane);
  return haveSamePoints(left, right, box);
}

/// Returns true if `tensor` has the shape (N, ceil(M / w), 1, w) and its
/// elements are at the positions of those of `matrix`, an N x M matrix in
/// channels of w columns.
static bool isMatrixOf(MemRefType matrixType, const Storage &matrix,
                       MemRefType tensorType, const Storage &tensor) {
  if (matrixType.getRank() != 2 || tensorType.getRank() != 4 ||
      matrix.elementBytes != tensor.elementBytes)
    return false;
  int64_t width = tensorType.getDimSize(3);
  if (tensorType.getDimSize(0) != matrixType.getDimSize(0) ||
      tensorType.getDimSize(2) != 1 || width < 1 ||
      tensorType.getDimSize(1) !=
          int64_t(llvm::divideCeil(matrixType.getDimSize(1), width)))
    return false;
  Sizes box = tensorType.getShape();
  IndexExpr column = add(scale(IndexExpr::dim(1), SizeExpr(width), box),
                         IndexExpr::dim(3), box);
  LayoutMap left = rewrite(matrix.map, 4, {IndexExpr::dim(0), column},
                           {box[0], box[1] * width}, box, 1, IndexExpr());
  return haveSamePoints(left, tensor.map, box);
}

/// Returns true if collapsing dims of `large` gives `small` and no element
/// moves.
static bool isReshapeOf(MemRefType largeType, const Storage &large,
                        MemRefType smallType, const Storage &small) {
  if (largeType.getRank() <= smallType.getRank() ||
      large.elementBytes != small.elementBytes)
    return false;
  std::optional<SmallVector<ReassociationIndices>> groups =
      getReassociationIndicesForCollapse(largeType.getShape(),
                                         smallType.getShape());
  if (!groups)
    return false;
  std::optional<LayoutMap> expanded =
      expandShape(small.map, *groups, largeType.getShape());
  return expanded && haveSamePoints(large.map, *expanded, largeType.getShape());
}

LogicalResult ViewOp::verify() {
  MemRefType from = getSource().getType(), to = getResult().getType();
  auto emit = [&] { return emitOpError(); };
  if (!isLocal(from) || !isLocal(to))
    return emitOpError() << "views local memory, found " << from << " and "
                         << to;
  FailureOr<Storage> source = getStorage(from, emit);
  FailureOr<Storage> result = getStorage(to, emit);
  if (failed(source) || failed(result))
    return failure();
  if (source->target != result->target)
    return emitOpError() << "keeps the chip, found " << source->target
                         << " and " << result->target;
  bool isSame = source->elementBytes == result->elementBytes &&
                from.getShape() == to.getShape() &&
                haveSamePoints(source->map, result->map, from.getShape());
  if (isSame || isPackingOf(from, *source, to, *result) ||
      isPackingOf(to, *result, from, *source) ||
      isMatrixOf(from, *source, to, *result) ||
      isMatrixOf(to, *result, from, *source) ||
      isReshapeOf(from, *source, to, *result) ||
      isReshapeOf(to, *result, from, *source))
    return success();
  return emitOpError()
         << "the elements of " << to << " are not those of " << from
         << ": a view keeps the shape and the positions, merges the P elements "
            "of a storage unit into one, views a tensor (N, C, 1, w) as a "
            "matrix, or expands or collapses dims";
}
