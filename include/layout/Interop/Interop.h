//===- Interop.h - Import and export of notations ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A single interface to the notations of docs/spec.md, section 3.5. A text is
// parsed to an `ImportedLayout`, which is instantiated for a shape as a map. A
// map is exported as a text.
//
//     parseAs(Notation::Xla, "{1,0:T(2,2)}", ..), getMap(.., {3, 5}, ..)
//       (d0, d1) -> buffer(d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2)
//     exportAs(Notation::OneDnn, map, {3, 5}, ..)     // AB2a2b
//
// Law: if exportAs(n, m, s) returns a text, importing it for s gives a map that
// is equalOn(.., s) to m. Otherwise the error names what cannot be expressed.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_INTEROP_H
#define LAYOUT_INTEROP_INTEROP_H

#include "layout/Interop/CuTe.h"
#include "layout/Interop/OneDnn.h"
#include "layout/Interop/Triton.h"
#include "layout/Interop/Xla.h"
#include "layout/Support/FailureReason.h"
#include <variant>

namespace mlir::layout {

using ImportedLayout =
    std::variant<XlaLayout, OneDnnLayout, CuTeLayout, TritonLayout>;

std::optional<ImportedLayout> parseAs(Notation notation, llvm::StringRef text,
                                      TextError error);

std::optional<LayoutMap> getMap(const ImportedLayout &layout, Sizes shape,
                                FailureReason error = {});

/// Returns the shape that the text determines, one size per dim, with
/// kUnknownSize for sizes that it does not contain.
llvm::SmallVector<int64_t> getStatedShape(const ImportedLayout &layout);
/// Returns a shape on which the layout is valid: the padded dims of a oneDNN
/// descriptor, or else the shape that the text determines, with kUnknownSize
/// for other sizes.
llvm::SmallVector<int64_t> getExampleShape(const ImportedLayout &layout);

std::optional<std::string> exportAs(Notation notation, const LayoutMap &map,
                                    Sizes sizes, FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_INTEROP_INTEROP_H
