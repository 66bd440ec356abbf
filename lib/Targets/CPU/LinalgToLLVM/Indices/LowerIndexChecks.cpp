//===- LowerIndexChecks.cpp - cpu.assert_index to the LLVM dialect --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check is a branch to a block that calls one function of the module:
//
//     llvm.cond_br %holds, ^next, ^fails
//   ^fails:
//     llvm.call @layout.fail_index(%format, %index, %size)
//     llvm.unreachable
//
// The function prints by `snprintf` and `puts` and calls `abort`, so that a
// module needs only the C library. A launcher may replace the last two, as
// layout-run does for cf.assert, to get the text.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

static constexpr StringLiteral kFailName("layout.fail_index");
// The size of the buffer for the message, and the maximum length of the name in
// it, so that the numbers and the fixed text have space.
static constexpr size_t kMostCharacters = 512, kMostOfName = 300;

/// Returns the snprintf format of the error of `op`, e.g. "node 'x': index %lld
/// is out of range for dim 0 of size %lld", with a final zero.
static std::string makeFormat(cpu::AssertIndexOp op) {
  std::string format;
  llvm::raw_string_ostream os(format);
  if (StringAttr node = op.getNodeAttr()) {
    os << "node '";
    for (char c : node.getValue().take_front(kMostOfName)) {
      if (c == '%')
        os << '%';
      if (c != '\0')
        os << c;
    }
    os << "': ";
  }
  os << "index %lld is out of range for dim " << op.getDim() << " of size %lld"
     << '\0';
  return format;
}

/// Emits a function (format, index, size) that prints the error of an index
/// that is out of range and aborts. Fails if the module declares snprintf, puts
/// or abort with other types.
static FailureOr<LLVM::LLVMFuncOp> emitFail(OpBuilder &builder,
                                            ModuleOp module) {
  MLIRContext *context = builder.getContext();
  Location loc = module.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type word = builder.getI64Type(), number = builder.getI32Type();
  Type none = LLVM::LLVMVoidType::get(context);
  FailureOr<LLVM::LLVMFuncOp> print = LLVM::lookupOrCreateFn(
      builder, module, "snprintf", {pointer, word, pointer}, number,
      /*isVarArg=*/true);
  FailureOr<LLVM::LLVMFuncOp> puts =
      LLVM::lookupOrCreateFn(builder, module, "puts", {pointer}, none);
  FailureOr<LLVM::LLVMFuncOp> abort =
      LLVM::lookupOrCreateFn(builder, module, "abort", {}, none);
  if (failed(print) || failed(puts) || failed(abort))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, kFailName,
      LLVM::LLVMFunctionType::get(none, {pointer, word, word}),
      LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value size = LLVM::ConstantOp::create(
      builder, loc, word, builder.getI64IntegerAttr(kMostCharacters));
  Value text =
      LLVM::AllocaOp::create(builder, loc, pointer, builder.getI8Type(), size);
  LLVM::CallOp::create(builder, loc, *print,
                       {text, size, entry->getArgument(0),
                        entry->getArgument(1), entry->getArgument(2)});
  LLVM::CallOp::create(builder, loc, *puts, text);
  LLVM::CallOp::create(builder, loc, *abort, ValueRange());
  LLVM::UnreachableOp::create(builder, loc);
  return function;
}

static Value getFormat(OpBuilder &builder, Location loc, ModuleOp module,
                       const std::string &format) {
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    StringAttr text = builder.getStringAttr(format);
    unsigned number = 0;
    std::string name;
    do {
      name = ("layout.index_format_" + Twine(number++)).str();
      global = module.lookupSymbol<LLVM::GlobalOp>(name);
    } while (global && global.getValueOrNull() != text);
    if (!global)
      global = LLVM::GlobalOp::create(
          builder, module.getLoc(),
          LLVM::LLVMArrayType::get(builder.getI8Type(), format.size()),
          /*isConstant=*/true, LLVM::Linkage::Internal, name, text);
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

namespace {
struct AssertIndexLowering : ConvertOpToLLVMPattern<cpu::AssertIndexOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(cpu::AssertIndexOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto module = op->getParentOfType<ModuleOp>();
    auto fail = module.lookupSymbol<LLVM::LLVMFuncOp>(kFailName);
    if (!fail) {
      FailureOr<LLVM::LLVMFuncOp> emitted = emitFail(rewriter, module);
      if (failed(emitted))
        return rewriter.notifyMatchFailure(
            op, "the module has a function snprintf, puts or abort of another "
                "type than that of the C library");
      fail = *emitted;
    }
    Block *before = rewriter.getInsertionBlock();
    Block *after = rewriter.splitBlock(before, std::next(Block::iterator(op)));
    Block *failing = rewriter.createBlock(after->getParent());
    rewriter.setInsertionPointToStart(failing);
    Value format = getFormat(rewriter, loc, module, makeFormat(op));
    LLVM::CallOp::create(
        rewriter, loc, fail,
        ValueRange{format, adaptor.getIndex(), adaptor.getSize()});
    LLVM::UnreachableOp::create(rewriter, loc);
    rewriter.setInsertionPointToEnd(before);
    rewriter.replaceOpWithNewOp<LLVM::CondBrOp>(op, adaptor.getHolds(), after,
                                                failing);
    return success();
  }
};

struct CpuToLLVM : ConvertToLLVMPatternInterface {
  using ConvertToLLVMPatternInterface::ConvertToLLVMPatternInterface;

  void populateConvertToLLVMConversionPatterns(
      ConversionTarget &, LLVMTypeConverter &converter,
      RewritePatternSet &patterns) const override {
    patterns.add<AssertIndexLowering>(converter);
  }
};
} // namespace

void cpu::registerConvertCpuToLLVMInterface(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, CpuDialect *dialect) {
    dialect->addInterfaces<CpuToLLVM>();
  });
}
