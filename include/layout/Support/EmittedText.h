//===- EmittedText.h - Escape text of a module ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, attributes and locations of a module are data: their author must not
// be able to inject code, markup or paths. Every emitter passes such text
// through one of these functions and has no escaping of its own.
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

namespace mlir::layout {

/// Returns true if `text` consists of 1 to 100 ASCII letters, digits and
/// underscores.
bool isWord(llvm::StringRef text);

/// Converts `text` to letters, digits and underscores. A word stays unchanged,
/// unless it looks like a result with a hash; other texts get a hash, so that
/// different texts have different results. After a prefix, the result is an
/// identifier that is neither a keyword nor a macro. Before an extension, it is
/// a file name without path separators.
std::string toWord(llvm::StringRef text);

/// Replaces invalid UTF-8 by U+FFFD, because writers of JSON require valid
/// text.
std::string toUtf8(llvm::StringRef text);

/// Converts the first 400 characters of `text` for a line comment of C.
/// Characters that are not printable ASCII, that could continue the line or
/// form a trigraph become '_'.
std::string toComment(llvm::StringRef text);

/// Escapes `text` as the content of an XML, HTML or SVG element. Control
/// characters, line breaks and tabs included, and other characters that XML
/// does not allow become '?'.
std::string escapeXml(llvm::StringRef text);

/// Escapes `text` for a quoted string of Graphviz's dot. Line breaks become
/// `\n`, and other control characters '?'.
std::string escapeDot(llvm::StringRef text);

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_EMITTEDTEXT_H
