//===- EmittedText.cpp - Escape text of a module --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/EmittedText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using llvm::StringRef;

/// The maximal number of characters of a word, within limits of file systems
/// and compilers, and the number of characters of another text that precede its
/// hash.
static constexpr size_t kMostChars = 100, kCharsBesideHash = 32;
static constexpr size_t kMostOfComment = 400;
static constexpr size_t kHashBytes = 16;
static constexpr llvm::StringLiteral kHashMark = "_h";

static bool isWordChar(char c) { return llvm::isAlnum(c) || c == '_'; }

bool layout::isWord(StringRef text) {
  return !text.empty() && text.size() <= kMostChars &&
         llvm::all_of(text, isWordChar);
}

/// Returns true if `text` ends like an identifier that toWord() has made of
/// another text: with _h and a hash of 32 hex digits.
static bool looksHashed(StringRef text) {
  size_t ending = kHashMark.size() + 2 * kHashBytes;
  return text.size() >= ending &&
         text.take_back(ending).starts_with(kHashMark) &&
         llvm::all_of(text.take_back(2 * kHashBytes), llvm::isHexDigit);
}

std::string layout::toWord(StringRef text) {
  if (isWord(text) && !looksHashed(text))
    return text.str();
  std::string word;
  for (char c : text.take_front(kCharsBesideHash))
    word += isWordChar(c) ? c : '_';
  auto hash = llvm::BLAKE3::hash<kHashBytes>(
      llvm::ArrayRef(text.bytes_begin(), text.size()));
  return word + kHashMark.str() + llvm::toHex(hash, /*LowerCase=*/true);
}

std::string layout::toUtf8(StringRef text) { return llvm::json::fixUTF8(text); }

std::string layout::toComment(StringRef text) {
  std::string result;
  for (char c : text.take_front(kMostOfComment)) {
    // The trigraph ??/ is a backslash.
    bool isPair = c == '?' && !result.empty() && result.back() == '?';
    result += llvm::isPrint(c) && c != '\\' && !isPair ? c : '_';
  }
  return result;
}

std::string layout::escapeXml(StringRef raw) {
  std::string text = toUtf8(raw), result;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    StringRef rest = StringRef(text).substr(i);
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      result += '?';
      i += 2;
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += '?';
    } else {
      result += c;
    }
  }
  return result;
}

std::string layout::escapeDot(StringRef raw) {
  std::string result;
  for (char c : toUtf8(raw)) {
    if (c == '\n')
      result += "\\n";
    else if (c == '&') // entities are read inside of strings, too
      result += "&amp;";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += '?';
    else if (c == '"' || c == '\\')
      (result += '\\') += c;
    else
      result += c;
  }
  return result;
}
