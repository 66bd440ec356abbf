//===- NpuScatterAttr.cpp - #layout.npu_scatter ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The keywords of NpuMode and NpuPack, in the order of their values.
static constexpr StringLiteral kModes[] = {"aligned", "compact", "matrix",
                                           "strided", "continuous"};
static constexpr StringLiteral kPacks[] = {"none", "n4", "n2", "ic2"};

StringRef layout::stringify(NpuMode mode) { return kModes[int(mode)]; }
StringRef layout::stringify(NpuPack pack) { return kPacks[int(pack)]; }

/// Parses one of the keywords in `words` and returns its index. For any other
/// input, emits an error that lists them and fails.
static FailureOr<int> parseWord(AsmParser &parser, StringRef what,
                                ArrayRef<StringLiteral> words) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word)))
    for (auto [i, candidate] : llvm::enumerate(words))
      if (word == candidate)
        return i;
  InFlightDiagnostic diag = parser.emitError(loc)
                            << "expected " << what << ": ";
  llvm::interleaveComma(words, diag);
  return diag;
}

static ParseResult parseTarget(AsmParser &parser, NpuTargetInterface &target) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute attr;
  if (parser.parseAttribute(attr))
    return failure();
  target = dyn_cast<NpuTargetInterface>(attr);
  if (target)
    return success();
  return parser.emitError(loc)
         << "expected #npu.target as the target, found " << attr;
}

/// Parses the settings after the mode, `start = 2, pack = n4, ..`, in any
/// order, each at most once. Only a scattered layout has settings, and it must
/// have `start`. Sets `packLoc` to the location of the packing, if one is
/// stated.
static ParseResult parseSettings(AsmParser &parser, NpuScatter &scatter,
                                 NpuTargetInterface &target, SMLoc &packLoc) {
  SmallVector<StringRef, 4> seen;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, name))
      return parser.emitError(loc) << "'" << name << "' is repeated";
    if (!scatter.isScattered())
      return parser.emitError(loc)
             << "a continuous tensor is not scattered: it must not have '"
             << name << "'";
    seen.push_back(name);
    ParseResult parsed = success();
    if (name == "start") {
      parsed = parseAtLeast(parser, scatter.start, 0, "a start core");
    } else if (name == "offset") {
      parsed = parseAtLeast(parser, scatter.offset, 0, "an offset");
    } else if (name == "target") {
      parsed = parseTarget(parser, target);
    } else if (name == "pack") {
      packLoc = parser.getCurrentLocation();
      FailureOr<int> pack =
          parseWord(parser, "a packing", ArrayRef(kPacks).drop_front());
      if (failed(pack))
        return failure();
      scatter.pack = NpuPack(*pack + 1);
    } else if (name == "axes") {
      parsed = parser.parseString(&scatter.axes);
      // The default axes are not stored, so that they have one spelling.
      if (scatter.axes == scatter.getFamilyAxes())
        scatter.axes.clear();
    } else {
      return parser.emitError(loc)
             << "unknown setting '" << name
             << "': known settings are start, pack, offset, axes and target";
    }
    if (parsed)
      return failure();
  }
  SMLoc loc = parser.getCurrentLocation();
  if (scatter.isScattered() && !llvm::is_contained(seen, "start"))
    return parser.emitError(loc)
           << "expected 'start = <core>': the strides depend on it";
  return success();
}

static LogicalResult verifyScatter(EmitErrorFn emitError,
                                   const NpuScatter &scatter) {
  return success(checkNpuScatter(scatter, [&](const Twine &message) {
    emitError() << "layout #layout.npu_scatter<" << stringify(scatter.mode)
                << ", ..> " << message;
  }));
}

Attribute NpuScatterAttr::parse(AsmParser &parser, Type) {
  NpuScatter scatter;
  NpuTargetInterface target;
  if (parser.parseLess())
    return {};
  FailureOr<int> mode = parseWord(parser, "a mode", kModes);
  if (failed(mode))
    return {};
  scatter.mode = NpuMode(*mode);
  SMLoc modeLoc = parser.getCurrentLocation();
  if (scatter.mode == NpuMode::Matrix &&
      parseAtLeast(parser, scatter.width, 1, "the width of a channel"))
    return {};
  if (scatter.mode == NpuMode::Strided &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseAtLeast(parser, scatter.strides.emplace_back(), 0,
                            "a stride");
      }))
    return {};
  // Check the mode before the settings, to report its errors there. After the
  // settings, whose numbers are checked when they are parsed, only the packing
  // can be wrong.
  if (failed(verifyScatter([&] { return parser.emitError(modeLoc); }, scatter)))
    return {};
  SMLoc packLoc = modeLoc;
  if (parseSettings(parser, scatter, target, packLoc) || parser.parseGreater())
    return {};
  return parser.getChecked<NpuScatterAttr>(
      packLoc, parser.getContext(), scatter.mode, scatter.width,
      ArrayRef<int64_t>(scatter.strides), scatter.start, scatter.pack,
      scatter.offset, StringRef(scatter.axes), target);
}

void NpuScatterAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringify(getMode());
  if (getMode() == NpuMode::Matrix)
    printer << ' ' << getWidth();
  if (getMode() == NpuMode::Strided)
    printer << " [" << getStrides() << ']';
  if (getScatter().isScattered())
    printer << ", start = " << getStart();
  if (getPack() != NpuPack::None)
    printer << ", pack = " << stringify(getPack());
  if (getOffset() != 0)
    printer << ", offset = " << getOffset();
  if (!getAxes().empty())
    printer << ", axes = \"" << getAxes() << '"';
  if (getTarget())
    printer << ", target = " << getTarget();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

NpuScatter NpuScatterAttr::getScatter() const {
  NpuScatter scatter;
  scatter.mode = getMode();
  scatter.width = getWidth();
  scatter.strides.assign(getStrides().begin(), getStrides().end());
  scatter.start = getStart();
  scatter.pack = getPack();
  scatter.offset = getOffset();
  scatter.axes = getAxes().str();
  return scatter;
}

/// Emits an error and fails if the parameters are invalid. Whether the layout
/// fits the memory of its target is checked when a tensor type uses it.
LogicalResult NpuScatterAttr::verify(EmitErrorFn emitError, NpuMode mode,
                                     int64_t width, ArrayRef<int64_t> strides,
                                     int64_t start, NpuPack pack,
                                     int64_t offset, StringRef axes,
                                     NpuTargetInterface target) {
  NpuScatter scatter;
  scatter.mode = mode;
  scatter.width = width;
  scatter.strides.assign(strides.begin(), strides.end());
  scatter.start = start;
  scatter.pack = pack;
  scatter.offset = offset;
  scatter.axes = axes.str();
  if (target && !scatter.isScattered())
    return emitError() << "a layout in system memory has no target";
  return verifyScatter(emitError, scatter);
}

std::optional<SmallVector<int64_t>> NpuScatterAttr::getStatedShape() const {
  return SmallVector<int64_t>(getScatter().getRank(), ShapedType::kDynamic);
}

Attribute NpuScatterAttr::withTarget(Attribute target) const {
  auto npuTarget = dyn_cast_if_present<NpuTargetInterface>(target);
  if (!npuTarget || getTarget() || !getScatter().isScattered())
    return *this;
  return get(getContext(), getMode(), getWidth(), getStrides(), getStart(),
             getPack(), getOffset(), getAxes(), npuTarget);
}

//===----------------------------------------------------------------------===//
// The map
//===----------------------------------------------------------------------===//

/// Returns the storage of a scattered layout for a tensor of this shape and
/// element type on its chip. Reports an error and returns std::nullopt if the
/// layout has no chip or does not apply to the tensor.
static std::optional<NpuStorage> getStorage(NpuScatterAttr attr,
                                            ArrayRef<int64_t> shape,
                                            Type elementType,
                                            EmitErrorFn emitError) {
  auto report = [&](const Twine &message) {
    if (emitError)
      emitError() << "layout " << attr << " " << message << " (L1)";
  };
  if (!attr.getTarget()) {
    report("needs the parameters of a chip: state `target = #npu.target<..>` "
           "in the layout");
    return std::nullopt;
  }
  std::optional<int64_t> bytes = getWholeBytes(elementType);
  if (!bytes) {
    std::string text;
    llvm::raw_string_ostream(text) << elementType;
    report("stores integers and floats of whole bytes, found '" + text +
           "': choose another element type");
    return std::nullopt;
  }
  return getNpuStorage(attr.getScatter(), attr.getTarget().getParams(), *bytes,
                       shape, report);
}

FailureOr<LayoutMap> NpuScatterAttr::resolve(ArrayRef<int64_t> shape,
                                             Type elementType,
                                             EmitErrorFn emitError) const {
  NpuScatter scatter = getScatter();
  if (failed(checkRank(*this, scatter.getRank(), shape, emitError)))
    return failure();
  if (!scatter.isScattered())
    return LayoutMap::rowMajor(scatter.getRank());
  std::optional<NpuStorage> storage =
      getStorage(*this, shape, elementType, emitError);
  if (!storage)
    return failure();
  return storage->getMap(shape);
}

SmallVector<BoundedIndex>
NpuScatterAttr::getStoredDims(ArrayRef<int64_t> shape, Type elementType) const {
  return resolve(shape, elementType, nullptr)->getStoredDims();
}

//===----------------------------------------------------------------------===//
// The layout of a memref
//===----------------------------------------------------------------------===//

/// Returns an affine map of unknown strides. The address of an element depends
/// on the shape and the element type, which this attribute lacks, but upstream
/// passes query a map. They leave memrefs with unknown strides alone.
AffineMap NpuScatterAttr::getAffineMap() const {
  unsigned rank = getScatter().getRank();
  AffineExpr sum = getAffineConstantExpr(0, getContext());
  for (unsigned d = 0; d < rank; ++d)
    sum = sum + getAffineDimExpr(d, getContext()) *
                    getAffineSymbolExpr(d, getContext());
  return AffineMap::get(rank, rank, sum);
}

bool NpuScatterAttr::isIdentity() const { return false; }

/// Emits an error and fails if the tensor has another rank. Checks no more,
/// because the element type is unknown: the verifiers of `npu` ops check the
/// rest of rule L1 (docs/spec.md).
LogicalResult NpuScatterAttr::verifyLayout(ArrayRef<int64_t> shape,
                                           EmitErrorFn emitError) const {
  return checkRank(*this, getScatter().getRank(), shape, emitError);
}

LogicalResult
NpuScatterAttr::getStridesAndOffset(ArrayRef<int64_t> shape,
                                    SmallVectorImpl<int64_t> &strides,
                                    int64_t &offset) const {
  if (getScatter().isScattered())
    return failure();
  return mlir::detail::getAffineMapStridesAndOffset(
      AffineMap::getMultiDimIdentityMap(shape.size(), getContext()), shape,
      strides, offset);
}
