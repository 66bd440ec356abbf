//===- HalfInFloat.cpp - Compute f16 in f32 -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some devices lack cl_khr_fp16, but all can load and store halves. All f16
// values become f32, with an arith.extf after each load and an arith.truncf
// before each store. In a module with layout.half_arithmetic this changes only
// arguments, because the host cannot pass f16.
//
//===----------------------------------------------------------------------===//

#include "KernelPatterns.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::layout;

Type layout::widenHalf(Type type) {
  if (type.isF16())
    return Float32Type::get(type.getContext());
  if (auto vector = dyn_cast<VectorType>(type))
    if (Type element = widenHalf(vector.getElementType()))
      return vector.clone(element);
  return {};
}

static void widenInPlace(Value value) {
  if (Type wide = widenHalf(value.getType()))
    value.setType(wide);
}

static TypedAttr widenConstant(TypedAttr value, Type wide) {
  auto convert = [](const APFloat &half) {
    APFloat result = half;
    bool losesInfo = false;
    result.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return result;
  };
  if (auto scalar = dyn_cast<FloatAttr>(value))
    return FloatAttr::get(wide, convert(scalar.getValue()));
  return cast<DenseElementsAttr>(value).mapValues(
      getElementTypeOrSelf(wide), [&](const APFloat &element) {
        return convert(element).bitcastToAPInt();
      });
}

static void widenResults(Operation *op) {
  OpBuilder builder(op->getContext());
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (Type wide = widenHalf(load.getType())) {
      builder.setInsertionPointAfter(load);
      auto extended =
          arith::ExtFOp::create(builder, op->getLoc(), wide, load.getResult());
      load.getResult().replaceAllUsesExcept(extended, extended);
    }
    return;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (Type wide = widenHalf(constant.getType()))
      constant.setValueAttr(widenConstant(constant.getValue(), wide));
  llvm::for_each(op->getResults(), widenInPlace);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::for_each(block.getArguments(), widenInPlace);
}

/// Removes `op` if it is a cast that is from f32 to f32 now that f16 results
/// are f32. If it is a store to f16 memory, truncates the stored value to f16.
/// Other ops remain.
static void settle(Operation *op) {
  OpBuilder builder(op);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
      op->getOperand(0).getType() == op->getResult(0).getType()) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    Type stored = store.getMemRefType().getElementType();
    if (widenHalf(stored))
      store.getValueMutable().assign(arith::TruncFOp::create(
          builder, op->getLoc(), stored, store.getValueToStore()));
  }
}

/// Converts an f16 argument of a kernel to f32, because the host cannot pass
/// f16. If the kernel computes in f16 (`hasHalves`), truncates the argument to
/// f16 at the start of the kernel; else its users take the f32.
static void widenArgument(BlockArgument argument, bool hasHalves) {
  Type half = argument.getType();
  if (!half.isF16())
    return;
  widenInPlace(argument);
  if (!hasHalves)
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  auto narrow =
      arith::TruncFOp::create(builder, argument.getLoc(), half, argument);
  argument.replaceAllUsesExcept(narrow, narrow);
}

void layout::legalizeHalf(gpu::GPUModuleOp module) {
  bool hasHalves = module->hasAttr(kHalfArithmeticAttrName);
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    SmallVector<Operation *> body;
    if (!hasHalves)
      kernel.getBody().walk([&](Operation *op) { body.push_back(op); });
    llvm::for_each(body, widenResults);
    for (BlockArgument argument : kernel.getBody().getArguments())
      widenArgument(argument, hasHalves);
    auto arguments = llvm::to_vector(kernel.getBody().getArgumentTypes());
    arguments.truncate(kernel.getNumArguments());
    kernel.setFunctionType(
        FunctionType::get(module.getContext(), arguments, {}));
    llvm::for_each(body, settle);
  }
}
