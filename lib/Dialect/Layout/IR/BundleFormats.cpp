//===- BundleFormats.cpp - Formats of bundles with names ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each format is a text in the grammar of BundleAttr.cpp. `${a*b+c}` stands for
// a number: a sum of products of parameters and integers. docs/bundles.md says
// which library each format is compared with.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Bundle.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
struct Parameter {
  const char *name; // null for none
  int64_t standard;
};
struct Format {
  StringLiteral name;
  Parameter parameters[3];
  StringLiteral text;
};
} // namespace

/// The 6-bit scales and minimums of 8 groups of 32, in 12 bytes from bit 32 of
/// a block of `BITS` bits on.
#define K_SCALES(BITS)                                                         \
  "scale : ui6 [r, k floordiv 256, k floordiv 32 mod 8] in block {"            \
  "(r, s, j = 0 to 4, b) -> bits(bit = [r, s] * " BITS " + j * 8 + b + 32), "  \
  "(r, s, j = 4 to 8, b = 0 to 4) -> "                                         \
  "bits(bit = [r, s] * " BITS " + j * 8 + b + 96), "                           \
  "(r, s, j = 4 to 8, b = 4 to 6) -> "                                         \
  "bits(bit = [r, s] * " BITS " + j * 8 + b + 38)}, "                          \
  "super : f16 [r, k floordiv 256] in block (r, s, b) -> "                     \
  "bits(bit = [r, s] * " BITS " + b), "                                        \
  "min : ui6 [r, k floordiv 256, k floordiv 32 mod 8] in block {"              \
  "(r, s, j = 0 to 4, b) -> bits(bit = [r, s] * " BITS " + j * 8 + b + 64), "  \
  "(r, s, j = 4 to 8, b = 0 to 4) -> "                                         \
  "bits(bit = [r, s] * " BITS " + j * 8 + b + 100), "                          \
  "(r, s, j = 4 to 8, b = 4 to 6) -> "                                         \
  "bits(bit = [r, s] * " BITS " + j * 8 + b + 70)}, "                          \
  "supermin : f16 [r, k floordiv 256] in block (r, s, b) -> "                  \
  "bits(bit = [r, s] * " BITS " + b + 16)"

/// Values of `TYPE`, rows of whole bytes, and a scale of each `${group}`.
#define MX(TYPE)                                                               \
  "scale(r, k), value : " TYPE " [r, k] in values (r, k, b) -> "               \
  "bits(r, [k, b] align 8), scale : f8E8M0FNU [r, k floordiv ${group}] in "    \
  "scales (r, g, b) -> bits(r, g, b)"

#define NVFP4(SCALES)                                                          \
  "scale2(r, k), value : f4E2M1FN [r, k] in values (r, k, b) -> "              \
  "bits(r, [k, b] align 8), scale : f8E4M3FN [r, k floordiv 16] in scales "    \
  "(r, g, b) -> bits(" SCALES "), super : f32 [] in global (b) -> bits(b)"

constexpr Format kFormats[] = {
    {"gguf.q4_0",
     {},
     "scale(r, k), value : ui4 excess 8 [r, k] in block (r, k, b) -> "
     "bits(bit = [r, k floordiv 32] * 144 + (k mod 16) * 8 + "
     "(k floordiv 16 mod 2) * 4 + b + 16), "
     "scale : f16 [r, k floordiv 32] in block (r, g, b) -> "
     "bits(bit = [r, g] * 144 + b)"},
    {"gguf.q4_1",
     {},
     "min(r, k), value : ui4 [r, k] in block (r, k, b) -> "
     "bits(bit = [r, k floordiv 32] * 160 + (k mod 16) * 8 + "
     "(k floordiv 16 mod 2) * 4 + b + 32), "
     "scale : f16 [r, k floordiv 32] in block (r, g, b) -> "
     "bits(bit = [r, g] * 160 + b), "
     "min : f16 [r, k floordiv 32] in block (r, g, b) -> "
     "bits(bit = [r, g] * 160 + b + 16)"},
    {"gguf.q5_0",
     {},
     "scale(r, k), value : ui5 excess 16 [r, k] in block {"
     "(r, k, b = 0 to 4) -> bits(bit = [r, k floordiv 32] * 176 + "
     "(k mod 16) * 8 + (k floordiv 16 mod 2) * 4 + b + 48), "
     "(r, k, b = 4 to 5) -> "
     "bits(bit = [r, k floordiv 32] * 176 + k mod 32 + b + 16)}, "
     "scale : f16 [r, k floordiv 32] in block (r, g, b) -> "
     "bits(bit = [r, g] * 176 + b)"},
    {"gguf.q5_1",
     {},
     "min(r, k), value : ui5 [r, k] in block {"
     "(r, k, b = 0 to 4) -> bits(bit = [r, k floordiv 32] * 192 + "
     "(k mod 16) * 8 + (k floordiv 16 mod 2) * 4 + b + 64), "
     "(r, k, b = 4 to 5) -> "
     "bits(bit = [r, k floordiv 32] * 192 + k mod 32 + b + 32)}, "
     "scale : f16 [r, k floordiv 32] in block (r, g, b) -> "
     "bits(bit = [r, g] * 192 + b), "
     "min : f16 [r, k floordiv 32] in block (r, g, b) -> "
     "bits(bit = [r, g] * 192 + b + 16)"},
    {"gguf.q8_0",
     {},
     "scale(r, k), value : si8 [r, k] in block (r, k, b) -> "
     "bits(bit = [r, k floordiv 32] * 272 + (k mod 32) * 8 + b + 16), "
     "scale : f16 [r, k floordiv 32] in block (r, g, b) -> "
     "bits(bit = [r, g] * 272 + b)"},
    {"gguf.q2_k",
     {},
     "min2(r, k), value : ui2 [r, k] in block (r, k, b) -> "
     "bits(bit = [r, k floordiv 256] * 672 + (k floordiv 128 mod 2) * 256 + "
     "(k mod 32) * 8 + (k floordiv 32 mod 4) * 2 + b + 128), "
     "scale : ui4 [r, k floordiv 16] in block (r, g, b) -> "
     "bits(bit = [r, g floordiv 16] * 672 + (g mod 16) * 8 + b), "
     "super : f16 [r, k floordiv 256] in block (r, s, b) -> "
     "bits(bit = [r, s] * 672 + b + 640), "
     "min : ui4 [r, k floordiv 16] in block (r, g, b) -> "
     "bits(bit = [r, g floordiv 16] * 672 + (g mod 16) * 8 + b + 4), "
     "supermin : f16 [r, k floordiv 256] in block (r, s, b) -> "
     "bits(bit = [r, s] * 672 + b + 656)"},
    {"gguf.q3_k",
     {},
     "scale2(r, k), value : ui3 excess 4 [r, k] in block {"
     "(r, k, b = 0 to 2) -> bits(bit = [r, k floordiv 256] * 880 + "
     "(k floordiv 128 mod 2) * 256 + (k mod 32) * 8 + "
     "(k floordiv 32 mod 4) * 2 + b + 256), "
     "(r, k, b = 2 to 3) -> bits(bit = [r, k floordiv 256] * 880 + "
     "(k mod 32) * 8 + k floordiv 32 mod 8 + b)}, "
     "scale : ui6 excess 32 [r, k floordiv 16] in block {"
     "(r, g, b = 0 to 4) -> bits(bit = [r, g floordiv 16] * 880 + "
     "(g mod 8) * 8 + (g floordiv 8 mod 2) * 4 + b + 768), "
     "(r, g, b = 4 to 6) -> bits(bit = [r, g floordiv 16] * 880 + "
     "(g mod 4) * 8 + (g floordiv 4 mod 4) * 2 + b + 832)}, "
     "super : f16 [r, k floordiv 256] in block (r, s, b) -> "
     "bits(bit = [r, s] * 880 + b + 864)"},
    {"gguf.q4_k",
     {},
     "min2(r, k), value : ui4 [r, k] in block (r, k, b) -> "
     "bits(bit = [r, k floordiv 256] * 1152 + (k floordiv 64 mod 4) * 256 + "
     "(k mod 32) * 8 + (k floordiv 32 mod 2) * 4 + b + 128), " K_SCALES(
         "1152")},
    {"gguf.q5_k",
     {},
     "min2(r, k), value : ui5 [r, k] in block {"
     "(r, k, b = 0 to 4) -> bits(bit = [r, k floordiv 256] * 1408 + "
     "(k floordiv 64 mod 4) * 256 + (k mod 32) * 8 + "
     "(k floordiv 32 mod 2) * 4 + b + 384), "
     "(r, k, b = 4 to 5) -> bits(bit = [r, k floordiv 256] * 1408 + "
     "(k mod 32) * 8 + k floordiv 32 mod 8 + b + 128)}, " K_SCALES("1408")},
    {"gguf.q6_k",
     {},
     "scale2(r, k), value : ui6 excess 32 [r, k] in block {"
     "(r, k, b = 0 to 4) -> bits(bit = [r, k floordiv 256] * 1680 + "
     "(k floordiv 128 mod 2) * 512 + (k floordiv 32 mod 2) * 256 + "
     "(k mod 32) * 8 + (k floordiv 64 mod 2) * 4 + b), "
     "(r, k, b = 4 to 6) -> bits(bit = [r, k floordiv 256] * 1680 + "
     "(k floordiv 128 mod 2) * 256 + (k mod 32) * 8 + "
     "(k floordiv 32 mod 4) * 2 + b + 1024)}, "
     "scale : si8 [r, k floordiv 16] in block (r, g, b) -> "
     "bits(bit = [r, g floordiv 16] * 1680 + (g mod 16) * 8 + b + 1536), "
     "super : f16 [r, k floordiv 256] in block (r, s, b) -> "
     "bits(bit = [r, s] * 1680 + b + 1664)"},
    {"gguf.mxfp4",
     {},
     "scale(r, k), value : f4E2M1FN [r, k] in block (r, k, b) -> "
     "bits(bit = [r, k floordiv 32] * 136 + (k mod 16) * 8 + "
     "(k floordiv 16 mod 2) * 4 + b + 8), "
     "scale : f8E8M0FNU [r, k floordiv 32] in block (r, g, b) -> "
     "bits(bit = [r, g] * 136 + b)"},
    {"mxfp4", {{"group", 32}}, MX("f4E2M1FN")},
    {"mxfp6_e2m3", {{"group", 32}}, MX("f6E2M3FN")},
    {"mxfp6_e3m2", {{"group", 32}}, MX("f6E3M2FN")},
    {"mxfp8_e4m3", {{"group", 32}}, MX("f8E4M3FN")},
    {"mxfp8_e5m2", {{"group", 32}}, MX("f8E5M2")},
    {"mxint8", {{"group", 32}}, MX("si8 fraction 6")},
    {"nvfp4", {}, NVFP4("r, g, b")},
    {"nvfp4.128x4",
     {},
     NVFP4("r floordiv 128, g floordiv 4, r mod 32, r floordiv 32 mod 4, "
           "g mod 4, b")},
    {"int4",
     {{"group", 128}},
     "scale(n, k), value : ui4 excess 8 [n, k] in values (n, k, b) -> "
     "bits(n, [k, b] align 32), "
     "scale : bf16 [n, k floordiv ${group}] in scales (n, g, b) -> "
     "bits(n, g, b)"},
    {"awq",
     {{"group", 128}},
     "zero(n, k), value : ui4 [n, k] in qweight (n, k, b) -> "
     "bits(k, n floordiv 8, n mod 2, n floordiv 2 mod 4, b), "
     "scale : f16 [n, k floordiv ${group}] in scales (n, g, b) -> "
     "bits(g, n, b), "
     "zero : ui4 [n, k floordiv ${group}] in qzeros (n, g, b) -> "
     "bits(g, n floordiv 8, n mod 2, n floordiv 2 mod 4, b)"},
    {"gptq",
     {{"group", 128}},
     "zero(n, k), value : ui4 [n, k] in qweight (n, k, b) -> "
     "bits(k floordiv 8, n, k mod 8, b), "
     "scale : f16 [n, k floordiv ${group}] in scales (n, g, b) -> "
     "bits(g, n, b), "
     "zero : ui4 excess -1 [n, k floordiv ${group}] in qzeros (n, g, b) -> "
     "bits(g, n floordiv 8, n mod 8, b)"},
    {"marlin",
     {{"group", 128}},
     "scale(n, k), value : ui4 excess 8 [n, k] in qweight (n, k, b) -> "
     "bits(k floordiv 16, n floordiv 64, n mod 8, k floordiv 2 mod 4, "
     "n floordiv 16 mod 4, k mod 2, n floordiv 8 mod 2, k floordiv 8 mod 2, "
     "b), "
     "scale : f16 [n, k floordiv ${group}] in scales (n, g, b) -> "
     "bits(g, n floordiv 64, n mod 8, n floordiv 8 mod 8, b)"},
    {"vnni.bf16",
     {},
     "value(k, n), value : bf16 [k, n] in data (k, n, b) -> "
     "bits(k floordiv 2, n, k mod 2, b)"},
    {"vnni.i8",
     {},
     "value(k, n), value : si8 [k, n] in data (k, n, b) -> "
     "bits(k floordiv 4, n, k mod 4, b)"},
    {"gate_up.bf16",
     {},
     "value(r, k), value : bf16 [r, k] in data {"
     "(r = 0 to ceil(size(r), 2), k, b) -> "
     "bits(bit = r * (32 * size(k)) + k * 16 + b), "
     "(r = ceil(size(r), 2) to size(r), k, b) -> "
     "bits(bit = r * (32 * size(k)) + k * 16 + b + 16 * size(k))}"},
    {"qkv.bf16",
     {{"groups", 8}, {"queries", 4}, {"head", 128}},
     "value(r, k), value : bf16 [r, k] in data {"
     "(r = 0 to ${groups*queries*head}, k, b) -> "
     "bits(bit = (r floordiv ${queries*head}) * "
     "(${queries*head*16+head*32} * size(k)) + (r mod ${queries*head}) * "
     "(16 * size(k)) + k * 16 + b), "
     "(r = ${groups*queries*head} to ${groups*queries*head+groups*head}, "
     "k, b) -> bits(bit = (r floordiv ${head}) * "
     "(${queries*head*16+head*32} * size(k)) + (r mod ${head}) * "
     "(16 * size(k)) + k * 16 + b + ${queries*head*16} * size(k)), "
     "(r = ${groups*queries*head+groups*head} to "
     "${groups*queries*head+2*groups*head}, k, b) -> "
     "bits(bit = (r floordiv ${head}) * "
     "(${queries*head*16+head*32} * size(k)) + (r mod ${head}) * "
     "(16 * size(k)) + k * 16 + b + ${queries*head*16+head*16} * size(k))}"},
};

using Values = ArrayRef<std::pair<std::string, int64_t>>;

/// Returns the value of a sum of products of parameters and integers, or
/// std::nullopt if it overflows int64.
static std::optional<int64_t> evaluate(StringRef sum, Values values) {
  int64_t total = 0;
  for (StringRef text : llvm::split(sum, '+')) {
    int64_t product = 1;
    for (StringRef name : llvm::split(text, '*')) {
      int64_t factor = 0;
      if (name.getAsInteger(10, factor))
        factor = llvm::find_if(values, [&](const auto &value) {
                   return value.first == name;
                 })->second;
      if (llvm::MulOverflow(product, factor, product))
        return std::nullopt;
    }
    if (llvm::AddOverflow(total, product, total))
      return std::nullopt;
  }
  return total;
}

std::string
layout::getFormatText(StringRef name,
                      std::vector<std::pair<std::string, int64_t>> &parameters,
                      FailureReason error) {
  auto fail = [&](const Twine &why) {
    error(why);
    return std::string();
  };
  auto format = llvm::find_if(
      kFormats, [&](const Format &known) { return known.name == name; });
  if (format == std::end(kFormats))
    return fail("unknown format '" + name + "'; the formats are " +
                llvm::join(getFormatNames(), ", "));
  // In the order of the format, so that equal formats have equal texts.
  std::vector<std::pair<std::string, int64_t>> complete;
  for (const Parameter &known : format->parameters)
    if (known.name)
      complete.push_back({known.name, known.standard});
  for (const auto &[parameter, value] : parameters) {
    auto it = llvm::find_if(
        complete, [&](const auto &known) { return known.first == parameter; });
    if (it == complete.end())
      return fail("format '" + name + "' has no parameter '" + parameter + "'");
    it->second = value;
  }
  parameters = std::move(complete);
  std::string text;
  StringRef rest = format->text;
  while (true) {
    auto [before, after] = rest.split("${");
    text += before;
    if (after.empty())
      return text;
    auto [sum, behind] = after.split('}');
    std::optional<int64_t> value = evaluate(sum, parameters);
    if (!value)
      return fail("the parameters of format '" + name +
                  "' do not fit 64 bits: use smaller ones");
    text += std::to_string(*value);
    rest = behind;
  }
}

SmallVector<StringRef> layout::getFormatNames() {
  return llvm::map_to_vector(
      kFormats, [](const Format &format) -> StringRef { return format.name; });
}
