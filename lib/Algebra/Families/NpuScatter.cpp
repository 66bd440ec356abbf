//===- NpuScatter.cpp - Channels scattered over NPU cores -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/NpuScatter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;

/// The bytes of a word, at which every channel of a compact tensor begins.
static constexpr int64_t kWordBytes = 4;
using llvm::Twine;

int64_t mlir::layout::getLanes(NpuPack pack) {
  switch (pack) {
  case NpuPack::None:
    return 1;
  case NpuPack::N4:
    return 4;
  case NpuPack::N2:
  case NpuPack::IC2:
    return 2;
  }
  llvm_unreachable("no such packing");
}

//===----------------------------------------------------------------------===//
// The storage
//===----------------------------------------------------------------------===//

BoundedIndex NpuStorage::getOffset() const {
  const SizeExpr &lanes = lane.extent;
  return place({{BoundedIndex::constant(SizeExpr(base)), SizeExpr(1)},
                {m, lanes * sN},
                {row, lanes * sC},
                {h, lanes * sH},
                {w, lanes * sW},
                {lane, SizeExpr(1)}});
}

SizeExpr NpuStorage::getReserved(Sizes sizes) const {
  SizeExpr reserved = SizeExpr(base) + lane.extent * m.extent * sN;
  std::optional<int64_t> number = reserved.evaluate(sizes);
  return end && number && *number > *end ? SizeExpr(*end) : reserved;
}

LayoutMap NpuStorage::getMap(Sizes sizes) const {
  BoundedIndex offset = getOffset();
  SizeExpr reserved = getReserved(sizes);
  if (reserved.specialize(sizes).isProvablyAtLeast(
          offset.extent.specialize(sizes)))
    offset.extent = reserved;
  return LayoutMap::get(rank, "npu",
                        {{"npu", npu.value, npu.extent},
                         {"offset", offset.value, offset.extent}});
}

std::optional<int64_t> NpuStorage::getLeastBytes(int64_t elementBytes,
                                                 Sizes sizes) const {
  llvm::SmallVector<int64_t> least(sizes);
  llvm::replace(least, kUnknownSize, int64_t(1));
  std::optional<int64_t> reserved = getReserved(least).evaluate(least);
  std::optional<int64_t> reached = getOffset().extent.evaluate(least);
  int64_t bytes;
  if (!reserved || !reached ||
      llvm::MulOverflow(std::max(*reserved, *reached), elementBytes, bytes))
    return std::nullopt;
  return bytes;
}

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

bool mlir::layout::checkNpuScatter(const NpuScatter &scatter,
                                   FailureReason error) {
  for (char axis : scatter.axes)
    if (!scatter.getFamilyAxes().contains(axis)) {
      error("has a dim of axis '" + Twine(axis) + "': axes are " +
            scatter.getFamilyAxes());
      return false;
    }
  if (!scatter.isScattered()) {
    if (scatter.axes.empty() && scatter.start == 0 && scatter.offset == 0 &&
        scatter.pack == NpuPack::None)
      return true;
    error("is not scattered: it has no start core, packing, offset or axes");
    return false;
  }
  if (scatter.mode == NpuMode::Matrix && scatter.width < 1) {
    error("has " + Twine(scatter.width) +
          " columns per channel: there must be at least 1");
    return false;
  }
  if (scatter.mode == NpuMode::Strided) {
    if (scatter.strides.size() != 4) {
      error("has " + Twine(scatter.strides.size()) +
            " strides: a strided scatter has four, of N, C, H and W");
      return false;
    }
    for (int64_t stride : scatter.strides)
      if (stride < 0) {
        error("has the stride " + Twine(stride) +
              ": strides in a core are not negative");
        return false;
      }
  }
  if (scatter.start < 0) {
    error("starts at core " + Twine(scatter.start) +
          ": cores are counted from 0");
    return false;
  }
  if (scatter.offset < 0) {
    error("starts at byte " + Twine(scatter.offset) +
          " of a core: bytes are counted from 0");
    return false;
  }
  if (scatter.pack == NpuPack::IC2 && scatter.mode != NpuMode::Compact &&
      scatter.mode != NpuMode::Strided) {
    error("packs weights with ic2, whose channels are compact or have strides: "
          "write compact or strided");
    return false;
  }
  return true;
}

/// Returns the address, in bytes, at which the tensor starts: Q * S + R for
/// start core Q, S bytes per core, and byte offset R. Q and R must be in range.
static int64_t getAddress(const NpuScatter &scatter, const ChipParams &params) {
  return scatter.start * params.bytesPerNpu + scatter.offset;
}

static bool checkAddress(int64_t address, int64_t divisor, const Twine &why,
                         FailureReason error) {
  if (address % divisor == 0)
    return true;
  error("starts at address " + Twine(address) +
        ", which is not a multiple of the " + Twine(divisor) + " bytes " + why +
        ": choose another offset");
  return false;
}

/// Checks the start core, the offset and the alignment of the start address
/// against the chip. Reports the first violation and returns false.
static bool checkParams(const NpuScatter &scatter, const ChipParams &params,
                        FailureReason error) {
  if (scatter.start >= params.npus) {
    error("starts at core " + Twine(scatter.start) + " of a target with " +
          Twine(params.npus) + " cores: start must be between 0 and " +
          Twine(params.npus - 1));
    return false;
  }
  if (scatter.offset >= params.bytesPerNpu) {
    error("starts at byte " + Twine(scatter.offset) +
          " of a core, the target has " + Twine(params.bytesPerNpu) +
          ": offset must be between 0 and " + Twine(params.bytesPerNpu - 1));
    return false;
  }
  int64_t address = getAddress(scatter, params);
  switch (scatter.mode) {
  case NpuMode::Aligned:
  case NpuMode::Matrix:
    return checkAddress(address, params.euBytes, "of an execution unit", error);
  case NpuMode::Compact:
    return checkAddress(address, kWordBytes, "that compact layouts start at",
                        error);
  case NpuMode::Strided: // checked by checkElements()
  case NpuMode::Continuous:
    return true;
  }
  llvm_unreachable("no such mode");
}

/// Checks the packing, the offset and the alignment against the bytes of an
/// element. Reports the first violation and returns false.
static bool checkElements(const NpuScatter &scatter, const ChipParams &params,
                          int64_t elementBytes, FailureReason error) {
  struct Packing {
    NpuPack pack;
    const char *name;
    int64_t elementBytes;
  };
  for (const Packing &packing :
       {Packing{NpuPack::N4, "n4", 1}, Packing{NpuPack::N2, "n2", 2},
        Packing{NpuPack::IC2, "ic2", 4}})
    if (scatter.pack == packing.pack && elementBytes != packing.elementBytes &&
        // 8-bit elements that a core converts to 32-bit weights have the
        // packing of these.
        !(scatter.pack == NpuPack::IC2 && elementBytes == 1)) {
      error("packs elements of " + Twine(packing.elementBytes * 8) +
            " bits with " + packing.name + ", the tensor's have " +
            Twine(elementBytes * 8));
      return false;
    }
  if (scatter.offset % elementBytes != 0) {
    error("starts at byte " + Twine(scatter.offset) +
          " of a core, which is not a multiple of the " + Twine(elementBytes) +
          " bytes of an element: choose another offset");
    return false;
  }
  int64_t unitBytes = getLanes(scatter.pack) * elementBytes;
  if (scatter.mode == NpuMode::Strided)
    return checkAddress(getAddress(scatter, params), unitBytes,
                        "of a storage unit", error);
  if ((scatter.mode == NpuMode::Aligned || scatter.mode == NpuMode::Matrix) &&
      params.euBytes % unitBytes != 0 && unitBytes % params.euBytes != 0) {
    error("aligns channels to " + Twine(params.euBytes) +
          " bytes, which storage units of " + Twine(unitBytes) +
          " bytes cannot meet: use compact or strided");
    return false;
  }
  return true;
}

/// Returns the row-major index over all dims of the tensor with the letter
/// `axis`, or 0 of extent 1 if there is none.
static BoundedIndex getAxis(const NpuScatter &scatter, char axis) {
  llvm::SmallVector<BoundedIndex, 4> dims;
  for (auto [d, letter] : llvm::enumerate(scatter.getAxes()))
    if (letter == axis)
      dims.push_back(BoundedIndex::dim(d));
  return dims.empty()       ? BoundedIndex::constant(SizeExpr(0))
         : dims.size() == 1 ? dims.front()
                            : group(dims);
}

std::optional<NpuStorage> mlir::layout::getNpuStorage(const NpuScatter &scatter,
                                                      const ChipParams &params,
                                                      int64_t elementBytes,
                                                      Sizes sizes,
                                                      FailureReason error) {
  if (!checkParams(scatter, params, error) ||
      !checkElements(scatter, params, elementBytes, error))
    return std::nullopt;
  bool isMatrix = scatter.mode == NpuMode::Matrix;
  BoundedIndex columns = getAxis(scatter, 'M');
  std::optional<int64_t> numColumns = columns.extent.evaluate(sizes);
  if (isMatrix && numColumns && *numColumns > 0 &&
      scatter.width > *numColumns) {
    error("has " + Twine(scatter.width) + " columns per channel, the tensor " +
          Twine(*numColumns) +
          ": the width of a channel must be between 1 and " +
          Twine(*numColumns));
    return std::nullopt;
  }

  NpuStorage storage;
  storage.rank = scatter.getRank();
  storage.base = scatter.offset / elementBytes;
  int64_t lanes = getLanes(scatter.pack);
  storage.m = floorDiv(getAxis(scatter, 'N'), lanes);
  storage.lane = mod(getAxis(scatter, 'N'), lanes);
  // An N x Mc matrix is stored as a tensor (N, ceil(Mc / width), 1, width).
  BoundedIndex channel =
      isMatrix ? floorDiv(columns, scatter.width) : getAxis(scatter, 'C');
  storage.h = getAxis(scatter, 'H');
  storage.w = isMatrix ? mod(columns, scatter.width) : getAxis(scatter, 'W');
  BoundedIndex placed = pad(channel, scatter.start, 0);
  storage.row = floorDiv(placed, params.npus);
  storage.npu = mod(placed, params.npus);

  if (scatter.mode == NpuMode::Strided) {
    storage.sN = SizeExpr(scatter.strides[0]);
    storage.sC = SizeExpr(scatter.strides[1]);
    storage.sH = SizeExpr(scatter.strides[2]);
    storage.sW = SizeExpr(scatter.strides[3]);
    storage.end = params.bytesPerNpu / elementBytes;
  } else {
    // Round a channel up to whole execution units, or to whole words if
    // compact. `alignment` is in storage units.
    int64_t channelBytes =
        scatter.mode == NpuMode::Compact ? kWordBytes : params.euBytes;
    int64_t alignment =
        std::max<int64_t>(channelBytes / (lanes * elementBytes), 1);
    storage.sW = SizeExpr(1);
    storage.sH = storage.w.extent;
    storage.sC = align(group({storage.h, storage.w}), alignment).extent;
    storage.sN = storage.sC * storage.row.extent;
  }

  std::optional<int64_t> bytes = storage.getLeastBytes(elementBytes, sizes);
  if (!bytes || *bytes > params.bytesPerNpu) {
    error("needs " + (bytes ? Twine(*bytes) : Twine("more than 2^63 - 1")) +
          " bytes of every core, the target has " + Twine(params.bytesPerNpu) +
          ": split the tensor, or start at a core where its channels take "
          "fewer rows");
    return std::nullopt;
  }
  return storage;
}
