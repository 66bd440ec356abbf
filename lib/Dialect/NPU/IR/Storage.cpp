//===- Storage.cpp - Memrefs in the memories of an NPU --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/Utils/Tables.h"
#include <limits>

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

MemoryAttr npu::getMemory(MemRefType type) {
  return dyn_cast_if_present<MemoryAttr>(type.getMemorySpace());
}

bool npu::isLocal(MemRefType type) {
  MemoryAttr memory = getMemory(type);
  return memory && memory.isLocal();
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Returns the map of linear memory, which the type states or its strides
/// define. Reports an error and fails if the strides are dynamic or the stated
/// map is not in the space `buffer`.
static FailureOr<LayoutMap> getLinearMap(MemRefType type,
                                         EmitErrorFn emitError) {
  if (auto stated = dyn_cast<MapAttr>(type.getLayout())) {
    if (stated.getMap().getSpace() == "buffer")
      return stated.getMap();
    emitError() << "linear memory must have a layout in the space 'buffer', "
                   "found "
                << type;
    return failure();
  }
  // Strides do not matter if there are no elements.
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return LayoutMap::rowMajor(type.getRank());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || ShapedType::isDynamicShape(strides)) {
    emitError() << "linear memory must have static strides, found " << type;
    return failure();
  }
  SmallVector<std::pair<BoundedIndex, SizeExpr>> placed;
  placed.emplace_back(BoundedIndex::constant(SizeExpr(offset)), SizeExpr(1));
  for (auto [d, stride] : llvm::enumerate(strides))
    placed.emplace_back(BoundedIndex::dim(d), SizeExpr(stride));
  BoundedIndex value = place(placed);
  return LayoutMap::get(type.getRank(), "buffer",
                        {{"offset", value.value, value.extent}});
}

static FailureOr<Storage> getLocalStorage(MemRefType type, Storage storage,
                                          int64_t byte, EmitErrorFn emitError) {
  auto scatter = dyn_cast<NpuScatterAttr>(type.getLayout());
  if (!scatter || !scatter.getScatter().isScattered()) {
    emitError()
        << "local memory needs a #layout.npu_scatter with a start core, found "
        << type;
    return failure();
  }
  if (!scatter.getTarget()) {
    emitError() << "layout " << scatter
                << " needs the parameters of a chip: state `target = "
                   "#npu.target<..>` in the layout (L1)";
    return failure();
  }
  storage.target = dyn_cast<ChipAttr>(scatter.getTarget());
  if (!storage.target) {
    emitError() << "the chip of local memory must be an #npu.target, found "
                << scatter.getTarget();
    return failure();
  }
  int64_t offset;
  if (llvm::AddOverflow(scatter.getOffset(), byte, offset)) {
    emitError() << "byte " << byte << " of a core is out of range";
    return failure();
  }
  storage.scatter = NpuScatterAttr::get(
      type.getContext(), scatter.getMode(), scatter.getWidth(),
      scatter.getStrides(), scatter.getStart(), scatter.getPack(), offset,
      scatter.getAxes(), scatter.getTarget());
  FailureOr<LayoutMap> map = storage.scatter.resolve(
      type.getShape(), type.getElementType(), emitError);
  if (failed(map) || failed(verifyLayout(*map, storage.scatter, type.getShape(),
                                         type.getElementType(), emitError)))
    return failure();
  storage.map = *map;
  return storage;
}

FailureOr<Storage> npu::getStorageAt(MemRefType type, int64_t byte,
                                     EmitErrorFn emitError) {
  MemoryAttr memory = getMemory(type);
  if (!memory) {
    emitError() << "needs memrefs with a memory space, such as "
                   "#npu.memory<local>, found "
                << type;
    return failure();
  }
  if (!type.hasStaticShape()) {
    emitError() << "needs memrefs with static sizes, found " << type;
    return failure();
  }
  std::optional<int64_t> bytes = layout::getWholeBytes(type.getElementType());
  if (!bytes) {
    emitError() << "stores integers and floats of whole bytes, found "
                << type.getElementType();
    return failure();
  }
  Storage storage;
  storage.elementBytes = *bytes;
  if (memory.isLocal())
    return getLocalStorage(type, storage, byte, emitError);
  FailureOr<LayoutMap> map = getLinearMap(type, emitError);
  if (failed(map) ||
      failed(verifyLayout(*map, type.getLayout(), type.getShape(),
                          type.getElementType(), emitError)))
    return failure();
  storage.map = *map;
  return storage;
}

FailureOr<Storage> npu::getStorage(MemRefType type, EmitErrorFn emitError) {
  return getStorageAt(type, 0, emitError);
}

int64_t npu::getStartCore(const Storage &storage) {
  return storage.scatter.getStart();
}

int64_t npu::getReservedBytes(const Storage &storage, ArrayRef<int64_t> shape) {
  return (*storage.map.storageExtent(shape))[1] * storage.elementBytes;
}

SmallVector<int64_t> npu::getWholeChannels(const Storage &storage,
                                           ArrayRef<int64_t> shape) {
  NpuScatter scatter = storage.scatter.getScatter();
  SmallVector<int64_t> whole(shape);
  for (auto [size, axis] : llvm::zip_equal(whole, scatter.getAxes()))
    if (axis == 'M' && size > scatter.width)
      size = llvm::alignTo(size, scatter.width);
  return whole;
}

int64_t npu::getAlignment(const Storage &storage) {
  // Try each byte as the address of a small tensor, in a memory in which it
  // fits everywhere.
  NpuScatter scatter = storage.scatter.getScatter();
  ChipParams params = storage.target.getParams();
  scatter.axes.clear();
  SmallVector<int64_t> shape(scatter.getRank(), 1);
  shape.back() = std::max<int64_t>(scatter.width, 1);
  params.bytesPerNpu = std::numeric_limits<int64_t>::max() / params.npus;
  scatter.start = 0;
  auto applies = [&](int64_t byte) {
    scatter.offset = byte;
    return getNpuStorage(scatter, params, storage.elementBytes, shape, nullptr)
        .has_value();
  };
  // Convolutions read whole pairs of weights.
  int64_t alignment = scatter.pack == NpuPack::IC2
                          ? getLanes(scatter.pack) * storage.elementBytes
                          : 1;
  while (!applies(alignment))
    ++alignment;
  return alignment;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Returns true if both values are sums of functions of single dims, and the
/// functions of each dim are equal.
static bool haveSameTables(const IndexExpr &a, const IndexExpr &b,
                           Sizes sizes) {
  std::optional<Tables> left = tabulate(a, sizes), right = tabulate(b, sizes);
  return left && right && *left == *right;
}

bool npu::haveSamePoints(const LayoutMap &a, const LayoutMap &b, Sizes sizes) {
  if (a.getSpace() != b.getSpace() || a.getRank() != b.getRank())
    return false;
  if (llvm::is_contained(sizes, 0))
    return true;
  LayoutMap left = a.specialize(sizes), right = b.specialize(sizes);
  for (auto [x, y] :
       llvm::zip_equal(left.getCoordinates(), right.getCoordinates()))
    if (x.value != y.value && !haveSameTables(x.value, y.value, sizes))
      return false;
  return true;
}

Value npu::getViewedMemory(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<SubViewOp, ViewOp>(op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}
