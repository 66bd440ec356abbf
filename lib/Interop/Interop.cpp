//===- Interop.cpp - Import and export of notations -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interop/Interop.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir::layout;
using llvm::StringRef;

static constexpr std::pair<Notation, llvm::StringLiteral> kNotationNames[] = {
    {Notation::Xla, "xla"},
    {Notation::OneDnn, "onednn"},
    {Notation::CuTe, "cute"},
    {Notation::Triton, "triton"}};

StringRef mlir::layout::getName(Notation notation) {
  return llvm::find_if(
             kNotationNames,
             [&](const auto &entry) { return entry.first == notation; })
      ->second;
}

std::optional<Notation> mlir::layout::getNotation(StringRef name) {
  for (const auto &[notation, known] : kNotationNames)
    if (known == name)
      return notation;
  return std::nullopt;
}

/// The maximal number of characters of a text to import or export, more than
/// any real layout has. A longer text is an error.
static constexpr size_t kMostText = 16384;

std::optional<ImportedLayout>
mlir::layout::parseAs(Notation notation, StringRef text, TextError error) {
  if (text.size() > kMostText) {
    error(kMostText, "the text has more than " + llvm::Twine(kMostText) +
                         " characters, the limit of a layout");
    return std::nullopt;
  }
  switch (notation) {
  case Notation::Xla:
    return parseXla(text, error);
  case Notation::OneDnn:
    return parseOneDnn(text, error);
  case Notation::CuTe:
    return parseCuTe(text, error);
  case Notation::Triton:
    return parseTriton(text, error);
  }
  llvm_unreachable("all notations are handled");
}

std::optional<LayoutMap> mlir::layout::getMap(const ImportedLayout &layout,
                                              Sizes shape,
                                              FailureReason error) {
  return std::visit(
      [&](const auto &notated) { return notated.getMap(shape, error); },
      layout);
}

llvm::SmallVector<int64_t>
mlir::layout::getStatedShape(const ImportedLayout &layout) {
  return std::visit(
      [](const auto &notated) { return notated.getStatedShape(); }, layout);
}

llvm::SmallVector<int64_t>
mlir::layout::getExampleShape(const ImportedLayout &layout) {
  // A descriptor is valid for shapes up to its padded dims.
  if (const auto *oneDnn = std::get_if<OneDnnLayout>(&layout))
    if (oneDnn->numbers)
      return oneDnn->numbers->padded;
  return getStatedShape(layout);
}

static std::optional<std::string> write(Notation notation, const LayoutMap &map,
                                        Sizes sizes, FailureReason error) {
  switch (notation) {
  case Notation::Xla:
    return exportXla(map, sizes, error);
  case Notation::OneDnn:
    return exportOneDnn(map, sizes, error);
  case Notation::CuTe:
    return exportCuTe(map, sizes, error);
  case Notation::Triton:
    return exportTriton(map, sizes, error);
  }
  llvm_unreachable("all notations are handled");
}

std::optional<std::string> mlir::layout::exportAs(Notation notation,
                                                  const LayoutMap &map,
                                                  Sizes sizes,
                                                  FailureReason error) {
  std::optional<std::string> text = write(notation, map, sizes, error);
  if (!text || text->size() <= kMostText)
    return text;
  error("the text has more than " + llvm::Twine(kMostText) +
        " characters, the limit of a layout");
  return std::nullopt;
}
