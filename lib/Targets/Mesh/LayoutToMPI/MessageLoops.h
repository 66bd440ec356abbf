//===- MessageLoops.h - Emit message loops ----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the code that executes a message plan. It is the same on every rank,
// which reads its own part of the tables.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESSAGELOOPS_H
#define LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESSAGELOOPS_H

#include "layout/Targets/Mesh/MessageTables.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::layout {

/// A conversion between two distributions, its message plan, and the constants
/// and functions that the module has for it.
struct PlannedMessages {
  PlannedMessages(ReshardPlan plan, MessageTables tables)
      : plan(std::move(plan)), tables(std::move(tables)) {}

  ReshardPlan plan;
  MessageTables tables;
  memref::GlobalOp numbers;   // the tables
  LLVM::GlobalOp place;       // the location as text
  func::FuncOp move, combine; // copy elements, by rows of the tables
  func::FuncOp send, receive; // transfer bytes
  func::FuncOp enter, leave;  // runtime functions
};

/// Creates the symbols of the conversions of a module. Equal functions and
/// tables are shared.
class MessageSymbols {
public:
  explicit MessageSymbols(ModuleOp module) : symbols(module), module(module) {}

  /// Creates the tables and functions of `conversion`, and sets its members to
  /// them. Emits an error and fails if the name of a runtime function is
  /// already used.
  LogicalResult add(Location loc, Type elementType,
                    PlannedMessages &conversion);

  /// Adds a private global with a null-terminated string to the module, such as
  /// the source location that errors at run time name.
  LLVM::GlobalOp addText(Location loc, std::string text);
  /// Returns the declaration of a runtime function, which is added if it is
  /// missing. If another symbol has its name, emits an error at that symbol and
  /// returns null.
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

/// Returns the neutral element of `reduction` for elements of `elementType`,
/// e.g. 0 for a sum. Integers are signed.
TypedAttr getNeutralElement(OpBuilder &b, Location loc, Reduction reduction,
                            Type elementType);

/// Emits the messages and copies that convert `source`, the memory of the
/// rank's block, to `target`, that of its block in the other distribution.
void emitMessages(OpBuilder &b, Location loc, const PlannedMessages &conversion,
                  Value source, Value target);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESSAGELOOPS_H
