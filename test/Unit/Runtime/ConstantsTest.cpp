//===- ConstantsTest.cpp - Detaching constants from a module --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/Constants.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;
using ::testing::ElementsAre;

namespace {

constexpr const char *kModule = R"(
  llvm.mlir.global private constant @least(dense<5> : tensor<512xi64>)
    {alignment = 256 : i64} : !llvm.array<512 x i64>
  llvm.mlir.global private constant @small(dense<5> : tensor<511xi64>)
    : !llvm.array<511 x i64>
  llvm.mlir.global private @variable(dense<5> : tensor<512xi64>)
    : !llvm.array<512 x i64>
  llvm.mlir.global private constant @placed(dense<5> : tensor<512xi64>)
    {section = ".tables"} : !llvm.array<512 x i64>
  llvm.mlir.global private constant @bits(dense<true> : tensor<65536xi1>)
    : !llvm.array<65536 x i1>
  llvm.mlir.global private constant @odd(dense<7> : tensor<5001xi8>)
    : !llvm.array<5001 x i8>
  llvm.mlir.global private constant @last(dense<9> : tensor<512xi64>)
    {alignment = 1024 : i64} : !llvm.array<512 x i64>
  llvm.mlir.global private constant @wide(dense<5> : tensor<512xi64>)
    {alignment = 4194304 : i64} : !llvm.array<512 x i64>
)";

/// A splat is expanded and aligned like its global.
TEST(DetachedConstants, TakesLargePlainConstants) {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kModule, &context);
  ASSERT_TRUE(module);
  DetachedConstants constants(*module);
  std::vector<std::string> names;
  for (const DetachedConstants::Entry &entry : constants.getEntries())
    names.push_back(entry.name);
  ASSERT_THAT(names, ElementsAre("least", "odd", "last"));
  auto expect = [&](unsigned entry, uintptr_t alignment, int64_t value) {
    const void *data = constants.getEntries()[entry].blob.getData().data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u);
    for (int i : {0, 1, 511})
      EXPECT_EQ(static_cast<const int64_t *>(data)[i], value);
  };
  expect(0, 256, 5);
  expect(1, 64, 0x0707070707070707);
  expect(2, 1024, 9);
  for (auto global : module->getOps<LLVM::GlobalOp>())
    EXPECT_EQ(bool(global.getValueOrNull()),
              !llvm::is_contained(names, global.getSymName()));
}

/// Resources without further readers are freed; those that stay in the module
/// keep their elements.
TEST(DetachedConstants, DropsResources) {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  std::string zeros(2 * 4096, '0');
  std::string text = R"(
    llvm.mlir.global private constant @first(dense_resource<shared> : tensor<512xi64>)
      : !llvm.array<512 x i64>
    llvm.mlir.global private constant @second(dense_resource<shared> : tensor<512xi64>)
      : !llvm.array<512 x i64>
    llvm.mlir.global private constant @small(dense_resource<small> : tensor<1xi64>)
      : !llvm.array<1 x i64>
    {-# dialect_resources: { builtin: {
      shared: "0x080000000700000000000000)" +
                     zeros.substr(16) + R"(",
      unread: "0x080000000700000000000000",
      small: "0x080000000700000000000000" } } #-})";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  DetachedConstants constants(*module, /*dropResources=*/true);
  ASSERT_EQ(constants.getEntries().size(), 2u);
  for (const DetachedConstants::Entry &entry : constants.getEntries())
    EXPECT_EQ(entry.blob.getDataAs<int64_t>().front(), 7);
  auto &manager = DenseResourceElementsHandle::getManagerInterface(&context)
                      .getBlobManager();
  EXPECT_TRUE(manager.lookup("shared")->getBlob()->getData().empty());
  EXPECT_TRUE(manager.lookup("unread")->getBlob()->getData().empty());
  EXPECT_EQ(manager.lookup("small")->getBlob()->getData().size(), 8u);
}

/// Memory from allocateConstant is reused in place, even by two readers; if
/// resources are kept, it is copied.
TEST(DetachedConstants, TakesWhatWasAllocated) {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  AsmResourceBlob blob = allocateConstant(4096, 64);
  llvm::fill(blob.getMutableData(), 7);
  const char *place = blob.getData().data();
  auto type = RankedTensorType::get({4096}, IntegerType::get(&context, 8));
  auto value = DenseResourceElementsAttr::get(type, "packed", std::move(blob));
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder b(module->getBodyRegion());
  auto array = LLVM::LLVMArrayType::get(type.getElementType(), 4096);
  for (StringRef name : {"one", "other"})
    LLVM::GlobalOp::create(b, module->getLoc(), array, /*isConstant=*/true,
                           LLVM::Linkage::Private, name, value);
  {
    OwningOpRef<ModuleOp> clone = module->clone();
    DetachedConstants copies(*clone);
    for (const DetachedConstants::Entry &entry : copies.getEntries())
      EXPECT_NE(entry.blob.getData().data(), place);
  }
  DetachedConstants constants(*module, /*dropResources=*/true);
  ASSERT_EQ(constants.getEntries().size(), 2u);
  for (const DetachedConstants::Entry &entry : constants.getEntries()) {
    EXPECT_EQ(entry.blob.getData().data(), place);
    EXPECT_EQ(entry.blob.getData().back(), 7);
  }
  EXPECT_TRUE(value.getRawHandle().getBlob()->getData().empty());
}

/// Memory of any owner is used in place only if resources may be shared.
TEST(DetachedConstants, SharesResources) {
  alignas(64) static char bytes[4096] = {7};
  unsigned released = 0;
  auto release = [&](void *, size_t, size_t) { ++released; };
  for (bool shares : {false, true}) {
    MLIRContext context;
    context.loadDialect<LLVM::LLVMDialect>();
    auto type = RankedTensorType::get({4096}, IntegerType::get(&context, 8));
    auto value = DenseResourceElementsAttr::get(
        type, "weight",
        UnmanagedAsmResourceBlob::allocateWithAlign(bytes, 64, release));
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder b(module->getBodyRegion());
    LLVM::GlobalOp::create(
        b, module->getLoc(),
        LLVM::LLVMArrayType::get(type.getElementType(), 4096),
        /*isConstant=*/true, LLVM::Linkage::Private, "weight", value);
    DetachedConstants constants(*module, /*dropResources=*/true, shares);
    ASSERT_EQ(constants.getEntries().size(), 1u);
    ArrayRef<char> data = constants.getEntries().front().blob.getData();
    EXPECT_EQ(data.data() == bytes, shares);
    EXPECT_EQ(constants.getEntries().front().resource, shares ? "weight" : "");
    EXPECT_EQ(data.front(), 7);
    // A copy releases the memory at once, a program at its end.
    EXPECT_EQ(released, 1u);
  }
}

} // namespace
