//===- InPlaceConcat.cpp - In-place parts of concatenations ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/ProgramBuilder.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Targets/NPU/NpuParts.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::layout;

static NpuScatterAttr getScatter(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type ? dyn_cast_if_present<NpuScatterAttr>(type.getEncoding())
              : NpuScatterAttr();
}

/// Returns the bytes of a core for the operands and results of an op. A tensor
/// in system memory counts whole if the op is a linalg op, as if it were loaded
/// into each core, which is an upper bound, and not at all for other ops.
static int64_t countBytes(Operation *op) {
  SetVector<Value> tensors(op->operand_begin(), op->operand_end());
  tensors.insert(op->result_begin(), op->result_end());
  int64_t bytes = 0;
  for (Value tensor : tensors) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type || !type.hasStaticShape() ||
        !type.getElementType().isIntOrFloat())
      continue;
    if (NpuScatterAttr layout = getScatter(tensor))
      bytes += getNpuBytes(layout, type);
    else if (isa<linalg::LinalgOp>(op))
      bytes += type.getNumElements() *
               llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  }
  return bytes;
}

/// Returns true if every op from `first` up to, but without, `concat` fits a
/// core beside the memory of the result of `concat`. If that result is itself
/// computed in its slice of another concatenation, the outermost result counts.
bool ProgramBuilder::hasRoomFor(tensor::ConcatOp concat, Operation *first) {
  Value whole = concat.getResult();
  while (inPlaceParts.contains(whole))
    whole = inPlaceParts.lookup(whole).part->getOwner()->getResult(0);
  NpuScatterAttr layout = getScatter(whole);
  int64_t most = layout.getTarget().getParams().bytesPerNpu -
                 getNpuBytes(layout, cast<RankedTensorType>(whole.getType()));
  for (Operation *op = first; op != concat; op = op->getNextNode()) {
    int64_t bytes = countBytes(op);
    // Operands of the concatenation are in its memory.
    for (Value result : op->getResults())
      if (NpuScatterAttr made = getScatter(result);
          made && llvm::is_contained(concat.getInputs(), result))
        bytes -= getNpuBytes(made, cast<RankedTensorType>(result.getType()));
    if (bytes > most)
      return false;
  }
  return true;
}

/// Chooses the operands of concatenations that are computed in their slices of
/// the result. Concatenations are visited in reverse, so that an outer one is
/// planned before those that compute its operands.
void ProgramBuilder::planInPlaceConcats() {
  auto concats =
      llvm::to_vector(function.getBody().front().getOps<tensor::ConcatOp>());
  for (tensor::ConcatOp concat : llvm::reverse(concats)) {
    NpuScatterAttr whole = getScatter(concat.getResult());
    if (!whole || !whole.getTarget())
      continue;
    SmallVector<SmallVector<int64_t>> offsets = getPartOffsets(concat);
    SmallVector<std::pair<Value, InPlacePart>> found;
    Operation *first = concat;
    bool isReadLater = false;
    for (auto [i, operand] : llvm::enumerate(concat->getOpOperands())) {
      Value part = operand.get();
      NpuScatterAttr layout = getScatter(part);
      Operation *producer = part.getDefiningOp();
      if (!layout || !producer || !mayBeMadeInPlace(operand))
        continue;
      std::optional<int64_t> byte =
          findNpuPlace(layout, cast<RankedTensorType>(part.getType()), whole,
                       concat.getResultType(), offsets[i]);
      if (!byte)
        continue;
      found.push_back({part, {&operand, *byte}});
      if (producer->isBeforeInBlock(first))
        first = producer;
      isReadLater |= !part.hasOneUse();
    }
    if (found.empty() || !hasRoomFor(concat, first))
      continue;
    inPlaceParts.insert(found.begin(), found.end());
    // Mark the concatenations that contain this result, too.
    for (Value made = concat.getResult(); isReadLater && made;) {
      isReadInParts.insert(made);
      made = inPlaceParts.contains(made)
                 ? inPlaceParts.lookup(made).part->getOwner()->getResult(0)
                 : Value();
    }
  }
}

/// Creates the memory of an operand of a concatenation that is computed in
/// place: a view of the memory of the result, which is created if it does not
/// exist.
Value ProgramBuilder::makeInPlacePart(Location loc, Value part) {
  const InPlacePart place = inPlaceParts.lookup(part);
  auto concat = cast<tensor::ConcatOp>(place.part->getOwner());
  Value whole = memory.lookup(concat.getResult());
  if (!whole) {
    whole = makeMemory(concat.getLoc(), concat.getResult());
    memory[concat.getResult()] = whole;
  }
  auto base =
      cast<NpuScatterAttr>(cast<MemRefType>(whole.getType()).getLayout());
  auto type = cast<RankedTensorType>(part.getType());
  NpuScatterAttr layout = getScatter(part);
  auto placed = NpuScatterAttr::get(
      builder.getContext(), layout.getMode(), layout.getWidth(),
      layout.getStrides(), layout.getStart(), layout.getPack(),
      layout.getOffset() + base.getOffset() + place.byte, layout.getAxes(),
      layout.getTarget());
  auto view = MemRefType::get(
      type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(placed),
      cast<MemRefType>(whole.getType()).getMemorySpace());
  SmallVector<int64_t> ones(type.getRank(), 1);
  Value made = npu::SubViewOp::create(
      builder, loc, view, whole,
      getPartOffsets(concat)[place.part->getOperandNumber()], type.getShape(),
      ones);
  return madeInPlace[part] = made;
}
