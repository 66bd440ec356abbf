//===- EmittedTextTest.cpp ------------------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/EmittedText.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir::layout;

namespace {

const std::string kHostile[] = {
    "",
    "a b",
    "x(){} static int z = f(); void y",
    "*/ int main(){} /*",
    "\"); system(\"id\"); (\"",
    "$(touch x)`touch y`",
    "</script><script>alert(1)</script>",
    "../../etc/passwd",
    "/absolute",
    ".",
    "..",
    "line\nbreak\r\n#include </etc/passwd>",
    "na\xc3\xafve",
    "\xff\xfe",
    std::string("nul\0nul", 7),
    std::string(5000, 'x'),
    "x_h0123456789abcdef0123456789abcdef",
};

bool isPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

TEST(EmittedText, WordsStayAsTheyAre) {
  for (const char *word : {"main", "_", "a1_B2", "class", "0"})
    EXPECT_EQ(toWord(word), word);
}

TEST(EmittedText, AnyTextBecomesAShortWord) {
  for (const std::string &text : kHostile) {
    std::string word = toWord(text);
    EXPECT_FALSE(word.empty());
    EXPECT_LE(word.size(), 100u);
    for (char c : word)
      EXPECT_TRUE(isPlain(c)) << text;
  }
}

/// No collisions, even if one text is spelled like the result of another.
TEST(EmittedText, NoTwoTextsBecomeOneWord) {
  std::set<std::string> texts(std::begin(kHostile), std::end(kHostile));
  std::mt19937 random(7);
  const char letters[] = "ab_ ./\"";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int n = random() % 6; n > 0; --n)
      text += letters[random() % 7];
    texts.insert(text);
  }
  for (const std::string &text : std::set<std::string>(texts))
    texts.insert(toWord(text));
  std::set<std::string> words;
  for (const std::string &text : texts)
    words.insert(toWord(text));
  EXPECT_EQ(words.size(), texts.size());
}

TEST(EmittedText, CommentsStayOnTheirLine) {
  EXPECT_EQ(toComment("stem/conv -> image2d(x = c)"),
            "stem/conv -> image2d(x = c)");
  EXPECT_EQ(toComment("a\nb\\"), "a_b_");
  EXPECT_EQ(toComment("a\?\?/"), "a?_/");
  EXPECT_EQ(toComment(std::string(1000, 'a')).size(), 400u);
  for (const std::string &text : kHostile)
    EXPECT_EQ(toComment(text).find_first_of("\n\r\\"), std::string::npos);
}

TEST(EmittedText, XmlHoldsNoMarkup) {
  EXPECT_EQ(escapeXml("</a> & \"b\""), "&lt;/a&gt; &amp; \"b\"");
  EXPECT_EQ(escapeXml("a\nb\x01"), "a?b?");
  EXPECT_EQ(escapeXml("\xEF\xBF\xBE"), "?");
  for (const std::string &text : kHostile)
    EXPECT_EQ(escapeXml(text).find_first_of("<>"), std::string::npos);
}

/// A dot string ends at the first quote that is not escaped.
TEST(EmittedText, DotStringsEndWhereTheyShould) {
  EXPECT_EQ(escapeDot("a\\\"b\n\\l"), "a\\\\\\\"b\\n\\\\l");
  for (const std::string &text : kHostile) {
    bool isTaken = false;
    for (char c : escapeDot(text)) {
      EXPECT_FALSE(c == '"' && !isTaken) << text;
      EXPECT_NE(c, '\n');
      isTaken = c == '\\' && !isTaken;
    }
    EXPECT_FALSE(isTaken) << text;
  }
}

TEST(EmittedText, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(toUtf8("na\xc3\xafve"), "na\xc3\xafve");
  EXPECT_EQ(toUtf8("\xff"), "\xEF\xBF\xBD");
}

} // namespace
