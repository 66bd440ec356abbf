//===- OpLayoutRule.h - Layout rules of ops as data -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule is all that the assignment uses of an op: a value, created by the op's
// interface or by an external model. Propagation, candidates and costs are
// functions of rules.
//
//   linalg.conv_2d_nchw_fchw       LoopsRule, loops n f oh ow c kh kw:
//     input   (n, c, oh + kh, ow + kw)    n, f and c may be tiled; loops in
//     filter  (f, c, kh, kw)              sums (oh, kh, ow, kw) may not
//     result  (n, f, oh, ow)
//   tensor.collapse_shape          ViewRule: source dims as mixed-radix digits
//                                  of the result's dims, and the inverse
//   tensor.pad of dims 2 and 3     PerDimRule: those dims are stored whole
//   tensor.extract_slice %x[%i, 0, 0] [1, 8, 8] to tensor<8x8xf32>
//                                  PerDimRule: dim 0 is stored whole, and the
//                                  result drops it
//   tensor.dim                     ShapeRule: any layout
//   func.call                      OpaqueRule: types do not change
//
// Laws:
//  * the rule depends on the op's inherent attributes, types, body and constant
//    indices, and not on layouts;
//  * the op's logical result is the same for all layouts that the rule permits.
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

namespace mlir::layout {

/// One loop of an op's iteration space: if it is parallel or a reduction, its
/// size (kDynamic if unknown), and if dims that it indexes may be stored in
/// tiles.
struct LoopRule {
  utils::IteratorType iterator = utils::IteratorType::parallel;
  int64_t size = ShapedType::kDynamic;
  /// True if dims indexed by the loop alone may be stored in tiles.
  bool tileable = false;
};

/// A rule under which all tensors keep their types.
struct OpaqueRule {
  /// The reason why the tensors must keep their types, as text for diagnostics.
  /// Must have static lifetime.
  StringRef why;
};

/// The rule of an op with loops, with one affine map per tensor.
struct LoopsRule {
  SmallVector<LoopRule> loops;
  /// One map per operand and per result, from the loops to its dims; a null map
  /// for one that is no ranked tensor.
  SmallVector<AffineMap> operandMaps, resultMaps;
  /// Per operand, true if its elements are read.
  SmallVector<bool> isRead;
  /// The number of scalar operations in one iteration.
  int64_t opsPerPoint = 0;
  /// True if no element of an operand is read. If the tensor operands can be
  /// made in any layout at no cost, e.g. by tensor.empty, then so can the
  /// results.
  bool onlyWrites = false;
  /// True if every combination of layouts is permitted, because the lowering
  /// converts operands on whose stored axes the loops cannot run.
  bool runsAnywhere = false;
  /// The reduction that combines the values of each result, or std::nullopt if
  /// the body does not combine them by one known op. Empty for elementwise ops
  /// and softmax, whose rules have no reductions.
  SmallVector<std::optional<Reduction>> combiners;
  /// The number of the operand with the initial value of each result, or
  /// std::nullopt if there is none. Empty for elementwise ops and softmax.
  SmallVector<std::optional<unsigned>> inits;
};

/// A rule under which result 0 has the elements of operand 0, perhaps at other
/// indices, and shares its storage. Further tensors are destinations with the
/// layout of the result.
struct ViewRule {
  /// The source dims as functions of the result dims, and the inverse.
  IndexView toSource, toResult;
  /// True if the storage of a row-major source is that of a row-major result,
  /// as for reshapes. If false, as for linalg.pack, the op moves elements
  /// unless the layouts of source and result make it a view.
  bool isOfRowMajor = true;
};

/// A rule under which all tensors have one layout, but some may lack the
/// `dropped` dims.
struct PerDimRule {
  /// Per dim, the number that its tile size must divide: 1 requires the dim to
  /// be whole, 0 permits any storage.
  SmallVector<int64_t> tileSizeMustDivide;
  /// The dims that tensors of a lower rank do not have, because they hold one
  /// index of each (DroppedDims.h). Tensors that have these dims must not store
  /// them in tiles.
  llvm::SmallBitVector dropped;
  /// Per operand, true if all its elements are read; an empty list if this
  /// holds for all. Of the other operands, as of a slice's source, the op reads
  /// as many elements as it writes.
  SmallVector<bool> isRead;
  /// True if the result is an operand of which a part is overwritten
  /// (tensor.insert_slice).
  bool writesPart = false;
};

/// A rule under which the op reads no tensor and can make its result in any
/// layout at no cost (tensor.empty, constants).
struct RematerializableRule {};

/// A rule under which every layout is permitted, because the op reads only
/// shapes, not elements (tensor.dim).
struct ShapeRule {};

/// The constraints of an op on the layouts of its tensors.
using OpLayoutRule = std::variant<OpaqueRule, LoopsRule, ViewRule, PerDimRule,
                                  RematerializableRule, ShapeRule>;

/// Prints a rule on one line, without the op's name: `([i, k], [k, j], [i, j])
/// -> [i, j], loops i=4 j=8 k=16, reduces k, ..` (PrintRule.cpp).
void print(const OpLayoutRule &rule, raw_ostream &os);

/// Returns the rule of `op`: that of its interface, the elementwise rule for
/// ops with the elementwise traits, or else an OpaqueRule, under which all
/// tensors keep their types.
OpLayoutRule getLayoutRule(Operation *op);

/// Returns true if the layout of one tensor constrains the layouts of the
/// others: for LoopsRule, ViewRule and PerDimRule.
bool relatesTensors(const OpLayoutRule &rule);

/// Returns true if the results of `op`, which has this rule, can be made in any
/// layout at no cost.
bool isRematerializable(Operation *op, const OpLayoutRule &rule);

/// Returns true if `digit` splits its dim only at divisors of `divisor`, so
/// that every aligned block of `divisor` indices consists of whole tiles.
inline bool cutsAtDivisorsOf(const Digit &digit, int64_t divisor) {
  return divisor % digit.divisor == 0 &&
         (!digit.modulus || divisor / digit.divisor % digit.modulus == 0);
}

/// Returns the rule of an elementwise op: one parallel loop per dim of the
/// result, which indexes that dim of all tensors. All ranked tensors of `op`
/// must have the same shape.
LoopsRule getElementwiseRule(Operation *op);

/// Sets `tileable` of each loop: true if its size is static, and every map that
/// uses the loop does so for one dim, which it indexes by the loop alone.
void findTileableLoops(LoopsRule &rule);

} // namespace mlir::layout

#endif // LAYOUT_INTERFACES_OPLAYOUTRULE_H
