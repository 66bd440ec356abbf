//===- Target.cpp - The parameters of an NPU chip -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Context.h"
#include "layout/Algebra/Cores.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/AsmParser/AsmParser.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

namespace mlir::layout::python {
struct Target {
  int64_t npus, euBytes, bytesPerNpu;
  std::optional<int64_t> banks;

  /// Prints the parameters as an attribute, "#npu.target<npus = 4, ..>", or
  /// with other separators as a Python expression, "Target(npus=4, ..)".
  std::string print(StringRef open, StringRef equals, StringRef close) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << open << "npus" << equals << npus << ", eu_bytes" << equals << euBytes
       << ", bytes_per_npu" << equals << bytesPerNpu;
    if (banks)
      os << ", banks" << equals << *banks;
    os << close;
    return text;
  }
  ChipParams getParams() const { return {npus, bytesPerNpu, euBytes}; }
  std::string getText() const { return print("#npu.target<", " = ", ">"); }
  std::string getRepr() const { return print("Target(", "=", ")"); }
};

template <> struct Argument<const Target &> : HeldArgument<Target> {};
} // namespace mlir::layout::python

static const char *const kDoc =
    R"(The parameters of an NPU chip, `#npu.target<npus = 4, ..>`.

npus: the number of cores; eu_bytes: the bytes that the execution units of one
core process at once; bytes_per_npu: the bytes of the memory of one core; banks:
the number of banks of that memory, if known. Raises LayoutError for invalid
parameters.

>>> from layout_mlir import Layout, Target
>>> chip = Target(npus=4, eu_bytes=128, bytes_per_npu=1024)
>>> L = Layout('#layout.npu_scatter<aligned, start = 2>', target=chip, element='f32')
>>> L.address((1, 2, 3, 4), shape=(2, 3, 4, 5))
{'npu': 0, 'offset': 115, 'byte': 460}
>>> Target.named('BM1684').bytes_per_npu
524288
)";

static Target make(int64_t npus, int64_t euBytes, int64_t bytesPerNpu,
                   std::optional<int64_t> banks) {
  Target target{npus, euBytes, bytesPerNpu, banks};
  // The attribute's verifier checks the parameters.
  std::string text = target.getText();
  inContext(text, [&](MLIRContext *context) -> FailureOr<Attribute> {
    return nonNull(parseAttribute(text, context));
  });
  return target;
}

static Target makeNamed(const std::string &name) {
  std::string text = "#npu.target<\"" + name + "\">";
  auto chip = llvm::cast<npu::ChipAttr>(
      inContext(text, [&](MLIRContext *context) -> FailureOr<Attribute> {
        return nonNull(parseAttribute(text, context));
      }));
  return {chip.getNpus(), chip.getEuBytes(), chip.getBytesPerNpu(),
          chip.getBanks()};
}

static std::vector<std::string> getNames() {
  std::vector<std::string> names;
  for (StringRef name : npu::ChipAttr::getChipNames())
    names.push_back(name.str());
  return names;
}

std::string mlir::layout::python::getTargetText(const py::object &target) {
  if (!py::isinstance<Target>(target))
    throw py::type_error("the target must be a Target, not " +
                         std::string(Py_TYPE(target.ptr())->tp_name));
  return target.cast<std::shared_ptr<Target>>()->getText();
}

std::optional<Banks>
mlir::layout::python::getBanksOfTarget(const py::object &object) {
  if (!py::isinstance<Target>(object))
    return std::nullopt;
  const auto &target =
      Argument<const Target &>::get(object.cast<std::shared_ptr<Target>>());
  if (!target.banks)
    fail("the target has no banks: state them, as in Target(.., banks=8)");
  return Banks::ofNode(target.getParams(), *target.banks);
}

static py::tuple split(const Target &self, int64_t address) {
  std::optional<LocalAddress> place = splitAddress(self.getParams(), address);
  if (!place)
    fail("address " + Twine(address) + " is not in a core: addresses end at " +
         Twine(self.npus * self.bytesPerNpu));
  return py::make_tuple(place->core, place->byte);
}

static int64_t join(const Target &self, int64_t core, int64_t byte) {
  std::optional<int64_t> address = joinAddress(self.getParams(), {core, byte});
  if (!address)
    fail("there is no byte " + Twine(byte) + " of core " + Twine(core) + ": " +
         Twine(self.npus) + " cores have " + Twine(self.bytesPerNpu) +
         " bytes each");
  return *address;
}

void mlir::layout::python::bindTarget(py::module_ &module) {
  py::class_<Target, std::shared_ptr<Target>>(module, "Target", kDoc)
      .def(py::init(&make), py::kw_only(), py::arg("npus"), py::arg("eu_bytes"),
           py::arg("bytes_per_npu"), py::arg("banks") = py::none())
      .def_static("named", forPython(&makeNamed), py::arg("name"),
                  "Returns the published chip of this name; raises LayoutError "
                  "if there is none.")
      .def_static("names", forPython(&getNames),
                  "Returns the names of the published chips.")
      .def_property_readonly(
          "npus", forPython(+[](const Target &self) { return self.npus; }),
          "The number of cores.")
      .def_property_readonly(
          "eu_bytes",
          forPython(+[](const Target &self) { return self.euBytes; }),
          "The bytes that the execution units of one core process at once.")
      .def_property_readonly(
          "bytes_per_npu",
          forPython(+[](const Target &self) { return self.bytesPerNpu; }),
          "The bytes of the memory of one core.")
      .def_property_readonly(
          "banks", forPython(+[](const Target &self) { return self.banks; }),
          "The number of banks of the memory of one core, or None.")
      .def("split_address", forPython(split), py::arg("address"),
           R"(Splits a local address, core * bytes_per_npu + byte.

Returns (core, byte). Raises LayoutError if the address is in no core.

>>> Target(npus=4, eu_bytes=128, bytes_per_npu=1024).split_address(2304)
(2, 256)
)")
      .def("join_address", forPython(join), py::arg("core"), py::arg("byte"),
           "Returns the local address of a byte of a core: the inverse of "
           "`split_address`.")
      .def("__str__",
           forPython(+[](const Target &self) { return self.getText(); }))
      .def("__repr__",
           forPython(+[](const Target &self) { return self.getRepr(); }))
      .def("__hash__", forPython(+[](const Target &self) {
             return py::hash(py::str(self.getText()));
           }))
      .def("__eq__", forPython(+[](const Target &self, const Target &other) {
             return self.getText() == other.getText();
           }),
           py::arg("other").none(false), py::is_operator())
      .def(py::pickle(forPython(+[](const Target &self) {
                        return py::make_tuple(self.npus, self.euBytes,
                                              self.bytesPerNpu, self.banks);
                      }),
                      [](const py::tuple &state) {
                        return make(state[0].cast<int64_t>(),
                                    state[1].cast<int64_t>(),
                                    state[2].cast<int64_t>(),
                                    state[3].cast<std::optional<int64_t>>());
                      }));
}
