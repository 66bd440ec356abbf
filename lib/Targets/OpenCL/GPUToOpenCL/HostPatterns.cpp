//===- HostPatterns.cpp - Convert host GPU ops to runtime calls -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostPatterns.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/KernelMetadata.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::layout;

static int32_t getRuntimeKind(StorageKind kind) {
  switch (kind) {
  case StorageKind::Image2DArray:
    return LayoutClImage2DArray;
  case StorageKind::Image3D:
    return LayoutClImage3D;
  default:
    return LayoutClImage2D;
  }
}

static int32_t getRuntimeChannel(Type element) {
  if (element.isF16())
    return LayoutClHalf;
  if (element.isInteger(8))
    return LayoutClSigned8;
  if (element.isInteger(16))
    return LayoutClSigned16;
  return element.isInteger(32) ? LayoutClSigned32 : LayoutClFloat;
}

namespace {
/// The base class of the patterns that lower gpu ops of host code to calls of
/// the OpenCL runtime.
template <typename OpTy>
class RuntimePattern : public ConvertOpToLLVMPattern<OpTy> {
public:
  using ConvertOpToLLVMPattern<OpTy>::ConvertOpToLLVMPattern;

protected:
  Type pointer() const {
    return LLVM::LLVMPointerType::get(&this->getTypeConverter()->getContext());
  }

  /// Emits a call of the runtime's function `name`, which is declared if
  /// necessary. Returns the result, which is null without a `result` type.
  Value call(ConversionPatternRewriter &rewriter, Operation *op, StringRef name,
             Type result, ValueRange operands) const {
    auto module = op->getParentOfType<ModuleOp>();
    FailureOr<LLVM::LLVMFuncOp> function = [&] {
      OpBuilder::InsertionGuard guard(rewriter);
      return LLVM::lookupOrCreateFn(
          rewriter, module, name, llvm::to_vector(operands.getTypes()),
          result ? result : LLVM::LLVMVoidType::get(op->getContext()));
    }();
    assert(succeeded(function) && "no other function has the runtime's names");
    auto made =
        LLVM::CallOp::create(rewriter, op->getLoc(), *function, operands);
    return result ? made.getResult() : Value();
  }

  /// Returns the address of the LLVM global `name`, which `make` creates if it
  /// is missing.
  template <typename Make>
  Value addressOf(ConversionPatternRewriter &rewriter, Operation *op,
                  const std::string &name, Make make) const {
    auto module = op->getParentOfType<ModuleOp>();
    auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!global) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      global = make();
    }
    return LLVM::AddressOfOp::create(rewriter, op->getLoc(), global);
  }

  /// Returns the address of the global pointer `name`, which is null until the
  /// runtime stores a kernel or the memory of a constant in it.
  Value slotOf(ConversionPatternRewriter &rewriter, Operation *op,
               const std::string &name) const {
    return addressOf(rewriter, op, name, [&] {
      auto global = LLVM::GlobalOp::create(
          rewriter, op->getLoc(), pointer(), /*isConstant=*/false,
          LLVM::Linkage::Internal, name, Attribute());
      Block *block = rewriter.createBlock(&global.getInitializerRegion());
      rewriter.setInsertionPointToStart(block);
      Value null = LLVM::ZeroOp::create(rewriter, op->getLoc(), pointer());
      LLVM::ReturnOp::create(rewriter, op->getLoc(), null);
      return global;
    });
  }

  Value constant(ConversionPatternRewriter &rewriter, Location loc, Type type,
                 int64_t value) const {
    return LLVM::ConstantOp::create(rewriter, loc, type,
                                    rewriter.getIntegerAttr(type, value));
  }

  /// Emits the size in bytes, an i64, of a memref with the given sizes.
  Value byteSize(ConversionPatternRewriter &rewriter, Location loc,
                 ArrayRef<Value> sizes, Type element) const {
    Type i64 = rewriter.getI64Type();
    unsigned bytes = element.getIntOrFloatBitWidth() / 8;
    Value size = constant(rewriter, loc, i64, bytes);
    for (Value each : sizes)
      size = LLVM::MulOp::create(rewriter, loc, size, each);
    return size;
  }
};

struct AllocPattern : RuntimePattern<gpu::AllocOp> {
  using RuntimePattern::RuntimePattern;
  LogicalResult
  matchAndRewrite(gpu::AllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemRefType type = op.getType();
    DeviceStorage storage =
        *getDeviceStorage(type, [&] { return op.emitError(); });
    SmallVector<Value> sizes, strides;
    Value elements;
    getMemRefDescriptorSizes(loc, type, adaptor.getDynamicSizes(), rewriter,
                             sizes, strides, elements, /*sizeInBytes=*/false);
    Type i32 = rewriter.getI32Type(), i64 = rewriter.getI64Type();
    Value slices =
        sizes.size() == 3 ? sizes[0] : constant(rewriter, loc, i64, 1);
    Value object;
    if (auto data = op->getAttrOfType<FlatSymbolRefAttr>(kConstantAttrName)) {
      object = getConstant(op, data, storage, sizes, slices, rewriter);
    } else if (storage.isImage()) {
      object = call(
          rewriter, op, "layoutClCreateImage", pointer(),
          {constant(rewriter, loc, i32, getRuntimeKind(storage.kind)),
           constant(rewriter, loc, i32, getRuntimeChannel(storage.element)),
           sizes.back(), sizes[sizes.size() - 2], slices});
    } else {
      object = call(rewriter, op, "layoutClCreateBuffer", pointer(),
                    byteSize(rewriter, loc, sizes, storage.element));
    }
    rewriter.replaceOp(op, {createMemRefDescriptor(loc, type, object, object,
                                                   sizes, strides, rewriter)});
    return success();
  }

private:
  /// Emits a call that returns the device memory with the data of the
  /// memref.global `data`. The first run creates it.
  Value getConstant(gpu::AllocOp op, FlatSymbolRefAttr data,
                    const DeviceStorage &storage, ArrayRef<Value> sizes,
                    Value slices, ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type(), i64 = rewriter.getI64Type();
    Value one = constant(rewriter, loc, i64, 1);
    SmallVector<Value> all(sizes);
    int32_t kind = 0;
    if (storage.isImage()) {
      kind = getRuntimeKind(storage.kind);
      all.push_back(constant(rewriter, loc, i64, 4));
    }
    auto global =
        SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(op, data);
    Value host = memref::GetGlobalOp::create(rewriter, loc, global.getType(),
                                             data.getValue());
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(rewriter, loc, host);
    address = arith::IndexCastOp::create(rewriter, loc, i64, address);
    address = LLVM::IntToPtrOp::create(rewriter, loc, pointer(), address);
    return call(
        rewriter, op, "layoutClGetConstant", pointer(),
        {slotOf(rewriter, op,
                (kOwnPrefix + "constant_" + data.getValue()).str()),
         constant(rewriter, loc, i32, kind),
         constant(rewriter, loc, i32, getRuntimeChannel(storage.element)),
         sizes.back(), sizes.size() > 1 ? sizes[sizes.size() - 2] : one, slices,
         address, byteSize(rewriter, loc, all, storage.element)});
  }
};

struct DeallocPattern : RuntimePattern<gpu::DeallocOp> {
  using RuntimePattern::RuntimePattern;
  LogicalResult
  matchAndRewrite(gpu::DeallocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefDescriptor memref(adaptor.getMemref());
    call(rewriter, op, "layoutClRelease", {},
         memref.allocatedPtr(rewriter, op.getLoc()));
    rewriter.eraseOp(op);
    return success();
  }
};

struct CopyPattern : RuntimePattern<gpu::MemcpyOp> {
  using RuntimePattern::RuntimePattern;
  LogicalResult
  matchAndRewrite(gpu::MemcpyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getDst().getType());
    bool isUpload = !isOnDevice(cast<MemRefType>(op.getSrc().getType()));
    MemRefDescriptor to(adaptor.getDst()), from(adaptor.getSrc());
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(to.size(rewriter, loc, d));
    StringRef name = isUpload           ? "layoutClUpload"
                     : isOnDevice(type) ? "layoutClCopy"
                                        : "layoutClDownload";
    call(rewriter, op, name, {},
         {to.alignedPtr(rewriter, loc), from.alignedPtr(rewriter, loc),
          byteSize(rewriter, loc, sizes, type.getElementType())});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LaunchPattern : RuntimePattern<gpu::LaunchFuncOp> {
  LaunchPattern(const LLVMTypeConverter &converter,
                const EmbeddedBinaries &binaries)
      : RuntimePattern(converter), binaries(binaries) {}

  LogicalResult
  matchAndRewrite(gpu::LaunchFuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i64 = rewriter.getI64Type();
    if (op->hasAttr(kIsRefusedAttrName)) {
      call(rewriter, op, "layoutClRefuseSizes", {}, getName(op, rewriter));
      rewriter.eraseOp(op);
      return success();
    }
    Value kernel = getKernel(op, rewriter);

    SmallVector<Value> grid{adaptor.getGridSizeX(),  adaptor.getGridSizeY(),
                            adaptor.getGridSizeZ(),  adaptor.getBlockSizeX(),
                            adaptor.getBlockSizeY(), adaptor.getBlockSizeZ()};
    SmallVector<Value> values, sizes;
    for (auto [given, value] :
         llvm::zip_equal(op.getKernelOperands(), adaptor.getKernelOperands())) {
      int64_t bytes = 0;
      if (isa<MemRefType>(given.getType())) {
        MemRefDescriptor memref(value);
        value = memref.alignedPtr(rewriter, loc);
      } else {
        // Kernels take f32 for f16, which some devices lack.
        if (value.getType().isF16())
          value = LLVM::FPExtOp::create(rewriter, loc, rewriter.getF32Type(),
                                        value);
        bytes = value.getType().getIntOrFloatBitWidth() / 8;
        value = spill(rewriter, op, value.getType(), value);
      }
      values.push_back(value);
      sizes.push_back(constant(rewriter, loc, i64, bytes));
    }
    call(rewriter, op, "layoutClLaunch", {},
         {kernel, spill(rewriter, op, i64, grid),
          constant(rewriter, loc, rewriter.getI32Type(), values.size()),
          spill(rewriter, op, pointer(), values),
          spill(rewriter, op, i64, sizes)});
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Returns the address of a constant LayoutClKernelMetadata of the kernel.
  /// Counts that are unknown are -1 in it, and flags 0.
  Value getKernelMetadata(gpu::LaunchFuncOp op, const EmbeddedBinary &binary,
                          const std::string &name,
                          ConversionPatternRewriter &rewriter) const {
    LayoutClKernelMetadata facts = readKernelMetadata(
        binary.kernels ? binary.kernels.lookup(op.getKernelName()).getMetadata()
                       : DictionaryAttr());
    static_assert(sizeof(facts) % sizeof(int64_t) == 0, "numbers of 64 bits");
    ArrayRef<int64_t> words(reinterpret_cast<const int64_t *>(&facts),
                            sizeof(facts) / sizeof(int64_t));
    return addressOf(rewriter, op, name, [&] {
      return LLVM::GlobalOp::create(
          rewriter, op.getLoc(),
          LLVM::LLVMArrayType::get(rewriter.getI64Type(), words.size()),
          /*isConstant=*/true, LLVM::Linkage::Internal, name,
          rewriter.getI64TensorAttr(words));
    });
  }

  /// Emits stores of values of one type to an array on the stack and returns
  /// its address. The array is allocated once per function, not in each
  /// iteration of a loop.
  Value spill(ConversionPatternRewriter &rewriter, Operation *op, Type type,
              ValueRange values) const {
    Location loc = op->getLoc();
    Value array;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      Region *body = op->getParentRegion();
      while (!isa<FunctionOpInterface>(body->getParentOp()))
        body = body->getParentRegion();
      rewriter.setInsertionPointToStart(&body->front());
      Value count = constant(rewriter, loc, rewriter.getI32Type(),
                             std::max<size_t>(values.size(), 1));
      array = LLVM::AllocaOp::create(rewriter, loc, pointer(), type, count);
    }
    for (auto [i, value] : llvm::enumerate(values)) {
      Value place =
          LLVM::GEPOp::create(rewriter, loc, pointer(), type, array,
                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
      LLVM::StoreOp::create(rewriter, loc, value, place);
    }
    return array;
  }

  /// Returns `module.kernel`, with which the names of the kernel's globals end.
  /// Kernel names contain no dot.
  static std::string getStem(gpu::LaunchFuncOp op) {
    return (op.getKernelModuleName().getValue() + "." +
            op.getKernelName().getValue())
        .str();
  }

  Value getName(gpu::LaunchFuncOp op,
                ConversionPatternRewriter &rewriter) const {
    std::string nameOfText = (kOwnPrefix + "name_" + getStem(op)).str();
    return addressOf(rewriter, op, nameOfText, [&] {
      std::string text = op.getKernelName().getValue().str() + '\0';
      return LLVM::GlobalOp::create(
          rewriter, op.getLoc(),
          LLVM::LLVMArrayType::get(rewriter.getI8Type(), text.size()),
          /*isConstant=*/true, LLVM::Linkage::Internal, nameOfText,
          rewriter.getStringAttr(text));
    });
  }

  Value getKernel(gpu::LaunchFuncOp op,
                  ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    StringRef binary = op.getKernelModuleName().getValue();
    std::string stem = getStem(op);
    Value slot = slotOf(rewriter, op, (kOwnPrefix + "kernel_" + stem).str());
    Value name = getName(op, rewriter);
    EmbeddedBinary embedded = binaries.lookup(binary);
    Value words = LLVM::AddressOfOp::create(rewriter, loc, embedded.global);
    Value bytes =
        constant(rewriter, loc, rewriter.getI64Type(), embedded.bytes);
    Value source =
        embedded.source
            ? LLVM::AddressOfOp::create(rewriter, loc, embedded.source)
                  .getResult()
            : LLVM::ZeroOp::create(rewriter, loc, pointer()).getResult();
    Value facts = getKernelMetadata(
        op, embedded, (kOwnPrefix + "facts_" + stem).str(), rewriter);
    return call(rewriter, op, "layoutClGetKernel", pointer(),
                {slot, words, bytes, source, name, facts});
  }

  const EmbeddedBinaries &binaries;
};
} // namespace

void layout::populateHostPatterns(const LLVMTypeConverter &converter,
                                  const EmbeddedBinaries &binaries,
                                  RewritePatternSet &patterns) {
  patterns.add<AllocPattern, DeallocPattern, CopyPattern>(converter);
  patterns.add<LaunchPattern>(converter, binaries);
}
