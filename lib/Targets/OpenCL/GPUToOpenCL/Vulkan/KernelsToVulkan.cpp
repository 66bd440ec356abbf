//===- KernelsToVulkan.cpp - Convert GPU modules to SPIR-V for Vulkan -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Vulkan/VulkanPatterns.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/OpenCLSpirvPatcher.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"

namespace mlir::layout {
#define GEN_PASS_DEF_KERNELSTOVULKANPASS
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;
using spirv::Capability;

/// Returns the environment of the conversion: SPIR-V 1.3, which Vulkan 1.1
/// requires, with all capabilities that kernels may use. finishForVulkan states
/// those in use.
static spirv::TargetEnvAttr getTargetEnv(MLIRContext *context) {
  auto triple = spirv::VerCapExtAttr::get(
      spirv::Version::V_1_3,
      {Capability::Shader, Capability::Int64, Capability::Int16,
       Capability::Int8, Capability::Float64, Capability::Float16,
       Capability::StorageBuffer16BitAccess,
       Capability::StorageBuffer8BitAccess},
      {spirv::Extension::SPV_KHR_8bit_storage}, context);
  return spirv::TargetEnvAttr::get(triple,
                                   spirv::getDefaultResourceLimits(context));
}

//===----------------------------------------------------------------------===//
// Capabilities
//===----------------------------------------------------------------------===//

using Capabilities = llvm::SmallSetVector<Capability, 8>;

/// Adds the capability of arithmetic on `type`. With `isMoved`, numbers are only
/// loaded, stored and converted, for which narrow ones need no capability.
static void addArithmetic(Type type, bool isMoved, Capabilities &set) {
  type = getElementTypeOrSelf(type);
  if (type.isInteger(64))
    set.insert(Capability::Int64);
  else if (type.isF64())
    set.insert(Capability::Float64);
  else if (isMoved)
    return;
  else if (type.isInteger(16))
    set.insert(Capability::Int16);
  else if (type.isInteger(8))
    set.insert(Capability::Int8);
  else if (type.isF16())
    set.insert(Capability::Float16);
}

static void addStorage(spirv::GlobalVariableOp variable, Capabilities &set) {
  auto pointer = cast<spirv::PointerType>(variable.getType());
  Type type = pointer.getPointeeType();
  if (auto array = dyn_cast<spirv::ArrayType>(type)) // work-group memory
    return addArithmetic(array.getElementType(), /*isMoved=*/false, set);
  auto block = dyn_cast<spirv::StructType>(type);
  if (!block)
    return;
  for (Type member : block.getElementTypes()) {
    auto elements = dyn_cast<spirv::RuntimeArrayType>(member);
    Type element = elements ? elements.getElementType() : member;
    addArithmetic(element, /*isMoved=*/true, set);
    if (element.getIntOrFloatBitWidth() == 8)
      set.insert(Capability::StorageBuffer8BitAccess);
    if (element.getIntOrFloatBitWidth() == 16)
      set.insert(Capability::StorageBuffer16BitAccess);
  }
}

/// Replaces local variables of 8 and 16 bits, e.g. of the results of branches,
/// by variables of 32 bits: without arithmetic on them, narrow numbers may only
/// be in buffers, loaded, stored and converted.
static void widenVariables(spirv::ModuleOp module) {
  auto convert = [](OpBuilder &builder, Location loc, Value value,
                    Type type) -> Value {
    if (isa<FloatType>(type))
      return spirv::FConvertOp::create(builder, loc, type, value);
    return spirv::SConvertOp::create(builder, loc, type, value);
  };
  SmallVector<spirv::VariableOp> variables;
  module.walk([&](spirv::VariableOp op) { variables.push_back(op); });
  for (spirv::VariableOp narrow : variables) {
    Type type = narrow.getPointerType().getPointeeType();
    if (!type.isInteger(8) && !type.isInteger(16) && !type.isF16())
      continue;
    OpBuilder builder(narrow);
    Type wideType =
        type.isF16() ? Type(builder.getF32Type()) : Type(builder.getI32Type());
    auto pointer =
        spirv::PointerType::get(wideType, spirv::StorageClass::Function);
    Value wide = spirv::VariableOp::create(builder, narrow.getLoc(), pointer,
                                           spirv::StorageClass::Function,
                                           /*initializer=*/Value());
    for (Operation *user : llvm::make_early_inc_range(narrow->getUsers())) {
      builder.setInsertionPoint(user);
      Location loc = user->getLoc();
      if (auto load = dyn_cast<spirv::LoadOp>(user)) {
        Value value = spirv::LoadOp::create(builder, loc, wide);
        load.replaceAllUsesWith(convert(builder, loc, value, type));
      } else {
        Value value = cast<spirv::StoreOp>(user).getValue();
        spirv::StoreOp::create(builder, loc, wide,
                               convert(builder, loc, value, wideType));
      }
      user->erase();
    }
    narrow.erase();
  }
}

static void setCapabilities(spirv::ModuleOp module) {
  Capabilities set;
  set.insert(Capability::Shader);
  module.walk([&](Operation *op) {
    if (auto variable = dyn_cast<spirv::GlobalVariableOp>(op))
      return addStorage(variable, set);
    bool isMoved = isa<spirv::LoadOp, spirv::StoreOp, spirv::FConvertOp,
                       spirv::SConvertOp, spirv::UConvertOp>(op);
    for (Type type : op->getResultTypes())
      addArithmetic(type, isMoved, set);
    for (Type type : op->getOperandTypes())
      addArithmetic(type, isMoved, set);
  });
  SmallVector<spirv::Extension> extensions;
  if (set.contains(Capability::StorageBuffer8BitAccess))
    extensions.push_back(spirv::Extension::SPV_KHR_8bit_storage);
  module.setVceTripleAttr(
      spirv::VerCapExtAttr::get(spirv::Version::V_1_3, set.getArrayRef(),
                                extensions, module.getContext()));
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Adds the work-group size of all kernels: a vector of the specialization
/// constants 0 to 2, which serialization decorates as the work-group size.
static void addGroupSize(spirv::ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Location loc = module.getLoc();
  SmallVector<Attribute> sides;
  for (int32_t number = 0; number < 3; ++number) {
    std::string name = (kGroupSizeName + Twine(number)).str();
    auto side =
        spirv::SpecConstantOp::create(builder, loc, builder.getStringAttr(name),
                                      builder.getI32IntegerAttr(1));
    side->setAttr("spec_id", builder.getI32IntegerAttr(number));
    sides.push_back(FlatSymbolRefAttr::get(side));
  }
  spirv::SpecConstantCompositeOp::create(
      builder, loc, VectorType::get(3, builder.getI32Type()), kGroupSizeName,
      builder.getArrayAttr(sides));
}

LogicalResult layout::finishForVulkan(spirv::ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  for (spirv::FuncOp kernel : getKernels(module)) {
    cleanKernel(kernel);
    addEntryPoint(kernel, spirv::ExecutionModel::GLCompute, builder);
  }
  addGroupSize(module);
  widenVariables(module);
  setCapabilities(module);
  return success();
}

static constexpr KernelLowering kVulkan = {
    "Vulkan",       getTargetEnv,           checkForVulkan, legalizeForVulkan,
    addVulkanTypes, populateVulkanPatterns, finishForVulkan};

namespace {
struct KernelsToVulkan
    : layout::impl::KernelsToVulkanPassBase<KernelsToVulkan> {
  void runOnOperation() override {
    if (failed(convertKernels(getOperation(), kVulkan,
                              [&](OpPassManager &passes, Operation *op) {
                                return runPipeline(passes, op);
                              })))
      signalPassFailure();
  }
};
} // namespace
