//===- KernelPatterns.cpp - Convert functions and memory of kernels -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPatterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

DeviceStorage layout::getCheckedStorage(MemRefType type) {
  return *getDeviceStorage(
      type, [&] { return emitError(UnknownLoc::get(type.getContext())); });
}

/// Returns the type of a channel in a kernel: images are read and written as
/// i32, f32, or f16 with half arithmetic, whatever the channel type in memory.
static Type getTexelElement(const TypeConverter &converter, Type channel) {
  return isa<FloatType>(channel) ? converter.convertType(channel)
                                 : IntegerType::get(channel.getContext(), 32);
}

static spirv::ImageType getImageType(const TypeConverter &converter,
                                     const DeviceStorage &storage) {
  bool is3D = storage.kind == StorageKind::Image3D;
  bool isArray = storage.kind == StorageKind::Image2DArray;
  return spirv::ImageType::get(getTexelElement(converter, storage.element),
                               is3D ? spirv::Dim::Dim3D : spirv::Dim::Dim2D,
                               spirv::ImageDepthInfo::NoDepth,
                               isArray ? spirv::ImageArrayedInfo::Arrayed
                                       : spirv::ImageArrayedInfo::NonArrayed,
                               spirv::ImageSamplingInfo::SingleSampled,
                               spirv::ImageSamplerUseInfo::NoSampler,
                               spirv::ImageFormat::Unknown);
}

void layout::addCommonTypes(SPIRVTypeConverter &converter, bool hasHalves) {
  converter.addConversion([](MemRefType type) -> std::optional<Type> {
    if (!isGroupMemory(type))
      return std::nullopt;
    return spirv::PointerType::get(
        spirv::ArrayType::get(type.getElementType(), type.getNumElements()),
        spirv::StorageClass::Workgroup);
  });
  // Results of loads and operands of stores; no other value is f16.
  if (hasHalves)
    return;
  converter.addConversion([](Float16Type type) -> std::optional<Type> {
    return Float32Type::get(type.getContext());
  });
  converter.addConversion([](VectorType type) -> std::optional<Type> {
    if (!type.getElementType().isF16())
      return std::nullopt;
    return type.clone(Float32Type::get(type.getContext()));
  });
}

void layout::addDeviceTypes(SPIRVTypeConverter &converter) {
  converter.addConversion([&converter](MemRefType type) -> std::optional<Type> {
    if (!isOnDevice(type))
      return std::nullopt;
    DeviceStorage storage = getCheckedStorage(type);
    if (storage.isImage())
      return getImageType(converter, storage);
    return spirv::PointerType::get(storage.element,
                                   spirv::StorageClass::CrossWorkgroup);
  });
}

/// Returns the low 32 bits of an index, or the i32 that it was extended from.
static Value narrow(OpBuilder &builder, Location loc, Value index) {
  Type i32 = builder.getI32Type();
  if (index.getType() == i32) // 32-bit addresses
    return index;
  APInt number;
  if (matchPattern(index, m_ConstantInt(&number)))
    return spirv::ConstantOp::create(
        builder, loc, i32, builder.getIntegerAttr(i32, number.trunc(32)));
  Operation *made = index.getDefiningOp();
  if (isa_and_nonnull<spirv::UConvertOp, spirv::SConvertOp>(made) &&
      made->getOperand(0).getType() == i32)
    return made->getOperand(0);
  return spirv::UConvertOp::create(builder, loc, i32, index);
}

Value layout::makeCoordinates(OpBuilder &builder, Location loc,
                              ValueRange indices) {
  Type i32 = builder.getI32Type();
  SmallVector<Value> values;
  for (Value index : llvm::reverse(indices))
    values.push_back(narrow(builder, loc, index));
  if (values.size() == 3)
    values.push_back(values.back());
  auto type = VectorType::get(values.size(), i32);
  Value vector = spirv::UndefOp::create(builder, loc, type);
  for (auto [i, value] : llvm::enumerate(values))
    vector = spirv::CompositeInsertOp::create(builder, loc, value, vector,
                                              ArrayRef<int32_t>(i));
  return vector;
}

static uint32_t getBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

static Value getElementPointer(OpBuilder &builder, Location loc, Value pointer,
                               Value index) {
  return spirv::InBoundsPtrAccessChainOp::create(builder, loc, pointer, index,
                                                 ValueRange());
}

Value layout::convertInteger(OpBuilder &builder, Location loc, Value value,
                             Type type) {
  if (value.getType() == type)
    return value;
  return spirv::SConvertOp::create(builder, loc, type, value);
}

void layout::addGroupMemory(ConversionPatternRewriter &rewriter,
                            gpu::GPUFuncOp kernel, spirv::FuncOp function,
                            const TypeConverter &converter,
                            TypeConverter::SignatureConversion &signature) {
  // Work-group memory is a variable of the module, named as PoCL expects.
  for (auto [number, memory] :
       llvm::enumerate(kernel.getWorkgroupAttributions())) {
    std::string name = (kernel.getName() + "." + Twine(number)).str();
    rewriter.setInsertionPoint(function);
    auto variable = spirv::GlobalVariableOp::create(
        rewriter, kernel.getLoc(), converter.convertType(memory.getType()),
        name, FlatSymbolRefAttr());
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    signature.remapInput(
        kernel.getNumArguments() + number,
        spirv::AddressOfOp::create(rewriter, kernel.getLoc(), variable)
            .getResult());
  }
}

LogicalResult layout::moveBody(ConversionPatternRewriter &rewriter,
                               gpu::GPUFuncOp kernel, spirv::FuncOp function,
                               const TypeConverter &converter,
                               TypeConverter::SignatureConversion &signature) {
  if (DenseI32ArrayAttr block = kernel.getKnownBlockSizeAttr())
    function->setAttr(kernel.getKnownBlockSizeAttrName(), block);
  rewriter.inlineRegionBefore(kernel.getBody(), function.getBody(),
                              function.end());
  if (failed(rewriter.convertRegionTypes(&function.getBody(), converter,
                                         &signature)))
    return failure();
  rewriter.eraseOp(kernel);
  return success();
}

namespace {
struct GroupLoadPattern : OpConversionPattern<memref::LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isGroupMemory(op.getMemRefType()))
      return failure();
    rewriter.replaceOpWithNewOp<spirv::LoadOp>(
        op,
        spirv::AccessChainOp::create(rewriter, op.getLoc(), adaptor.getMemref(),
                                     adaptor.getIndices()));
    return success();
  }
};

struct GroupStorePattern : OpConversionPattern<memref::StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isGroupMemory(op.getMemRefType()))
      return failure();
    rewriter.replaceOpWithNewOp<spirv::StoreOp>(
        op,
        spirv::AccessChainOp::create(rewriter, op.getLoc(), adaptor.getMemref(),
                                     adaptor.getIndices()),
        adaptor.getValue());
    return success();
  }
};

struct LoadPattern : OpConversionPattern<memref::LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = getTypeConverter()->convertType(op.getType());
    DeviceStorage storage = getCheckedStorage(op.getMemRefType());
    if (storage.isImage()) {
      Value coordinates = makeCoordinates(rewriter, loc, adaptor.getIndices());
      Type texel = VectorType::get(
          4, getTexelElement(*getTypeConverter(), storage.element));
      Value read = spirv::ImageReadOp::create(
          rewriter, loc, texel, adaptor.getMemref(), coordinates,
          spirv::ImageOperandsAttr(), ValueRange());
      rewriter.replaceOp(op, convertInteger(rewriter, loc, read, type));
    } else if (type != storage.element) { // f16 computed in f32
      rewriter.replaceOp(
          op, callOpenCLStd(rewriter, loc, "vload_half", type,
                            {adaptor.getIndices()[0], adaptor.getMemref()}));
    } else {
      Value pointer = getElementPointer(rewriter, loc, adaptor.getMemref(),
                                        adaptor.getIndices()[0]);
      rewriter.replaceOpWithNewOp<spirv::LoadOp>(
          op, type, pointer,
          spirv::MemoryAccessAttr::get(op.getContext(),
                                       spirv::MemoryAccess::Aligned),
          rewriter.getI32IntegerAttr(getBytes(storage.element)));
    }
    return success();
  }
};

struct StorePattern : OpConversionPattern<memref::StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value value = adaptor.getValue();
    DeviceStorage storage = getCheckedStorage(op.getMemRefType());
    if (storage.isImage()) {
      Value coordinates = makeCoordinates(rewriter, loc, adaptor.getIndices());
      Type texel = VectorType::get(
          4, getTexelElement(*getTypeConverter(), storage.element));
      value = convertInteger(rewriter, loc, value, texel);
      spirv::ImageWriteOp::create(rewriter, loc, adaptor.getMemref(),
                                  coordinates, value,
                                  spirv::ImageOperandsAttr(), ValueRange());
    } else if (value.getType() != storage.element) {
      callOpenCLStd(rewriter, loc, "vstore_half", {},
                    {value, adaptor.getIndices()[0], adaptor.getMemref()});
    } else {
      Value pointer = getElementPointer(rewriter, loc, adaptor.getMemref(),
                                        adaptor.getIndices()[0]);
      spirv::StoreOp::create(
          rewriter, loc, pointer, value,
          spirv::MemoryAccessAttr::get(op.getContext(),
                                       spirv::MemoryAccess::Aligned),
          rewriter.getI32IntegerAttr(getBytes(storage.element)));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct KernelPattern : OpConversionPattern<gpu::GPUFuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(gpu::GPUFuncOp kernel, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    TypeConverter::SignatureConversion signature(
        kernel.getNumArguments() + kernel.getNumWorkgroupAttributions());
    if (failed(getTypeConverter()->convertSignatureArgs(
            kernel.getArgumentTypes(), signature)))
      return failure();
    auto function = spirv::FuncOp::create(
        rewriter, kernel.getLoc(), kernel.getName(),
        rewriter.getFunctionType(signature.getConvertedTypes(), {}));
    addGroupMemory(rewriter, kernel, function, *getTypeConverter(), signature);
    return moveBody(rewriter, kernel, function, *getTypeConverter(), signature);
  }
};

/// Lowers arith.remsi to OpSRem, which has the same semantics. Upstream's
/// lowering uses the absolute value, which overflows for the minimal integer.
struct RemainderPattern : OpConversionPattern<arith::RemSIOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::RemSIOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<spirv::SRemOp>(op, adaptor.getLhs(),
                                               adaptor.getRhs());
    return success();
  }
};
} // namespace

void layout::populateGroupMemoryPatterns(const SPIRVTypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<GroupLoadPattern, GroupStorePattern>(
      converter, patterns.getContext(), /*benefit=*/11);
}

void layout::populateKernelPatterns(const SPIRVTypeConverter &converter,
                                    RewritePatternSet &patterns) {
  // Overrides upstream's pattern of gpu.func, which requires Vulkan attributes.
  patterns.add<KernelPattern, LoadPattern, StorePattern, RemainderPattern>(
      converter, patterns.getContext(), /*benefit=*/10);
}
