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

/// Returns the memref that a chain of views of linear memory (memref.subview,
/// memref.cast, ..) starts from, or `memref` itself if it is not a view.
Value getLinearMemory(Value memref);

/// Returns the C++ name of a function of the module, e.g. npu_main for main.
std::string getEmittedName(StringRef name);

/// Pools and depthwise convolutions (Windows.cpp), and their assignment to the
/// N, C, H and W of a command.
struct ChannelWindows;
struct PlacedWindows;

/// A function of an elementwise command, and for its result and each of its
/// tensors the number of the side of the command.
struct ElementStep {
  ElementFunction function;
  SmallVector<unsigned, 4> sides;
};

/// The parameters and the state that the emitters of all functions of a module
/// share.
struct ModuleEmission {
  OpBuilder &builder;
  const ConstantBlock &constants;
  DenseKernels &kernels;
  KernelApi api;
  bool checks;
  /// True if the local tensors of all functions own only the bytes of their
  /// elements, so that other tensors may be in the holes between them. If
  /// false, only those of functions with the attribute npu.reuses_holes do.
  bool exactBytes;
  /// True if an op without an OKKernel function is an error, and not a kernel
  /// for the simulator.
  bool strict;
};

class FunctionEmitter {
public:
  FunctionEmitter(func::FuncOp function, ModuleEmission &shared)
      : function(function), shared(shared), builder(shared.builder),
        calls(builder), checks(shared.checks) {}

  LogicalResult emit();

private:
  /// A memref operand of a linalg op in local memory, with its type and
  /// storage.
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

  /// Emits calls for a linalg op: of OKKernel functions, or else of a kernel
  /// for the simulator. Emits an error if neither is possible (Compute.cpp).
  LogicalResult emitCompute(linalg::LinalgOp op);
  FailureOr<Operand> getOperand(linalg::LinalgOp op, Value memref);
  /// Emits calls of elementwise OKKernel functions for the op. Returns false if
  /// that is impossible. `why` then has the reason, or keeps its text if no
  /// function computes the body (Elements.cpp).
  bool emitAsElements(linalg::LinalgOp op, ArrayRef<Operand> operands,
                      std::string &why);
  void emitElements(const ElementFunction &function, ArrayRef<Value> memrefs,
                    const Command &command, bool isCompact);
  bool emitSteps(ArrayRef<ElementStep> steps, ArrayRef<Value> memrefs,
                 ArrayRef<Command> commands, std::string &why);
  void emitSelect(const ElementFunction &function, ArrayRef<Value> addresses,
                  Value shape);
  void addWork(linalg::LinalgOp op, ArrayRef<Operand> operands,
               SmallVectorImpl<unsigned> &numbers,
               SmallVectorImpl<Value> &memrefs,
               MutableArrayRef<Command> commands);
  void emitClamps(linalg::LinalgOp op, const ElementFunction &function,
                  SmallVectorImpl<unsigned> &numbers,
                  MutableArrayRef<Value> memrefs,
                  MutableArrayRef<Command> commands);
  bool expectElements(linalg::LinalgOp op, ArrayRef<unsigned> numbers);
  /// Emits calls of a convolution, a matmul, a pool or a depthwise convolution
  /// for the op. Returns false if its structure or the layouts do not match
  /// (Layers.cpp).
  bool emitAsLayer(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitAsConvolution(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitAsProduct(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitAsWindows(linalg::LinalgOp op, ArrayRef<Operand> operands);
  bool emitPlacedWindows(linalg::LinalgOp op, ArrayRef<Operand> operands,
                         const ChannelWindows &windows,
                         const PlacedWindows &placed);
  void callWindows(const ChannelWindows &windows, const PlacedWindows &placed,
                   Value to, Value from, Value weights);
  /// Return the box of an operand that one command accesses, or std::nullopt if
  /// it is not a box. `index` maps N, C, H and W, of sizes `ranges`, to the
  /// dims of the operand. findAligned requires the strides of the aligned
  /// layout.
  std::optional<TransferSide> findBox(const Operand &operand, AffineMap index,
                                      const LoopSizes &ranges) const;
  std::optional<TransferSide> findAligned(const Operand &operand,
                                          AffineMap index,
                                          const LoopSizes &ranges) const;
  /// A matrix at the local address `start` in the matrix layout: each group of
  /// `width` adjacent columns is a channel, which is in one core
  /// (Products.cpp).
  struct Matrix {
    TransferSide start;
    int64_t width = 0;
  };
  std::optional<Matrix>
  findMatrix(linalg::LinalgOp op, OpOperand &use, const Operand &operand,
             std::optional<unsigned> row, unsigned column,
             ArrayRef<std::pair<unsigned, int64_t>> batch) const;
  LogicalResult emitAsKernel(linalg::LinalgOp op, ArrayRef<Operand> operands);
  /// Appends, for each operand of `parameters`, the core of each element, and
  /// whether the cores of the result find it in their own memory or receive it
  /// by broadcast. Emits an error if they do neither, or if several dims of an
  /// operand are spread over the cores.
  LogicalResult checkCores(linalg::LinalgOp op, ArrayRef<Operand> operands,
                           ArrayRef<unsigned> parameters,
                           SmallVectorImpl<CoreTable> &cores,
                           SmallVectorImpl<CoreVisibility> &reaches);

  /// Returns the storage of `memref`, a memref in system memory or a view of an
  /// npu.alloc. Its map contains the address of the npu.alloc. Emits an error
  /// at `op` for other memories, or if the function uses several chips.
  FailureOr<Storage> getPlaced(Operation *op, Value memref);
  std::optional<std::vector<Transfer>>
  plan(Operation *op, const layout::LayoutMap &source,
       const layout::LayoutMap &dest, ArrayRef<int64_t> shape,
       int64_t elementBytes, const TransferLimits &limits);
  /// Splits a tensor in local memory into boxes: transfers whose source is its
  /// dense row-major image, and whose destination is local memory. Emits an
  /// error and returns std::nullopt if there are no such transfers with sizes
  /// and strides within `limits`.
  std::optional<std::vector<Transfer>> planImage(Operation *op,
                                                 const Storage &storage,
                                                 MemRefType type,
                                                 const TransferLimits &limits);
  /// Tells the simulator which bytes the commands until OkkCalls::endExpected
  /// must move: the elements of a box of `shape` of `memrefs`, the destination
  /// first. For an npu.copy, whose source may have permuted or repeated dims,
  /// `copy` is the op. Returns false, without a call, if checks are off or the
  /// bytes of a memref have no linear numbers.
  bool expect(ArrayRef<int64_t> shape, ValueRange memrefs,
              CopyOp copy = nullptr);
  /// Tells the simulator which elements the next commands combine: for each
  /// iteration of loops of sizes `ranges`, those of `memrefs` that `maps`
  /// index. Returns false, without a call, if checks are off or the bytes of a
  /// memref have no linear numbers.
  bool expect(ArrayRef<int64_t> ranges, ValueRange memrefs,
              ArrayRef<AffineMap> maps);
  bool expect(ArrayRef<int64_t> sizes, ValueRange memrefs,
              MutableArrayRef<Numbering> numberings);
  /// Returns the address of one side of a transfer as an argument of a call: a
  /// local address, or the parameter of `memref` plus an offset.
  Value getAddress(Value memref, const TransferSide &side);

  /// Returns true if local tensors of this function own only the bytes of their
  /// elements, so that other tensors may be in the holes between them.
  bool sharesHoles() const {
    return shared.exactBytes || function->hasAttr(kReusesHoles);
  }

  func::FuncOp function;
  ModuleEmission &shared;
  OpBuilder &builder;
  OkkCalls calls;
  bool checks;
  /// For each memref in system memory: the number of the parameter of the
  /// emitted function with its base address, and its offset in bytes.
  DenseMap<Value, std::pair<unsigned, int64_t>> systemAddresses;
  /// The C++ functions that the program is split into, of about 200 calls each.
  SmallVector<emitc::FuncOp> parts;
  ChipAttr chip; // the chip of all local memory of the function
};

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_FUNCTIONEMITTER_H
