//===- MeshAttr.cpp - #layout.mesh ----------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

using Delimiter = AsmParser::Delimiter;

static ParseResult parseAxis(AsmParser &parser, Mesh &mesh) {
  SMLoc loc = parser.getCurrentLocation();
  MeshAxis &axis = mesh.axes.emplace_back();
  StringRef name;
  if (parser.parseKeyword(&name) || parser.parseEqual() ||
      parseAtLeast(parser, axis.size, 1, "the size of an axis"))
    return failure();
  axis.name = name.str();
  auto report = [&](const Twine &why) { parser.emitError(loc) << why; };
  return success(mesh.check(report));
}

FailureOr<Mesh> layout::parseMeshAxes(AsmParser &parser) {
  Mesh mesh;
  if (parser.parseCommaSeparatedList(Delimiter::Square,
                                     [&] { return parseAxis(parser, mesh); }))
    return failure();
  return mesh;
}

void layout::printMeshAxes(AsmPrinter &printer, const Mesh &mesh) {
  printer << '[';
  llvm::interleaveComma(mesh.axes, printer, [&](const MeshAxis &axis) {
    printer << axis.name << " = " << axis.size;
  });
  printer << ']';
}

static ParseResult parseSplit(AsmParser &parser, Mesh &mesh) {
  mesh.splits.emplace_back();
  return parser.parseCommaSeparatedList(
      Delimiter::Square, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        StringRef name;
        if (parser.parseKeyword(&name))
          return failure();
        auto axis = llvm::find_if(
            mesh.axes, [&](const MeshAxis &axis) { return axis.name == name; });
        if (axis == mesh.axes.end())
          return parser.emitError(loc)
                 << "the mesh has no axis '" << name << "' to split a dim over";
        mesh.splits.back().push_back(axis - mesh.axes.begin());
        auto report = [&](const Twine &why) { parser.emitError(loc) << why; };
        return success(mesh.check(report));
      });
}

/// Parses the halo of each dim, before and after the block: `[[1, 2], [0, 0]]`.
static ParseResult parseHalos(AsmParser &parser, Mesh &mesh) {
  SMLoc loc = parser.getCurrentLocation();
  std::vector<Halo> halos;
  auto parseHalo = [&]() -> ParseResult {
    Halo &halo = halos.emplace_back();
    return failure(parser.parseLSquare() || parser.parseInteger(halo.before) ||
                   parser.parseComma() || parser.parseInteger(halo.after) ||
                   parser.parseRSquare());
  };
  if (parser.parseEqual() ||
      parser.parseCommaSeparatedList(Delimiter::Square, parseHalo))
    return failure();
  mesh.halos = std::move(halos);
  auto report = [&](const Twine &why) { parser.emitError(loc) << why; };
  if (!mesh.check(report))
    return failure();
  mesh.setHalos(std::move(mesh.halos));
  return success();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  LayoutAttrInterface local;
  SMLoc loc = parser.getCurrentLocation(), localLoc = loc;
  FailureOr<Mesh> axes = failure();
  if (parser.parseLess() || failed(axes = parseMeshAxes(parser)))
    return {};
  Mesh mesh = std::move(*axes);
  if (parser.parseComma() ||
      parser.parseCommaSeparatedList(Delimiter::Square,
                                     [&] { return parseSplit(parser, mesh); }))
    return {};
  bool hasMore = succeeded(parser.parseOptionalComma());
  if (hasMore && succeeded(parser.parseOptionalKeyword("halos"))) {
    if (parseHalos(parser, mesh))
      return {};
    hasMore = succeeded(parser.parseOptionalComma());
  }
  if (hasMore &&
      (parser.parseKeyword("local") || parser.parseEqual() ||
       parser.getCurrentLocation(&localLoc) || parser.parseAttribute(local)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<MeshAttr>(localLoc, parser.getContext(), mesh,
                                     local);
}

void MeshAttr::print(AsmPrinter &printer) const {
  const Mesh &mesh = getMesh();
  auto printName = [&](unsigned axis) { printer << mesh.axes[axis].name; };
  printer << '<';
  printMeshAxes(printer, mesh);
  printer << ", [";
  llvm::interleaveComma(mesh.splits, printer, [&](ArrayRef<unsigned> split) {
    printer << '[';
    llvm::interleaveComma(split, printer, printName);
    printer << ']';
  });
  printer << ']';
  if (!mesh.halos.empty()) {
    printer << ", halos = [";
    llvm::interleaveComma(mesh.halos, printer, [&](const Halo &halo) {
      printer << '[' << halo.before << ", " << halo.after << ']';
    });
    printer << ']';
  }
  if (getLocal())
    printer << ", local = " << getLocal();
  printer << '>';
}

LogicalResult MeshAttr::verify(EmitErrorFn emitError, Mesh mesh,
                               LayoutAttrInterface local) {
  if (!mesh.check([&](const Twine &why) { emitError() << why; }))
    return failure();
  if (isa_and_present<MeshAttr, PaddedAttr, PartialAttr>(local))
    return emitError()
           << "expected a layout in the memory of one device, found " << local
           << ": state one mesh, inside #layout.padded and #layout.partial";
  return success();
}

FailureOr<LayoutMap> MeshAttr::resolve(ArrayRef<int64_t> shape,
                                       Type elementType,
                                       EmitErrorFn emitError) const {
  const Mesh &mesh = getMesh();
  if (failed(checkRank(*this, mesh.splits.size(), shape, emitError)))
    return failure();
  auto fail = [&](const Twine &why) {
    if (emitError)
      emitError() << "layout " << *this
                  << " does not apply to this shape (L1): " << why;
    return failure();
  };
  auto localShape =
      mesh.getLocalShape(shape, [&](const Twine &why) { (void)fail(why); });
  if (!localShape)
    return failure();
  LayoutMap local = LayoutMap::rowMajor(shape.size());
  if (getLocal()) {
    FailureOr<LayoutMap> map =
        getLocal().resolve(*localShape, elementType, emitError);
    if (failed(map))
      return failure();
    local = *map;
    if (local.getSpace() != "buffer" || !local.getReplicas().empty())
      return fail("the local layout is in space '" + Twine(local.getSpace()) +
                  (local.getReplicas().empty() ? "'" : "' with replicas") +
                  ": use one in linear memory without replicas");
  }
  return mesh.getMap(local, shape, *localShape);
}

std::optional<SmallVector<int64_t>> MeshAttr::getStatedShape() const {
  return SmallVector<int64_t>(getMesh().splits.size(), ShapedType::kDynamic);
}

SmallVector<int64_t> MeshAttr::getExampleShape() const {
  const Mesh &mesh = getMesh();
  SmallVector<int64_t> shape(mesh.splits.size(), 1);
  if (!getLocal())
    return shape;
  // Each block has the example shape of the local layout.
  SmallVector<int64_t> local = getLocal().getExampleShape();
  local.resize(shape.size(), 1);
  for (auto [d, split] : llvm::enumerate(mesh.splits)) {
    Halo halo = mesh.getHalo(d);
    shape[d] = ShapedType::isDynamic(local[d])
                   ? 1
                   : std::max<int64_t>(local[d] - halo.before - halo.after, 1);
    for (unsigned axis : split)
      if (llvm::MulOverflow(shape[d], mesh.axes[axis].size, shape[d]))
        shape[d] = std::numeric_limits<int64_t>::max();
  }
  return shape;
}

SmallVector<BoundedIndex> MeshAttr::getStoredDims(ArrayRef<int64_t> shape,
                                                  Type elementType) const {
  return resolve(shape, elementType, nullptr)->getStoredDims();
}

Attribute MeshAttr::withTarget(Attribute target) const {
  if (!getLocal())
    return *this;
  return get(getContext(), getMesh(),
             cast<LayoutAttrInterface>(getLocal().withTarget(target)));
}
