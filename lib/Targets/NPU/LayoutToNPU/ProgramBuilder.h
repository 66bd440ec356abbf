//===- ProgramBuilder.h - A function on tensors as one on memory -*- C++-*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the program of one function: every tensor has a memref, local where
// its layout is scattered, in system memory otherwise.
//
//   %1 = layout.convert %x : tensor<A> to tensor<A, #scatter>
//   %2 = linalg.conv ins(%1, ..) outs(%empty)
//     %t = npu.alloc : memref<A, #scatter, #npu.memory<local>>
//     npu.copy %x to %t
//     %u = npu.alloc : ..
//     linalg.conv ins(%t, ..) outs(%u)
//
// Laws:
//  * a memref is written only where no tensor that is still to be read has it;
//  * a part of a concatenation whose layout is that of its place is made there:
//    a view of the concatenation's memory, and no transfer;
//  * a local tensor is freed after its last use;
//  * a copy or fill by DMA has transfers within the limits of the chip, and
//    takes the way that was priced (NpuMove.h); what has none is an error.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_PROGRAMBUILDER_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_PROGRAMBUILDER_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Support/EngineTimes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir {
namespace layout {

class ProgramBuilder {
public:
  ProgramBuilder(func::FuncOp function, SymbolTable &symbols,
                 const EngineTimes &times);

  /// Writes the program in front of the function, which it then replaces.
  LogicalResult run();

private:
  // LayoutToNPU.cpp: the walk.
  LogicalResult closeBodies();
  LogicalResult checkFunction();
  void placeTransfers();
  npu::ChipAttr findChip();
  LogicalResult lower(Operation *op);
  LogicalResult lowerReturn(func::ReturnOp op);
  void freeTensors();

  // ProgramBuilder.cpp: memory of tensors.
  MemRefType getMemRefType(RankedTensorType type);
  Value getMemory(Value tensor);
  Value getGlobal(Location loc, ElementsAttr value);
  Value makeMemory(Location loc, Value tensor);
  Value makeLocal(Location loc, RankedTensorType type);
  Value makeScratch(Location loc, MemRefType type);
  Value addArgument(Location loc, MemRefType type, StringRef role);
  // Moves.cpp: by DMA, through system memory, or by the cores.
  void copy(Location loc, Value from, Value to,
            ArrayRef<int64_t> permutation = {}, bool broadcasts = false);
  void fill(Location loc, TypedAttr value, Value to);
  void initialize(Location loc, Value tensor, Value to);
  bool isOverwritable(OpOperand &use);

  // Homes.cpp: parts of concatenations in their place.
  void planHomes();
  bool hasRoomFor(tensor::ConcatOp concat, Operation *first);
  Value makeAtHome(Location loc, Value part);

  // Operators.cpp: ops that compute.
  LogicalResult lowerLinalg(linalg::LinalgOp op);
  FailureOr<Value> makeInit(linalg::LinalgOp op, OpOperand &init);
  Value makeWindow(linalg::LinalgOp op, RankedTensorType type);
  LogicalResult lowerOnSystem(linalg::LinalgOp op);
  /// An op of no iterations: a result is what it starts from.
  void lowerWithoutTurns(linalg::LinalgOp op);
  struct Inputs;
  /// Operands that are constant numbers and become part of the body.
  using Numbers = SmallVector<std::pair<unsigned, TypedAttr>>;
  LogicalResult collectInputs(linalg::LinalgOp op, Inputs &inputs,
                              Numbers &numbers);
  /// The body of `op` over what was loaded for it.
  void makeGeneric(linalg::LinalgOp op, const Inputs &inputs, ValueRange inits,
                   const Numbers &numbers);
  LogicalResult loadForAll(linalg::LinalgOp op, OpOperand &operand,
                           Inputs &inputs);

  // Parts.cpp: slices, pads, views and conversions.
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
  /// Where a part is made: as which operand of a concatenation, and how many
  /// bytes after the whole.
  struct Home {
    OpOperand *part;
    int64_t byte;
  };
  DenseMap<Value, Home> homes;
  DenseMap<Value, Value> madeAtHome; // the memory of parts that were
  /// Concatenations whose memory parts are still read from.
  DenseSet<Value> isReadInParts;
  SmallVector<StringRef> roles;   // of the arguments
  SmallVector<Value> results;     // the arguments for them
  npu::ChipAttr chip;             // null where nothing is in local memory
  EngineTimes times;              // for what takes several ways
  bool hasImpossibleMove = false; // which is reported
};

/// The value of a constant that is one number, or of a fill with one.
TypedAttr getConstantFill(Value tensor);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_PROGRAMBUILDER_H
