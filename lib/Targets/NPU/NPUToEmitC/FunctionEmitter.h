//===- FunctionEmitter.h - One function as C++ ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the ops of one function into calls, in their order. Where an operand
// lies is asked of its canonical map alone; views take no code.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_FUNCTIONEMITTER_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_FUNCTIONEMITTER_H

#include "CoreRule.h"
#include "DenseKernels.h"
#include "Numbering.h"
#include "OkkCalls.h"
#include "layout/Dialect/NPU/IR/Functions.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Utils/Commands.h"
#include "layout/Targets/NPU/NPUToEmitC/Constants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir {
namespace npu {

/// The memref of linear memory whose pointer a view of it counts from.
Value getLinearMemory(Value memref);

/// The C++ name of a function of the module.
std::string getEmittedName(StringRef name);

/// Windows.cpp: windows over each channel by itself, found and placed.
struct ChannelWindows;
struct PlacedWindows;

/// What the functions of a module share.
struct ModuleEmission {
  OpBuilder &builder;
  const ConstantBlock &constants;
  DenseKernels &kernels;
  bool checks;
  /// Tensors own their elements alone.
  bool exactBytes;
  /// What is no function of OKKernel's is an error.
  bool strict;
};

class FunctionEmitter {
public:
  FunctionEmitter(func::FuncOp function, ModuleEmission &shared)
      : function(function), shared(shared), builder(shared.builder),
        calls(builder), checks(shared.checks) {}

  LogicalResult emit();

private:
  /// An operand of a computation.
  struct Operand {
    Value memref;
    MemRefType type;
    Storage storage;
  };

  LogicalResult emitBlock(Block &block);
  void startPart(TypeRange inputs);
  void finishParts(TypeRange inputs);
  Value getSystemAddress(Value memref, int64_t byte);
  LogicalResult emitAlloc(AllocOp op);
  LogicalResult emitCopy(CopyOp op);
  LogicalResult emitFill(FillOp op);
  LogicalResult emitConstant(memref::GetGlobalOp op);

  /// Compute.cpp.
  LogicalResult emitCompute(linalg::LinalgOp op);
  FailureOr<Operand> getOperand(linalg::LinalgOp op, Value memref);
  /// Elements.cpp: as functions of single elements, or why not.
  bool emitAsElements(linalg::LinalgOp op, ArrayRef<Operand> operands,
                      std::string &why);
  void emitElements(const ElementFunction &function, ArrayRef<Value> memrefs,
                    const Command &command, bool isCompact);
  bool expectElements(linalg::LinalgOp op, ArrayRef<unsigned> numbers);
  /// Layers.cpp: as a function of a whole layer, by the file of its kind.
  bool emitAsLayer(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitAsConvolution(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitAsProduct(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitAsWindows(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitPlacedWindows(linalg::LinalgOp op, ArrayRef<Operand> operands,
                         const ChannelWindows &windows,
                         const PlacedWindows &placed);
  /// An operand as the box that a command of the chip takes: of any strides, or
  /// of those of the aligned layout.
  std::optional<TransferSide> findBox(const Operand &operand, AffineMap index,
                                      const LoopSizes &ranges) const;
  std::optional<TransferSide> findAligned(const Operand &operand,
                                          AffineMap index,
                                          const LoopSizes &ranges) const;
  /// Products.cpp: a matrix in channels of columns.
  struct Matrix {
    TransferSide start;
    int64_t width = 0;
  };
  std::optional<Matrix>
  findMatrix(linalg::LinalgOp op, OpOperand &use, const Operand &operand,
             std::optional<unsigned> row, unsigned column,
             ArrayRef<std::pair<unsigned, int64_t>> batch) const;
  LogicalResult emitAsKernel(linalg::LinalgOp op, ArrayRef<Operand> operands);
  /// In which cores the operands are, and how the results' reach them.
  LogicalResult checkCores(linalg::LinalgOp op, ArrayRef<Operand> operands,
                           ArrayRef<unsigned> parameters,
                           SmallVectorImpl<CoreTable> &cores,
                           SmallVectorImpl<Reach> &reaches);

  /// The memref with the byte of its core in its map.
  FailureOr<Storage> getPlaced(Operation *op, Value memref);
  std::optional<std::vector<Transfer>>
  plan(Operation *op, const layout::LayoutMap &source,
       const layout::LayoutMap &dest, ArrayRef<int64_t> shape,
       int64_t elementBytes, const TransferLimits &limits);
  /// A tensor as boxes; their source is its row-major image.
  std::optional<std::vector<Transfer>> planImage(Operation *op,
                                                 const Storage &storage,
                                                 MemRefType type,
                                                 const TransferLimits &limits);
  /// Says which elements the next commands move: those of a box in the memrefs,
  /// the destination first, whose dims are the box's but for what a copy does
  /// to its source. False where checks are not wanted or elements have no
  /// numbers.
  bool expect(ArrayRef<int64_t> shape, ValueRange memrefs,
              CopyOp copy = nullptr);
  /// The same for a box of loops, which maps lead from to the dims of memrefs.
  bool expect(ArrayRef<int64_t> ranges, ValueRange memrefs,
              ArrayRef<AffineMap> maps);
  bool expect(ArrayRef<int64_t> sizes, ValueRange memrefs,
              MutableArrayRef<Numbering> numberings);
  /// Where a transfer starts, as an argument of a call.
  Value getAddress(Value memref, const TransferSide &side);

  func::FuncOp function;
  ModuleEmission &shared;
  OpBuilder &builder;
  OkkCalls calls;
  bool checks;
  /// The parameter that a memref of linear memory counts from, and by how many
  /// bytes it starts later.
  DenseMap<Value, std::pair<unsigned, int64_t>> systemAddresses;
  /// The functions that the program is cut into.
  SmallVector<emitc::FuncOp> parts;
  ChipAttr chip; // of all that is local
};

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_FUNCTIONEMITTER_H
