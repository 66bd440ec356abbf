//===- FlushWeights.cpp - Weights without subnormal numbers ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/FlushWeights.h"
#include "layout/Support/ConstantBytes.h"
#include "layout/Support/MappedFiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if the op only multiplies the element, and only adds products.
static bool isFactorOfSum(BlockArgument element) {
  return !element.use_empty() &&
         llvm::all_of(element.getUsers(), [](Operation *product) {
           return isa<arith::MulFOp>(product) &&
                  llvm::all_of(product->getUsers(),
                               llvm::IsaPred<arith::AddFOp>);
         });
}

namespace {
/// Numbers of IEEE 754 with `kFraction` bits after the leading one, stored in
/// words of type `Word`.
template <typename Word, unsigned kFraction> struct Floats {
  static constexpr Word kOne = 1;
  static constexpr Word kFractionMask = (kOne << kFraction) - 1;
  static constexpr Word kSign = kOne << (8 * sizeof(Word) - 1);
  static constexpr Word kExponentMask = Word(~(kFractionMask | kSign));

  static bool isSubnormal(Word word) {
    return (word & kExponentMask) == 0 && (word & kFractionMask) != 0;
  }

  /// Returns true if some words are subnormal, and the last bit of the largest
  /// finite one is worth more than they are.
  static bool canFlush(ArrayRef<Word> words) {
    bool any = false;
    Word largest = 0;
    for (Word word : words) {
      any |= isSubnormal(word);
      Word exponent = word & kExponentMask;
      largest =
          std::max(largest, exponent == kExponentMask ? Word(0) : exponent);
    }
    return any && (largest >> kFraction) > kFraction + 1;
  }

  /// Writes the words to `to`, with subnormal ones as 0 of their sign.
  static void flush(ArrayRef<Word> words, Word *to) {
    for (auto [i, word] : llvm::enumerate(words))
      to[i] = isSubnormal(word) ? word & kSign : word;
  }
};
} // namespace

/// Returns the constant without subnormal numbers, or itself.
template <typename Format, typename Word>
static ElementsAttr flush(ElementsAttr value, ArrayRef<char> bytes) {
  ArrayRef<Word> words(reinterpret_cast<const Word *>(bytes.data()),
                       bytes.size() / sizeof(Word));
  if (!Format::canFlush(words))
    return value;
  AsmResourceBlob blob = allocateConstant(bytes.size(), /*alignment=*/64);
  Format::flush(words, reinterpret_cast<Word *>(blob.getMutableData().data()));
  forgetMappedPages(bytes);
  return DenseResourceElementsAttr::get(value.getShapedType(),
                                        "flushed_weights", std::move(blob));
}

/// Returns the constant without subnormal numbers, or itself. Smaller floats
/// remain.
static ElementsAttr flush(ElementsAttr value) {
  Type type = value.getElementType();
  if (!isa<Float32Type, Float64Type>(type))
    return value;
  ArrayRef<char> bytes = getConstantBytes(value).value_or(ArrayRef<char>());
  if (bytes.size() !=
      value.getNumElements() * (type.getIntOrFloatBitWidth() / 8))
    return value;
  return type.isF32() ? flush<Floats<uint32_t, 23>, uint32_t>(value, bytes)
                      : flush<Floats<uint64_t, 52>, uint64_t>(value, bytes);
}

void layout::flushSubnormalWeights(Kernel &kernel, OpBuilder &builder,
                                   FlushedConstants &known) {
  Stage &root = kernel.root;
  if (!kernel.hasReduction())
    return;
  for (unsigned i = 0, e = root.numInputs(); i < e; ++i) {
    ElementsAttr constant;
    if (!matchPattern(root.operands[i], m_Constant(&constant)) ||
        !isFactorOfSum(root.op.getBlock()->getArgument(i)))
      continue;
    auto [found, isNew] = known.try_emplace(constant, constant);
    if (isNew)
      found->second = flush(constant);
    if (found->second != constant)
      root.operands[i] = arith::ConstantOp::create(
          builder, root.op.getLoc(), cast<TypedAttr>(found->second));
  }
}
