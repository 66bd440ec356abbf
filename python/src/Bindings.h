//===- Bindings.h - The parts of the extension module -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout_mlir._layout`: binds the names of docs/spec.md, section 7, to the
// algebra. The bindings compute no addresses: each function converts its
// arguments, calls the algebra, and converts the result.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_SRC_BINDINGS_H
#define LAYOUT_PYTHON_SRC_BINDINGS_H

#include "LayoutValue.h"
#include "layout/Algebra/Cores.h"
#include "layout/Algebra/Proof.h"
#include <pybind11/pybind11.h>

namespace mlir::layout::python {

using LayoutClass = pybind11::class_<LayoutValue, std::shared_ptr<LayoutValue>>;

/// Converts an argument from its pybind11 type to the parameter type `T`.
template <typename T> struct Argument {
  using Type = T;
  static T get(Type value) { return std::forward<T>(value); }
};
/// Converts an argument that is an object of this module, held by a shared_ptr.
/// Raises TypeError if its value was never constructed, so that the pointer is
/// null, as after `T.__new__(T)`.
template <typename T> struct HeldArgument {
  using Type = const std::shared_ptr<T> &;
  static const T &get(Type value) {
    if (!value)
      throw pybind11::type_error(
          "expected a " +
          std::string(pybind11::str(pybind11::type::of<T>().attr("__name__"))) +
          ", not None");
    return *value;
  }
};
template <> struct Argument<const LayoutValue &> : HeldArgument<LayoutValue> {};
/// Passes any Python object to a parameter of type handle. The type is object,
/// so that signatures in docstrings contain `object` instead of a C++ class
/// name.
template <> struct Argument<pybind11::handle> {
  using Type = const pybind11::object &;
  static pybind11::handle get(Type value) { return value; }
};

/// Wraps `function` for pybind11: the wrapper takes each argument in the type
/// that pybind11 passes and converts it to the type of the parameter.
template <typename Result, typename... Args>
auto forPython(Result (*function)(Args...)) {
  return [function](typename Argument<Args>::Type... args) -> Result {
    return function(Argument<Args>::get(
        std::forward<typename Argument<Args>::Type>(args))...);
  };
}

/// Casts away const, because pybind11 holds pointers to mutable values. No
/// binding changes a value.
inline std::shared_ptr<LayoutValue> toPython(const LayoutValue::Ptr &value) {
  return std::const_pointer_cast<LayoutValue>(value);
}

/// Converts the result of a proof to True, False, or None for unknown.
pybind11::object toPython(ProofResult answer);

/// Returns the bytes of one element, or std::nullopt if the element type is not
/// stated, is not an integer or a float, or has a width that is not a multiple
/// of 8 bits.
std::optional<int64_t> getElementBytes(const OnShape &on);

/// Returns the memory banks of one core if `object` is a Target, or else
/// std::nullopt. Throws LayoutError if the Target states no banks.
std::optional<Banks> getBanksOfTarget(const pybind11::object &object);

void bindTarget(pybind11::module_ &module);
void bindBundles(pybind11::module_ &module);
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
void bindProgram(pybind11::module_ &module);

/// The target if none is stated: a CPU with caches and vectors of 16 elements.
constexpr StringLiteral kDefaultTarget = "#layout.cpu<lanes = 16>";

/// Expands the name of a blocked layout, e.g. "NCHW16c", to its attribute;
/// returns other text unchanged. Throws LayoutError if the name does not
/// determine the logical order of its axes.
std::string expandName(const std::string &text);

/// Returns the attribute #npu.target<..> of a Target object as text. Raises
/// TypeError for other objects.
std::string getTargetText(const pybind11::object &target);

} // namespace mlir::layout::python

#endif // LAYOUT_PYTHON_SRC_BINDINGS_H
