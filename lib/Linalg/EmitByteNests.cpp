//===- EmitByteNests.cpp - Loop nests over bytes as linalg ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest is a linalg.generic on a slice of the reshaped stream. It reads old
// streams by affine maps, and masks of lanes that differ from a constant:
//
//   %w = tensor.expand_shape %new [[0, 1]] : tensor<72xi8> into tensor<4x18xi8>
//   %p = tensor.extract_slice %w[0, 2] [4, 16] [1, 1]
//   %r = linalg.generic (n, q) -> (n * 16 + q floordiv 2), .. outs(%p)
//   tensor.insert_slice %r into %w[0, 2] [4, 16] [1, 1]
//
//===----------------------------------------------------------------------===//

#include "ByteNests.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <numeric>

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Emits the linalg.generic of one nest.
class NestEmitter {
public:
  NestEmitter(OpBuilder &b, Location loc, const ByteNest &nest)
      : b(b), loc(loc), nest(nest), numLoops(nest.loops.size()),
        hasLanes(nest.lanes > 1 || nest.loops.empty()) {}

  /// Returns `part`, the bytes of the nest, after the nest.
  Value emit(ArrayRef<Value> sources, Value part);

private:
  unsigned getNumDims() const { return numLoops + hasLanes; }
  unsigned addInput(Value value, AffineExpr position);
  AffineExpr getPosition(const MovedBits &bits) const;

  /// A mask of each lane: a constant, or the number of an input.
  struct Mask {
    uint8_t constant;
    std::optional<unsigned> input;
  };
  Mask addMask(ArrayRef<uint8_t> masks);
  Value applyMask(OpBuilder &inner, Value byte, const Mask &mask,
                  ValueRange arguments) const;

  OpBuilder &b;
  Location loc;
  const ByteNest &nest;
  unsigned numLoops;
  bool hasLanes;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
};
} // namespace

/// Returns the number of an input that reads `value` at `position`.
unsigned NestEmitter::addInput(Value value, AffineExpr position) {
  AffineMap map = AffineMap::get(getNumDims(), 0, position);
  for (unsigned i = 0; i < inputs.size(); ++i)
    if (inputs[i] == value && maps[i] == map)
      return i;
  inputs.push_back(value);
  maps.push_back(map);
  return inputs.size() - 1;
}

AffineExpr NestEmitter::getPosition(const MovedBits &bits) const {
  AffineExpr position = b.getAffineConstantExpr(bits.byte);
  for (auto [i, stride] : llvm::enumerate(bits.strides))
    position = position + b.getAffineDimExpr(i) * stride;
  for (const MovedDigit &digit : bits.lanes) {
    AffineExpr value = b.getAffineDimExpr(numLoops).floorDiv(digit.to);
    if (digit.to * digit.extent < nest.lanes)
      value = value % digit.extent;
    position = position + value * digit.from;
  }
  return position;
}

NestEmitter::Mask NestEmitter::addMask(ArrayRef<uint8_t> masks) {
  if (llvm::all_equal(masks))
    return {masks.front(), std::nullopt};
  auto type = RankedTensorType::get(nest.lanes, b.getI8Type());
  SmallVector<int8_t> numbers(masks);
  Value table = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  return {0, addInput(table, b.getAffineDimExpr(numLoops))};
}

Value NestEmitter::applyMask(OpBuilder &inner, Value byte, const Mask &mask,
                             ValueRange arguments) const {
  if (!mask.input && mask.constant == 0xff)
    return byte;
  Value bits = mask.input ? arguments[*mask.input]
                          : arith::ConstantOp::create(
                                inner, loc,
                                inner.getI8IntegerAttr(int8_t(mask.constant)))
                                .getResult();
  return arith::AndIOp::create(inner, loc, byte, bits);
}

/// Emits `byte`, shifted to the left, or to the right if `shift` is negative.
static Value emitShift(OpBuilder &b, Location loc, Value byte, int64_t shift) {
  if (shift == 0)
    return byte;
  Value count =
      arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(std::abs(shift)));
  if (shift < 0)
    return arith::ShRUIOp::create(b, loc, byte, count);
  return arith::ShLIOp::create(b, loc, byte, count);
}

Value NestEmitter::emit(ArrayRef<Value> sources, Value part) {
  struct Read {
    unsigned input;
    int64_t shift;
    Mask mask;
  };
  SmallVector<Read> reads;
  for (const MovedBits &bits : nest.bits) {
    // A shift leaves zeros, which need no mask.
    SmallVector<uint8_t> masks = bits.masks;
    uint8_t shifted = bits.shift < 0 ? 0xff >> -bits.shift : 0xff << bits.shift;
    if (llvm::all_of(masks, [&](uint8_t mask) { return mask == shifted; }))
      masks.assign(masks.size(), 0xff);
    unsigned input = addInput(sources[bits.source], getPosition(bits));
    reads.push_back({input, bits.shift, addMask(masks)});
  }
  SmallVector<uint8_t> others = nest.getMasks();
  for (uint8_t &mask : others)
    mask = ~mask;
  bool isWhole = nest.writesWholeBytes();
  Mask other = isWhole ? Mask{0, std::nullopt} : addMask(others);
  maps.push_back(b.getMultiDimIdentityMap(getNumDims()));
  SmallVector<utils::IteratorType> loops(getNumDims(),
                                         utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location, ValueRange arguments) {
    Value result;
    if (!isWhole)
      result = applyMask(inner, arguments.back(), other, arguments);
    for (const Read &read : reads) {
      Value byte = emitShift(inner, loc, arguments[read.input], read.shift);
      byte = applyMask(inner, byte, read.mask, arguments);
      result = result ? arith::OrIOp::create(inner, loc, result, byte) : byte;
    }
    linalg::YieldOp::create(inner, loc, result);
  };
  return linalg::GenericOp::create(b, loc, part.getType(), inputs, part, maps,
                                   loops, body)
      .getResult(0);
}

/// Returns `whole` after emit(slice), which updates `size` elements of its last
/// dim from `begin` on. Drops that dim of the slice if `isDropped`.
static Value updateSlice(OpBuilder &b, Location loc, Value whole, int64_t begin,
                         int64_t size, bool isDropped,
                         function_ref<Value(Value)> emit) {
  auto type = cast<RankedTensorType>(whole.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (shape.back() == size && !isDropped)
    return emit(whole);
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)),
      ones(shape.size(), b.getIndexAttr(1)), sizes;
  offsets.back() = b.getIndexAttr(begin);
  shape.back() = size;
  for (int64_t each : shape)
    sizes.push_back(b.getIndexAttr(each));
  if (isDropped)
    shape.pop_back();
  Value slice = tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), whole,
      offsets, sizes, ones);
  return tensor::InsertSliceOp::create(b, loc, emit(slice), whole, offsets,
                                       sizes, ones);
}

/// Returns `part` after the loops of `nest` from `number` on. The last dim of
/// `part` is an iteration of the loop before, the others are earlier loops.
/// `begins` are those of findSlices.
static Value emitLoops(OpBuilder &b, Location loc, const ByteNest &nest,
                       ArrayRef<int64_t> begins, ArrayRef<Value> sources,
                       unsigned number, Value part) {
  bool isBytes = !nest.loops.empty() && nest.loops.back().stride == 1;
  if (number == nest.loops.size() - isBytes) {
    int64_t size = isBytes ? nest.loops.back().extent : nest.lanes;
    bool isDropped = !isBytes && nest.lanes == 1 && !nest.loops.empty();
    return updateSlice(b, loc, part, begins[number], size, isDropped,
                       [&](Value slice) {
                         return NestEmitter(b, loc, nest).emit(sources, slice);
                       });
  }
  auto [stride, extent] = nest.loops[number];
  return updateSlice(
      b, loc, part, begins[number], stride * extent, /*isDropped=*/false,
      [&, stride = stride, extent = extent](Value line) -> Value {
        auto type = cast<RankedTensorType>(line.getType());
        SmallVector<int64_t> shape(type.getShape().drop_back());
        shape.append({extent, stride});
        SmallVector<ReassociationIndices> groups;
        for (int64_t d = 0; d < type.getRank(); ++d)
          groups.push_back({d});
        groups.back().push_back(type.getRank());
        Value split = tensor::ExpandShapeOp::create(
            b, loc, RankedTensorType::get(shape, type.getElementType()), line,
            groups);
        split = emitLoops(b, loc, nest, begins, sources, number + 1, split);
        return tensor::CollapseShapeOp::create(b, loc, type, split, groups);
      });
}

/// Returns `stream`, of unknown contents, after all nests of `plan`.
static Value emitStream(OpBuilder &b, Location loc, const StreamNests &plan,
                        ArrayRef<Value> sources, Value stream) {
  if (!plan.isFull()) {
    Value byte = arith::ConstantOp::create(
        b, loc, b.getI8IntegerAttr(int8_t(plan.padding)));
    stream = linalg::FillOp::create(b, loc, byte, stream).getResult(0);
  }
  for (const ByteNest &nest : plan.nests)
    stream = emitLoops(b, loc, nest, *findSlices(nest, plan.bytes), sources, 0,
                       stream);
  return stream;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The bytes of all streams in one block, which fit L1.
static constexpr int64_t kBlockBytes = 1 << 15;

static int64_t getBytes(Value stream) {
  return cast<RankedTensorType>(stream.getType()).getDimSize(0);
}

/// Returns true if iteration i of the slowest loop of `nest` reads and writes
/// part i of each of its streams.
static bool isLocal(const ByteNest &nest, ArrayRef<Value> sources,
                    int64_t bytes) {
  if (nest.loops.empty() ||
      nest.loops[0].stride * nest.loops[0].extent != bytes)
    return false;
  return llvm::all_of(nest.bits, [&](const MovedBits &bits) {
    int64_t first = bits.byte, last = bits.byte, stride = bits.strides[0];
    auto reach = [&](int64_t step, int64_t extent) {
      (step < 0 ? first : last) += step * (extent - 1);
    };
    for (unsigned i = 1; i < nest.loops.size(); ++i)
      reach(bits.strides[i], nest.loops[i].extent);
    for (const MovedDigit &digit : bits.lanes)
      reach(digit.from, digit.extent);
    return first >= 0 && last < stride &&
           stride * nest.loops[0].extent == getBytes(sources[bits.source]);
  });
}

/// Returns the number of blocks of all streams, 1 for none.
static int64_t countBlocks(ArrayRef<StreamNests> streams,
                           ArrayRef<Value> sources) {
  int64_t common = 0, bytes = 0;
  for (Value source : sources)
    bytes += getBytes(source);
  for (const StreamNests &stream : streams) {
    bytes += stream.bytes;
    if (!stream.isFull() || stream.nests.empty())
      return 1;
    for (const ByteNest &nest : stream.nests) {
      if (!isLocal(nest, sources, stream.bytes) ||
          nest.loops[0].stride != stream.nests[0].loops[0].stride)
        return 1;
      common = std::gcd(common, nest.loops[0].extent);
    }
  }
  int64_t count = llvm::divideCeil(bytes, kBlockBytes);
  while (count < common && common % count)
    ++count;
  return count < common ? count : 1;
}

/// Emits `streams` in `count` blocks of iterations of the slowest loops.
static SmallVector<Value> emitBlocks(OpBuilder &b, Location loc,
                                     ArrayRef<StreamNests> streams,
                                     ArrayRef<Value> sources, int64_t count) {
  // The bytes of an iteration are a dim of their own, so that a block has the
  // type of what is computed, and needs no memory of its own.
  SmallVector<Value> wholes;
  for (const StreamNests &stream : streams) {
    ByteLoop loop = stream.nests.front().loops.front();
    SmallVector<int64_t> shape{loop.extent};
    if (loop.stride > 1)
      shape.push_back(loop.stride);
    wholes.push_back(tensor::EmptyOp::create(b, loc, shape, b.getI8Type()));
  }
  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  auto body = [&](OpBuilder &inner, Location, ValueRange arguments) {
    auto getSlice = [&](Value whole) {
      auto type = cast<RankedTensorType>(whole.getType());
      Slice slice;
      for (int64_t size : type.getShape()) {
        slice.offsets.push_back(inner.getIndexAttr(0));
        slice.sizes.push_back(inner.getIndexAttr(size));
        slice.strides.push_back(inner.getIndexAttr(1));
      }
      int64_t length = type.getDimSize(0) / count;
      Value step = arith::ConstantIndexOp::create(inner, loc, length);
      slice.offsets[0] =
          arith::MulIOp::create(inner, loc, arguments[0], step).getResult();
      slice.sizes[0] = inner.getIndexAttr(length);
      return slice;
    };
    auto getBlock = [&](Value whole) -> Value {
      Slice slice = getSlice(whole);
      return tensor::ExtractSliceOp::create(inner, loc, whole, slice.offsets,
                                            slice.sizes, slice.strides);
    };
    SmallVector<Value> blocks = llvm::map_to_vector(sources, getBlock), parts;
    SmallVector<Slice> slices;
    for (auto [stream, whole] :
         llvm::zip_equal(streams, arguments.drop_front())) {
      Value part = getBlock(whole);
      slices.push_back(getSlice(whole));
      for (const ByteNest &nest : stream.nests) {
        ByteNest own = nest.restrict(0, 0, nest.loops[0].extent / count);
        part =
            emitLoops(inner, loc, own, *findSlices(own, stream.bytes / count),
                      blocks, nest.loops[0].stride > 1, part);
      }
      parts.push_back(part);
    }
    auto terminator = scf::InParallelOp::create(inner, loc);
    inner.setInsertionPointToStart(terminator.getBody());
    for (auto [part, whole, slice] :
         llvm::zip_equal(parts, arguments.drop_front(), slices))
      tensor::ParallelInsertSliceOp::create(
          inner, loc, part, whole, slice.offsets, slice.sizes, slice.strides);
  };
  auto loop = scf::ForallOp::create(
      b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(count)}, wholes,
      std::nullopt, body);
  SmallVector<Value> results;
  for (Value result : loop.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getRank() > 1)
      result = tensor::CollapseShapeOp::create(
          b, loc, result, ArrayRef<ReassociationIndices>{{0, 1}});
    results.push_back(result);
  }
  return results;
}

SmallVector<Value> layout::emitByteNests(OpBuilder &b, Location loc,
                                         ArrayRef<StreamNests> streams,
                                         ArrayRef<Value> sources,
                                         bool inBlocks) {
  int64_t count = inBlocks ? countBlocks(streams, sources) : 1;
  if (count > 1)
    return emitBlocks(b, loc, streams, sources, count);
  return llvm::map_to_vector(streams, [&](const StreamNests &stream) {
    Value empty = tensor::EmptyOp::create(b, loc, stream.bytes, b.getI8Type());
    return emitStream(b, loc, stream, sources, empty);
  });
}
