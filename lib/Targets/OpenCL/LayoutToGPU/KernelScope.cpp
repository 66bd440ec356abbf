//===- KernelScope.cpp - Variables and lanes of a kernel ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelScope.h"
#include "TensorStorage.h"
#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

KernelScope::KernelScope(OpBuilder &host, gpu::GPUFuncOp func)
    : b(func.getContext()), host(host), loc(func.getLoc()), func(func) {
  b.setInsertionPointToStart(&func.getBody().front());
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

IndexExpr KernelScope::addVariable(Value value, int64_t extent) {
  variables.push_back(value);
  return add(extent);
}

SmallVector<IndexExpr> KernelScope::addLane(ArrayRef<StoredAxis> axes) {
  // A placeholder: lanes are substituted before an index is emitted.
  variables.push_back(arith::ConstantIndexOp::create(b, loc, 0));
  return KernelVariables::addLane(axes);
}

SizeExpr KernelScope::getSize(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return SizeExpr(type.getDimSize(dim));
  auto [it, isNew] = symbolOf.try_emplace({tensor, dim}, sizes.size());
  if (isNew) {
    sizes.push_back(tensor::DimOp::create(host, loc, tensor, dim));
    numSymbols = sizes.size();
  }
  return SizeExpr::dim(it->second);
}

SmallVector<SizeExpr> KernelScope::getSizes(Value tensor) {
  SmallVector<SizeExpr> result;
  for (unsigned d = 0,
                rank = cast<RankedTensorType>(tensor.getType()).getRank();
       d < rank; ++d)
    result.push_back(getSize(tensor, d));
  return result;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

Value KernelScope::import(Value hostValue) {
  Attribute constant;
  if (matchPattern(hostValue, m_Constant(&constant)))
    if (auto typed = dyn_cast<TypedAttr>(constant))
      if (typed.getType().isIntOrIndexOrFloat())
        return arith::ConstantOp::create(b, loc, typed);
  Value &argument = argumentOf[hostValue];
  if (!argument) {
    Type type = hostValue.getType();
    // Arguments of OpenCL kernels cannot be i1.
    if (type.isInteger(1))
      hostValue =
          arith::ExtUIOp::create(host, loc, host.getI8Type(), hostValue);
    imports.insert(hostValue);
    Block &entry = func.getBody().front();
    argument = entry.addArgument(hostValue.getType(), loc);
    if (hostValue.getType() != type) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&entry);
      argument = arith::TruncIOp::create(b, loc, type, argument);
    }
  }
  return argument;
}

Value KernelScope::addGroupMemory(MemRefType type) {
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  type = MemRefType::Builder(type).setMemorySpace(space);
  auto memory = UnrealizedConversionCastOp::create(b, loc, type, ValueRange());
  groupMemory.push_back(memory);
  return memory.getResult(0);
}

void KernelScope::endUnless(Value condition) {
  auto guard = scf::IfOp::create(b, loc, condition);
  gpu::ReturnOp::create(b, loc);
  b.setInsertionPointToStart(guard.thenBlock());
}

void KernelScope::finish() {
  Block &entry = func.getBody().front();
  if (entry.empty() || !entry.back().hasTrait<OpTrait::IsTerminator>()) {
    b.setInsertionPointToEnd(&entry);
    gpu::ReturnOp::create(b, loc);
  }
  func.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
  // Work-group memory follows all arguments.
  for (UnrealizedConversionCastOp memory : groupMemory) {
    memory.replaceAllUsesWith(ValueRange{
        func.addWorkgroupAttribution(memory.getResult(0).getType(), loc)});
    memory.erase();
  }
}

Value KernelScope::emit(const IndexExpr &x) {
  SmallVector<OpFoldResult> sizeOf;
  for (Value size : sizes)
    sizeOf.push_back(import(size));
  return emitValues(b, loc, x, variables, sizeOf).front();
}

namespace {
/// The bounds that are proven for an index x: 0 <= x, and x < size.
struct ProvenBounds {
  bool isNotNegative, isBelowSize;
};
} // namespace

static ProvenBounds proveBounds(const IndexExpr &x, const SizeExpr &size,
                                ArrayRef<int64_t> extents) {
  std::optional<Interval> range = getRange(x, extents);
  std::optional<int64_t> bound = size.getConstant();
  return {range && range->min >= 0, range && bound && range->max < *bound};
}

Value KernelScope::emitLanes(ArrayRef<IndexExpr> xs,
                             function_ref<Value(ArrayRef<IndexExpr>)> emitOne) {
  SmallVector<Value> lanes = llvm::map_to_vector(
      atLanes(xs), [&](ArrayRef<IndexExpr> one) { return emitOne(one); });
  return lanes.size() == 1 ? lanes.front() : join(lanes);
}

Value KernelScope::emitInRange(const IndexExpr &x, const SizeExpr &size) {
  ProvenBounds proven = proveBounds(x, size, getExtents());
  if (proven.isNotNegative && proven.isBelowSize)
    return {};
  return emitLanes(x, [&](ArrayRef<IndexExpr> xs) -> Value {
    // A negative number is large if unsigned.
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                 emit(xs.front()), emit(size));
  });
}

Value KernelScope::emitClamped(const IndexExpr &x, const SizeExpr &extent) {
  ProvenBounds proven = proveBounds(x, extent, getExtents());
  Value value = emit(x);
  // An empty extent has no last position; every storage has position 0.
  bool mayBeEmpty = false;
  if (!proven.isBelowSize) {
    Value last = emit(extent - SizeExpr(1));
    value = arith::MinSIOp::create(b, loc, value, last);
    mayBeEmpty = extent.getConstant().value_or(0) < 1;
  }
  if (!proven.isNotNegative || mayBeEmpty) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    value = arith::MaxSIOp::create(b, loc, value, zero);
  }
  return value;
}

Value KernelScope::join(ArrayRef<Value> lanes) {
  auto type = VectorType::get({kLanesOfPixel}, lanes.front().getType());
  return vector::FromElementsOp::create(b, loc, type, lanes);
}

Value KernelScope::broadcast(Value value) {
  if (!hasLane() || isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get({kLanesOfPixel}, value.getType());
  return vector::BroadcastOp::create(b, loc, type, value);
}

Value KernelScope::extract(Value value, int64_t number) {
  if (!isa<VectorType>(value.getType()))
    return value;
  return vector::ExtractOp::create(b, loc, value, number);
}

Value KernelScope::select(Value condition, Value yes, Value no) {
  if (!condition)
    return yes;
  if (isa<VectorType>(condition.getType()) || isa<VectorType>(yes.getType()) ||
      isa<VectorType>(no.getType())) {
    yes = broadcast(yes);
    no = broadcast(no);
  }
  return arith::SelectOp::create(b, loc, condition, yes, no);
}

Value KernelScope::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  if (x.getType() != y.getType()) {
    x = broadcast(x);
    y = broadcast(y);
  }
  return arith::AndIOp::create(b, loc, x, y);
}
