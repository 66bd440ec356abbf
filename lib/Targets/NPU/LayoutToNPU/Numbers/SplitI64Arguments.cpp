//===- SplitI64Arguments.cpp - i64 arguments as 32-bit words --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Execution units compute on 32-bit words. An i64 argument that a function uses
// only as f32 is passed as the same bytes in words, the low one first, and is
// converted to f32 at once:
//
//     %m : tensor<1x128xi64>, arith.sitofp of its elements
//     %m : tensor<1x128x2xi32> {npu.element = i64}
//       (high + (low < 0)) * 2^32 + low
//
// An i64 result that consists of slices of an argument and of indices computed
// as f32 (IndexResults.cpp), e.g. tokens, is passed as words as well.
//
// Law: 32-bit values are rounded once, to nearest; for other values the error
// is at most two units in the last place.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Numbers/IntegerBody.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The uses of an i64 tensor: the ops that use it (`users`), the ops that move
/// its elements, directly or after another move (`moves`), and its elements in
/// bodies with their conversions to f32.
struct WideUses {
  SmallVector<Operation *> users, moves;
  SmallVector<std::pair<BlockArgument, arith::SIToFPOp>> casts;
  SmallVector<BlockArgument> elements;

  /// Collects the uses of `tensor`, except by the ops `words`, which will
  /// compute on two 32-bit words per element. Returns false if one is neither a
  /// move nor a conversion to f32.
  bool collect(Value tensor, const SetVector<Operation *> &words);
  void read(Value tensor, Value floats);
};

/// Rewrites the ops that compute i64 results of the function to ops on two
/// 32-bit words per element.
class WideResults {
public:
  explicit WideResults(func::FuncOp function);

  void convert();

  SetVector<Operation *> words;

private:
  bool plan(Value tensor, SetVector<Operation *> &ops);
  Value get(Value tensor);

  func::FuncOp function;
  SmallVector<OpOperand *> returned;
  DenseMap<Value, Value> known;
};
} // namespace

bool WideUses::collect(Value tensor, const SetVector<Operation *> &words) {
  bool isFirst = users.empty() && moves.empty();
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (words.contains(op))
      return true;
    if (isFirst)
      users.push_back(op);
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            tensor::ExtractSliceOp>(op)) {
      moves.push_back(op);
      return collect(op->getResult(0), words);
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.isDpsInit(&use))
      return false;
    BlockArgument element = generic.getMatchingBlockArgument(&use);
    elements.push_back(element);
    return llvm::all_of(element.getUsers(), [&](Operation *user) {
      auto cast = dyn_cast<arith::SIToFPOp>(user);
      casts.push_back({element, cast});
      return cast && cast.getType().isF32();
    });
  });
}

/// Replaces the i64 `tensor` by the f32 `floats` in all collected uses, and
/// erases the conversions to f32.
void WideUses::read(Value tensor, Value floats) {
  tensor.replaceUsesWithIf(floats, [&](OpOperand &use) {
    return llvm::is_contained(users, use.getOwner());
  });
  for (Operation *move : moves)
    move->getResult(0).setType(
        cast<RankedTensorType>(move->getResult(0).getType())
            .clone(getElementTypeOrSelf(floats)));
  for (BlockArgument element : elements)
    element.setType(getElementTypeOrSelf(floats));
  for (auto [element, cast] : casts) {
    cast.replaceAllUsesWith(Value(element));
    cast.erase();
  }
}

static Value makeFloatsOfWords(OpBuilder &builder, Value words) {
  Location loc = words.getLoc();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(words.getType()).getShape().drop_back();
  Value init =
      tensor::EmptyOp::create(builder, loc, shape, builder.getF32Type());
  AffineMap all = builder.getMultiDimIdentityMap(shape.size());
  auto getWord = [&](int64_t word) {
    SmallVector<AffineExpr> exprs(all.getResults());
    exprs.push_back(builder.getAffineConstantExpr(word));
    return AffineMap::get(shape.size(), 0, exprs, builder.getContext());
  };
  SmallVector<utils::IteratorType> kinds(shape.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), ValueRange{words, words},
             ValueRange(init), ArrayRef<AffineMap>{getWord(0), getWord(1), all},
             kinds,
             [](OpBuilder &body, Location loc, ValueRange element) {
               auto toFloat = [&](Value word) -> Value {
                 return arith::SIToFPOp::create(body, loc, body.getF32Type(),
                                                word);
               };
               Value most = arith::ConstantOp::create(
                   body, loc, body.getI32IntegerAttr(31));
               Value scale = arith::ConstantOp::create(
                   body, loc, body.getF32FloatAttr(4294967296.0f));
               Value carry =
                   toFloat(arith::ShRUIOp::create(body, loc, element[0], most));
               Value high =
                   arith::AddFOp::create(body, loc, toFloat(element[1]), carry);
               high = arith::MulFOp::create(body, loc, high, scale);
               linalg::YieldOp::create(
                   body, loc,
                   arith::AddFOp::create(body, loc, high, toFloat(element[0]))
                       .getResult());
             })
      .getResult(0);
}

static bool isWide(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && type.getElementType().isSignlessInteger(64) &&
         type.hasStaticShape() && !type.getEncoding() &&
         type.getNumElements() != 0;
}

static RankedTensorType getWords(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 32));
}

/// Creates the i64 values of `floats`, integers up to 2^24, as two i32 words
/// per element in a new last dim, the low word first.
static Value makeWords(OpBuilder &builder, Value floats) {
  Location loc = floats.getLoc();
  auto type = cast<RankedTensorType>(floats.getType());
  auto makeWord = [&](Value of, function_ref<Value(OpBuilder &, Value)> make) {
    Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                         builder.getI32Type());
    AffineMap all = builder.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> kinds(type.getRank(),
                                           utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               builder, loc, TypeRange(init.getType()), of, ValueRange(init),
               ArrayRef{all, all}, kinds,
               [&](OpBuilder &body, Location, ValueRange values) {
                 linalg::YieldOp::create(body, loc, make(body, values[0]));
               })
        .getResult(0);
  };
  Value low = makeWord(floats, [&](OpBuilder &body, Value x) {
    return IntegerBody(body, loc, nullptr)
        .word(x, {-kExactInteger, kExactInteger});
  });
  // The high word consists of copies of the sign bit.
  Value high = makeWord(low, [&](OpBuilder &body, Value x) -> Value {
    Value by = arith::ConstantOp::create(body, loc, body.getI32IntegerAttr(31));
    return arith::ShRSIOp::create(body, loc, x, by);
  });
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  SmallVector<ReassociationIndices> groups(type.getRank());
  for (int64_t d = 0; d <= type.getRank() && type.getRank(); ++d)
    groups[std::min(d, type.getRank() - 1)].push_back(d);
  SmallVector<Value> parts;
  for (Value word : {low, high})
    parts.push_back(tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, builder.getI32Type()), word,
        groups));
  return tensor::ConcatOp::create(builder, loc, type.getRank(), parts)
      .getResult();
}

WideResults::WideResults(func::FuncOp function) : function(function) {
  for (OpOperand &operand :
       function.getBody().front().getTerminator()->getOpOperands()) {
    SetVector<Operation *> ops;
    if (!isWide(operand.get()) || isa<BlockArgument>(operand.get()) ||
        !plan(operand.get(), ops))
      continue;
    words.insert(operand.getOwner());
    words.insert(ops.begin(), ops.end());
    returned.push_back(&operand);
  }
  for (OpOperand &operand :
       function.getBody().front().getTerminator()->getOpOperands())
    if (!words.empty() && isa<BlockArgument>(operand.get()) &&
        isWide(operand.get()))
      returned.push_back(&operand);
  // If another op uses an i64 tensor of these ops, no result is converted.
  for (Operation *op : words)
    for (Operation *user : op->getUsers())
      if (!words.contains(user)) {
        words.clear();
        returned.clear();
        return;
      }
}

/// Returns true if `tensor` consists of slices and reshapes of i64 arguments
/// and of integers computed as f32. Appends the ops in between to `ops`. If it
/// returns false, some of them may have been appended.
bool WideResults::plan(Value tensor, SetVector<Operation *> &ops) {
  if (isa<BlockArgument>(tensor))
    return isWide(tensor);
  if (getFloatsOf(tensor))
    return true;
  Operation *op = tensor.getDefiningOp();
  auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  if (!isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExpandShapeOp,
           tensor::CollapseShapeOp>(op) ||
      (slice && ShapedType::isDynamicShape(slice.getStaticOffsets())))
    return false;
  ops.insert(op);
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return plan(operand, ops); });
}

Value WideResults::get(Value tensor) {
  if (isa<BlockArgument>(tensor))
    return tensor;
  Value &made = known[tensor];
  if (made)
    return made;
  Operation *op = tensor.getDefiningOp();
  OpBuilder builder(op);
  if (Value floats = getFloatsOf(tensor))
    return made = makeWords(builder, floats);
  Location loc = op->getLoc();
  RankedTensorType type = getWords(tensor.getType());
  auto withWords = [&](ArrayRef<OpFoldResult> values, int64_t of) {
    SmallVector<OpFoldResult> all(values);
    all.push_back(builder.getIndexAttr(of));
    return all;
  };
  auto getGroups = [&](SmallVector<ReassociationIndices> groups, int64_t rank) {
    if (groups.empty())
      return SmallVector<ReassociationIndices>{
          llvm::to_vector<2>(llvm::seq<int64_t>(0, rank + 1))};
    groups.push_back({rank});
    return groups;
  };
  SmallVector<Value> sources;
  for (Value operand : op->getOperands())
    sources.push_back(get(operand));
  Value result;
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    result = tensor::ExtractSliceOp::create(
        builder, loc, type, sources[0], withWords(extract.getMixedOffsets(), 0),
        withWords(extract.getMixedSizes(), 2),
        withWords(extract.getMixedStrides(), 1));
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    result =
        tensor::InsertSliceOp::create(builder, loc, sources[0], sources[1],
                                      withWords(insert.getMixedOffsets(), 0),
                                      withWords(insert.getMixedSizes(), 2),
                                      withWords(insert.getMixedStrides(), 1));
  else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    result = tensor::ExpandShapeOp::create(
        builder, loc, type, sources[0],
        getGroups(expand.getReassociationIndices(), type.getRank() - 1));
  else
    result = tensor::CollapseShapeOp::create(
        builder, loc, type, sources[0],
        getGroups(
            cast<tensor::CollapseShapeOp>(op).getReassociationIndices(),
            cast<RankedTensorType>(op->getOperand(0).getType()).getRank()));
  return known[tensor] = result;
}

void WideResults::convert() {
  for (OpOperand *operand : returned) {
    operand->set(get(operand->get()));
    function.setResultAttr(
        operand->getOperandNumber(), npu::kElementArgument,
        TypeAttr::get(IntegerType::get(function.getContext(), 64)));
  }
  // Erase users before the ops that define their operands.
  for (Operation *op : llvm::reverse(llvm::to_vector(
           llvm::make_pointer_range(function.getBody().front()))))
    if (words.contains(op) && op->use_empty() &&
        !op->hasTrait<OpTrait::IsTerminator>())
      op->erase();
}

void layout::splitI64Arguments(func::FuncOp function) {
  // The types of a function with callers cannot change.
  if (function.isExternal() || !function.getBody().hasOneBlock() ||
      !SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
    return;
  WideResults results(function);
  SmallVector<std::pair<Value, WideUses>, 0> wide;
  for (BlockArgument argument : function.getArguments()) {
    bool isPart = llvm::any_of(argument.getUsers(), [&](Operation *user) {
      return results.words.contains(user);
    });
    WideUses uses;
    if (!isWide(argument) || argument.use_empty() ||
        !uses.collect(argument, results.words)) {
      if (isPart)
        return;
      continue;
    }
    wide.push_back({argument, uses});
  }
  function.walk([&](linalg::GenericOp op) {
    WideUses uses;
    if (op->getNumResults() == 1 && isWide(op->getResult(0)) &&
        getFloatsOf(op->getResult(0)) &&
        uses.collect(op->getResult(0), results.words))
      wide.push_back({op->getResult(0), uses});
  });
  OpBuilder builder(function.getContext());
  for (auto &[tensor, uses] : wide) {
    if (Value floats = getFloatsOf(tensor)) {
      uses.read(tensor, floats);
      continue;
    }
    auto argument = cast<BlockArgument>(tensor);
    Type element = getElementTypeOrSelf(tensor);
    argument.setType(getWords(tensor.getType()));
    builder.setInsertionPointToStart(argument.getOwner());
    if (!uses.users.empty())
      uses.read(tensor, makeFloatsOfWords(builder, tensor));
    function.setArgAttr(argument.getArgNumber(), npu::kElementArgument,
                        TypeAttr::get(element));
  }
  results.convert();
  for (auto &[tensor, uses] : wide)
    if (Operation *op = tensor.getDefiningOp(); op && op->use_empty())
      op->erase();
  function.setType(FunctionType::get(
      function.getContext(), function.getBody().getArgumentTypes(),
      function.getBody().front().getTerminator()->getOperandTypes()));
}
