//===- Patterns.h - The patterns of convert-layout-to-linalg ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One group per file. A pattern that cannot lower an op says why: the reason is
// reported when the op is still there at the end.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PATTERNS_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PATTERNS_H

#include "Storage.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir {
namespace layout {

/// Why ops could not be lowered.
class Reasons {
public:
  LogicalResult fail(ConversionPatternRewriter &rewriter, Operation *op,
                     const Twine &why) {
    std::string text = why.str();
    LogicalResult result = rewriter.notifyMatchFailure(op, text);
    reasons[op] = std::move(text);
    return result;
  }
  StringRef lookup(Operation *op) const {
    auto it = reasons.find(op);
    return it == reasons.end() ? StringRef() : StringRef(it->second);
  }

private:
  DenseMap<Operation *, std::string> reasons;
};

/// A pattern that leaves a reason where it does not apply.
template <typename OpTy>
struct ReasonedPattern : public OpConversionPattern<OpTy> {
  ReasonedPattern(const TypeConverter &converter, MLIRContext *context,
                  Reasons &reasons)
      : OpConversionPattern<OpTy>(converter, context), reasons(reasons) {}

  Reasons &reasons;
};

void populateStructuredPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns, Reasons &reasons);
void populateTensorPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns, Reasons &reasons);
void populateSlicePatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns, Reasons &reasons);
void populateSoftmaxPattern(const TypeConverter &converter,
                            RewritePatternSet &patterns, Reasons &reasons);
void populateForallPattern(const TypeConverter &converter,
                           RewritePatternSet &patterns, Reasons &reasons);
void populateViewPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns, Reasons &reasons);
/// `packOps`: see the option of the pass.
void populateConvertPatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns, Reasons &reasons,
                             bool packOps);
void populateConstantPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns, Reasons &reasons);

/// Calls and returns of tensors whose storage has other dims than their
/// physical tensor; see FunctionBoundary.cpp.
void populateFunctionBoundaryPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns);

/// The functions that take or return such tensors, read before the conversion.
class FunctionBoundaries {
public:
  explicit FunctionBoundaries(Operation *root);

  /// Gives the converted functions the types of the storage.
  void expose(const TypeConverter &converter);

private:
  SmallVector<std::pair<func::FuncOp, FunctionType>> functions;
};

/// The physical tensor of `to` that holds the same logical tensor as `source`,
/// which is converted from the type `from` of the same shape.
Value convertStorage(OpBuilder &b, Location loc, RankedTensorType from,
                     ValueRange source, RankedTensorType to);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PATTERNS_H
