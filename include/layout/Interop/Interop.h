//===- Interop.h - Import and export of notations ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The notations of docs/spec.md, section 3.5, behind one door: a text becomes
// an `ImportedLayout`, that becomes a map for a shape, and a map becomes a
// text again.
//
//     parseAs(Notation::Xla, "{1,0:T(2,2)}", ..), getMap(.., {3, 5}, ..)
//       (d0, d1) -> buffer(d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2)
//     exportAs(Notation::OneDnn, that, {3, 5}, ..)    // AB2a2b
//
// Law: where exportAs(n, m, s) is a text, importing it for s gives a map that
// is equalOn(.., s) to m; else the error names what the notation cannot say.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_INTEROP_H
#define LAYOUT_INTEROP_INTEROP_H

#include "layout/Interop/CuTe.h"
#include "layout/Interop/OneDnn.h"
#include "layout/Interop/Triton.h"
#include "layout/Interop/Xla.h"
#include "layout/Support/Refusal.h"
#include <variant>

namespace mlir {
namespace layout {

using ImportedLayout =
    std::variant<XlaLayout, OneDnnLayout, CuTeLayout, TritonLayout>;

std::optional<ImportedLayout> parseAs(Notation notation, llvm::StringRef text,
                                      TextError error);

std::optional<LayoutMap> getMap(const ImportedLayout &layout, Sizes shape,
                                Refusal error = {});

/// The shape that the text says, kUnknownSize where it says none ..
llvm::SmallVector<int64_t> getStatedShape(const ImportedLayout &layout);
/// .. and some shape that the layout applies to.
llvm::SmallVector<int64_t> getExampleShape(const ImportedLayout &layout);

std::optional<std::string> exportAs(Notation notation, const LayoutMap &map,
                                    Sizes sizes, Refusal error = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTEROP_INTEROP_H
