//===- VectorsTest.cpp - Conformance vectors of the families --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

SmallVector<int64_t> getInts(const llvm::json::Value *value) {
  SmallVector<int64_t> result;
  for (const llvm::json::Value &item : *value->getAsArray())
    result.push_back(*item.getAsInteger());
  return result;
}

TEST(Vectors, Blocked) {
  auto buffer =
      llvm::MemoryBuffer::getFile(LAYOUT_TEST_VECTORS "/blocked.json");
  ASSERT_TRUE(buffer) << buffer.getError().message();
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse((*buffer)->getBuffer());
  ASSERT_TRUE(static_cast<bool>(json));
  const llvm::json::Array *cases = json->getAsObject()->getArray("cases");
  ASSERT_TRUE(cases && !cases->empty());

  MLIRContext context;
  context.loadDialect<LayoutDialect>();
  Type f32 = Float32Type::get(&context);
  for (const llvm::json::Value &item : *cases) {
    const llvm::json::Object &object = *item.getAsObject();
    std::string text = object.getString("layout")->str();
    SmallVector<int64_t> shape = getInts(object.get("shape"));
    SCOPED_TRACE(text + " on " + testing::PrintToString(shape));
    auto layout = dyn_cast_if_present<LayoutAttrInterface>(
        parseAttribute(text, &context));
    ASSERT_TRUE(layout);
    FailureOr<LayoutMap> map = layout.resolve(shape, f32, nullptr);
    ASSERT_TRUE(succeeded(map));

    SmallVector<Sized> dims = layout.getStoredDims(shape, f32);
    SmallVector<int64_t> stored;
    for (const Sized &dim : dims)
      stored.push_back(*dim.extent.evaluate(shape));
    EXPECT_EQ(stored, getInts(object.get("stored_shape")));
    for (const llvm::json::Value &point : *object.getArray("points")) {
      const llvm::json::Array &parts = *point.getAsArray();
      SmallVector<int64_t> index = getInts(&parts[0]);
      SmallVector<int64_t> digits;
      for (const Sized &dim : dims)
        digits.push_back(*dim.value.evaluate(index, shape));
      EXPECT_EQ(digits, getInts(&parts[1]));
      SmallVector<int64_t> offset{*parts[2].getAsInteger()};
      EXPECT_EQ(*map->forward(index, shape), offset);
      EXPECT_EQ(*map->backward(offset, shape), index);
    }
  }
}

} // namespace
