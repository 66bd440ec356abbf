//===- VulkanPatterns.cpp - Convert functions and memory for Vulkan -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Vulkan/VulkanPatterns.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "layout/Targets/OpenCL/Runtime/PushConstants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct VulkanStorage {
  DeviceStorage storage;
  bool isStoredImage;
};
} // namespace

/// The key of the memory space of an image that the kernel stores to.
static constexpr llvm::StringLiteral kStored = "stored";

/// Returns the storage of device memory, or std::nullopt for other memrefs.
static std::optional<VulkanStorage> getVulkanStorage(MemRefType type) {
  auto marked = dyn_cast_or_null<DictionaryAttr>(type.getMemorySpace());
  if (marked)
    type = MemRefType::Builder(type).setMemorySpace(marked.get(kStored));
  if (!isOnDevice(type))
    return std::nullopt;
  return VulkanStorage{getCheckedStorage(type), marked != nullptr};
}

void layout::markStoredImages(gpu::GPUFuncOp kernel) {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !isOnDevice(type) || type.getRank() == 1)
      continue;
    if (llvm::none_of(argument.getUsers(), llvm::IsaPred<memref::StoreOp>))
      continue;
    Builder builder(type.getContext());
    MemRefType marked =
        MemRefType::Builder(type).setMemorySpace(builder.getDictionaryAttr(
            builder.getNamedAttr(kStored, type.getMemorySpace())));
    argument.setType(marked);
  }
  SmallVector<Type> types(kernel.getBody().getArgumentTypes());
  types.truncate(kernel.getNumArguments());
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), types, {}));
}

/// Returns the type of the components that image ops read and write: f32, or
/// i32 with a sign, as the formats of the images have.
static Type getComponent(Type channel) {
  MLIRContext *context = channel.getContext();
  if (isa<FloatType>(channel))
    return Float32Type::get(context);
  return IntegerType::get(context, 32, IntegerType::Signed);
}

static spirv::ImageFormat getFormat(Type channel) {
  if (channel.isF32())
    return spirv::ImageFormat::Rgba32f;
  if (channel.isF16())
    return spirv::ImageFormat::Rgba16f;
  if (channel.isInteger(8))
    return spirv::ImageFormat::Rgba8i;
  return channel.isInteger(16) ? spirv::ImageFormat::Rgba16i
                               : spirv::ImageFormat::Rgba32i;
}

static Type getImageType(const VulkanStorage &memory) {
  Type channel = memory.storage.element;
  auto image = spirv::ImageType::get(
      getComponent(channel), spirv::Dim::Dim2D, spirv::ImageDepthInfo::NoDepth,
      spirv::ImageArrayedInfo::NonArrayed,
      spirv::ImageSamplingInfo::SingleSampled,
      memory.isStoredImage ? spirv::ImageSamplerUseInfo::NoSampler
                           : spirv::ImageSamplerUseInfo::NeedSampler,
      memory.isStoredImage ? getFormat(channel) : spirv::ImageFormat::Unknown);
  if (memory.isStoredImage)
    return image;
  return spirv::SampledImageType::get(image);
}

static Type getBufferType(Type element) {
  Type elements = spirv::RuntimeArrayType::get(
      element, element.getIntOrFloatBitWidth() / 8);
  uint32_t offset = 0;
  return spirv::PointerType::get(spirv::StructType::get({elements}, {offset}),
                                 spirv::StorageClass::StorageBuffer);
}

void layout::addVulkanTypes(SPIRVTypeConverter &converter) {
  converter.addConversion([](MemRefType type) -> std::optional<Type> {
    std::optional<VulkanStorage> memory = getVulkanStorage(type);
    if (!memory)
      return std::nullopt;
    if (memory->storage.isImage())
      return getImageType(*memory);
    return getBufferType(memory->storage.element);
  });
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

static Value getConstant(OpBuilder &builder, Location loc, TypedAttr value) {
  return spirv::ConstantOp::create(builder, loc, value.getType(), value);
}

static Value getBufferElement(OpBuilder &builder, Location loc, Value buffer,
                              Value index) {
  Value member = getConstant(builder, loc, builder.getI32IntegerAttr(0));
  return spirv::AccessChainOp::create(builder, loc, buffer,
                                      ValueRange{member, index});
}

/// Emits the center of a pixel: a sampler with nearest filtering takes the
/// pixel, or zeros for negative indices.
static Value getCenter(OpBuilder &builder, Location loc, ValueRange indices) {
  auto type = VectorType::get(2, builder.getF32Type());
  Value corner = spirv::ConvertSToFOp::create(
      builder, loc, type, makeCoordinates(builder, loc, indices));
  Value half =
      getConstant(builder, loc,
                  SplatElementsAttr::get(type, builder.getF32FloatAttr(0.5f)));
  return spirv::FAddOp::create(builder, loc, corner, half);
}

/// Converts floats, or a vector of floats, between f16 and f32.
static Value convertFloat(OpBuilder &builder, Location loc, Value value,
                          Type type) {
  if (value.getType() == type)
    return value;
  return spirv::FConvertOp::create(builder, loc, type, value);
}

/// Converts a pixel between the components of image ops and those of the
/// kernel.
static Value convertPixel(OpBuilder &builder, Location loc, Value pixel,
                          VectorType type) {
  auto from = cast<VectorType>(pixel.getType());
  if (isa<FloatType>(type.getElementType()))
    return convertFloat(builder, loc, pixel, type);
  VectorType i32 = type.clone(builder.getI32Type());
  bool isRead = from.getElementType().isSignedInteger();
  if (isRead)
    pixel = spirv::BitcastOp::create(builder, loc, i32, pixel);
  pixel = convertInteger(builder, loc, pixel, isRead ? type : i32);
  return isRead ? pixel : spirv::BitcastOp::create(builder, loc, type, pixel);
}

namespace {
struct LoadPattern : OpConversionPattern<memref::LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = getTypeConverter()->convertType(op.getType());
    Value memory = adaptor.getMemref();
    VulkanStorage storage = *getVulkanStorage(op.getMemRefType());
    if (!storage.storage.isImage()) {
      Value element = spirv::LoadOp::create(
          rewriter, loc,
          getBufferElement(rewriter, loc, memory, adaptor.getIndices()[0]));
      rewriter.replaceOp(op, convertFloat(rewriter, loc, element, type));
      return success();
    }
    Value level = getConstant(rewriter, loc, rewriter.getF32FloatAttr(0));
    Value pixel = spirv::ImageSampleExplicitLodOp::create(
        rewriter, loc,
        VectorType::get(4, getComponent(storage.storage.element)), memory,
        getCenter(rewriter, loc, adaptor.getIndices()),
        spirv::ImageOperandsAttr::get(op.getContext(),
                                      spirv::ImageOperands::Lod),
        level);
    rewriter.replaceOp(
        op, convertPixel(rewriter, loc, pixel, cast<VectorType>(type)));
    return success();
  }
};

struct StorePattern : OpConversionPattern<memref::StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value memory = adaptor.getMemref(), value = adaptor.getValue();
    VulkanStorage storage = *getVulkanStorage(op.getMemRefType());
    Type element = storage.storage.element;
    if (storage.storage.isImage()) {
      auto pixel = VectorType::get(4, getComponent(element));
      spirv::ImageWriteOp::create(
          rewriter, loc, memory,
          makeCoordinates(rewriter, loc, adaptor.getIndices()),
          convertPixel(rewriter, loc, value, pixel), spirv::ImageOperandsAttr(),
          ValueRange());
    } else {
      spirv::StoreOp::create(
          rewriter, loc,
          getBufferElement(rewriter, loc, memory, adaptor.getIndices()[0]),
          convertFloat(rewriter, loc, value, element));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

struct KernelPattern : OpConversionPattern<gpu::GPUFuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(gpu::GPUFuncOp kernel, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    TypeConverter::SignatureConversion signature(
        kernel.getNumArguments() + kernel.getNumWorkgroupAttributions());
    auto function =
        spirv::FuncOp::create(rewriter, kernel.getLoc(), kernel.getName(),
                              rewriter.getFunctionType({}, {}));
    addGroupMemory(rewriter, kernel, function, *getTypeConverter(), signature);
    spirv::GlobalVariableOp constants =
        makePushConstants(kernel, function, rewriter);
    int32_t member = 0;
    for (BlockArgument argument :
         kernel.getBody().getArguments().take_front(kernel.getNumArguments()))
      signature.remapInput(
          argument.getArgNumber(),
          isa<MemRefType>(argument.getType())
              ? bindMemory(argument, kernel, function, rewriter)
              : loadScalar(argument, constants, member++, rewriter));
    return moveBody(rewriter, kernel, function, *getTypeConverter(), signature);
  }

private:
  /// Returns the type of a scalar argument in the push constants, which have no
  /// narrow integers.
  Type getPushType(Type argument) const {
    Type type = getTypeConverter()->convertType(argument);
    return type.getIntOrFloatBitWidth() < 32
               ? IntegerType::get(type.getContext(), 32)
               : type;
  }

  /// Emits the variable of the push constants, or returns null if the kernel
  /// has no scalar arguments.
  spirv::GlobalVariableOp
  makePushConstants(gpu::GPUFuncOp kernel, spirv::FuncOp function,
                    ConversionPatternRewriter &rewriter) const {
    SmallVector<Type> types;
    SmallVector<uint32_t> offsets;
    uint32_t bytes = 0;
    for (Type argument : kernel.getArgumentTypes()) {
      if (isa<MemRefType>(argument))
        continue;
      types.push_back(getPushType(argument));
      offsets.push_back(
          placePushConstant(types.back().getIntOrFloatBitWidth() / 8, bytes));
    }
    if (types.empty())
      return {};
    auto type = spirv::PointerType::get(spirv::StructType::get(types, offsets),
                                        spirv::StorageClass::PushConstant);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(function);
    return spirv::GlobalVariableOp::create(rewriter, kernel.getLoc(), type,
                                           (kernel.getName() + ".sizes").str(),
                                           FlatSymbolRefAttr());
  }

  /// Emits the variable of a buffer or image, and its address or the image at
  /// the start of the kernel.
  Value bindMemory(BlockArgument argument, gpu::GPUFuncOp kernel,
                   spirv::FuncOp function,
                   ConversionPatternRewriter &rewriter) const {
    Location loc = kernel.getLoc();
    Type type = getTypeConverter()->convertType(argument.getType());
    bool isImage = !isa<spirv::PointerType>(type);
    unsigned number = argument.getArgNumber();
    rewriter.setInsertionPoint(function);
    auto variable = spirv::GlobalVariableOp::create(
        rewriter, loc,
        isImage ? spirv::PointerType::get(type,
                                          spirv::StorageClass::UniformConstant)
                : type,
        (kernel.getName() + ".argument" + Twine(number)).str(),
        /*descriptorSet=*/0, /*binding=*/number);
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    Value address = spirv::AddressOfOp::create(rewriter, loc, variable);
    if (!isImage)
      return address;
    rewriter.setInsertionPointAfterValue(address);
    return spirv::LoadOp::create(rewriter, loc, address);
  }

  Value loadScalar(BlockArgument argument, spirv::GlobalVariableOp constants,
                   int32_t member, ConversionPatternRewriter &rewriter) const {
    Location loc = argument.getLoc();
    rewriter.setInsertionPointToStart(argument.getOwner());
    Value address = spirv::AddressOfOp::create(rewriter, loc, constants);
    Value number =
        getConstant(rewriter, loc, rewriter.getI32IntegerAttr(member));
    Value value = spirv::LoadOp::create(
        rewriter, loc,
        spirv::AccessChainOp::create(rewriter, loc, address, number));
    Type type = getTypeConverter()->convertType(argument.getType());
    return convertInteger(rewriter, loc, value, type);
  }
};

/// Lowers arith.remsi to a division, a product and a difference: Vulkan leaves
/// OpSRem of negative numbers undefined, and upstream's lowering uses the
/// absolute value, which overflows for the minimal integer.
struct RemainderPattern : OpConversionPattern<arith::RemSIOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::RemSIOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value quotient = spirv::SDivOp::create(rewriter, op.getLoc(),
                                           adaptor.getLhs(), adaptor.getRhs());
    Value whole = spirv::IMulOp::create(rewriter, op.getLoc(), quotient,
                                        adaptor.getRhs());
    rewriter.replaceOpWithNewOp<spirv::ISubOp>(op, adaptor.getLhs(), whole);
    return success();
  }
};
} // namespace

void layout::populateVulkanPatterns(const SPIRVTypeConverter &converter,
                                    RewritePatternSet &patterns) {
  patterns.add<KernelPattern, LoadPattern, StorePattern, RemainderPattern>(
      converter, patterns.getContext(), /*benefit=*/10);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult layout::checkForVulkan(gpu::GPUModuleOp module) {
  if (failed(checkKernels(module)))
    return failure();
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    uint32_t bytes = 0;
    for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
      auto memref = dyn_cast<MemRefType>(type);
      if (!memref) {
        bool isWide = type.isF64() || type.isInteger(64) ||
                      (type.isIndex() && !has32BitAddresses(module));
        placePushConstant(isWide ? 8 : 4, bytes);
      } else if (memref.getRank() > 2) {
        return kernel.emitError()
               << "has argument " << number << ": " << memref
               << " is not lowered to Vulkan, whose samplers return zeros "
                  "outside of an image2d only; store the tensor in an image2d "
                  "or a buffer";
      }
    }
    if (bytes > kPushConstantBytes)
      return kernel.emitError()
             << "has " << bytes
             << " bytes of scalar arguments, but Vulkan guarantees "
             << kPushConstantBytes
             << " bytes of push constants; make sizes static";
    if (kernel.getNumArguments() > 63)
      return kernel.emitError()
             << "has " << kernel.getNumArguments()
             << " arguments, but the Vulkan runtime supports 63; split the "
                "kernel";
  }
  return success();
}
