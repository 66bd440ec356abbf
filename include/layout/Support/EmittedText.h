//===- EmittedText.h - Text of a module inside other languages --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, attributes and locations of a module are data: whoever wrote them must
// not be able to write code, markup or paths. Every emitter takes such text
// through one of these functions, and has no rules of its own.
//
//   toWord("main")          main
//   toWord("a b")           a_b_h<32 hex digits>
//   toComment("a\nb")       a_b
//   escapeXml("a<b")        a&lt;b
//   escapeDot("say \"x\"")  say \"x\"
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_EMITTEDTEXT_H
#define LAYOUT_SUPPORT_EMITTEDTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir {
namespace layout {

/// Whether the text consists of letters, digits and underscores of ASCII, is
/// not empty and not longer than 100 characters.
bool isWord(llvm::StringRef text);

/// Letters, digits and underscores alone: a word stays as it is, of any other
/// text a hash is part. Two texts never give one word. Behind a prefix of the
/// emitter's own, it is an identifier that is no keyword and no macro; with an
/// extension behind it, it is the name of a file in the folder that is meant.
std::string toWord(llvm::StringRef text);

/// Text for JSON, which escapes all but what is not UTF-8.
std::string toUtf8(llvm::StringRef text);

/// Text for a comment of C that ends with its line, at most 400 characters:
/// nothing in it ends the line or continues it.
std::string toComment(llvm::StringRef text);

/// The content of an element of XML, HTML and SVG; characters that XML does not
/// allow become '?'.
std::string escapeXml(llvm::StringRef text);

/// The inside of a quoted string of Graphviz's dot; lines stay lines.
std::string escapeDot(llvm::StringRef text);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_EMITTEDTEXT_H
