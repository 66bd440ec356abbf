//===- Svg.cpp - Pictures of layouts --------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Visualization/Svg.h"
#include "PictureModel.h"
#include "layout/Algebra/Families/Mesh.h"

using namespace mlir::layout;
using namespace mlir::layout::picture;
using llvm::Twine;

static llvm::LogicalResult checkOptions(const LayoutMap &map,
                                        const PictureOptions &options,
                                        FailureReason error) {
  auto fail = [&](const Twine &message) {
    error(message);
    return llvm::failure();
  };
  if (options.colorDim && *options.colorDim >= map.getRank())
    return fail("there is no dim " + Twine(*options.colorDim) +
                " to color by: the layout has " + Twine(map.getRank()) +
                " dims");
  if (!options.dimNames.empty() && options.dimNames.size() != map.getRank())
    return fail(Twine(options.dimNames.size()) +
                " names for the dims of a layout that has " +
                Twine(map.getRank()) + ": give one for each");
  if (options.label == PictureOptions::Label::Device &&
      (map.getSpace() != kMeshSpace ||
       options.view == PictureOptions::View::Storage))
    return fail("devices hold the indices of a tensor on a mesh: draw the "
                "logical view of a #layout.mesh");
  if (options.columns < 0)
    return fail("a picture cannot have " + Twine(options.columns) +
                " columns: use 0 to choose by the axes of the layout");
  return llvm::success();
}

llvm::LogicalResult mlir::layout::drawSvg(const LayoutMap &map, Sizes sizes,
                                          const PictureOptions &options,
                                          llvm::raw_ostream &os,
                                          FailureReason error) {
  if (failed(checkOptions(map, options, error)))
    return llvm::failure();
  bool isStorage = options.view == PictureOptions::View::Storage;
  std::optional<Contents> contents =
      readContents(map, sizes, options.maxCells, isStorage, error);
  if (!contents)
    return llvm::failure();
  writeSvg(makePictureModel(map, *contents, options), os);
  return llvm::success();
}
