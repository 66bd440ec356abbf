//===- Scanner.h - Tokenizer for short texts --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scans the tokens of the notations, with their columns. Spaces between tokens
// are ignored.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_INTEROP_SCANNER_H
#define LAYOUT_LIB_INTEROP_SCANNER_H

#include "layout/Algebra/Characters.h"
#include "layout/Interop/Notation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::layout {

class Scanner {
public:
  Scanner(llvm::StringRef text, TextError error) : text(text), error(error) {}

  llvm::StringRef getText() const { return text; }

  /// Returns the 0-based column of the next token, after spaces.
  size_t column() {
    while (position < text.size() && text[position] == ' ')
      ++position;
    return position;
  }
  /// Returns the 0-based column after what was read last, a token or the spaces
  /// after it.
  size_t end() const { return position; }
  llvm::StringRef rest() { return text.substr(column()); }
  bool atEnd() { return rest().empty(); }
  /// Returns the next character after spaces, or 0 at the end. Does not move
  /// past it.
  char peek() { return atEnd() ? 0 : rest().front(); }

  /// Returns the next character after spaces, and moves past it. The text must
  /// not be at its end.
  char take() { return text[position = column(), position++]; }

  bool fail(size_t column, const llvm::Twine &message) {
    error(column, message);
    return false;
  }

  bool consume(llvm::StringRef token) {
    if (!rest().starts_with(token))
      return false;
    position += token.size();
    return true;
  }

  /// Reads `token` and returns true. If the text continues otherwise, reports
  /// that `token` was expected, followed by `where`, and returns false.
  bool expect(llvm::StringRef token, const llvm::Twine &where) {
    if (consume(token))
      return true;
    return fail(column(), "expected '" + token + "' " + where);
  }
  bool expectEnd() {
    return atEnd() ||
           fail(column(),
                "unexpected " + quoteCharacter(text, column()) + " at the end");
  }

  /// Reads and returns the letters after spaces, up to anything else; "" if
  /// there are none.
  llvm::StringRef word() {
    llvm::StringRef result = rest().take_while(llvm::isAlpha);
    position += result.size();
    return result;
  }

  /// Reads a decimal number, which may be negative. Reports an error with
  /// `what`, the name of the number, and returns false if there is none or it
  /// does not fit int64.
  bool integer(int64_t &value, const llvm::Twine &what) {
    size_t start = column();
    bool negative = rest().starts_with("-");
    llvm::StringRef digits =
        rest().drop_front(negative).take_while(llvm::isDigit);
    if (digits.empty())
      return fail(start, "expected " + what);
    llvm::StringRef number = rest().take_front(digits.size() + negative);
    if (number.getAsInteger(10, value))
      return fail(start, number + " does not fit 64 bits");
    position += number.size();
    return true;
  }

  /// Parses a comma-separated list up to the token `close` by calling `item`
  /// for each entry. The list may be empty. Returns false after an error.
  bool list(llvm::StringRef close, llvm::function_ref<bool()> item) {
    if (consume(close))
      return true;
    while (item()) {
      if (consume(close))
        return true;
      if (!expect(",", "or '" + close + "'"))
        return false;
    }
    return false;
  }

  bool integers(llvm::StringRef close, const llvm::Twine &what,
                llvm::SmallVectorImpl<int64_t> &values) {
    return list(close, [&] { return integer(values.emplace_back(), what); });
  }

private:
  llvm::StringRef text;
  TextError error;
  size_t position = 0;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_INTEROP_SCANNER_H
