//===- Patterns.h - The patterns of convert-layout-to-linalg ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each group of patterns has its own file. A pattern that cannot lower an op
// records the reason, which is reported if the op remains at the end.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PATTERNS_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PATTERNS_H

#include "Storage.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::layout {

/// Stores the reasons why ops could not be lowered.
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

/// The base of patterns that record in `reasons` why they do not lower an op.
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
/// Adds the patterns of layout.convert and layout.storage_view. With `packOps`,
/// conversions become linalg.pack and linalg.unpack where possible.
void populateConvertPatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns, Reasons &reasons,
                             bool packOps);
void populateConstantPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns, Reasons &reasons);

/// Adds patterns for calls and returns of tensors whose storage array has other
/// dims than their physical tensor. They insert reshapes, which move no data.
void populateFunctionBoundaryPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns);

/// The functions with tensors whose storage array has other dims than their
/// physical tensor, with their types before the conversion.
class FunctionBoundaries {
public:
  explicit FunctionBoundaries(Operation *root);

  /// Replaces, in the types of the converted functions, physical tensors by
  /// storage arrays, and reshapes the arguments in the bodies. Leaves functions
  /// that were not converted.
  void expose(const TypeConverter &converter);

private:
  SmallVector<std::pair<func::FuncOp, FunctionType>> functions;
};

/// Converts a tensor from the layout of `from` to that of `to`, a type of the
/// same shape, and returns the physical tensor. `source` is the physical tensor
/// of type `from`, followed by its sizes that are passed separately.
Value convertStorage(OpBuilder &b, Location loc, RankedTensorType from,
                     ValueRange source, RankedTensorType to);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PATTERNS_H
