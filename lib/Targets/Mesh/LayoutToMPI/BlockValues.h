//===- BlockValues.h - The blocks of a rank ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank has two values for a tensor on a mesh: the memory of its block, which
// functions, control flow and messages use, and the block, a view of the memory
// that ops compute with. If the block size does not divide the tensor, a block
// has more indices than some ranks hold. Ops that must not access the others
// compute on a row-major slice, and their result is inserted into a block:
//
//   matmul of (i, k) and (k, j), k being 9 on 4 ranks: 3, 3, 3, 0
//     block    tensor<4x3xf32>
//     held     tensor<4x?xf32>, the first 3, 3, 3 and 0 of its columns
//
// Numbers that differ between ranks are looked up by rank in tables, once at
// the beginning of a function.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_BLOCKVALUES_H
#define LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_BLOCKVALUES_H

#include "MeshBlocks.h"
#include "MessageLoops.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace mlir::layout {

class BlockValues {
public:
  BlockValues(func::FuncOp function, MessageSymbols &symbols);
  ~BlockValues() { beginning->erase(); }

  /// Returns the index ranges that devices hold of a tensor of `type`, and the
  /// types of its blocks. If the type is not supported, calls `refuse` with the
  /// reason and returns null.
  const MeshBlocks *getBlocks(RankedTensorType type, FailureReason refuse);
  /// Sets the number of devices of the function's mesh at the first call with
  /// `blocks` of a tensor on a mesh, and returns it; 0 before that call. Tables
  /// of one number per device have this size.
  int64_t keepDevices(const MeshBlocks &blocks) {
    return numDevices = numDevices ? numDevices : blocks.numDevices;
  }
  /// Returns the blocks of the type of `value`, which must have been passed to
  /// the other getBlocks with success before.
  const MeshBlocks &getBlocks(Value value) {
    return *getBlocks(cast<RankedTensorType>(value.getType()), {});
  }

  /// Returns the block that the rank has of `value`. If `value` is not on a
  /// mesh, returns `value` itself.
  Value getBlock(Value value);
  /// Returns the elements of `value` that the rank has, row-major: its block
  /// without positions beyond the end of the tensor. If `value` is not on a
  /// mesh, returns `value` itself.
  Value getHeld(Value value);
  /// Returns the value on the mesh whose block on this rank is `block`. If the
  /// type states a padding value, positions of the block beyond the end of the
  /// tensor get it; else they keep their values.
  Value getOnMesh(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                  Value block);

  /// Return element r of `numbers`, a table with one number per device, for the
  /// MPI rank r that executes the program. The number is looked up at run time
  /// unless all are equal; then getNumber returns an attribute, and getValue a
  /// constant.
  OpFoldResult getNumber(ArrayRef<int64_t> numbers);
  Value getValue(ArrayRef<int64_t> numbers);
  /// Return the first index, and the number of indices, of `range` on the MPI
  /// rank that executes the program.
  OpFoldResult getBegin(const DeviceRanges &range);
  OpFoldResult getSize(const DeviceRanges &range);

  /// Returns the block of the rank, read from the tensor `storage`, in which
  /// all distinct blocks are packed one after another.
  Value readOf(OpBuilder &b, Location loc, const MeshBlocks &blocks,
               Value storage);
  /// Returns the block of the rank, a slice of `whole`, which all ranks have.
  Value takeBlock(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                  Value whole);
  /// Returns the block of the rank with `held`, the elements that it has,
  /// inserted. The other positions are those of the block `into`, or
  /// uninitialized if it is null.
  Value putHeld(OpBuilder &b, Location loc, const MeshBlocks &blocks,
                Value held, Value into = {});
  /// Returns an uninitialized block (tensor.empty) of the size that every rank
  /// has.
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
  DenseMap<Value, Value> ofValues, held; // blocks, and held parts
  std::map<std::vector<int64_t>, Value> numbers;
  int64_t numDevices = 0; // 0 before the first tensor on a mesh
  Value rank;
  Operation *beginning; // code that is common to the function precedes it
  bool failed = false;  // a name of the runtime is already used
};

/// Emits a layout.convert of `value` to `type`, which differs only in its
/// layout. Returns `value` itself if it has this type.
Value convertLayout(OpBuilder &b, Location loc, Value value, Type type);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_BLOCKVALUES_H
