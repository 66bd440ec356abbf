//===- SetAside.h - Functions that passes need not visit --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_FUNCTIONS_SETASIDE_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_FUNCTIONS_SETASIDE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::layout {

/// Makes functions private declarations until it is destroyed, so that passes
/// on their module do not visit their bodies. The passes must not erase or
/// replace declarations.
class SetAside {
public:
  SetAside() = default;
  SetAside(const SetAside &) = delete;
  SetAside &operator=(const SetAside &) = delete;
  ~SetAside() {
    for (Entry &entry : entries) {
      entry.function.getBody().takeBody(*entry.body);
      entry.function.setVisibility(entry.visibility);
    }
  }

  void add(func::FuncOp function) {
    entries.push_back({function, std::make_unique<Region>(),
                       SymbolTable::getSymbolVisibility(function)});
    entries.back().body->takeBody(function.getBody());
    function.setPrivate();
  }

private:
  struct Entry {
    func::FuncOp function;
    std::unique_ptr<Region> body;
    SymbolTable::Visibility visibility;
  };
  SmallVector<Entry> entries;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_FUNCTIONS_SETASIDE_H
