//===- Characters.h - Quote characters in diagnostics -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text is a sequence of bytes, and a single byte need not be a character.
// Quoted text in diagnostics must be printable and valid UTF-8:
//
//     quoteCharacter("N-H", 1)          '-'
//     quoteCharacter("N\u00c7H", 1)      the two bytes of the letter, quoted
//     quoteCharacter("N\tH", 1)         '\09', as in string literals of MLIR
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_CHARACTERS_H
#define LAYOUT_ALGEBRA_CHARACTERS_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace mlir::layout {

/// Returns the UTF-8 character at byte `column` < text.size() of `text` in
/// single quotes. A byte that is neither printable ASCII nor the start of a
/// valid longer character is written in hex, e.g. '\09'.
inline std::string quoteCharacter(llvm::StringRef text, size_t column) {
  llvm::StringRef rest = text.substr(column);
  if (llvm::isPrint(rest.front()))
    return ("'" + rest.take_front() + "'").str();
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(rest.begin());
  size_t bytes = llvm::getNumBytesForUTF8(*begin);
  if (bytes > 1 && bytes <= rest.size() &&
      llvm::isLegalUTF8Sequence(begin, begin + bytes))
    return ("'" + rest.take_front(bytes) + "'").str();
  return "'\\" + llvm::toHex(rest.take_front()) + "'";
}

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_CHARACTERS_H
