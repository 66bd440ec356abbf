//===- ConstantsTest.cpp - Which constants leave their module -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/Constants.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
)";

/// A splat is all of its elements, aligned as its global.
TEST(DetachedConstants, TakesLargePlainConstants) {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kModule, &context);
  ASSERT_TRUE(module);
  DetachedConstants constants(*module);
  std::vector<std::string> names;
  for (const DetachedConstants::Entry &entry : constants.getEntries())
    names.push_back(entry.name);
  ASSERT_THAT(names, ElementsAre("least"));
  const void *data = constants.getEntries()[0].data.get();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 256, 0u);
  for (int i : {0, 1, 511})
    EXPECT_EQ(static_cast<const int64_t *>(data)[i], 5);
  for (auto global : module->getOps<LLVM::GlobalOp>())
    EXPECT_EQ(bool(global.getValueOrNull()), global.getSymName() != "least");
}

} // namespace
