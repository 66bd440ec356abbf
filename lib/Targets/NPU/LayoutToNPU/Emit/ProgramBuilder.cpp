//===- ProgramBuilder.cpp - The memory of tensors -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/ProgramBuilder.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::layout;

ProgramBuilder::ProgramBuilder(func::FuncOp function, SymbolTable &symbols,
                               NpuTargetAttr target)
    : function(function), symbols(symbols), builder(function), target(target) {}

MemRefType ProgramBuilder::getMemRefType(RankedTensorType type) {
  auto scatter = dyn_cast_if_present<NpuScatterAttr>(type.getEncoding());
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      scatter ? MemRefLayoutAttrInterface(scatter)
              : MemRefLayoutAttrInterface(),
      npu::MemoryAttr::get(type.getContext(), scatter ? "local" : "system"));
}

TypedAttr layout::getConstantFill(Value tensor) {
  if (auto constant = tensor.getDefiningOp<arith::ConstantOp>()) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    return splat ? splat.getSplatValue<TypedAttr>() : TypedAttr();
  }
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  TypedAttr value;
  if (!fill || !matchPattern(fill.getInputs().front(), m_Constant(&value)))
    return {};
  return value;
}

Value ProgramBuilder::addArgument(Location loc, MemRefType type,
                                  StringRef role) {
  roles.push_back(role);
  return body->addArgument(type, loc);
}

Value ProgramBuilder::makeScratch(Location loc, MemRefType type) {
  return addArgument(loc, type, npu::kScratchArgument);
}

Value ProgramBuilder::makeLocal(Location loc, RankedTensorType type) {
  return npu::AllocOp::create(builder, loc, getMemRefType(type), IntegerAttr(),
                              IntegerAttr(), IntegerAttr());
}

/// Returns memory for a tensor: its slice of a tensor.concat result if it is
/// computed there, or new local memory if it has a layout. A tensor that is
/// returned, also by insertions into it, gets the program argument of that
/// result. Any other one gets a new argument for temporary data.
Value ProgramBuilder::makeMemory(Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (inPlaceParts.contains(tensor))
    return makeInPlacePart(loc, tensor);
  if (type.getEncoding())
    return makeLocal(loc, type);
  for (Value end = tensor; end;) {
    for (OpOperand &use : end.getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        return results[use.getOperandNumber()];
    auto insert = end.hasOneUse()
                      ? dyn_cast<tensor::InsertSliceOp>(*end.user_begin())
                      : tensor::InsertSliceOp();
    end = insert && insert.getDest() == end ? insert.getResult() : Value();
  }
  return makeScratch(loc, getMemRefType(type));
}

/// Returns a memref.get_global of the constant `value`. Equal constants share
/// one memref.global.
Value ProgramBuilder::getGlobal(Location loc, ElementsAttr value) {
  memref::GlobalOp &global = globals[value];
  auto tensor = RankedTensorType::get(value.getShapedType().getShape(),
                                      value.getElementType());
  MemRefType type = getMemRefType(tensor);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(program);
    global = memref::GlobalOp::create(builder, loc, "constant",
                                      builder.getStringAttr("private"), type,
                                      value, /*constant=*/true, IntegerAttr());
    // The symbol table renames it if the name exists.
    global->remove();
    symbols.insert(global, Block::iterator(program));
  }
  return memref::GetGlobalOp::create(builder, loc, type, global.getSymName());
}

/// Returns the memory of a tensor. If it has none yet, creates it, with its
/// elements if it is a constant or a fill with one.
Value ProgramBuilder::getMemory(Value tensor) {
  if (Value known = memory.lookup(tensor))
    return known;
  Location loc = tensor.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  auto constant = tensor.getDefiningOp<arith::ConstantOp>();
  if (constant && !type.getEncoding())
    return getGlobal(loc, cast<ElementsAttr>(constant.getValue()));
  Value made = makeMemory(loc, tensor);
  if (TypedAttr value = getConstantFill(tensor)) {
    fill(loc, value, made);
  } else if (constant) {
    auto values = cast<ElementsAttr>(constant.getValue());
    auto plain = withoutLayout(type);
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(values))
      values = DenseResourceElementsAttr::get(plain, resource.getRawHandle());
    else
      values = cast<DenseElementsAttr>(values).reshape(plain);
    copy(loc, getGlobal(loc, values), made);
  }
  return memory[tensor] = made;
}

/// Copies the elements of `tensor` to the new memory `to`. A constant fill is
/// written directly to it, and an empty tensor is not copied.
void ProgramBuilder::initialize(Location loc, Value tensor, Value to) {
  if (!memory.count(tensor)) {
    if (tensor.getDefiningOp<tensor::EmptyOp>())
      return;
    if (TypedAttr value = getConstantFill(tensor))
      return fill(loc, value, to);
  }
  copy(loc, getMemory(tensor), to);
}

/// Returns true if the op may overwrite the memory of the operand. The operand
/// must have no other use. Its memory must not be that of an input argument, a
/// constant or a slice, nor of a concatenation of which later ops read the
/// operands.
bool ProgramBuilder::isOverwritable(OpOperand &use) {
  Value tensor = use.get();
  if (!tensor.hasOneUse() || isa<BlockArgument>(tensor) ||
      tensor.getDefiningOp<arith::ConstantOp>())
    return false;
  Value memref = memory.lookup(tensor);
  if (!memref)
    return true; // not created yet
  if (isReadInParts.contains(tensor))
    return false;
  if (Operation *op = memref.getDefiningOp())
    return isa<npu::AllocOp>(op);
  StringRef role = roles[cast<BlockArgument>(memref).getArgNumber()];
  return !role.empty();
}
