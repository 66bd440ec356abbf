//===- Canonicalize.cpp - layout-canonicalize -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Interfaces/MeshLoops.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/Pass.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CANONICALIZELAYOUTSPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

RankedTensorType layout::getCanonicalType(RankedTensorType type) {
  if (!hasLayout(type))
    return type;
  FailureOr<LayoutMap> map = getLayoutMap(type);
  if (failed(map))
    return type;
  RankedTensorType canonical = withLayout(
      type, *map, getPadding(type), StoredDims::get(*map, getStoredDims(type)));
  auto partial = dyn_cast<PartialAttr>(type.getEncoding());
  if (!partial)
    return canonical;
  return canonical.cloneWithEncoding(
      PartialAttr::get(type.getContext(), canonical.getEncoding(),
                       partial.getReduction(), partial.getAxes()));
}

/// Returns `layout`, a `#layout.mesh` or one inside `#layout.partial` or
/// `#layout.padded`, with its parameter `local`, the layout of blocks in device
/// memory, in canonical form.
static Attribute canonicalizeLocal(Attribute layout, RankedTensorType type) {
  if (auto partial = dyn_cast<PartialAttr>(layout))
    return PartialAttr::get(layout.getContext(),
                            canonicalizeLocal(partial.getLayout(), type),
                            partial.getReduction(), partial.getAxes());
  if (auto padded = dyn_cast<PaddedAttr>(layout))
    return PaddedAttr::get(layout.getContext(),
                           canonicalizeLocal(padded.getLayout(), type),
                           padded.getValue());
  auto mesh = cast<MeshAttr>(layout);
  RankedTensorType block = getLocalType(type.cloneWithEncoding(mesh));
  return MeshAttr::get(layout.getContext(), mesh.getMesh(),
                       cast_if_present<LayoutAttrInterface>(
                           getCanonicalType(block).getEncoding()));
}

namespace {
struct CanonicalizeLayoutsPass
    : public layout::impl::CanonicalizeLayoutsPassBase<
          CanonicalizeLayoutsPass> {
  using Base::Base;

  void runOnOperation() override {
    auto canonicalize = [&](RankedTensorType type) {
      if (keepFamilies && isa_and_present<NpuScatterAttr>(type.getEncoding()))
        return type;
      if (keepFamilies && getMeshLayout(type))
        return type.cloneWithEncoding(
            canonicalizeLocal(type.getEncoding(), type));
      return getCanonicalType(type);
    };
    AttrTypeReplacer replacer;
    replacer.addReplacement(
        [&](RankedTensorType type) -> Type { return canonicalize(type); });
    // AttrTypeReplacer does not visit the type of an elements attribute.
    replacer.addReplacement([&](ElementsAttr elements) -> Attribute {
      auto type = dyn_cast<RankedTensorType>(elements.getShapedType());
      if (!type)
        return elements;
      RankedTensorType canonical = canonicalize(type);
      return canonical == type ? Attribute(elements)
                               : retypeElements(elements, canonical);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(),
                                          /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};
} // namespace
