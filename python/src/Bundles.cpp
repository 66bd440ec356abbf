//===- Bundles.cpp - Tensors of coded components --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Arrays.h"
#include "Bindings.h"
#include "Context.h"
#include "layout/Algebra/Bits.h"
#include "layout/Dialect/Layout/IR/Bundle.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

namespace {
/// A `#layout.bundle` with its text.
struct BundleValue {
  BundleAttr attr;
  std::string text;

  const Bundle &get() const { return *attr.getBundle(); }
};
} // namespace

namespace mlir::layout::python {
template <> struct Argument<const BundleValue &> : HeldArgument<BundleValue> {};
} // namespace mlir::layout::python

static const char *const kBundleDoc =
    R"(A tensor that is stored as coded components: values, scales, minimums.

`text` is a `#layout.bundle` as in IR, or the name of a format, of which keyword
arguments are the parameters.

>>> from layout_mlir import Bundle
>>> B = Bundle('gguf.q8_0')
>>> B.streams((2, 64))
{'block': 136}
>>> B.components((2, 64))
{'value': ((2, 64), 'si8'), 'scale': ((2, 2), 'f16')}
>>> Bundle('awq', group=64)
Bundle('#layout.bundle<"awq", group = 64>')

Streams are arrays of uint8. Codes of sub-byte types, and of floats that numpy
lacks, are unsigned integers of 8 or 16 bits.)";

static std::shared_ptr<BundleValue> parse(StringRef text) {
  checkText(text, 200);
  BundleAttr attr = inContext(text, [&](MLIRContext *context) {
    FailureOr<BundleAttr> result;
    if (Attribute parsed = parseAttribute(text, context)) {
      if (auto bundle = dyn_cast<BundleAttr>(parsed))
        result = bundle;
      else
        emitError(UnknownLoc::get(context))
            << "the text is not a #layout.bundle: use Layout for others";
    }
    return result;
  });
  BundleValue value{attr, ""};
  llvm::raw_string_ostream(value.text) << attr;
  return std::make_shared<BundleValue>(std::move(value));
}

static std::shared_ptr<BundleValue> make(const py::str &text,
                                         const py::kwargs &parameters) {
  std::string given = text;
  if (StringRef(given).starts_with("#")) {
    if (!parameters.empty())
      fail("parameters belong to formats with names: write them in the text");
    return parse(given);
  }
  std::string whole = "#layout.bundle<";
  llvm::raw_string_ostream os(whole);
  os << '"';
  llvm::printEscapedString(given, os);
  os << '"';
  for (auto [name, value] : parameters)
    os << ", " << std::string(py::str(name)) << " = "
       << toInt(value, "a parameter of a format");
  os << '>';
  return parse(whole);
}

/// Returns the components on a static shape. Throws LayoutError if the bundle
/// does not apply to it.
static std::vector<PlacedComponent> place(const BundleValue &self,
                                          ArrayRef<int64_t> shape) {
  return inContext("", [&](MLIRContext *context) {
    return placeBundle(self.get(), self.attr, shape,
                       [&] { return emitError(UnknownLoc::get(context)); });
  });
}

static SmallVector<int64_t> getBytes(const BundleValue &self,
                                     ArrayRef<PlacedComponent> placed) {
  std::optional<SmallVector<int64_t>> bytes =
      getStreamBytes(self.get(), placed);
  if (!bytes)
    fail("a stream does not fit 64 bits (B1): the tensor is too large");
  return *bytes;
}

static py::dict getStreams(const BundleValue &self, py::handle shape) {
  std::vector<PlacedComponent> placed = place(self, toShape(shape));
  py::dict result;
  for (auto [name, count] :
       llvm::zip_equal(self.get().getStreams(), getBytes(self, placed)))
    result[py::str(name.str())] = count;
  return result;
}

static std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static py::dict getComponents(const BundleValue &self, py::handle shape) {
  py::dict result;
  for (const PlacedComponent &at : place(self, toShape(shape)))
    result[py::str(at.component->name)] =
        py::make_tuple(toTuple(at.shape), toText(at.component->element));
  return result;
}

/// Returns the pieces of a component as (begin, sizes, layout).
static py::list getPieces(const BundleValue &self, const std::string &name,
                          py::handle shape) {
  py::list result;
  for (const PlacedComponent &at : place(self, toShape(shape))) {
    if (at.component->name != name)
      continue;
    for (const PlacedPiece &piece : at.pieces) {
      auto layout =
          LayoutValue::parse("#layout.map<" + piece.map.str() + ">", {}, {});
      result.append(py::make_tuple(toTuple(piece.begin), toTuple(piece.sizes),
                                   toPython(layout)));
    }
    return result;
  }
  fail("the bundle has no component '" + name + "'");
}

static void check(const BundleValue &self, py::handle shape,
                  const std::string &element) {
  Shape sizes = toShape(shape);
  checkText(element, 200);
  inContext(element, [&](MLIRContext *context) -> FailureOr<bool> {
    Type type = parseType(element, context);
    auto emit = [&] { return emitError(UnknownLoc::get(context)); };
    if (!type || failed(self.attr.verifyEncoding(sizes, type, emit)))
      return failure();
    return true;
  });
}

static py::object isInjective(const BundleValue &self, py::handle shape) {
  std::vector<PlacedComponent> placed = place(self, toShape(shape));
  ProofResult answer;
  {
    py::gil_scoped_release withoutInterpreter;
    answer = proveBitsDistinct(placed).answer;
  }
  return toPython(answer);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Returns the dtype of the codes of a component.
static std::string getCodeDtype(const BundleComponent &component) {
  Type type = component.element;
  std::string bytes = std::to_string(getCodeBytes(component.getWidth()));
  if (type.isF16() || type.isF32())
    return "f" + bytes;
  return (type.isSignedInteger() && component.getWidth() % 8 == 0 ? "i" : "u") +
         bytes;
}

/// Returns the array `name` of a dict, of the given shape and item size. Throws
/// LayoutError if there is none.
static Array getArray(const py::dict &arrays, StringRef name,
                      ArrayRef<int64_t> shape, unsigned itemBytes) {
  py::str key(name.str());
  if (!arrays.contains(key))
    fail("'" + name + "' is missing: state an array for it");
  Array array(arrays[key], name);
  if (array.getShape() != Shape(shape) || array.getItemBytes() != itemBytes)
    fail("the array '" + name + "' has the shape " +
         Twine(std::string(py::str(toTuple(array.getShape())))) +
         " of items of " + Twine(array.getItemBytes()) + " bytes: it needs " +
         Twine(std::string(py::str(toTuple(shape)))) + " of " +
         Twine(itemBytes));
  return array;
}

static void requireNames(const py::dict &arrays, ArrayRef<StringRef> names) {
  for (auto [key, array] : arrays)
    if (!llvm::is_contained(names, std::string(py::str(key))))
      fail("'" + Twine(std::string(py::str(key))) +
           "' does not exist in the bundle: it has " + llvm::join(names, ", "));
}

static py::dict pack(const BundleValue &self, const py::dict &codes,
                     py::handle given) {
  Shape shape = toShape(given);
  check(self, given,
        self.get().decode == Decode::Value
            ? toText(self.get().components.front().element)
            : "f32");
  std::vector<PlacedComponent> placed = place(self, shape);
  requireNames(codes, getComponentNames(self.get().decode));
  py::dict result;
  for (auto [stream, count] :
       llvm::zip_equal(self.get().getStreams(), getBytes(self, placed))) {
    py::object bytes = getNumpy("full")(
        count, self.get().getPadding(stream).value_or(0), "u1");
    Bytes into = Bytes::toWrite(bytes);
    for (const PlacedComponent &at : placed) {
      const BundleComponent &component = *at.component;
      if (component.stream != stream)
        continue;
      unsigned width = component.getWidth();
      Bytes from = Bytes::toRead(
          getArray(codes, component.name, at.shape, getCodeBytes(width)));
      py::gil_scoped_release withoutInterpreter;
      if (!packBits(at.pieces, at.shape, width, from.get(), into.getMutable()))
        llvm_unreachable("a verified bundle has positions that fit 64 bits");
    }
    result[py::str(stream.str())] = bytes;
  }
  return result;
}

static py::dict unpack(const BundleValue &self, const py::dict &streams,
                       py::handle given) {
  std::vector<PlacedComponent> placed = place(self, toShape(given));
  SmallVector<StringRef> names = self.get().getStreams();
  SmallVector<int64_t> counts = getBytes(self, placed);
  requireNames(streams, names);
  py::dict result;
  for (const PlacedComponent &at : placed) {
    const BundleComponent &component = *at.component;
    size_t stream = llvm::find(names, component.stream) - names.begin();
    Bytes from =
        Bytes::toRead(getArray(streams, component.stream, {counts[stream]}, 1));
    py::object codes =
        getNumpy("empty")(toTuple(at.shape), getCodeDtype(component));
    Bytes into = Bytes::toWrite(codes);
    bool fits;
    {
      py::gil_scoped_release withoutInterpreter;
      fits = unpackBits(at.pieces, at.shape, component.getWidth(), from.get(),
                        into.getMutable());
    }
    if (!fits)
      fail("positions of '" + component.name +
           "' do not fit 64 bits (B1): the tensor is too large");
    result[py::str(component.name)] = codes;
  }
  return result;
}

static py::object decode(const BundleValue &self, const py::dict &streams,
                         py::handle given) {
  Shape shape = toShape(given);
  py::dict codes = unpack(self, streams, given);
  std::vector<PlacedComponent> placed = place(self, shape);
  py::object values = getNumpy("empty")(toTuple(shape), "f4");
  std::vector<Bytes> held;
  for (const PlacedComponent &at : placed)
    held.push_back(Bytes::toRead(
        Array(codes[py::str(at.component->name)], at.component->name)));
  SmallVector<ArrayRef<char>> bytes =
      llvm::map_to_vector(held, [](const Bytes &b) { return b.get(); });
  Bytes into = Bytes::toWrite(values);
  size_t count = into.get().size() / sizeof(float);
  MutableArrayRef<float> floats(
      reinterpret_cast<float *>(into.getMutable().data()), count);
  bool fits;
  {
    py::gil_scoped_release withoutInterpreter;
    fits = decodeValues(self.get(), placed, shape, bytes, floats);
  }
  if (!fits)
    fail("indices of codes do not fit 64 bits (B1): the tensor is too large");
  return values;
}

/// Throws LayoutError if the values of tensors of the two bundles differ.
static void requireSameValues(const BundleValue &self,
                              const BundleValue &other) {
  std::string why = findDifferentValues(self.get(), other.get());
  if (!why.empty())
    fail("cannot convert between bundles of different values (B7): " + why +
         "; decode and quantize instead");
}

static py::dict convert(const BundleValue &self, const BundleValue &other,
                        const py::dict &streams, py::handle shape) {
  requireSameValues(self, other);
  return pack(other, unpack(self, streams, shape), shape);
}

static py::object compareOn(const BundleValue &self, const BundleValue &other,
                            py::handle given) {
  Shape shape = toShape(given);
  return toPython(equalOn(self.get(), other.get(), shape));
}

static std::shared_ptr<BundleValue> expand(const BundleValue &self) {
  std::string text = "#layout.bundle<";
  llvm::raw_string_ostream os(text);
  self.get().print(os, /*expanded=*/true);
  os << '>';
  return parse(text);
}

void mlir::layout::python::bindBundles(py::module_ &module) {
  py::class_<BundleValue, std::shared_ptr<BundleValue>>(module, "Bundle",
                                                        kBundleDoc)
      .def(py::init(&make), py::arg("text"))
      .def_static(
          "formats",
          [] {
            py::list names;
            for (StringRef name : getFormatNames())
              names.append(py::str(name.str()));
            return names;
          },
          "The names of all formats.")
      .def("streams", forPython(getStreams), py::arg("shape"),
           "The bytes of each stream, padding included.")
      .def("components", forPython(getComponents), py::arg("shape"),
           "The shape and the element type of the codes of each component.")
      .def("pieces", forPython(getPieces), py::arg("component"),
           py::arg("shape"),
           "The maps of a component as tuples (begin, sizes, Layout). The last "
           "dim of each is the bit of a code; dims of a layout count from "
           "begin.")
      .def("check", forPython(check), py::arg("shape"),
           py::arg("element") = "f32",
           "Raises LayoutError if a tensor of this shape and element type "
           "cannot have the bundle.")
      .def("is_injective", forPython(isInjective), py::arg("shape"),
           "True if every bit of every code has a position of its own, proven; "
           "None if it is not known.")
      .def("pack", forPython(pack), py::arg("codes"), py::arg("shape"),
           "The streams with these codes, a dict of an array for each "
           "component.")
      .def("unpack", forPython(unpack), py::arg("streams"), py::arg("shape"),
           "The codes of each component in these streams, a dict of arrays of "
           "uint8.")
      .def("decode", forPython(decode), py::arg("streams"), py::arg("shape"),
           "The values of the tensor, an array of float32.")
      .def("convert", forPython(convert), py::arg("to"), py::arg("streams"),
           py::arg("shape"),
           "The streams of another bundle of the same values with the codes of "
           "these streams.")
      .def("equal_on", forPython(compareOn), py::arg("other"), py::arg("shape"),
           "True if both bundles store every code at the same bits, None if it "
           "is not known.")
      .def("expand", forPython(expand),
           "The same bundle with its components in place of a name.")
      .def("__str__",
           forPython(+[](const BundleValue &self) { return self.text; }))
      .def("__repr__", forPython(+[](const BundleValue &self) {
             return "Bundle(" + std::string(py::repr(py::str(self.text))) + ")";
           }))
      .def("__hash__", forPython(+[](const BundleValue &self) {
             return size_t(hash_value(self.attr));
           }))
      .def("__eq__",
           forPython(+[](const BundleValue &self, const BundleValue &other) {
             return self.attr == other.attr;
           }),
           py::arg("other").none(false), py::is_operator())
      .def("__reduce__", [](const py::object &self) {
        auto value = self.cast<std::shared_ptr<BundleValue>>();
        return py::make_tuple(py::type::of(self), py::make_tuple(value->text));
      });
}
