//===- OrderConstants.cpp - Order constants as their destination ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "layout/Dialect/NPU/Utils/StorageOrder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace mlir::npu {
#define GEN_PASS_DEF_NPUORDERCONSTANTSPASS
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;
using layout::LayoutMap;

namespace {
/// The reads of one constant: the ops that get its memref, and the copies of it
/// to local memory. `areCopies` is false if there are other reads.
struct Reads {
  SmallVector<memref::GetGlobalOp> gets;
  SmallVector<CopyOp> copies;
  bool areCopies = true; // to the same shape, of the whole constant
};

/// The number of transfers that load a constant, and the number of contiguous
/// rows that they move.
struct LoadSize {
  int64_t transfers = 0, rows = 0;

  bool operator<(const LoadSize &other) const {
    return std::pair(transfers, rows) < std::pair(other.transfers, other.rows);
  }
};
} // namespace

static void addReads(memref::GetGlobalOp get, Reads &reads) {
  reads.gets.push_back(get);
  for (Operation *user : get->getUsers()) {
    auto copy = dyn_cast<CopyOp>(user);
    if (!copy || !isLocal(copy.getDest().getType()) ||
        copy.getSource().getType().getNumElements() !=
            copy.getDest().getType().getNumElements()) {
      reads.areCopies = false;
      return;
    }
    reads.copies.push_back(copy);
  }
}

/// Returns the transfers and rows of all loads of a constant if it is stored in
/// the order of `map`, or std::nullopt if one load has no transfers.
static std::optional<LoadSize> getLoadSize(const Reads &reads,
                                           const LayoutMap &map) {
  LoadSize size;
  for (CopyOp copy : reads.copies) {
    std::optional<CopiedBox> box = getCopiedBox(copy, nullptr);
    if (!box)
      return std::nullopt;
    ChipAttr chip = findChip(copy->getParentOfType<func::FuncOp>());
    std::optional<std::vector<Transfer>> transfers =
        planTransfers(copy.getReadMap(map), box->to, box->sizes,
                      box->elementBytes, getTransferLimits(chip), nullptr);
    if (!transfers)
      return std::nullopt;
    size.transfers += transfers->size();
    for (const Transfer &transfer : *transfers)
      size.rows += transfer.shape[0] * transfer.shape[1] * transfer.shape[2];
  }
  return size;
}

/// Returns the map to linear memory with the order of the destination of a
/// copy, over the dims of the source. Returns std::nullopt if there is none.
static std::optional<LayoutMap> getOrder(CopyOp copy) {
  std::optional<CopiedBox> box = getCopiedBox(copy, nullptr);
  if (!box)
    return std::nullopt;
  ChipAttr chip = findChip(copy->getParentOfType<func::FuncOp>());
  if (!chip)
    return std::nullopt;
  std::optional<LayoutMap> order =
      getStorageOrder(box->to, box->sizes, chip.getNpus(), nullptr);
  if (!order || !copy.getPermutation())
    return order;
  std::vector<layout::IndexExpr> dims;
  std::vector<layout::SizeExpr> sizeOf;
  ArrayRef<int64_t> permutation = *copy.getPermutation();
  for (int64_t d : permutation) {
    dims.push_back(layout::IndexExpr::dim(d));
    sizeOf.push_back(layout::SizeExpr::dim(d));
  }
  return order->substitute(dims.size(), dims, sizeOf);
}

/// Stores a row-major constant in the order of one of the tensors to which it
/// is copied, if its loads then take fewer transfers in total, or as many with
/// fewer rows. Chooses the best such order; without one, leaves the constant
/// unchanged.
static void order(memref::GlobalOp global, const Reads &reads) {
  auto type = cast<MemRefType>(global.getType());
  if (!type.getLayout().isIdentity())
    return;
  LayoutMap present = LayoutMap::rowMajor(type.getRank());
  std::optional<LoadSize> least = getLoadSize(reads, present);
  if (!least)
    return;
  LayoutMap best;
  for (CopyOp copy : reads.copies) {
    std::optional<LayoutMap> order = getOrder(copy);
    std::optional<LoadSize> size =
        order ? getLoadSize(reads, *order) : std::nullopt;
    if (!size || !(*size < *least))
      continue;
    least = size;
    best = *order;
  }
  if (!best)
    return;
  auto map = layout::MapAttr::get(type.getContext(), best);
  auto ordered = MemRefType::get(
      type.getShape(), type.getElementType(),
      cast<MemRefLayoutAttrInterface>(Attribute(map)), type.getMemorySpace());
  global.setType(ordered);
  for (memref::GetGlobalOp get : reads.gets)
    get.getResult().setType(ordered);
}

namespace {
struct NPUOrderConstantsPass
    : public npu::impl::NPUOrderConstantsPassBase<NPUOrderConstantsPass> {
  void runOnOperation() override {
    llvm::StringMap<Reads> reads;
    getOperation().walk(
        [&](memref::GetGlobalOp get) { addReads(get, reads[get.getName()]); });
    for (auto global : getOperation().getOps<memref::GlobalOp>()) {
      auto found = reads.find(global.getSymName());
      if (global.getConstant() && global.isPrivate() && found != reads.end() &&
          found->second.areCopies)
        order(global, found->second);
    }
  }
};
} // namespace
