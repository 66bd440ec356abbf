//===- FinishModule.cpp - Meet requirements of OpenCL consumers -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPatterns.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::layout;

/// Erases dead ops, e.g. casts of i32 coordinates to 64 bits, because image ops
/// use the i32.
static void eraseDead(spirv::FuncOp function) {
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// Moves all variables to the start of the function, including those for
/// results of inner loops, as SPIR-V requires.
static void hoistVariables(spirv::FuncOp function) {
  Block &entry = function.getBody().front();
  SmallVector<spirv::VariableOp> variables;
  function.walk([&](spirv::VariableOp op) { variables.push_back(op); });
  for (spirv::VariableOp variable : llvm::reverse(variables))
    variable->moveBefore(&entry, entry.begin());
}

static Value extract(OpBuilder &builder, Location loc, Value vector,
                     int32_t lane) {
  return spirv::CompositeExtractOp::create(builder, loc, vector,
                                           ArrayRef<int32_t>(lane));
}

static Value insert(OpBuilder &builder, Location loc, Value element,
                    Value vector, int32_t lane) {
  return spirv::CompositeInsertOp::create(builder, loc, element, vector,
                                          ArrayRef<int32_t>(lane));
}

/// Replaces each shuffle of vectors of different types by extracts and inserts
/// of elements, because LLVM's SPIR-V translator 15 rejects it.
static void splitShuffles(spirv::FuncOp function) {
  SmallVector<spirv::VectorShuffleOp> shuffles;
  function.walk([&](spirv::VectorShuffleOp op) {
    if (op.getVector1().getType() != op.getVector2().getType())
      shuffles.push_back(op);
  });
  for (spirv::VectorShuffleOp op : shuffles) {
    OpBuilder builder(op);
    int32_t first = cast<VectorType>(op.getVector1().getType()).getDimSize(0);
    Value vector = spirv::UndefOp::create(builder, op.getLoc(), op.getType());
    for (auto [lane, from] :
         llvm::enumerate(op.getComponents().getAsRange<IntegerAttr>())) {
      auto at = static_cast<int32_t>(from.getValue().getSExtValue());
      if (at < 0) // undefined component
        continue;
      Value element =
          at < first
              ? extract(builder, op.getLoc(), op.getVector1(), at)
              : extract(builder, op.getLoc(), op.getVector2(), at - first);
      vector = insert(builder, op.getLoc(), element, vector, lane);
    }
    op.replaceAllUsesWith(vector);
    op.erase();
  }
}

/// Replaces each OpCompositeConstruct of a vector by inserts of elements,
/// because LLVM's SPIR-V translator 15 accepts only constant operands.
static void splitConstructs(spirv::FuncOp function) {
  SmallVector<spirv::CompositeConstructOp> constructs;
  function.walk([&](spirv::CompositeConstructOp op) {
    if (isa<VectorType>(op.getType()))
      constructs.push_back(op);
  });
  for (spirv::CompositeConstructOp op : constructs) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value vector = spirv::UndefOp::create(builder, loc, op.getType());
    int32_t lane = 0;
    for (Value part : op.getConstituents()) {
      auto parts = dyn_cast<VectorType>(part.getType());
      for (int32_t i = 0, e = parts ? parts.getNumElements() : 1; i < e; ++i) {
        Value element = part;
        if (parts)
          element = extract(builder, loc, part, i);
        vector = insert(builder, loc, element, vector, lane++);
      }
    }
    op.replaceAllUsesWith(vector);
    op.erase();
  }
}

void layout::addEntryPoint(spirv::FuncOp function, spirv::ExecutionModel model,
                           OpBuilder &builder) {
  SetVector<Attribute> interface;
  function.walk([&](spirv::AddressOfOp op) {
    // Before SPIR-V 1.4 the interface lists only inputs and outputs.
    auto type = cast<spirv::PointerType>(op.getType());
    if (type.getStorageClass() != spirv::StorageClass::Input)
      return;
    interface.insert(SymbolRefAttr::get(op.getVariableAttr().getAttr()));
  });
  spirv::EntryPointOp::create(builder, function.getLoc(), model, function,
                              interface.getArrayRef());
  StringRef blockSize = "known_block_size";
  if (auto block = function->getAttrOfType<DenseI32ArrayAttr>(blockSize)) {
    spirv::ExecutionModeOp::create(builder, function.getLoc(), function,
                                   spirv::ExecutionMode::LocalSize,
                                   block.asArrayRef());
    function->removeAttr(blockSize);
  }
}

/// Adds the capabilities that `type` requires to `set`.
static void addCapabilities(Type type,
                            llvm::SmallSetVector<spirv::Capability, 8> &set) {
  if (auto pointer = dyn_cast<spirv::PointerType>(type)) {
    // A pointer to halves is only used by vload_half and vstore_half.
    if (pointer.getPointeeType().isF16())
      set.insert(spirv::Capability::Float16Buffer);
    else
      addCapabilities(pointer.getPointeeType(), set);
  } else if (auto array = dyn_cast<spirv::ArrayType>(type)) {
    addCapabilities(array.getElementType(), set);
  } else if (isa<spirv::ImageType>(type)) {
    set.insert(spirv::Capability::ImageBasic);
  } else if (auto vector = dyn_cast<VectorType>(type)) {
    addCapabilities(vector.getElementType(), set);
  } else if (type.isInteger(64)) {
    set.insert(spirv::Capability::Int64);
  } else if (type.isInteger(16)) {
    set.insert(spirv::Capability::Int16);
  } else if (type.isInteger(8)) {
    set.insert(spirv::Capability::Int8);
  } else if (type.isF64()) {
    set.insert(spirv::Capability::Float64);
  } else if (type.isF16()) {
    set.insert(spirv::Capability::Float16);
  }
}

static void setCapabilities(spirv::ModuleOp module) {
  llvm::SmallSetVector<spirv::Capability, 8> set;
  set.insert(spirv::Capability::Kernel);
  set.insert(spirv::Capability::Addresses);
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      addCapabilities(type, set);
    if (auto function = dyn_cast<spirv::FuncOp>(op))
      for (Type type : function.getArgumentTypes())
        addCapabilities(type, set);
    if (auto variable = dyn_cast<spirv::GlobalVariableOp>(op))
      addCapabilities(variable.getType(), set);
  });
  module.setVceTripleAttr(spirv::VerCapExtAttr::get(
      spirv::Version::V_1_0, set.getArrayRef(), ArrayRef<spirv::Extension>(),
      module.getContext()));
}

SmallVector<spirv::FuncOp> layout::getKernels(spirv::ModuleOp module) {
  SmallVector<spirv::FuncOp> kernels;
  for (auto function : module.getOps<spirv::FuncOp>())
    if (!function.isExternal())
      kernels.push_back(function);
  return kernels;
}

void layout::cleanKernel(spirv::FuncOp kernel) {
  eraseDead(kernel);
  hoistVariables(kernel);
}

LogicalResult layout::finishModule(spirv::ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  for (spirv::FuncOp kernel : getKernels(module)) {
    cleanKernel(kernel);
    splitShuffles(kernel);
    splitConstructs(kernel);
    addEntryPoint(kernel, spirv::ExecutionModel::Kernel, builder);
  }
  setCapabilities(module);
  return success();
}
