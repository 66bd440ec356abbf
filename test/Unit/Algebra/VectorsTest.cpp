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
#include <numeric>

using namespace mlir;
using namespace mlir::layout;

namespace {

using Index = SmallVector<int64_t>;

Index getInts(const llvm::json::Value *value) {
  Index result;
  for (const llvm::json::Value &item : *value->getAsArray())
    result.push_back(*item.getAsInteger());
  return result;
}

/// Returns the n-th index of the box in row-major order.
Index getIndex(int64_t n, ArrayRef<int64_t> shape) {
  Index index(shape.size());
  for (size_t d = shape.size(); d-- > 0; n /= shape[d])
    index[d] = n % shape[d];
  return index;
}

int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

/// One case of a file: a layout on a shape, and its expected properties.
struct Case {
  const llvm::json::Object &expected;
  LayoutAttrInterface layout;
  Index shape;
};

class Vectors : public testing::Test {
protected:
  Vectors() {
    context.loadDialect<LayoutDialect>();
    context.getDiagEngine().registerHandler(
        [&](Diagnostic &diag) { errors.push_back(diag.str()); });
  }

  /// Calls check for every case of the file.
  template <typename Check> void forEachCase(StringRef file, Check check) {
    auto buffer = llvm::MemoryBuffer::getFile(
        (LAYOUT_TEST_VECTORS "/" + file + ".json").str());
    ASSERT_TRUE(buffer) << buffer.getError().message();
    llvm::Expected<llvm::json::Value> json =
        llvm::json::parse((*buffer)->getBuffer());
    ASSERT_TRUE(static_cast<bool>(json));
    const llvm::json::Array *cases = json->getAsObject()->getArray("cases");
    ASSERT_TRUE(cases && !cases->empty());
    for (const llvm::json::Value &item : *cases) {
      const llvm::json::Object &object = *item.getAsObject();
      std::string text = object.getString("layout")->str();
      Index shape = getInts(object.get("shape"));
      SCOPED_TRACE(text + " on " + testing::PrintToString(shape));
      auto layout = dyn_cast_if_present<LayoutAttrInterface>(
          parseAttribute(text, &context));
      ASSERT_TRUE(layout);
      errors.clear();
      check(Case{object, layout, shape});
    }
  }

  InFlightDiagnostic emitError() {
    return mlir::emitError(UnknownLoc::get(&context));
  }

  /// Returns the map, and checks that the type is valid.
  LayoutMap resolve(const Case &item) {
    auto emit = [&] { return emitError(); };
    EXPECT_TRUE(succeeded(verifyEncoding(item.layout, item.shape, f32, emit)));
    EXPECT_EQ(errors, std::vector<std::string>());
    FailureOr<LayoutMap> map = item.layout.resolve(item.shape, f32, emit);
    return succeeded(map) ? *map : LayoutMap();
  }

  Index getStoredShape(const Case &item) {
    Index stored;
    for (const BoundedIndex &dim : item.layout.getStoredDims(item.shape, f32))
      stored.push_back(*dim.extent.evaluate(item.shape));
    return stored;
  }

  Index getStoredIndex(const Case &item, ArrayRef<int64_t> index) {
    Index digits;
    for (const BoundedIndex &dim : item.layout.getStoredDims(item.shape, f32))
      digits.push_back(*dim.value.evaluate(index, item.shape));
    return digits;
  }

  MLIRContext context;
  Type f32 = Float32Type::get(&context);
  std::vector<std::string> errors;
};

TEST_F(Vectors, Blocked) {
  forEachCase("blocked", [&](const Case &item) {
    LayoutMap map = resolve(item);
    ASSERT_TRUE(map);
    EXPECT_EQ(getStoredShape(item), getInts(item.expected.get("stored_shape")));
    for (const llvm::json::Value &point : *item.expected.getArray("points")) {
      const llvm::json::Array &parts = *point.getAsArray();
      Index index = getInts(&parts[0]);
      EXPECT_EQ(getStoredIndex(item, index), getInts(&parts[1]));
      Index offset{*parts[2].getAsInteger()};
      EXPECT_EQ(*map.forward(index, item.shape), offset);
      EXPECT_EQ(*map.backward(offset, item.shape), index);
    }
  });
}

TEST_F(Vectors, PackedDims) {
  int failing = 0;
  forEachCase("packed_dims", [&](const Case &item) {
    if (std::optional<StringRef> error = item.expected.getString("error")) {
      ++failing;
      EXPECT_TRUE(failed(item.layout.resolve(item.shape, f32, nullptr)));
      EXPECT_TRUE(failed(
          item.layout.resolve(item.shape, f32, [&] { return emitError(); })));
      ASSERT_EQ(errors.size(), 1u);
      EXPECT_NE(errors[0].find(error->str()), std::string::npos) << errors[0];
      return;
    }
    LayoutMap map = resolve(item);
    ASSERT_TRUE(map);
    Index stored = getInts(item.expected.get("stored_shape"));
    EXPECT_EQ(getStoredShape(item), stored);
    Index offsets = getInts(item.expected.get("offsets"));
    ASSERT_EQ(int64_t(offsets.size()), product(item.shape));
    // There is no padding.
    EXPECT_EQ(*map.storageExtent(item.shape), Index{product(item.shape)});
    for (auto [n, offset] : llvm::enumerate(offsets)) {
      Index index = getIndex(n, item.shape);
      EXPECT_EQ(*map.forward(index, item.shape), Index{offset});
      EXPECT_EQ(*map.backward({offset}, item.shape), index);
      EXPECT_EQ(getStoredIndex(item, index), getIndex(offset, stored));
    }
  });
  EXPECT_EQ(failing, 2);
}

TEST_F(Vectors, RgbaImage) {
  forEachCase("rgba_image", [&](const Case &item) {
    LayoutMap map = resolve(item);
    ASSERT_TRUE(map);
    EXPECT_EQ(map.getSpace(), "image2d");
    Index image = getInts(item.expected.get("image"));
    image.push_back(4);
    EXPECT_EQ(*map.storageExtent(item.shape), image);
    EXPECT_EQ(getStoredShape(item), image);
    for (const llvm::json::Value &entry : *item.expected.getArray("points")) {
      Index index = getInts(&(*entry.getAsArray())[0]);
      Index point = getInts(&(*entry.getAsArray())[1]);
      EXPECT_EQ(*map.forward(index, item.shape), point);
      EXPECT_EQ(*map.backward(point, item.shape), index);
      EXPECT_EQ(getStoredIndex(item, index), point);
    }
    int64_t padLanes = 0;
    for (int64_t n = 0; n < product(image); ++n)
      padLanes += !map.backward(getIndex(n, image), item.shape).has_value();
    EXPECT_EQ(padLanes, item.expected.getInteger("pad_lanes"));

    // The layout is valid and equal for unknown sizes.
    Index unknown = item.shape;
    for (int64_t &size : unknown)
      if (size > 1)
        size = ShapedType::kDynamic;
    auto emit = [&] { return emitError(); };
    EXPECT_TRUE(succeeded(verifyEncoding(item.layout, unknown, f32, emit)));
    EXPECT_TRUE(*item.layout.resolve(unknown, f32, emit) == map);
  });
}

} // namespace
