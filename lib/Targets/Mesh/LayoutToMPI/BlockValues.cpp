//===- BlockValues.cpp - The blocks of a rank -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockValues.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Support/Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

BlockValues::BlockValues(func::FuncOp function, MessageSymbols &symbols)
    : function(function), symbols(symbols) {
  auto b = OpBuilder::atBlockBegin(&function.getBody().front());
  beginning = arith::ConstantIndexOp::create(b, function.getLoc(), 0);
}

const MeshBlocks *BlockValues::getBlocks(RankedTensorType type,
                                         FailureReason refuse) {
  std::unique_ptr<MeshBlocks> &found = known[type];
  if (!found) {
    FailureOr<MeshBlocks> blocks = MeshBlocks::get(type, refuse);
    if (mlir::failed(blocks))
      return nullptr;
    found = std::make_unique<MeshBlocks>(std::move(*blocks));
  }
  return found.get();
}

//===----------------------------------------------------------------------===//
// Numbers of a rank
//===----------------------------------------------------------------------===//

Value BlockValues::getRank() {
  if (rank)
    return rank;
  OpBuilder b(beginning);
  Location loc = function.getLoc();
  LLVM::GlobalOp text = symbols.addText(
      loc, "func.func @" + function.getName().str() + " at " + printPlace(loc));
  Type number = b.getI64Type();
  func::FuncOp callee = symbols.getExternal(
      "layoutMPIRank", {LLVM::LLVMPointerType::get(b.getContext()), number},
      number);
  if (!callee) {
    failed = true;
    return rank = arith::ConstantIndexOp::create(b, loc, 0);
  }
  Value place = LLVM::AddressOfOp::create(b, loc, text);
  Value devices = arith::ConstantIntOp::create(b, loc, number, numDevices);
  Value found = func::CallOp::create(b, loc, callee, ValueRange{place, devices})
                    .getResult(0);
  return rank = arith::IndexCastOp::create(b, loc, b.getIndexType(), found);
}

OpFoldResult BlockValues::getNumber(ArrayRef<int64_t> ofDevices) {
  Builder attrs(function.getContext());
  if (llvm::all_equal(ofDevices))
    return attrs.getIndexAttr(ofDevices.front());
  Value &number = numbers[ofDevices.vec()];
  if (number)
    return number;
  assert(int64_t(ofDevices.size()) == numDevices && "of one mesh");
  getRank();
  OpBuilder b(beginning);
  Location loc = function.getLoc();
  auto type =
      RankedTensorType::get({int64_t(ofDevices.size())}, b.getIndexType());
  Value table = arith::ConstantOp::create(
      b, loc, DenseIntElementsAttr::get(type, ofDevices));
  number = tensor::ExtractOp::create(b, loc, table, rank);
  return number;
}

Value BlockValues::getValue(ArrayRef<int64_t> ofDevices) {
  OpFoldResult number = getNumber(ofDevices);
  if (auto value = dyn_cast<Value>(number))
    return value;
  Value &constant = numbers[ofDevices.vec()];
  OpBuilder b(beginning);
  if (!constant)
    constant = arith::ConstantIndexOp::create(b, function.getLoc(),
                                              *getConstantIntValue(number));
  return constant;
}

OpFoldResult BlockValues::getBegin(const DeviceRanges &range) {
  if (range.isWhole())
    return Builder(function.getContext()).getIndexAttr(0);
  return getNumber(range.begins);
}

OpFoldResult BlockValues::getSize(const DeviceRanges &range) {
  if (range.isWhole())
    return Builder(function.getContext()).getIndexAttr(range.size);
  return getNumber(range.sizes);
}

SmallVector<OpFoldResult> BlockValues::getSizes(const MeshBlocks &blocks) {
  return llvm::map_to_vector(
      blocks.dims, [&](const DeviceRanges &range) { return getSize(range); });
}

//===----------------------------------------------------------------------===//
// Views of blocks
//===----------------------------------------------------------------------===//

Value layout::convertLayout(OpBuilder &b, Location loc, Value value,
                            Type type) {
  return value.getType() == type ? value
                                 : ConvertOp::create(b, loc, type, value);
}

/// Reshapes the static tensor `value` to `type`, through a tensor of one dim.
Value BlockValues::view(OpBuilder &b, Location loc, Value value,
                        RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  auto getGroups = [](RankedTensorType type) {
    SmallVector<ReassociationIndices> groups;
    if (type.getRank())
      groups.emplace_back(llvm::to_vector(llvm::seq<int64_t>(type.getRank())));
    return groups;
  };
  if (from.getRank() != 1) {
    auto line =
        RankedTensorType::get({from.getNumElements()}, from.getElementType());
    value = from.getRank() ? tensor::CollapseShapeOp::create(
                                 b, loc, line, value, getGroups(from))
                                 .getResult()
                           : tensor::ExpandShapeOp::create(b, loc, line, value,
                                                           getGroups(from))
                                 .getResult();
  }
  if (type.getRank() == 1)
    return value;
  if (!type.getRank())
    return tensor::CollapseShapeOp::create(b, loc, type, value,
                                           getGroups(type));
  return tensor::ExpandShapeOp::create(b, loc, type, value, getGroups(type));
}

static SmallVector<OpFoldResult> getSame(Builder &b, unsigned rank,
                                         int64_t value) {
  return SmallVector<OpFoldResult>(rank, b.getIndexAttr(value));
}

/// Returns `type` without stated padding.
static RankedTensorType withoutPadding(RankedTensorType type) {
  if (auto padded = dyn_cast_if_present<PaddedAttr>(type.getEncoding()))
    return RankedTensorType::get(type.getShape(), type.getElementType(),
                                 padded.getLayout());
  return type;
}

Value BlockValues::read(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                        Value memory) {
  // Upstream rejects views of empty tensors.
  if (blocks.isEmpty())
    return makeEmpty(b, loc, blocks);
  RankedTensorType block = withoutPadding(blocks.block);
  Value found = view(b, loc, memory, *getStorageType(block));
  if (block.getEncoding())
    found = StorageViewOp::create(b, loc, block, found);
  return convertLayout(b, loc, found, blocks.block);
}

Value BlockValues::getBlock(Value value) {
  if (!liesOnMesh(value.getType()))
    return value;
  if (Value block = ofValues.lookup(value))
    return block;
  const MeshBlocks &blocks = getBlocks(value);
  OpBuilder b(function.getContext());
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == beginning->getBlock())
    b.setInsertionPointAfter(beginning);
  else
    b.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  Value memory =
      UnrealizedConversionCastOp::create(b, loc, blocks.memory, value)
          .getResult(0);
  return ofValues[value] = read(b, loc, blocks, memory);
}

Value BlockValues::takeHeld(OpBuilder &b, Location loc,
                            const MeshBlocks &blocks, Value block) {
  // Upstream rejects slices of empty tensors.
  if (blocks.isEmpty()) {
    SmallVector<Value> dynamicSizes;
    for (auto [d, range] : llvm::enumerate(blocks.dims))
      if (blocks.held.isDynamicDim(d))
        dynamicSizes.push_back(getValue(range.sizes));
    return tensor::EmptyOp::create(b, loc, blocks.held, dynamicSizes);
  }
  unsigned rank = blocks.dims.size();
  Value plain = convertLayout(b, loc, block, withoutLayout(blocks.block));
  return blocks.isNonDivisible()
             ? tensor::ExtractSliceOp::create(
                   b, loc, blocks.held, plain, getSame(b, rank, 0),
                   getSizes(blocks), getSame(b, rank, 1))
                   .getResult()
             : plain;
}

Value BlockValues::putHeld(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                           Value held, Value into) {
  unsigned rank = blocks.dims.size();
  RankedTensorType plain = withoutLayout(blocks.block);
  if (blocks.isNonDivisible()) {
    into = into ? convertLayout(b, loc, into, plain)
                : tensor::EmptyOp::create(b, loc, plain.getShape(),
                                          plain.getElementType())
                      .getResult();
    held = blocks.isEmpty() ? into
                            : tensor::InsertSliceOp::create(
                                  b, loc, held, into, getSame(b, rank, 0),
                                  getSizes(blocks), getSame(b, rank, 1))
                                  .getResult();
  }
  return convertLayout(b, loc, held, blocks.block);
}

Value BlockValues::getHeld(Value value) {
  if (!liesOnMesh(value.getType()))
    return value;
  Value block = getBlock(value);
  Value &found = held[value];
  if (!found) {
    OpBuilder b(function.getContext());
    b.setInsertionPointAfterValue(block);
    found = takeHeld(b, value.getLoc(), getBlocks(value), block);
  }
  return found;
}

Value BlockValues::readOf(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                          Value storage) {
  auto type = cast<RankedTensorType>(storage.getType());
  int64_t size = blocks.memory.getNumElements();
  storage = view(
      b, loc, storage,
      RankedTensorType::get({type.getNumElements()}, type.getElementType()));
  std::vector<int64_t> begins = blocks.findNumbers();
  for (int64_t &begin : begins)
    begin *= size;
  return read(b, loc, blocks,
              tensor::ExtractSliceOp::create(
                  b, loc, blocks.memory, storage,
                  ArrayRef<OpFoldResult>(getNumber(begins)),
                  ArrayRef<OpFoldResult>(b.getIndexAttr(size)),
                  ArrayRef<OpFoldResult>(b.getIndexAttr(1))));
}

Value BlockValues::getOnMesh(OpBuilder &b, Location loc,
                             const MeshBlocks &blocks, Value block) {
  if (blocks.isNonDivisible() && statesPadding(blocks.type)) {
    Value filler = arith::ConstantOp::create(b, loc, getPadding(blocks.type));
    RankedTensorType plain = withoutLayout(blocks.block);
    Value filled = tensor::EmptyOp::create(b, loc, plain.getShape(),
                                           plain.getElementType());
    filled = linalg::FillOp::create(b, loc, filler, filled).getResult(0);
    block = putHeld(b, loc, blocks, takeHeld(b, loc, blocks, block), filled);
  }
  Value written = block;
  if (blocks.block.getEncoding())
    written =
        StorageViewOp::create(b, loc, *getStorageType(blocks.block), written);
  Value memory = view(b, loc, written, blocks.memory);
  Value value = UnrealizedConversionCastOp::create(b, loc, blocks.type, memory)
                    .getResult(0);
  ofValues[value] = block;
  return value;
}

Value BlockValues::takeBlock(OpBuilder &b, Location loc,
                             const MeshBlocks &blocks, Value whole) {
  if (blocks.isEmpty())
    return makeEmpty(b, loc, blocks);
  SmallVector<OpFoldResult> begins = llvm::map_to_vector(
      blocks.dims, [&](const DeviceRanges &range) { return getBegin(range); });
  if (!blocks.isWhole())
    whole = tensor::ExtractSliceOp::create(b, loc, blocks.held, whole, begins,
                                           getSizes(blocks),
                                           getSame(b, blocks.dims.size(), 1));
  return putHeld(b, loc, blocks, whole);
}

Value BlockValues::makeEmpty(OpBuilder &b, Location loc,
                             const MeshBlocks &blocks) {
  return tensor::EmptyOp::create(b, loc, blocks.block, ValueRange());
}
