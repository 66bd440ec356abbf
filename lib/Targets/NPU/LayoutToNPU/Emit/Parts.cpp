//===- Parts.cpp - Parts, views and conversions of tensors ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/ProgramBuilder.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Targets/NPU/NpuParts.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if each use of a tensor, if any, inserts it into a tensor in
/// system memory. It is then stored directly into these slices.
static bool isOnlyInserted(Value tensor) {
  return llvm::all_of(tensor.getUses(), [](OpOperand &use) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    return insert && &insert.getSourceMutable() == &use &&
           !insert.getDestType().getEncoding();
  });
}

/// Creates a view of `source`, local memory, with the layout of `type`. Raises
/// the alignment of the npu.alloc if that layout needs more. Copies the source
/// first if the view cannot begin at its byte offset.
Value ProgramBuilder::makeView(Location loc, RankedTensorType type,
                               Value source) {
  FailureOr<npu::Storage> storage = npu::getStorage(
      getMemRefType(type), [&] { return mlir::emitError(loc); });
  // An in-place part of a concatenation has a byte offset.
  MemRefType view = getMemRefType(type);
  auto from =
      cast<NpuScatterAttr>(cast<MemRefType>(source.getType()).getLayout());
  if (int64_t byte = from.getOffset()) {
    auto layout = cast<NpuScatterAttr>(view.getLayout());
    auto moved = NpuScatterAttr::get(builder.getContext(), layout.getMode(),
                                     layout.getWidth(), layout.getStrides(),
                                     layout.getStart(), layout.getPack(), byte,
                                     layout.getAxes(), layout.getTarget());
    if (failed(
            moved.resolve(type.getShape(), type.getElementType(), nullptr))) {
      // If the view cannot begin at this byte, the part is copied.
      auto part = cast<MemRefType>(source.getType());
      auto first = NpuScatterAttr::get(builder.getContext(), from.getMode(),
                                       from.getWidth(), from.getStrides(),
                                       from.getStart(), from.getPack(), 0,
                                       from.getAxes(), from.getTarget());
      Value whole =
          makeLocal(loc, RankedTensorType::get(part.getShape(),
                                               part.getElementType(), first));
      copy(loc, source, whole);
      return makeView(loc, type, whole);
    }
    view = MemRefType::get(view.getShape(), view.getElementType(),
                           MemRefLayoutAttrInterface(moved),
                           view.getMemorySpace());
  }
  auto alloc = npu::getViewedMemory(source).getDefiningOp<npu::AllocOp>();
  if (succeeded(storage) && alloc) {
    int64_t alignment = npu::getAlignment(*storage);
    if (int64_t(alloc.getAlignment().value_or(1)) < alignment)
      alloc.setAlignmentAttr(builder.getI64IntegerAttr(alignment));
  }
  return npu::ViewOp::create(builder, loc, view, source);
}

/// Copies `source`, the memory of the result of `op`, to its slice of a
/// tensor.concat result, if the concatenation is the only use and both results
/// are in system memory. Returns false, and copies nothing, otherwise. Fails if
/// no memref type describes the slice.
FailureOr<bool> ProgramBuilder::storePart(Operation *op, Value source) {
  Value stored = op->getResult(0);
  auto type = cast<RankedTensorType>(stored.getType());
  auto concat = stored.hasOneUse()
                    ? dyn_cast<tensor::ConcatOp>(*stored.user_begin())
                    : tensor::ConcatOp();
  if (!concat || type.getEncoding() || concat.getResultType().getEncoding())
    return false;
  Value whole = memory.lookup(concat.getResult());
  if (!whole)
    whole = memory[concat.getResult()] =
        makeMemory(concat.getLoc(), concat.getResult());
  unsigned number = stored.use_begin()->getOperandNumber();
  ArrayRef<int64_t> sizes = type.getShape();
  SmallVector<int64_t> ones(sizes.size(), 1);
  FailureOr<Value> part =
      getPart(op, whole, getPartOffsets(concat)[number], sizes, ones, sizes);
  if (failed(part))
    return failure();
  copy(op->getLoc(), source, *part);
  memory[stored] = madeInPlace[stored] = *part;
  return true;
}

LogicalResult ProgramBuilder::lowerConvert(ConvertOp op) {
  Location loc = op.getLoc();
  RankedTensorType from = op.getSource().getType(),
                   to = op.getResult().getType();
  for (RankedTensorType type : {from, to})
    if (type.getEncoding() && !isa<NpuScatterAttr>(type.getEncoding()))
      return op.emitOpError()
             << "needs plain tensors in system memory or tensors in local "
                "memory, found "
             << type << ": give it no layout, or a #layout.npu_scatter";
  Value source = getMemory(op.getSource());
  FailureOr<bool> isStored = storePart(op, source);
  if (failed(isStored) || *isStored)
    return LogicalResult(isStored);
  if (!to.getEncoding() && isOnlyInserted(op.getResult())) {
    memory[op.getResult()] = source;
    return success();
  }
  if (from.getEncoding() && to.getEncoding()) {
    auto emit = [&] { return op.emitOpError(); };
    FailureOr<npu::Storage> a = npu::getStorage(getMemRefType(from), emit);
    FailureOr<npu::Storage> b = npu::getStorage(getMemRefType(to), emit);
    if (failed(a) || failed(b))
      return failure();
    if (!inPlaceParts.contains(op.getResult()) &&
        npu::haveSamePoints(a->map, b->map, to.getShape())) {
      memory[op.getResult()] = makeView(loc, to, source);
      return success();
    }
  }
  Value dest = makeMemory(loc, op.getResult());
  copy(loc, source, dest);
  memory[op.getResult()] = dest;
  return success();
}

/// Returns the slice `offsets`, `sizes`, `strides` of `memref` as a view of the
/// shape `shape`, which may omit dims of size 1. Fails, with an error, if a
/// slice of local memory has no layout.
FailureOr<Value> ProgramBuilder::getPart(Operation *op, Value memref,
                                         ArrayRef<int64_t> offsets,
                                         ArrayRef<int64_t> sizes,
                                         ArrayRef<int64_t> strides,
                                         ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(memref.getType());
  Location loc = op->getLoc();
  if (!npu::isLocal(type)) {
    auto toAttrs = [&](ArrayRef<int64_t> values) {
      return getAsIndexOpFoldResult(builder.getContext(), values);
    };
    MemRefType part = memref::SubViewOp::inferRankReducedResultType(
        shape, type, offsets, sizes, strides);
    return memref::SubViewOp::create(builder, loc, part, memref,
                                     toAttrs(offsets), toAttrs(sizes),
                                     toAttrs(strides))
        .getResult();
  }
  FailureOr<MemRefType> part =
      npu::SubViewOp::inferType(type, offsets, sizes, strides, [&] {
        return op->emitError()
               << "'" << op->getName() << "' reads or writes a part of " << type
               << ": ";
      });
  if (failed(part))
    return failure();
  Value view = npu::SubViewOp::create(builder, loc, *part, memref, offsets,
                                      sizes, strides);
  if (shape.size() == sizes.size())
    return view;
  // Omit the axis of each dim of size 1 that is omitted from the shape.
  auto dropped = computeRankReductionMask(sizes, shape);
  auto layout = cast<NpuScatterAttr>(part->getLayout());
  if (!dropped)
    return failure();
  std::string axes;
  for (auto [d, axis] : llvm::enumerate(layout.getScatter().getAxes()))
    if (!dropped->contains(d))
      axes += axis;
  auto flat = NpuScatterAttr::get(builder.getContext(), layout.getMode(),
                                  layout.getWidth(), layout.getStrides(),
                                  layout.getStart(), layout.getPack(),
                                  layout.getOffset(), axes, layout.getTarget());
  return npu::ViewOp::create(builder, loc,
                             MemRefType::get(shape, type.getElementType(), flat,
                                             type.getMemorySpace()),
                             view)
      .getResult();
}

LogicalResult ProgramBuilder::lowerExtract(tensor::ExtractSliceOp op) {
  if (ShapedType::isDynamicShape(op.getStaticOffsets()) ||
      ShapedType::isDynamicShape(op.getStaticStrides()))
    return op.emitOpError() << "has dynamic offsets or strides: NPU programs "
                               "need constants; make them constants";
  FailureOr<Value> part = getPart(
      op, getMemory(op.getSource()), op.getStaticOffsets(), op.getStaticSizes(),
      op.getStaticStrides(), op.getType().getShape());
  if (failed(part))
    return failure();
  if (!npu::isLocal(cast<MemRefType>(part->getType())) &&
      !op.getType().getEncoding()) {
    memory[op.getResult()] = *part;
    return success();
  }
  FailureOr<bool> isStored = storePart(op, *part);
  if (failed(isStored) || *isStored)
    return LogicalResult(isStored);
  Value dest = makeMemory(op.getLoc(), op.getResult());
  copy(op.getLoc(), *part, dest);
  memory[op.getResult()] = dest;
  return success();
}

/// Returns true if the slices that two insertions write are provably disjoint:
/// one ends before the other begins in some dim.
static bool areApart(tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
  auto endsBefore = [](tensor::InsertSliceOp x, tensor::InsertSliceOp y,
                       unsigned d) {
    int64_t last =
        x.getStaticOffset(d) + (x.getStaticSize(d) - 1) * x.getStaticStride(d);
    return last < y.getStaticOffset(d);
  };
  return llvm::any_of(
      llvm::seq<unsigned>(0, a.getDestType().getRank()),
      [&](unsigned d) { return endsBefore(a, b, d) || endsBefore(b, a, d); });
}

/// Returns true if `first` and the insertions into its result, one after the
/// other, provably write every element of the tensor: their slices are disjoint
/// and together have as many elements as it.
static bool writeAll(tensor::InsertSliceOp first) {
  SmallVector<tensor::InsertSliceOp> slices;
  int64_t elements = 0;
  for (tensor::InsertSliceOp next = first; next;) {
    if (ShapedType::isDynamicShape(next.getStaticOffsets()) ||
        !next.getSourceType().hasStaticShape() ||
        llvm::any_of(next.getStaticStrides(),
                     [](int64_t stride) { return stride < 1; }) ||
        llvm::any_of(slices,
                     [&](auto slice) { return !areApart(slice, next); }))
      return false;
    slices.push_back(next);
    elements += next.getSourceType().getNumElements();
    if (!next->hasOneUse())
      break;
    OpOperand &use = *next->use_begin();
    next = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    if (next && &next.getDestMutable() != &use)
      break;
  }
  return elements == first.getDestType().getNumElements();
}

LogicalResult ProgramBuilder::lowerInsert(tensor::InsertSliceOp op) {
  if (ShapedType::isDynamicShape(op.getStaticOffsets()) ||
      ShapedType::isDynamicShape(op.getStaticStrides()))
    return op.emitOpError() << "has dynamic offsets or strides: NPU programs "
                               "need constants; make them constants";
  Value source = getMemory(op.getSource()), dest;
  if (isOverwritable(op.getDestMutable())) {
    dest = getMemory(op.getDest());
  } else {
    dest = makeMemory(op.getLoc(), op.getResult());
    initialize(op.getLoc(), op.getDest(), dest);
  }
  // The tensor may later be moved as a whole, which must not read undefined
  // bytes, so elements that no insertion writes are set to 0.
  if (op.getDest().getDefiningOp<tensor::EmptyOp>() && !writeAll(op))
    fill(op.getLoc(), builder.getZeroAttr(op.getDestType().getElementType()),
         dest);
  FailureOr<Value> part =
      getPart(op, dest, op.getStaticOffsets(), op.getStaticSizes(),
              op.getStaticStrides(), op.getSourceType().getShape());
  if (failed(part))
    return failure();
  copy(op.getLoc(), source, *part);
  memory[op.getResult()] = dest;
  return success();
}

LogicalResult ProgramBuilder::lowerConcat(tensor::ConcatOp op) {
  // The first operand that was computed in place has created the result.
  Value dest = memory.lookup(op.getResult());
  if (!dest)
    dest = makeMemory(op.getLoc(), op.getResult());
  memory[op.getResult()] = dest;
  SmallVector<SmallVector<int64_t>> offsets = getPartOffsets(op);
  SmallVector<int64_t> ones(op.getResultType().getRank(), 1);
  for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
    Value input = operand.get(), source = getMemory(input);
    auto place = inPlaceParts.find(input);
    if (madeInPlace.lookup(input) == source &&
        (place == inPlaceParts.end() || place->second.part == &operand))
      continue;
    ArrayRef<int64_t> sizes =
        cast<RankedTensorType>(input.getType()).getShape();
    FailureOr<Value> part = getPart(op, dest, offsets[i], sizes, ones, sizes);
    if (failed(part))
      return failure();
    copy(op.getLoc(), source, *part);
  }
  return success();
}

LogicalResult ProgramBuilder::lowerPad(tensor::PadOp op) {
  Value number = op.getConstantPaddingValue();
  TypedAttr value;
  if (!number || !matchPattern(number, m_Constant(&value)) ||
      ShapedType::isDynamicShape(op.getStaticLow()) ||
      ShapedType::isDynamicShape(op.getStaticHigh()))
    return op.emitOpError() << "has a dynamic value or dynamic sizes: NPU "
                               "programs need constants; make them constants";
  Value source = getMemory(op.getSource());
  Value dest = makeMemory(op.getLoc(), op.getResult());
  SmallVector<int64_t> ones(op.getSourceType().getRank(), 1);
  FailureOr<Value> inside =
      getPart(op, dest, op.getStaticLow(), op.getSourceType().getShape(), ones,
              op.getSourceType().getShape());
  if (failed(inside))
    return failure();
  fill(op.getLoc(), value, dest);
  copy(op.getLoc(), source, *inside);
  memory[op.getResult()] = dest;
  return success();
}

LogicalResult ProgramBuilder::lowerReshape(
    Operation *op, ArrayRef<ReassociationIndices> groups, bool expands) {
  Location loc = op->getLoc();
  Value source = getMemory(op->getOperand(0)), result = op->getResult(0);
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(result.getType());
  if (from.getEncoding() && to.getEncoding()) {
    memory[result] = makeView(loc, to, source);
    return success();
  }
  if (from.getEncoding() || to.getEncoding())
    return op->emitError() << "'" << op->getName()
                           << "' is a view, whose tensors must be in one "
                              "memory: convert one of them with layout.convert";
  // A slice in system memory is reshaped as a view unless collapsed dims have
  // no common stride; then it is copied first.
  auto type = cast<MemRefType>(source.getType());
  FailureOr<MemRefType> view = failure();
  if (expands)
    view =
        memref::ExpandShapeOp::computeExpandedType(type, to.getShape(), groups);
  else if (memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
    view = memref::CollapseShapeOp::computeCollapsedType(type, groups);
  if (failed(view)) {
    Value whole = makeScratch(loc, getMemRefType(from));
    copy(loc, source, whole);
    source = whole;
    view = getMemRefType(to);
  }
  memory[result] = expands ? Value(memref::ExpandShapeOp::create(
                                 builder, loc, *view, source, groups))
                           : Value(memref::CollapseShapeOp::create(
                                 builder, loc, *view, source, groups));
  return success();
}
