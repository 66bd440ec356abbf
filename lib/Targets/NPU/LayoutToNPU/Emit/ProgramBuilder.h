//===- ProgramBuilder.h - Programs on memory --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the program of one function. Every tensor has a memref, in local memory
// if its layout is scattered, otherwise in system memory.
//
//   %1 = layout.convert %x : tensor<A> to tensor<A, #scatter>
//   %2 = linalg.conv ins(%1, ..) outs(%empty)
//     %t = npu.alloc : memref<A, #scatter, #npu.memory<local>>
//     npu.copy %x to %t
//     %u = npu.alloc : ..
//     linalg.conv ins(%t, ..) outs(%u)
//
// Laws:
//  * a memref is written only if no tensor in it has a later reader;
//  * a part of a concatenation with the layout of its in-place destination is
//    computed there: it is a view of the whole, and needs no transfer;
//  * a local tensor is freed after its last use;
//  * a DMA copy or fill has transfers within the limits of the chip, by the
//    method that the cost model chose (TensorMovePlan.h), or else it is an
//    error.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_EMIT_PROGRAMBUILDER_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_EMIT_PROGRAMBUILDER_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Targets/NPU/NpuTimes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::layout {

class ProgramBuilder {
public:
  ProgramBuilder(func::FuncOp function, SymbolTable &symbols,
                 NpuTargetAttr target);

  /// Emits a function of the same name on memrefs before the original function,
  /// and erases the original. Fails, with an error, if an op cannot be lowered;
  /// the original is then kept.
  LogicalResult run();

private:
  // Checks and lowers the ops in program order (LayoutToNPU.cpp).
  LogicalResult closeBodies();
  LogicalResult checkFunction();
  void placeTransfers();
  npu::ChipAttr findChip();
  LogicalResult lower(Operation *op);
  LogicalResult lowerReturn(func::ReturnOp op);
  void freeTensors();

  // Create and find the memory of tensors (ProgramBuilder.cpp).
  MemRefType getMemRefType(RankedTensorType type);
  Value getMemory(Value tensor);
  Value getGlobal(Location loc, ElementsAttr value);
  Value makeMemory(Location loc, Value tensor);
  Value makeLocal(Location loc, RankedTensorType type);
  Value makeScratch(Location loc, MemRefType type);
  Value addArgument(Location loc, MemRefType type, StringRef role);
  // Emit moves and fills by DMA, through system memory, or by the cores
  // (EmitCopies.cpp).
  void copy(Location loc, Value from, Value to,
            ArrayRef<int64_t> permutation = {}, bool broadcasts = false);
  void fill(Location loc, TypedAttr value, Value to);
  void initialize(Location loc, Value tensor, Value to);
  bool isOverwritable(OpOperand &use);

  // Compute operands of concatenations in their slices (InPlaceConcat.cpp).
  void planInPlaceConcats();
  bool hasRoomFor(tensor::ConcatOp concat, Operation *first);
  Value makeInPlacePart(Location loc, Value part);

  // Lower linalg ops (Operators.cpp).
  LogicalResult lowerLinalg(linalg::LinalgOp op);
  FailureOr<Value> makeInit(linalg::LinalgOp op, OpOperand &init);
  Value makeWindow(linalg::LinalgOp op, RankedTensorType type);
  LogicalResult lowerOnSystem(linalg::LinalgOp op);
  /// Lowers an op without iterations, because a loop has size 0: its results
  /// are its inits.
  void lowerWithoutIterations(linalg::LinalgOp op);
  struct Inputs;
  /// The operand numbers and values of scalar operands, which are constants and
  /// become constants in the body.
  using Numbers = SmallVector<std::pair<unsigned, TypedAttr>>;
  LogicalResult collectInputs(linalg::LinalgOp op, Inputs &inputs,
                              Numbers &numbers);
  /// Emits a linalg.generic with the body of `op` on memrefs: its inputs in
  /// local memory and `inits`, which may end with a work buffer that nothing
  /// reads. Operands in `numbers` become constants in the body.
  void makeGeneric(linalg::LinalgOp op, const Inputs &inputs, ValueRange inits,
                   const Numbers &numbers);
  LogicalResult loadForAll(linalg::LinalgOp op, OpOperand &operand,
                           Inputs &inputs);

  // Lower slices, pads, concatenations, reshapes and conversions (Parts.cpp).
  Value makeView(Location loc, RankedTensorType type, Value source);
  FailureOr<bool> storePart(Operation *op, Value source);
  LogicalResult lowerConvert(ConvertOp op);
  LogicalResult lowerPad(tensor::PadOp op);
  LogicalResult lowerExtract(tensor::ExtractSliceOp op);
  LogicalResult lowerInsert(tensor::InsertSliceOp op);
  LogicalResult lowerConcat(tensor::ConcatOp op);
  LogicalResult lowerReshape(Operation *op,
                             ArrayRef<ReassociationIndices> groups,
                             bool expands);
  FailureOr<Value> getPart(Operation *op, Value memref,
                           ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                           ArrayRef<int64_t> strides, ArrayRef<int64_t> shape);

  func::FuncOp function, program;
  SymbolTable &symbols;
  OpBuilder builder;
  Block *body = nullptr;
  DenseMap<Value, Value> memory;
  DenseMap<Attribute, memref::GlobalOp> globals;
  /// The slice of a concatenation in which a tensor is computed: the operand of
  /// the concatenation, and the byte offset of the slice from the start of the
  /// whole result in each core.
  struct InPlacePart {
    OpOperand *part;
    int64_t byte;
  };
  DenseMap<Value, InPlacePart> inPlaceParts;
  DenseMap<Value, Value> madeInPlace; // operands computed in their slice
  /// Concatenations whose operands computed in place have later readers, so
  /// that the memory of the whole must not be overwritten.
  DenseSet<Value> isReadInParts;
  SmallVector<StringRef> roles;   // attribute names of the arguments
  SmallVector<Value> results;     // arguments that results are written to
  npu::ChipAttr chip;             // null if no tensor is local
  NpuTargetAttr target;           // null if the module has none
  std::optional<NpuTimes> times;  // to choose methods of moves
  bool hasImpossibleMove = false; // an error has been emitted for a move
};

/// Replaces a copy inside of local memory by an op that the cores compute.
void computeOnCores(npu::CopyOp copy);

/// Returns the element of a splat constant, or the value of a fill with a
/// constant, or a null attribute for other tensors.
TypedAttr getConstantFill(Value tensor);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_EMIT_PROGRAMBUILDER_H
