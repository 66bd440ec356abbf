//===- layout-translate.cpp - Layouts in other forms ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a layout and writes its canonical map, its points on a shape, a
// picture, or its text in another notation. Or reads a module of emitc ops and
// writes C++, or a module of image kernels and writes code for an OpenCL
// runtime.
//
//===----------------------------------------------------------------------===//

#include "Cpp.h"
#include "Kernels.h"
#include "LocatedText.h"
#include "NpuPackage.h"
#include "Table.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Interop/Interop.h"
#include "layout/Support/Bytecode.h"
#include "layout/Support/WholeFile.h"
#include "layout/Visualization/Svg.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::layout;
namespace cl = llvm::cl;

static cl::OptionCategory category("layout-translate options");

namespace {
enum class Form {
  Map,
  Table,
  Svg,
  Cpp,
  OpenCLSpirvPatcher,
  OpenCLSource,
  Package,
  VulkanPackage,
  NpuPackage
};
} // namespace

static cl::opt<Form> form(
    cl::cat(category), cl::desc("Output format:"),
    cl::values(
        clEnumValN(Form::Map, "layout-to-map", "the canonical #layout.map"),
        clEnumValN(Form::Table, "layout-to-table",
                   "JSON: extents, stored dims and the point of every index"),
        clEnumValN(Form::Svg, "layout-to-svg", "a picture"),
        clEnumValN(Form::Cpp, "mlir-to-cpp", "for a module of emitc ops: C++"),
        clEnumValN(Form::OpenCLSpirvPatcher, "layout-to-spirv-binary",
                   "for a module of kernels on images: SPIR-V"),
        clEnumValN(Form::OpenCLSource, "layout-to-opencl-c",
                   "for a module of kernels on images: OpenCL C"),
        clEnumValN(Form::Package, "layout-to-opencl-package",
                   "for a host function: a directory, named by -o, with its "
                   "kernels, constants and commands"),
        clEnumValN(Form::VulkanPackage, "layout-to-vulkan-package",
                   "for a host function: the same, with kernels for Vulkan"),
        clEnumValN(Form::NpuPackage, "npu-to-package",
                   "for a function of npu ops: a directory, named by -o, with "
                   "its C++, constants and arguments")));
static cl::opt<std::string>
    kernelsName("kernels", cl::cat(category), cl::value_desc("name"),
                cl::desc("For SPIR-V and OpenCL C: the kernel module, if there "
                         "is more than one"));
static cl::opt<std::string>
    functionName("function", cl::init("main"), cl::cat(category),
                 cl::value_desc("name"),
                 cl::desc("For a package: the host function"));
static cl::opt<bool>
    checks("checks", cl::cat(category),
           cl::desc("For a package of npu ops: declare the tensors of the "
                    "program to the simulator"));
static cl::opt<bool> strictOKKernel(
    "strict-okkernel", cl::init(true), cl::cat(category),
    cl::desc("For a package of npu ops: reject ops that are not OKKernel "
             "functions, which only the simulator can run (default: true)"));
static cl::opt<Notation> toNotation(
    "layout-to", cl::cat(category),
    cl::desc("Write the layout in the notation of another project:"),
    cl::values(clEnumValN(Notation::Xla, "xla", "XLA, {1,0:T(8,128)}"),
               clEnumValN(Notation::OneDnn, "onednn", "oneDNN, aBcd16b"),
               clEnumValN(Notation::CuTe, "cute", "CuTe, (4,2):(1,4)"),
               clEnumValN(Notation::Triton, "triton",
                          "Triton linear layouts")));
static cl::opt<std::string>
    source(cl::Positional, cl::Required, cl::cat(category),
           cl::desc("<layout: its text, from '#' on, or a file, or '-'>"));
static cl::opt<std::string> shapeText(
    "shape", cl::cat(category), cl::value_desc("1x17x2x3"),
    cl::desc("The tensor's shape, '?' for a dynamic size; empty for a scalar"));
static cl::opt<std::string> elementText("element", cl::init("f32"),
                                        cl::cat(category),
                                        cl::value_desc("type"),
                                        cl::desc("The tensor's element type"));
static cl::opt<std::string> targetText(
    "target", cl::cat(category), cl::value_desc("attribute"),
    cl::desc(
        "The target parameters, for layouts that need but do not state them"));
static cl::opt<std::string> outputPath("o", cl::init("-"), cl::cat(category),
                                       cl::value_desc("file"),
                                       cl::desc("Output file"));
static cl::opt<int64_t>
    maxPoints("max-points", cl::init(4096), cl::cat(category),
              cl::desc("For a table: omit points beyond this number"));
static cl::opt<PictureOptions::View>
    view("view", cl::init(PictureOptions::View::Storage), cl::cat(category),
         cl::desc("For a picture: the cells are"),
         cl::values(clEnumValN(PictureOptions::View::Storage, "storage",
                               "the positions of storage"),
                    clEnumValN(PictureOptions::View::Logical, "logical",
                               "the indices of the tensor")));
static cl::opt<PictureOptions::Label>
    label("label", cl::init(PictureOptions::Label::Tuple), cl::cat(category),
          cl::desc("For a picture: cells hold"),
          cl::values(clEnumValN(PictureOptions::Label::Tuple, "tuple",
                                "the index or the point"),
                     clEnumValN(PictureOptions::Label::Number, "number",
                                "its row-major number"),
                     clEnumValN(PictureOptions::Label::Device, "device",
                                "the mesh devices that hold an index")));
static cl::list<std::string>
    dimNames("dims", cl::CommaSeparated, cl::cat(category),
             cl::value_desc("n,c,.."),
             cl::desc("For a picture: the names of the dims"));
static cl::opt<unsigned>
    colorDim("color-dim", cl::cat(category), cl::value_desc("dim"),
             cl::desc("For a picture: the number of the dim shown by colors"));
static cl::opt<int64_t> columns(
    "columns", cl::init(0), cl::cat(category),
    cl::desc(
        "For a picture: the number of positions of linear memory in a row"));
static cl::opt<int64_t>
    maxCells("max-cells", cl::init(4096), cl::cat(category),
             cl::desc("For a picture: fail if there are more cells"));

static LogicalResult fail(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "layout-translate") << message << "\n";
  return failure();
}

static bool isForm(Form which) {
  return form.getNumOccurrences() && form == which;
}

/// Reports the first option that contradicts another one, has no effect on the
/// requested output, or is missing for it, and returns failure. Returns success
/// if there is none.
static LogicalResult checkOptions() {
  if (form.getNumOccurrences() + toNotation.getNumOccurrences() != 1)
    return fail(
        "select the output with one of --layout-to-map, --layout-to-table, "
        "--layout-to-svg, --layout-to=notation, --mlir-to-cpp, "
        "--layout-to-spirv-binary, --layout-to-opencl-c, "
        "--layout-to-opencl-package, --layout-to-vulkan-package, "
        "--npu-to-package");
  bool isPackage = isForm(Form::Package) || isForm(Form::VulkanPackage) ||
                   isForm(Form::NpuPackage);
  bool isSvg = form.getNumOccurrences() && form == Form::Svg;
  bool isTable = form.getNumOccurrences() && form == Form::Table;
  auto check = [](const cl::Option &option, bool used) -> LogicalResult {
    if (used || !option.getNumOccurrences())
      return success();
    return fail("--" + option.ArgStr + " does not apply here");
  };
  std::reference_wrapper<const cl::Option> ofPictures[] = {
      view, label, dimNames, colorDim, columns, maxCells};
  for (const cl::Option &option : ofPictures)
    if (failed(check(option, isSvg)))
      return failure();
  if (failed(check(maxPoints, isTable)))
    return failure();
  bool isKernels =
      isForm(Form::OpenCLSpirvPatcher) || isForm(Form::OpenCLSource);
  if (failed(check(kernelsName, isKernels)) ||
      failed(check(checks, isForm(Form::NpuPackage))) ||
      failed(check(strictOKKernel, isForm(Form::NpuPackage))) ||
      failed(check(functionName, isPackage)))
    return failure();
  if (isPackage && !outputPath.getNumOccurrences())
    return fail("name the directory of the package with -o");
  bool isLayout = !isForm(Form::Cpp) && !isKernels && !isPackage;
  std::reference_wrapper<const cl::Option> ofLayouts[] = {
      shapeText, elementText, targetText};
  for (const cl::Option &option : ofLayouts)
    if (failed(check(option, isLayout)))
      return failure();
  if (maxPoints < 0)
    return fail("--max-points=" + Twine(maxPoints) + " must not be negative");
  if ((isSvg || isTable) && !shapeText.getNumOccurrences())
    return fail("state the shape of the tensor, such as --shape=1x17x2x3");
  return success();
}

static FailureOr<SmallVector<int64_t>> parseShape(StringRef text) {
  SmallVector<int64_t> shape;
  SmallVector<StringRef> words;
  if (!text.empty())
    text.split(words, 'x');
  for (StringRef word : words) {
    int64_t size = ShapedType::kDynamic;
    if (word != "?" && (word.getAsInteger(10, size) || size < 0))
      return fail("'" + word + "' in --shape=" + text +
                  " is not a size: write numbers or '?' with 'x' between them");
    shape.push_back(size);
  }
  return shape;
}

static FailureOr<std::unique_ptr<llvm::MemoryBuffer>> openSource() {
  StringRef text = source;
  if (text.starts_with("#"))
    return llvm::MemoryBuffer::getMemBufferCopy(text, "<layout>");
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(
      text, /*IsText=*/true, /*RequiresNullTerminator=*/true,
      kBytecodeAlignment);
  if (!file)
    return fail("cannot read '" + text + "': " + file.getError().message() +
                " (the text of a layout starts with '#')");
  return std::move(*file);
}

static Type readElementType(LocatedTexts &texts) {
  texts.enter("<element>", elementText);
  Type type = texts.readType();
  if (!type || TensorType::isValidElementType(type))
    return type;
  texts.emitError() << type << " cannot be an element of a tensor";
  return {};
}

/// Parses the current text as a layout and, if there is a `target`, adds its
/// parameters to the layout. If the text is not a layout, emits an error and
/// returns a null attribute.
static LayoutAttrInterface readLayout(LocatedTexts &texts, Attribute target) {
  Attribute attribute = texts.readAttribute();
  if (!attribute)
    return {};
  auto layout = dyn_cast<LayoutAttrInterface>(attribute);
  if (!layout) {
    texts.emitError() << "expected a layout, found " << attribute;
    return {};
  }
  return target ? cast<LayoutAttrInterface>(layout.withTarget(target)) : layout;
}

static LogicalResult writeForm(LayoutAttrInterface layout, const LayoutMap &map,
                               ArrayRef<int64_t> shape, Type elementType,
                               LocatedTexts &texts, raw_ostream &os) {
  auto report = [&](const Twine &message) { texts.emitError() << message; };
  if (toNotation.getNumOccurrences()) {
    std::optional<std::string> text = exportAs(toNotation, map, shape, report);
    if (!text)
      return failure();
    os << *text << "\n";
    return success();
  }
  switch (form) {
  case Form::Map:
    os << MapAttr::get(layout.getContext(), map) << "\n";
    return success();
  case Form::Table:
    if (ShapedType::isDynamicShape(shape))
      return texts.emitError() << "a table needs sizes, not '?'";
    writeTable(layout, map, shape, elementType, maxPoints, os);
    return success();
  case Form::Cpp:
  case Form::OpenCLSpirvPatcher:
  case Form::OpenCLSource:
  case Form::Package:
  case Form::VulkanPackage:
  case Form::NpuPackage:
    break;
  case Form::Svg:
    PictureOptions options;
    options.view = view;
    options.label = label;
    options.title = texts.getLine();
    llvm::raw_string_ostream(options.element) << elementType;
    options.dimNames.assign(dimNames.begin(), dimNames.end());
    if (colorDim.getNumOccurrences())
      options.colorDim = colorDim;
    options.columns = columns;
    options.maxCells = maxCells;
    return drawSvg(map, shape, options, os, report);
  }
  llvm_unreachable("a form of output that is not listed");
}

/// Parses the layout of the command line, verifies it on --shape or on the
/// shape that it states, and returns the requested output. If that fails,
/// reports an error and returns failure.
static FailureOr<std::string> translateLayout() {
  FailureOr<SmallVector<int64_t>> shape = parseShape(shapeText);
  if (failed(shape))
    return failure();

  MLIRContext context;
  context.loadDialect<LayoutDialect, npu::NPUDialect>();
  LocatedTexts texts(context);
  Type elementType = readElementType(texts);
  if (!elementType)
    return failure();
  Attribute target;
  if (targetText.getNumOccurrences()) {
    texts.enter("<target>", targetText);
    if (!(target = texts.readAttribute()))
      return failure();
    if (!isa<NpuTargetInterface>(target))
      return texts.emitError()
             << "expected target parameters, such as #npu.target<npus = 4, "
                "bytes_per_npu = 1024, eu_bytes = 128>, found "
             << target;
  }
  auto buffer = openSource();
  if (failed(buffer))
    return failure();
  texts.enter(std::move(*buffer));
  LayoutAttrInterface layout = readLayout(texts, target);
  if (!layout)
    return failure();
  auto emitError = [&] { return texts.emitError(); };
  if (!shapeText.getNumOccurrences()) {
    std::optional<SmallVector<int64_t>> stated = layout.getStatedShape();
    if (!stated)
      return texts.emitError()
             << "this layout does not determine the number of dims: state "
                "--shape, with '?' for dynamic sizes";
    *shape = std::move(*stated);
  }
  FailureOr<LayoutMap> map = layout.resolve(*shape, elementType, emitError);
  if (failed(map) ||
      failed(verifyLayout(*map, layout, *shape, elementType, emitError)))
    return failure();

  // No output is written if an error occurs.
  std::string output;
  llvm::raw_string_ostream os(output);
  if (failed(writeForm(layout, *map, *shape, elementType, texts, os)))
    return failure();
  return output;
}

static LogicalResult runTool() {
  if (failed(checkOptions()))
    return failure();
  FailureOr<std::string> output;
  if (isForm(Form::Cpp) || isForm(Form::OpenCLSpirvPatcher) ||
      isForm(Form::OpenCLSource) || isForm(Form::Package) ||
      isForm(Form::VulkanPackage) || isForm(Form::NpuPackage)) {
    auto buffer = openSource();
    if (failed(buffer))
      return failure();
    if (form == Form::Package || form == Form::VulkanPackage)
      return writePackage(std::move(*buffer), functionName, outputPath,
                          form == Form::VulkanPackage ? KernelAPI::Vulkan
                                                      : KernelAPI::OpenCL);
    if (form == Form::NpuPackage)
      return writeNpuPackage(std::move(*buffer), functionName, outputPath,
                             checks, strictOKKernel);
    output = form == Form::Cpp ? writeCpp(std::move(*buffer))
             : form == Form::OpenCLSource
                 ? writeOpenCLSource(std::move(*buffer), kernelsName)
                 : writeSpirvBinary(std::move(*buffer), kernelsName);
  } else {
    output = translateLayout();
  }
  if (failed(output))
    return failure();
  WholeFile file(outputPath);
  file.os() << *output;
  if (std::error_code code = file.commit())
    return fail("cannot write '" + outputPath + "': " + code.message());
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Layouts in other forms\n\n"
      "  layout-translate --layout-to-svg --shape=1x17x2x3 -o packed.svg "
      "'#layout.blocked<\"NCHW\" to \"NCHW16c\">'\n");
  return failed(runTool());
}
