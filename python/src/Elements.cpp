//===- Elements.cpp - Element types and numpy's dtypes --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Context.h"
#include "layout/Runtime/Npy.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout::python;
using mlir::layout::getElementKind;
using mlir::layout::getPartialBits;

namespace {
/// The properties of a numpy dtype, for use without the interpreter's lock.
struct Dtype {
  explicit Dtype(const py::object &dtype)
      : kind(py::cast<std::string>(dtype.attr("kind"))[0]),
        bits(8 * dtype.attr("itemsize").cast<unsigned>()),
        name(py::str(dtype.attr("name"))) {
    // Integers of ml_dtypes have kind V.
    StringRef rest = name;
    bool isUnsigned = rest.consume_front("u");
    if (kind == 'V' && rest.consume_front("int") &&
        !rest.getAsInteger(10, bits))
      kind = isUnsigned ? 'u' : 'i';
  }

  bool isInteger() const { return StringRef("biu").contains(kind); }

  char kind;
  unsigned bits;
  std::string name;
};
} // namespace

static Type getFloat(unsigned bits, MLIRContext *context) {
  switch (bits) {
  case 16:
    return Float16Type::get(context);
  case 32:
    return Float32Type::get(context);
  case 64:
    return Float64Type::get(context);
  default:
    return {};
  }
}

/// Returns the element type of a dtype, signless for integers, or a null type.
static Type getTypeOf(const Dtype &dtype, MLIRContext *context) {
  switch (dtype.kind) {
  case 'b':
    return IntegerType::get(context, 1);
  case 'i':
  case 'u':
    return IntegerType::get(context, dtype.bits);
  case 'f':
    return getFloat(dtype.bits, context);
  case 'c': {
    Type part = getFloat(dtype.bits / 2, context);
    return part ? Type(ComplexType::get(part)) : Type();
  }
  default:
    return {};
  }
}

/// Returns the ml_dtypes name of a type that numpy lacks, or an empty string.
static std::string getForeignName(Type type) {
  if (type.isBF16())
    return "bfloat16";
  if (!getElementKind(type))
    return "";
  if (isa<IntegerType>(type) && getPartialBits(type))
    return (type.isUnsignedInteger() ? "uint" : "int") +
           std::to_string(getPartialBits(type));
  if (!isa<FloatType>(type) || type.getIntOrFloatBitWidth() > 8)
    return "";
  std::string name; // f8E4M3FN is named float8_e4m3fn.
  llvm::raw_string_ostream(name) << type;
  StringRef rest = name;
  return ("float" + rest.substr(1, 1) + "_" + rest.drop_front(2).lower()).str();
}

bool mlir::layout::python::isPartialInteger(Type type) {
  return isa<IntegerType>(type) && getPartialBits(type);
}

static bool dtypeHolds(const Dtype &dtype, Type element, MLIRContext *context) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    if (integer.isSigned() && dtype.kind != 'i')
      return false;
    if (integer.isUnsigned() && dtype.kind != 'u')
      return false;
    element = IntegerType::get(context, integer.getWidth());
  }
  if (getTypeOf(dtype, context) == element)
    return true;
  std::string foreign = getForeignName(element);
  if (foreign.empty())
    return false;
  bool isRaw = isa<FloatType>(element) && dtype.kind == 'u' &&
               dtype.bits == 8 * getByteSize(*getElementKind(element));
  return isRaw || dtype.name == foreign;
}

Type mlir::layout::python::getElement(const LayoutValue &layout,
                                      const py::object &given) {
  Dtype dtype(given);
  if (!given.attr("isnative").cast<bool>())
    fail("arrays of dtype '" + Twine(std::string(py::str(given))) +
         "' are not in the machine's byte order: convert with "
         "array.astype(array.dtype.newbyteorder('='))");
  return inContext("", [&](MLIRContext *context) -> FailureOr<Type> {
    auto emit = [&] { return emitError(UnknownLoc::get(context)); };
    if (layout.hasElement()) {
      if (dtypeHolds(dtype, layout.element, context))
        return layout.element;
      return emit() << "an array of " << dtype.name
                    << " cannot hold elements of type " << layout.element
                    << ": convert it first";
    }
    if (Type type = getTypeOf(dtype, context))
      return type;
    return emit() << "an array of " << dtype.name
                  << " cannot hold elements of a tensor: use integers, or "
                     "floats and complex numbers of floats of 16 to 64 bits";
  });
}

bool mlir::layout::python::holds(const py::object &given, Type element) {
  Dtype dtype(given);
  bool isStored = isPartialInteger(element) && dtype.bits == 8 &&
                  dtype.kind == (element.isUnsignedInteger() ? 'u' : 'i');
  return given.attr("isnative").cast<bool>() &&
         (isStored || dtypeHolds(dtype, element, element.getContext()));
}

py::object mlir::layout::python::getStoredDtype(Type element) {
  std::string name = "u";
  if (auto integer = dyn_cast<IntegerType>(element))
    name = integer.isUnsigned() ? "u" : integer.getWidth() == 1 ? "b" : "i";
  else if (isa<ComplexType>(element))
    name = "c";
  else if (getForeignName(element).empty())
    name = "f";
  int64_t bytes = getByteSize(*getElementKind(element));
  return getNumpy("dtype")(name + std::to_string(bytes));
}

py::object mlir::layout::python::getDtype(Type element) {
  std::string foreign = getForeignName(element);
  if (!foreign.empty())
    try {
      return getNumpy("dtype")(
          py::module_::import("ml_dtypes").attr(foreign.c_str()));
    } catch (const py::error_already_set &error) {
      if (!error.matches(PyExc_ImportError) &&
          !error.matches(PyExc_AttributeError)) // an old version of ml_dtypes
        throw;
    }
  return getStoredDtype(element);
}

Array mlir::layout::python::toStored(const Array &array, Type element) {
  if (!isPartialInteger(element))
    return array;
  py::object stored = array.object.attr("astype")(getStoredDtype(element));
  // An unsigned value of a signless type: its upper bit becomes the sign.
  py::int_ sign(1 << (getPartialBits(element) - 1));
  if (!element.isUnsignedInteger() && Dtype(array.getDtype()).kind == 'u')
    stored = (stored ^ sign) - sign;
  return Array(stored, "array");
}

/// Converts the number `value` to an array of rank 0 and dtype `given`. Floats
/// may be rounded. Throws LayoutError if it is not a number, if an integer
/// dtype cannot represent it exactly, if it is complex and the dtype is not, or
/// if a finite number would become infinite.
static py::object toElement(const py::object &value, const py::object &given) {
  Dtype dtype(given);
  py::object number = getNumpy("asarray")(value);
  Dtype from(number.attr("dtype"));
  bool isNumber = number.attr("ndim").cast<int>() == 0 &&
                  StringRef("biufc").contains(from.kind) &&
                  (from.kind != 'c' || dtype.kind == 'c');
  if (isNumber) {
    // numpy would issue warnings about the conversion.
    py::object quiet = getNumpy("errstate")(py::arg("all") = "ignore");
    quiet.attr("__enter__")();
    py::object element = number.attr("astype")(given);
    quiet.attr("__exit__")(py::none(), py::none(), py::none());
    // Floats may round but must stay finite; integers must be exact.
    auto isFinite = [&](const py::object &x) {
      return getNumpy("isfinite")(x).cast<bool>();
    };
    if (dtype.isInteger() ? element.equal(number)
                          : isFinite(element) || !isFinite(number))
      return element;
  }
  fail("padding of " + Twine(std::string(py::repr(value))) +
       " cannot be held by " + dtype.name);
}

/// Converts a constant to an array of rank 0 of the dtype, by its bits.
static py::object toElement(TypedAttr constant, const py::object &dtype) {
  llvm::APInt bits;
  if (auto number = dyn_cast<FloatAttr>(constant))
    bits = number.getValue().bitcastToAPInt();
  else
    bits = cast<IntegerAttr>(constant).getValue();
  std::string width = py::str(dtype.attr("itemsize"));
  return getNumpy("array")(bits.getZExtValue(), "u" + width)
      .attr("view")(dtype);
}

py::object mlir::layout::python::getPadding(const OnShape &on,
                                            const py::object &given,
                                            const py::object &dtype) {
  // A null constant means that the layout states no padding value.
  auto constant = inContext("", [&](MLIRContext *) {
    return FailureOr<TypedAttr>(on.layout.getPadding(on.element));
  });
  if (!constant)
    return toElement(given.is_none() ? py::int_(0) : given, dtype);
  py::object stated = toElement(constant, dtype);
  if (!given.is_none() && !toElement(given, dtype)
                               .attr("tobytes")()
                               .equal(stated.attr("tobytes")()))
    fail("padding of " + Twine(std::string(py::repr(given))) +
         " differs from that of the layout, " +
         Twine(std::string(py::str(stated))) + " (P1): omit the argument");
  return stated;
}
