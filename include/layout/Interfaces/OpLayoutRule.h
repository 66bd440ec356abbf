//===- OpLayoutRule.h - What an op asks of layouts, as data -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only knowledge that the decision has of an op: a value, made by the op's
// interface or by an external model. Propagation, candidates and costs are
// written once over it.
//
//   linalg.conv_2d_nchw_fchw       LoopsRule, loops n f oh ow c kh kw:
//     input   (n, c, oh + kh, ow + kw)    so n, f and c may be tiled:
//     filter  (f, c, kh, kw)              a loop in a sum may not
//     result  (n, f, oh, ow)
//   tensor.collapse_shape          ViewRule: source dims as digits of the
//                                  result's dims, and back
//   tensor.pad of dims 2 and 3     PerDimRule: those dims are stored whole
//   tensor.extract_slice %x[%i, 0, 0] [1, 8, 8] to tensor<8x8xf32>
//                                  PerDimRule: dim 0 is stored whole, and the
//                                  result lacks it
//   tensor.dim                     ShapeRule: any layout
//   func.call                      OpaqueRule: types stay what they are
//
// Laws:
//  * the rule depends on the op's inherent attributes, types, body and constant
//    indices, and on no layout;
//  * whatever layouts the rule admits, the op's logical result is the same.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_OPLAYOUTRULE_H
#define LAYOUT_INTERFACES_OPLAYOUTRULE_H

#include "layout/Algebra/Families/Mesh.h"
#include "layout/Algebra/Views.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallBitVector.h"
#include <variant>

namespace mlir {
namespace layout {

/// One loop of an op's iteration space.
struct LoopRule {
  utils::IteratorType iterator = utils::IteratorType::parallel;
  int64_t size = ShapedType::kDynamic;
  /// Whether dims that are indexed by the loop alone may be stored in tiles.
  bool tileable = false;
};

/// All tensors keep the types that they have.
struct OpaqueRule {
  /// For those who ask, in text that outlives the rule.
  StringRef why;
};

/// Loops with one affine map per tensor.
struct LoopsRule {
  SmallVector<LoopRule> loops;
  /// From the loops to the dims of the tensor; null where the operand is no
  /// ranked tensor.
  SmallVector<AffineMap> operandMaps, resultMaps;
  /// Per operand: whether its elements are read.
  SmallVector<bool> isRead;
  /// Scalar operations in one iteration.
  int64_t opsPerPoint = 0;
  /// No element of an operand is read: where the tensor operands are free
  /// sources, such as fresh storage, the results are free sources, too.
  bool onlyWrites = false;
  /// Where the loops cannot run on the stored digits, the lowering converts.
  bool runsAnywhere = false;
  /// Per result, or empty: how the values that it accumulates are combined;
  /// nothing where no one op does it.
  SmallVector<std::optional<Reduction>> combiners;
  /// Per result, or empty: the operand that it begins with; nothing where it
  /// begins with none.
  SmallVector<std::optional<unsigned>> inits;
};

/// Operand 0 and result 0 have the same elements in the same order, and share
/// storage; further tensors are what the result is written to, and have its
/// layout.
struct ViewRule {
  /// The source's dims over those of the result, and the other way round.
  IndexView toSource, toResult;
  /// Row-major source and result store alike, as they do in a reshape. Where
  /// not, the op moves elements unless the layouts make it a view.
  bool isOfRowMajor = true;
};

/// All tensors have the same layout, but for the dims that some lack.
struct PerDimRule {
  /// Per dim: 0 where it may be stored in any way, otherwise the tiles it may
  /// be stored in are the divisors of this number; 1 keeps it whole.
  SmallVector<int64_t> tileDivisors;
  /// The dims, each of size 1 and kept whole, that tensors of a lower rank lack
  /// (DroppedDims.h).
  llvm::SmallBitVector dropped;
  /// Per operand, or empty where all are read. An op that reads a part of an
  /// operand writes all that it reads.
  SmallVector<bool> isRead;
  /// The result is an operand of which a part is overwritten.
  bool writesPart = false;
};

/// The result can be made in any layout at no cost, and reads no tensor.
struct SourceRule {};

/// No element is read: every layout will do.
struct ShapeRule {};

/// What an op asks of the layouts of its tensors.
using OpLayoutRule = std::variant<OpaqueRule, LoopsRule, ViewRule, PerDimRule,
                                  SourceRule, ShapeRule>;

/// One line without the name of the op: `([i, k], [k, j], [i, j]) -> [i, j],
/// loops i=4 j=8 k=16, reduces k, ..` (PrintRule.cpp).
void print(const OpLayoutRule &rule, raw_ostream &os);

/// The rule of `op`: its interface's, the elementwise one for ops with the
/// elementwise traits, opaque for everything else.
OpLayoutRule getLayoutRule(Operation *op);

/// Whether the layout of one tensor says something of the others: loops, views
/// and ops per dim.
bool relatesTensors(const OpLayoutRule &rule);

/// True if the results of `op`, which has this rule, can be made in any layout
/// at no cost.
bool isFreeSource(Operation *op, const OpLayoutRule &rule);

/// Whether `digit` cuts its dim only at divisors of `divisor`, so that blocks
/// of that many indices hold whole tiles.
inline bool cutsAtDivisorsOf(const Digit &digit, int64_t divisor) {
  return divisor % digit.divisor == 0 &&
         (!digit.modulus || divisor / digit.divisor % digit.modulus == 0);
}

/// Loops over the dims of the result, all tensors indexed by them. All ranked
/// tensors of `op` have the same shape.
LoopsRule getElementwiseRule(Operation *op);

/// Marks the loops that index a dim alone, in every map that mentions them, and
/// have a static size, as tileable.
void findTileableLoops(LoopsRule &rule);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTERFACES_OPLAYOUTRULE_H
