//===- LayoutDialect.cpp - The layout dialect -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attributes/Common.h"
#include "layout/Dialect/Layout/IR/Bundle.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interop/Name.h"
#include "layout/Support/ChipClock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::layout;

#include "layout/Dialect/Layout/IR/LayoutDialect.cpp.inc"
#include "layout/Dialect/Layout/IR/LayoutInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "layout/Dialect/Layout/IR/LayoutAttributes.cpp.inc"

/// Returns the alias of an attribute in printed modules, e.g. the letters of
/// its storage or the kind of its image, or an empty string if it prints in
/// place.
static std::string getAliasName(Attribute attr) {
  auto nameMap = [](LayoutAttrInterface layout, StringRef otherwise) {
    auto map = layout.resolve(layout.getExampleShape(), Type(), nullptr);
    std::string name = succeeded(map) ? makeName(*map) : "";
    return name.empty() ? otherwise.str() : name;
  };
  return llvm::TypeSwitch<Attribute, std::string>(attr)
      .Case([](BlockedAttr blocked) {
        std::string name = blocked.getStored().lower();
        llvm::erase_if(name, [](char c) { return !llvm::isAlnum(c); });
        return name;
      })
      .Case([](BundleAttr bundle) {
        std::string name = bundle.getBundle()->name;
        if (name.empty())
          return std::string("bundle");
        llvm::replace(name, '.', '_');
        return name;
      })
      .Case([](NpuScatterAttr scatter) {
        return ("npu_" + stringify(scatter.getMode())).str();
      })
      .Case([](MeshAttr) { return "mesh"; })
      .Case([](PartialAttr partial) {
        std::string name = getAliasName(partial.getLayout());
        return (name.empty() ? "layout" : name) + "_partial";
      })
      .Case([](PackedDimsAttr) { return "packed_dims"; })
      .Case([](PaddedAttr padded) {
        std::string name = getAliasName(padded.getLayout());
        return (name.empty() ? "layout" : name) + "_padded";
      })
      .Case([](RgbaImageAttr image) { return makeName(image.getKind()); })
      .Case([&](ImportAttr imported) {
        return nameMap(imported, getName(imported.getNotation()));
      })
      .Case<MapAttr, RelationsAttr>(
          [&](auto layout) { return nameMap(layout, "layout"); })
      .Case([](NpuTargetInterface) { return "chip"; })
      .Default(std::string());
}

namespace {
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::getAlias;
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    std::string name = getAliasName(attr);
    os << name;
    return name.empty() ? AliasResult::NoAlias : AliasResult::OverridableAlias;
  }
};
} // namespace

void LayoutDialect::initialize() {
  addInterfaces<LayoutAliases>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "layout/Dialect/Layout/IR/LayoutAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "layout/Dialect/Layout/IR/LayoutOps.cpp.inc"
      >();
}

Operation *LayoutDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

namespace {
/// Folds a tensor.cast of a tensor.empty to a type with an encoding into a
/// tensor.empty of this type. The upstream pattern drops the encoding and so
/// changes the type that users of the cast see.
struct FoldCastOfEmpty : OpRewritePattern<tensor::CastOp> {
  FoldCastOfEmpty(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/10) {} // before upstream's

  LogicalResult matchAndRewrite(tensor::CastOp cast,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(cast.getType());
    auto empty = cast.getSource().getDefiningOp<tensor::EmptyOp>();
    if (!empty || !type || !type.getEncoding() ||
        !tensor::canFoldIntoProducerOp(cast))
      return rewriter.notifyMatchFailure(cast,
                                         "casts no empty laid-out tensor");
    SmallVector<Value> sizes;
    for (auto [size, wanted] :
         llvm::zip_equal(empty.getMixedSizes(), type.getShape()))
      if (ShapedType::isDynamic(wanted))
        sizes.push_back(
            getValueOrCreateConstantIndexOp(rewriter, cast.getLoc(), size));
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(cast, type, sizes);
    return success();
  }
};
} // namespace

void LayoutDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns.add<FoldCastOfEmpty>(getContext());
}
