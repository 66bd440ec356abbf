//===- FunctionBoundary.cpp - Functions of stored dims --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside a function, a laid-out tensor is its physical tensor, whose dims are
// the axes of the map. Arguments and results have the storage type, whose dims
// are those that the notation states. If the two differ, reshapes that move no
// data convert between them.
//
//   func @f(%x: tensor<1x17xf32, NC4c>)        NC4c: 1x5x4, axes: 1x20
//     -> func @f(%x: tensor<1x5x4xf32>)
//          %0 = tensor.collapse_shape %x
//            : tensor<1x5x4xf32> into tensor<1x20xf32>
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns `type` if it is a tensor in linear memory whose storage array, which
/// functions pass and return, has other dims than its physical tensor, which
/// their bodies use. Otherwise returns a null type.
static RankedTensorType getReshaped(Type type) {
  if (!hasLayout(type))
    return {};
  auto tensor = cast<RankedTensorType>(type);
  FailureOr<LayoutMap> map = getLayoutMap(tensor);
  if (failed(map) || map->getSpace() != "buffer")
    return {};
  FailureOr<RankedTensorType> storage = getStorageType(tensor);
  FailureOr<RankedTensorType> physical = getPhysicalType(tensor);
  bool isKnown = succeeded(storage) && succeeded(physical);
  return isKnown && *storage != *physical ? tensor : RankedTensorType();
}

static bool hasReshaped(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return bool(getReshaped(type)); });
}

/// Appends to `crossing` the values that a call or return passes for a tensor
/// of type `type`: its converted `values`, with the physical tensor reshaped to
/// the storage array.
static void appendStorage(OpBuilder &b, Location loc, Type type,
                          ValueRange values, SmallVectorImpl<Value> &crossing) {
  size_t first = crossing.size();
  llvm::append_range(crossing, values);
  RankedTensorType tensor = getReshaped(type);
  if (!tensor)
    return;
  SmallVector<OpFoldResult> sizes = getLogicalSizes(b, loc, tensor, values);
  crossing[first] =
      reinterpretShape(b, loc, values.front(), *getStorageType(tensor),
                       getStorageSizes(b, loc, tensor, sizes));
}

/// Returns the physical tensor of an argument of a function or a result of a
/// call. `crossed` are the values passed for it: its storage array, then the
/// sizes that the array does not have.
static Value getPhysical(OpBuilder &b, Location loc, RankedTensorType tensor,
                         ValueRange crossed) {
  SmallVector<OpFoldResult> sizes =
      readLogicalSizes(b, loc, tensor, crossed.front(), crossed.drop_front());
  return reinterpretShape(b, loc, crossed.front(), *getPhysicalType(tensor),
                          getPhysicalSizes(b, loc, tensor, sizes));
}

namespace {

struct ReturnPattern : OpConversionPattern<func::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(func::ReturnOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!hasReshaped(op.getOperandTypes()))
      return failure();
    SmallVector<Value> values;
    for (auto [type, converted] :
         llvm::zip_equal(op.getOperandTypes(), adaptor.getOperands()))
      appendStorage(rewriter, op.getLoc(), type, converted, values);
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op, values);
    return success();
  }
};

struct CallPattern : OpConversionPattern<func::CallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(func::CallOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!hasReshaped(op.getOperandTypes()) && !hasReshaped(op.getResultTypes()))
      return failure();
    Location loc = op.getLoc();
    SmallVector<Value> operands;
    for (auto [type, converted] :
         llvm::zip_equal(op.getOperandTypes(), adaptor.getOperands()))
      appendStorage(rewriter, loc, type, converted, operands);
    SmallVector<Type> types;
    SmallVector<size_t> counts;
    for (Type type : op.getResultTypes()) {
      size_t first = types.size();
      if (failed(typeConverter->convertType(type, types)))
        return failure();
      if (RankedTensorType tensor = getReshaped(type))
        types[first] = *getStorageType(tensor);
      counts.push_back(types.size() - first);
    }
    auto call =
        func::CallOp::create(rewriter, loc, op.getCallee(), types, operands);
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    SmallVector<SmallVector<Value>> replacements;
    ResultRange rest = call.getResults();
    for (auto [type, count] : llvm::zip_equal(op.getResultTypes(), counts)) {
      auto &values = replacements.emplace_back(rest.take_front(count));
      if (RankedTensorType tensor = getReshaped(type))
        values.front() = getPhysical(rewriter, loc, tensor, values);
      rest = rest.drop_front(count);
    }
    rewriter.replaceOpWithMultiple(op, std::move(replacements));
    return success();
  }
};

} // namespace

void layout::populateFunctionBoundaryPatterns(const TypeConverter &converter,
                                              RewritePatternSet &patterns) {
  patterns.add<ReturnPattern, CallPattern>(converter, patterns.getContext(),
                                           /*benefit=*/2);
}

FunctionBoundaries::FunctionBoundaries(Operation *root) {
  root->walk([&](func::FuncOp func) {
    if (hasReshaped(func.getArgumentTypes()) ||
        hasReshaped(func.getResultTypes()))
      functions.push_back({func, func.getFunctionType()});
  });
}

/// Returns the types that `types` have in the signature of a function. Inside
/// of it, a tensor is a physical tensor, whose dims are the stored axes of its
/// map. In the signature it is the storage array, whose dims can be other
/// groups of these axes (`stored(..)`). For each tensor with different types,
/// calls `reshape` with its logical type, the position of the array among the
/// returned types, and the number of types of the tensor, sizes included.
static SmallVector<Type>
getCrossingTypes(const TypeConverter &converter, TypeRange types,
                 function_ref<void(RankedTensorType, size_t, size_t)> reshape) {
  SmallVector<Type> crossing;
  for (Type type : types) {
    size_t first = crossing.size();
    (void)converter.convertType(type, crossing);
    RankedTensorType tensor = getReshaped(type);
    if (!tensor)
      continue;
    crossing[first] = *getStorageType(tensor);
    reshape(tensor, first, crossing.size() - first);
  }
  return crossing;
}

void FunctionBoundaries::expose(const TypeConverter &converter) {
  for (auto [func, type] : functions) {
    // Functions that were not converted are reported later.
    if (llvm::any_of(func.getArgumentTypes(), hasLayout) ||
        llvm::any_of(func.getResultTypes(), hasLayout))
      continue;
    auto reshapeArgument = [func = func](RankedTensorType tensor, size_t first,
                                         size_t count) mutable {
      if (func.isExternal())
        return;
      Block &entry = func.getBody().front();
      BlockArgument storage = entry.getArgument(first);
      OpBuilder b = OpBuilder::atBlockBegin(&entry);
      // Stands for the physical tensor while the argument changes.
      auto place = UnrealizedConversionCastOp::create(
          b, func.getLoc(), storage.getType(), ValueRange(storage));
      storage.replaceAllUsesExcept(place.getResult(0), place);
      storage.setType(*getStorageType(tensor));
      b.setInsertionPoint(place);
      Value physical = getPhysical(b, func.getLoc(), tensor,
                                   entry.getArguments().slice(first, count));
      place.getResult(0).replaceAllUsesWith(physical);
      place.erase();
    };
    SmallVector<Type> inputs =
        getCrossingTypes(converter, type.getInputs(), reshapeArgument);
    SmallVector<Type> results = getCrossingTypes(
        converter, type.getResults(), [](RankedTensorType, size_t, size_t) {});
    func.setFunctionType(FunctionType::get(func.getContext(), inputs, results));
  }
}
