//===- BlockValues.h - Tensors on a mesh as a rank has them -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank has two values for a tensor on a mesh: the memory of its block, which
// functions, control flow and messages have, and the block itself, a view of
// it, which ops compute with. Of a ragged block, that has positions for more
// indices than the rank may hold. An op that must not see these computes with a
// slice, row-major, and its result is put into a block:
//
//   matmul of (i, k) and (k, j), k being 9 on 4 ranks: 3, 3, 3, 0
//     block    tensor<4x3xf32>
//     held     tensor<4x?xf32>, the first 3, 3, 3 and 0 of its columns
//
// What differs between ranks is looked up in tables by the rank, once at the
// beginning of a function.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_BLOCKVALUES_H
#define LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_BLOCKVALUES_H

#include "MeshBlocks.h"
#include "MessageLoops.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace mlir {
namespace layout {

class BlockValues {
public:
  BlockValues(func::FuncOp function, MessageSymbols &symbols);
  ~BlockValues() { beginning->erase(); }

  /// The blocks of a type; fails with a reason that `refuse` is told.
  const MeshBlocks *getBlocks(RankedTensorType type, Refusal refuse);
  /// Keeps the number of devices of the first tensor on a mesh in the function;
  /// returns it. Tables have an entry for each of so many.
  int64_t keepDevices(const MeshBlocks &blocks) {
    return numDevices = numDevices ? numDevices : blocks.numDevices;
  }
  /// Of a type that was asked for before.
  const MeshBlocks &getBlocks(Value value) {
    return *getBlocks(cast<RankedTensorType>(value.getType()), {});
  }

  /// The block of a value of such a type; any other value as it is.
  Value getBlock(Value value);
  /// What the rank holds of it.
  Value getHeld(Value value);
  /// The value on the mesh whose block is `block`.
  Value getOnMesh(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                  Value block);

  /// What `numbers` has for this rank.
  OpFoldResult getNumber(ArrayRef<int64_t> numbers);
  Value getValue(ArrayRef<int64_t> numbers);
  /// The first index of a range on this rank, and how many it has.
  OpFoldResult getBegin(const DeviceRanges &range);
  OpFoldResult getSize(const DeviceRanges &range);

  /// The block from the storage of the different blocks of a tensor.
  Value readOf(OpBuilder &b, Location loc, const MeshBlocks &blocks,
               Value storage);
  /// The block from a tensor that all ranks have all of.
  Value takeBlock(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                  Value whole);
  /// The block with `held` in it; beside that is what `into` has there, a
  /// block, or anything without one.
  Value putHeld(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                Value held, Value into = {});
  /// A block, uninitialized.
  Value makeEmpty(OpBuilder &b, Location loc, const MeshBlocks &blocks);

  bool hasFailed() const { return failed; }

private:
  Value getRank();
  Value read(OpBuilder &b, Location loc, const MeshBlocks &blocks,
             Value memory);
  Value takeHeld(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                 Value block);
  SmallVector<OpFoldResult> getSizes(const MeshBlocks &blocks);
  Value view(OpBuilder &b, Location loc, Value value, RankedTensorType type);

  func::FuncOp function;
  MessageSymbols &symbols;
  DenseMap<Type, std::unique_ptr<MeshBlocks>> known;
  DenseMap<Value, Value> ofValues, held; // blocks, and what is held of them
  std::map<std::vector<int64_t>, Value> numbers;
  int64_t numDevices = 0; // 0 before the first tensor on a mesh
  Value rank;
  Operation *beginning; // what is the same in all of the function is before it
  bool failed = false;  // a name of the runtime is taken
};

/// `value` in another layout of the same shape.
Value convertLayout(OpBuilder &b, Location loc, Value value, Type type);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_BLOCKVALUES_H
