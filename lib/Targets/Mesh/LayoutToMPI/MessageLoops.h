//===- MessageLoops.h - Loops over a table of messages ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code that carries out a plan: the same on every rank, which finds what is
// its own in the tables.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESSAGELOOPS_H
#define LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESSAGELOOPS_H

#include "layout/Analysis/MessageTables.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir {
namespace layout {

/// A conversion between two distributions, and what the module has for it.
struct PlannedConversion {
  PlannedConversion(ReshardPlan plan, MessageTables tables)
      : plan(std::move(plan)), tables(std::move(tables)) {}

  ReshardPlan plan;
  MessageTables tables;
  memref::GlobalOp numbers;   // the tables
  LLVM::GlobalOp place;       // the conversion as text
  func::FuncOp move, combine; // elements, by rows of the tables
  func::FuncOp send, receive; // bytes
  func::FuncOp enter, leave;  // of the runtime
};

/// Makes the symbols of conversions of one module: equal functions and tables
/// once.
class MessageSymbols {
public:
  explicit MessageSymbols(ModuleOp module) : symbols(module), module(module) {}

  /// Fails, with an error there, where a name of the runtime is taken.
  LogicalResult add(Location loc, Type elementType,
                    PlannedConversion &conversion);

  /// A text that ends with a zero.
  LLVM::GlobalOp addText(Location loc, std::string text);
  /// A function of the runtime; null, after an error there, where its name is
  /// taken.
  func::FuncOp getExternal(StringRef name, TypeRange inputs, TypeRange results);

private:
  func::FuncOp getMove(const MessageTables &tables, Type elementType,
                       std::optional<Reduction> reduction);
  func::FuncOp getTransfer(bool isSend);
  memref::GlobalOp getNumbers(Location loc, const MessageTables &tables);

  SymbolTable symbols;
  ModuleOp module;
  DenseMap<std::tuple<unsigned, Type, int>, func::FuncOp> moves;
  func::FuncOp transfers[2];
  DenseMap<Attribute, memref::GlobalOp> numbers; // by value
};

/// What parts are combined with at first.
TypedAttr getNeutralElement(OpBuilder &b, Location loc, Reduction reduction,
                            Type elementType);

/// Fills the block `target` of the running rank from its block `source`.
void emitMessages(OpBuilder &b, Location loc,
                  const PlannedConversion &conversion, Value source,
                  Value target);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESSAGELOOPS_H
