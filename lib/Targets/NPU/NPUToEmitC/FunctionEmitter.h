//===- FunctionEmitter.h - One function as C++ ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the ops of one function as calls, in program order. The address of an
// operand is computed from its canonical map. Views emit no code.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_FUNCTIONEMITTER_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_FUNCTIONEMITTER_H

#include "CoreRule.h"
#include "DenseKernels.h"
#include "Numbering.h"
#include "OkkCalls.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Utils/Commands.h"
#include "layout/Targets/NPU/NPUToEmitC/Constants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::npu {

/// Returns the linear memory that a view is an offset into.
Value getLinearMemory(Value memref);

/// Returns the C++ name of a function of the module.
std::string getEmittedName(StringRef name);

/// Windows.cpp: windows over single channels, and their assignment to places.
struct ChannelWindows;
struct PlacedWindows;

/// The state that the functions of a module share.
struct ModuleEmission {
  OpBuilder &builder;
  const ConstantBlock &constants;
  DenseKernels &kernels;
  bool checks;
  /// True if tensors own only the bytes of their elements.
  bool exactBytes;
  /// True if ops without an OKKernel function are errors.
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
  /// Elements.cpp: emits elementwise functions, or sets `why` and returns
  /// false.
  bool emitAsElements(linalg::LinalgOp op, ArrayRef<Operand> operands,
                      std::string &why);
  void emitElements(const ElementFunction &function, ArrayRef<Value> memrefs,
                    const Command &command, bool isCompact);
  void emitClamps(linalg::LinalgOp op, const ElementFunction &function,
                  SmallVectorImpl<unsigned> &numbers,
                  MutableArrayRef<Value> memrefs,
                  MutableArrayRef<Command> commands);
  bool expectElements(linalg::LinalgOp op, ArrayRef<unsigned> numbers);
  /// Layers.cpp: emits a function of a whole layer, or returns false.
  bool emitAsLayer(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitAsConvolution(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitAsProduct(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitAsWindows(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitPlacedWindows(linalg::LinalgOp op, ArrayRef<Operand> operands,
                         const ChannelWindows &windows,
                         const PlacedWindows &placed);
  /// Returns the box of an operand that a command of the chip reads or writes,
  /// with any strides or with those of the aligned layout.
  std::optional<TransferSide> findBox(const Operand &operand, AffineMap index,
                                      const LoopSizes &ranges) const;
  std::optional<TransferSide> findAligned(const Operand &operand,
                                          AffineMap index,
                                          const LoopSizes &ranges) const;
  /// Products.cpp: a matrix in channels of `width` columns.
  struct Matrix {
    TransferSide start;
    int64_t width = 0;
  };
  std::optional<Matrix>
  findMatrix(linalg::LinalgOp op, OpOperand &use, const Operand &operand,
             std::optional<unsigned> row, unsigned column,
             ArrayRef<std::pair<unsigned, int64_t>> batch) const;
  LogicalResult emitAsKernel(linalg::LinalgOp op, ArrayRef<Operand> operands);
  /// Determines the cores of the operands, and how the result's cores access
  /// them.
  LogicalResult checkCores(linalg::LinalgOp op, ArrayRef<Operand> operands,
                           ArrayRef<unsigned> parameters,
                           SmallVectorImpl<CoreTable> &cores,
                           SmallVectorImpl<CoreVisibility> &reaches);

  /// Returns the storage of `memref` with its byte in the core in its map.
  FailureOr<Storage> getPlaced(Operation *op, Value memref);
  std::optional<std::vector<Transfer>>
  plan(Operation *op, const layout::LayoutMap &source,
       const layout::LayoutMap &dest, ArrayRef<int64_t> shape,
       int64_t elementBytes, const TransferLimits &limits);
  /// Returns a tensor as boxes, whose sources are in its row-major image.
  std::optional<std::vector<Transfer>> planImage(Operation *op,
                                                 const Storage &storage,
                                                 MemRefType type,
                                                 const TransferLimits &limits);
  /// Declares which elements the next commands move: those of a box of
  /// `memrefs`, the destination first. Dims are those of the box, except for
  /// the source of `copy`. Returns false if checks are off or the elements have
  /// no numbers.
  bool expect(ArrayRef<int64_t> shape, ValueRange memrefs,
              CopyOp copy = nullptr);
  /// Declares the elements of a box of loops, with maps from loops to dims.
  bool expect(ArrayRef<int64_t> ranges, ValueRange memrefs,
              ArrayRef<AffineMap> maps);
  bool expect(ArrayRef<int64_t> sizes, ValueRange memrefs,
              MutableArrayRef<Numbering> numberings);
  /// Returns the start of a transfer as an argument of a call.
  Value getAddress(Value memref, const TransferSide &side);

  /// Returns true if tensors own only the bytes of their elements.
  bool sharesHoles() const {
    return shared.exactBytes || function->hasAttr(kReusesHoles);
  }

  func::FuncOp function;
  ModuleEmission &shared;
  OpBuilder &builder;
  OkkCalls calls;
  bool checks;
  /// The parameter that a memref of linear memory is an offset into, and the
  /// offset in bytes.
  DenseMap<Value, std::pair<unsigned, int64_t>> systemAddresses;
  /// The functions that the program is split into.
  SmallVector<emitc::FuncOp> parts;
  ChipAttr chip; // of local memory
};

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_FUNCTIONEMITTER_H
