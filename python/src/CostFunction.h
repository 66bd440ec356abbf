//===- CostFunction.h - Prices from a Python function -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_SRC_COSTFUNCTION_H
#define LAYOUT_PYTHON_SRC_COSTFUNCTION_H

#include "layout/Analysis/CostProvider.h"
#include <exception>
#include <pybind11/pybind11.h>
#include <utility>

namespace mlir::layout::python {

/// The op or conversion that is passed to the Python function.
struct PricedOp;

/// Obtains the costs of ops and conversions from a Python function. Passes do
/// not support exceptions, so the first one is stored, and the cost of that
/// call is 0. From then on, costs are the modeled ones, and the function is not
/// called again.
class FunctionOfPython : public CostProvider {
public:
  explicit FunctionOfPython(pybind11::object function)
      : function(std::move(function)) {}

  Cost getOpCost(const OpToPrice &op) override;
  Cost getConversionCost(const ConversionToPrice &conversion) override;

  /// Returns the exception that was stored since the last call, or nullptr.
  /// Moving it needs no interpreter lock; throwing or destroying it does.
  std::exception_ptr takeError() { return std::exchange(error, nullptr); }

private:
  Cost getPrice(llvm::function_ref<PricedOp()> describe);

  pybind11::object function;
  std::exception_ptr error;
};

} // namespace mlir::layout::python

#endif // LAYOUT_PYTHON_SRC_COSTFUNCTION_H
