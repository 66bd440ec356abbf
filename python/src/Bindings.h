//===- Bindings.h - The parts of the extension module -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout_mlir._layout`: the names of docs/spec.md, section 7, on the algebra.
// Nothing here computes an address; each function turns arguments into values,
// asks the algebra and turns the answer back.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_BINDINGS_H
#define LAYOUT_PYTHON_BINDINGS_H

#include "LayoutValue.h"
#include "layout/Algebra/Cores.h"
#include "layout/Algebra/Proof.h"
#include <pybind11/pybind11.h>

namespace mlir {
namespace layout {
namespace python {

using LayoutClass = pybind11::class_<LayoutValue, std::shared_ptr<LayoutValue>>;

/// How a binding receives an argument.
template <typename T> struct Argument {
  using Type = T;
  static T get(Type value) { return std::forward<T>(value); }
};
/// An object of the module comes by its holder: Python can make one whose value
/// was never constructed, which has none.
template <typename T> struct HeldArgument {
  using Type = const std::shared_ptr<T> &;
  static const T &get(Type value) {
    if (!value)
      throw pybind11::type_error(
          "a " +
          std::string(pybind11::str(pybind11::type::of<T>().attr("__name__"))) +
          " is expected, not None");
    return *value;
  }
};
template <> struct Argument<const LayoutValue &> : HeldArgument<LayoutValue> {};
/// Signatures in docstrings say `object`, and not the name of a C++ class.
template <> struct Argument<pybind11::handle> {
  using Type = const pybind11::object &;
  static pybind11::handle get(Type value) { return value; }
};

/// `function` for pybind11.
template <typename Result, typename... Args>
auto forPython(Result (*function)(Args...)) {
  return [function](typename Argument<Args>::Type... args) -> Result {
    return function(Argument<Args>::get(
        std::forward<typename Argument<Args>::Type>(args))...);
  };
}

/// pybind11 holds pointers to values that are not const; no binding changes
/// one.
inline std::shared_ptr<LayoutValue> toPython(const LayoutValue::Ptr &value) {
  return std::const_pointer_cast<LayoutValue>(value);
}

/// True, False, or None for unknown.
pybind11::object toPython(Answer answer);

/// The bytes of one element; nothing where they are no whole number.
std::optional<int64_t> getElementBytes(const OnShape &on);

/// The banks of one core where `object` is a Target; nothing for anything else.
std::optional<Banks> getBanksOfTarget(const pybind11::object &object);

void bindTarget(pybind11::module_ &module);
void bindQueries(LayoutClass &layout);
void bindArrays(LayoutClass &layout);
void bindViews(LayoutClass &layout);
void bindNotations(LayoutClass &layout);
void bindSteps(LayoutClass &layout);
void bindMemory(LayoutClass &layout);
void bindCuTeAlgebra(LayoutClass &layout);
void bindConversions(pybind11::module_ &module, LayoutClass &layout);
void bindPipeline(pybind11::module_ &module);
void bindConstants(pybind11::module_ &module);
void bindCostFunction(pybind11::module_ &module);
void bindAssignment(pybind11::module_ &module);
void bindAssigner(pybind11::module_ &module);
void bindProgram(pybind11::module_ &module);
void bindSolve(pybind11::module_ &module);

/// A machine with caches, for those who name no target.
constexpr StringLiteral kDefaultTarget = "#layout.cpu<lanes = 16>";

/// The attribute that the name of a blocked layout stands for, "NCHW16c"; any
/// other text as it is.
std::string expandName(const std::string &text);

/// The text of the attribute that a Target stands for.
std::string getTargetText(const pybind11::object &target);

} // namespace python
} // namespace layout
} // namespace mlir

#endif // LAYOUT_PYTHON_BINDINGS_H
