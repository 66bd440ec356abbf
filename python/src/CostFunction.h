//===- CostFunction.h - Prices that a function of Python has -- -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_COSTFUNCTION_H
#define LAYOUT_PYTHON_COSTFUNCTION_H

#include "layout/Analysis/CostProvider.h"
#include <exception>
#include <pybind11/pybind11.h>
#include <utility>

namespace mlir {
namespace layout {
namespace python {

/// What the function is asked to price.
struct PricedOp;

/// Asks a function of Python. Passes know no exceptions, so the first one is
/// kept for later, and nothing is asked from then on.
class FunctionOfPython : public CostProvider {
public:
  explicit FunctionOfPython(pybind11::object function)
      : function(std::move(function)) {}

  Cost getOpCost(const OpToPrice &op) override;
  Cost getConversionCost(const ConversionToPrice &conversion) override;

  /// What was raised since the last call. The interpreter's lock is needed to
  /// throw or destroy it, not to take it.
  std::exception_ptr takeError() { return std::exchange(error, nullptr); }

private:
  Cost ask(llvm::function_ref<PricedOp()> describe);

  pybind11::object function;
  std::exception_ptr error;
};

} // namespace python
} // namespace layout
} // namespace mlir

#endif // LAYOUT_PYTHON_COSTFUNCTION_H
