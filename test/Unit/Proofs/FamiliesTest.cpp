//===- FamiliesTest.cpp - Proofs of all layout families -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The families of docs/spec.md, section 3, parsed from text: each resolved map
// is proven with its inverse, including linear addresses, and refuted with a
// wrong stride.
//
//===----------------------------------------------------------------------===//

#include "Proven.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

using namespace layout_test;
using namespace mlir::layout;

namespace {

class Families : public testing::Test {
protected:
  Families() { context.loadDialect<LayoutDialect, mlir::npu::NPUDialect>(); }

  /// Returns the map of a layout, or an empty map and a failure if it does not
  /// apply.
  LayoutMap resolve(const std::string &text, const Index &shape,
                    unsigned elementBits = 32, const std::string &target = {}) {
    mlir::Attribute attr = mlir::parseAttribute(text, &context);
    EXPECT_TRUE(attr) << text;
    if (!target.empty())
      attr = mlir::cast<LayoutAttrInterface>(attr).withTarget(
          mlir::parseAttribute(target, &context));
    mlir::FailureOr<LayoutMap> map =
        mlir::cast<LayoutAttrInterface>(attr).resolve(
            shape, mlir::IntegerType::get(&context, elementBits),
            [&] { return mlir::emitError(mlir::UnknownLoc::get(&context)); });
    EXPECT_TRUE(mlir::succeeded(map)) << text;
    return mlir::succeeded(map) ? *map : LayoutMap();
  }

  void expectAllProven(const std::string &text,
                       const std::vector<Index> &shapes) {
    for (const Index &shape : shapes)
      if (LayoutMap map = resolve(text, shape))
        expectProven(map, shape);
    if (LayoutMap map = resolve(text, shapes.front()))
      expectBugFound(map, shapes.front());
  }

  mlir::MLIRContext context;
};

TEST_F(Families, Blocked) {
  const std::vector<Index> images{
      {2, 17, 7, 5}, {1, 64, 56, 56}, {3, 16, 1, 1}, {1, 3, 224, 224}};
  for (const char *to : {"NHWC", "CHWN", "NCHW16c", "NCHW8c", "NCHW4n8c",
                         "NCHW2c4c", "N[HW]C", "NCHW[4n4c]"})
    expectAllProven(std::string("#layout.blocked<\"NCHW\" to \"") + to + "\">",
                    images);
  const std::vector<Index> filters{
      {60, 20, 3, 3}, {128, 64, 1, 7}, {5, 3, 2, 2}};
  for (const char *to : {"OIHW4i16o4i", "OHWI16i64o2i", "OIHW[4o4i]", "HWIO"})
    expectAllProven(std::string("#layout.blocked<\"OIHW\" to \"") + to + "\">",
                    filters);
}

TEST_F(Families, BlockedToBlocked) {
  expectAllProven("#layout.blocked<\"NCHW16c\" to \"NCHW8c\">",
                  {{1, 2, 7, 5, 16}, {3, 1, 2, 2, 16}});
}

TEST_F(Families, Relations) {
  expectAllProven("#layout.relations<(n, c, h, w), split c -> (co, ci : 16), "
                  "fuse (h, w) -> hw, store (n, co, hw, ci)>",
                  {{2, 17, 7, 5}, {1, 64, 56, 56}, {3, 5, 1, 1}});
  // A split of a fused axis.
  expectAllProven("#layout.relations<(n, h, w), fuse (h, w) -> hw, "
                  "split hw -> (a, b : 6), store (b, n, a)>",
                  {{2, 7, 5}, {3, 6, 6}, {1, 100, 31}});
}

TEST_F(Families, PackedDims) {
  const std::pair<const char *, std::vector<Index>> layouts[] = {
      {"[0, 1]", {{6, 8}, {5, 7}}},
      {"[1, 0, 1 : 4]", {{6, 8}, {6, 2}, {113, 400}}},
      {"[0 : oddeven 8]", {{8}}},
      {"[0, 0 : oddeven 8]", {{16}, {4096}}},
      {"[0, 1, 0 : oddeven 4]", {{8, 2}, {400, 31}}},
      {"[0, 1, 0 : 2, 0 : oddeven 4]", {{16, 2}, {160, 7}}},
      {"[1, 0, 1 : 4, 0 : 2, 1 : 4]", {{4, 32}, {48, 16}}},
      {"[0 : oddeven 4, 1, 0 : 2]", {{8, 3}}},
  };
  for (auto &[text, shapes] : layouts)
    expectAllProven(std::string("#layout.packed_dims<") + text + ">", shapes);
}

TEST_F(Families, RgbaImage) {
  const std::vector<Index> tensors{{2, 5, 3, 6}, {1, 56, 56, 64}, {3, 1, 7, 2}};
  for (const char *kind : {"in_out_channel", "in_out_height", "in_out_width",
                           "conv2d_filter", "weight_height", "weight_width"})
    expectAllProven(std::string("#layout.rgba_image<") + kind + ">", tensors);
  expectAllProven("#layout.rgba_image<in_out_channel, \"NCHW\">", tensors);
  expectAllProven("#layout.rgba_image<dw_conv2d_filter>",
                  {{1, 6, 3, 2}, {1, 33, 5, 5}});
  for (const Index &shape : {Index{10}, {3}, {1000}})
    if (LayoutMap map = resolve("#layout.rgba_image<argument>", shape))
      expectProven(map, shape);
}

TEST_F(Families, NpuScatter) {
  struct Case {
    const char *text;
    unsigned bits;
    std::vector<Index> shapes;
  };
  const Case cases[] = {
      {"aligned, start = 0", 32, {{2, 5, 4, 5}, {1, 64, 56, 56}}},
      {"aligned, start = 2", 32, {{2, 6, 4, 5}, {3, 130, 7, 9}}},
      {"compact, start = 2", 32, {{2, 6, 4, 5}, {3, 130, 7, 9}}},
      {"strided [120, 56, 16, 2], start = 0", 32, {{2, 5, 3, 4}}},
      {"matrix 15, start = 0", 32, {{2, 40}, {7, 151}}},
      {"matrix 8, start = 3", 32, {{2, 40}, {7, 151}}},
      {"aligned, start = 3, pack = n4", 8, {{6, 5, 4, 5}, {9, 130, 3, 3}}},
      {"aligned, start = 0, pack = n2", 16, {{3, 5, 4, 5}}},
      {"compact, start = 0, pack = ic2", 32, {{3, 5, 3, 3}, {64, 130, 3, 3}}},
  };
  for (const Case &c : cases) {
    std::string text = std::string("#layout.npu_scatter<") + c.text + ">";
    auto get = [&](const Index &shape) {
      return resolve(text, shape, c.bits,
                     "#npu.target<npus = 4, bytes_per_npu = 16777216, "
                     "eu_bytes = 128>");
    };
    for (const Index &shape : c.shapes)
      if (LayoutMap map = get(shape))
        expectProven(map, shape);
    if (LayoutMap map = get(c.shapes.front()))
      expectBugFound(map, c.shapes.front());
  }
}

} // namespace
