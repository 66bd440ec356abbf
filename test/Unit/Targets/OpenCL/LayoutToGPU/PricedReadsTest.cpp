//===- PricedReadsTest.cpp - Reads as priced and as emitted ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decision prices the reads of a kernel before it exists. Each op here is
// priced and lowered with its tensors in all combinations of linear memory and
// of images of all lane dims. The loads of the kernel, multiplied by the trip
// counts of surrounding loops and the positions that it writes, must equal the
// priced reads.
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/CostModel.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "layout/Targets/OpenCL/LayoutToGPU/LayoutToGPU.h"
#include "layout/Targets/Registration.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// The bytes read from images and from linear memory.
using Reads = std::pair<int64_t, int64_t>;

class PricedReads : public ::testing::Test {
protected:
  PricedReads() {
    DialectRegistry registry;
    registry.insert<LayoutDialect, affine::AffineDialect, arith::ArithDialect,
                    func::FuncDialect, gpu::GPUDialect, linalg::LinalgDialect,
                    memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect, vector::VectorDialect>();
    registerLayoutRules(registry);
    registerOpenClTarget(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OpenClTargetAttr getTarget(int64_t imagePercent, int64_t bufferPercent) {
    std::string text =
        "#layout.opencl<item_pixels = " + std::to_string(itemPixels) +
        ", image_read_percent = " + std::to_string(imagePercent) +
        ", buffer_read_percent = " + std::to_string(bufferPercent) + ">";
    return cast<OpenClTargetAttr>(parseAttribute(text, &context));
  }

  Cost getCost(Operation *op, int64_t imagePercent, int64_t bufferPercent) {
    CostModel costs(
        cast<TargetInterface>(getTarget(imagePercent, bufferPercent)));
    OpLayouts layouts;
    for (Type type : op->getOperandTypes())
      layouts.operands.push_back(
          costs.getLayoutOf(cast<RankedTensorType>(type)));
    for (Type type : op->getResultTypes())
      layouts.results.push_back(
          costs.getLayoutOf(cast<RankedTensorType>(type)));
    return costs.getOpCost(op, getLayoutRule(op), layouts);
  }

  /// Counts what the only kernel reads for all positions that it writes.
  Reads countLoads(ModuleOp module) {
    Reads reads;
    int64_t positions = 0, ofItem = 0, parts = 1;
    module.walk([&](gpu::LaunchFuncOp launch) {
      parts = *getConstantIntValue(launch.getBlockSizeZ());
    });
    if (parts > 1)
      ++numSplit;
    module.walk([&](gpu::GPUFuncOp kernel) {
      EXPECT_EQ(positions, 0) << "there are several kernels";
      kernel.walk([&](memref::StoreOp store) {
        if (!isa<StringAttr>(store.getMemRefType().getMemorySpace()))
          return;
        positions = store.getMemRefType().getNumElements();
        ++ofItem;
      });
      if (ofItem > 1)
        ++numBlocked;
      kernel.walk([&](memref::LoadOp load) {
        if (!isa<StringAttr>(load.getMemRefType().getMemorySpace()))
          return;
        EXPECT_EQ(positions % ofItem, 0);
        int64_t times = positions / ofItem * parts;
        for (auto loop = load->getParentOfType<scf::ForOp>(); loop;
             loop = loop->getParentOfType<scf::ForOp>()) {
          APInt trips;
          EXPECT_TRUE(
              matchPattern(loop.getUpperBound(), m_ConstantInt(&trips)));
          times *= trips.getSExtValue();
          // The work-items of a group share the iterations of the loop.
          if (!matchPattern(loop.getLowerBound(), m_Constant()))
            times /= parts;
        }
        int64_t bytes =
            getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() / 8 *
            times;
        if (isa<VectorType>(load.getType()))
          reads.first += bytes * kLanesOfPixel;
        else
          reads.second += bytes;
      });
    });
    EXPECT_GT(positions, 0);
    return reads;
  }

  /// Checks an `op` that reads and writes tensors %0, %1 .. of types $0, $1 ..;
  /// the last one is written.
  void checkStored(StringRef op, ArrayRef<RankedTensorType> types) {
    std::string text = "func.func private @main(";
    llvm::raw_string_ostream os(text);
    for (auto [i, type] : llvm::enumerate(types))
      os << (i ? ", " : "") << "%" << i << ": " << type;
    os << ") -> " << types.back() << " {\n  %r = ";
    for (size_t i = 0; i < op.size(); ++i)
      if (op[i] == '$')
        os << types[op[++i] - '0'];
      else
        os << op[i];
    os << " -> " << types.back() << "\n  return %r : " << types.back()
       << "\n}\n";
    SCOPED_TRACE(text);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    Reads priced;
    module->walk([&](linalg::LinalgOp linalgOp) {
      Cost others = getCost(linalgOp, 0, 0);
      priced = {getCost(linalgOp, 100, 0) - others,
                getCost(linalgOp, 0, 100) - others};
    });
    ASSERT_TRUE(succeeded(convertLayoutToGPU(*module, getTarget(100, 100))));
    EXPECT_EQ(priced, countLoads(*module));
  }

  /// Checks `op` for all combinations of layouts.
  void check(StringRef op, ArrayRef<SmallVector<int64_t>> shapes,
             StringRef element = "f32") {
    SmallVector<RankedTensorType> types;
    std::function<void()> choose = [&]() {
      if (types.size() == shapes.size())
        return checkStored(op, types);
      ArrayRef<int64_t> shape = shapes[types.size()];
      auto type = RankedTensorType::get(shape, parseType(element, &context));
      types.push_back(type);
      choose();
      for (unsigned dim = 0; dim < shape.size(); ++dim) {
        types.back() = withLayout(
            type,
            getImageForms(shape.size(), dim, ImageRole::Activation).front());
        choose();
      }
      types.pop_back();
    };
    choose();
  }

  MLIRContext context;
  int itemPixels = 8;
  int numBlocked = 0; // kernels whose work-items write several pixels
  int numSplit = 0;   // kernels whose work-items share a sum
};

constexpr const char *kConvolution =
    "linalg.conv_2d_nchw_fchw ins(%0, %1 : $0, $1) outs(%2 : $2)";

TEST_F(PricedReads, OfConvolutionsOfPixels) {
  for (int64_t channels : {8, 5, 3})
    check(kConvolution,
          {{1, channels, 2, 3}, {6, channels, 1, 1}, {1, 6, 2, 3}});
}

TEST_F(PricedReads, OfConvolutionsWithWindows) {
  check(kConvolution, {{1, 4, 4, 5}, {5, 4, 3, 3}, {1, 5, 2, 3}});
  check("linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>} "
        "ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{1, 21, 5, 5}, {8, 21, 3, 3}, {1, 8, 2, 2}});
}

TEST_F(PricedReads, OfItemsOfSeveralPixels) {
  check(kConvolution, {{1, 8, 48, 64}, {16, 8, 1, 1}, {1, 16, 48, 64}});
  check("linalg.matmul ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{960, 5}, {5, 64}, {960, 64}});
  EXPECT_GT(numBlocked, 20);
}

/// Neighbors share the reads of a window, to an extent that depends on stride
/// and dilation, or none.
TEST_F(PricedReads, OfWindowsOfSeveralPixels) {
  itemPixels = 3; // divides all rows of pixels, as do fewer
  check(kConvolution, {{1, 5, 26, 74}, {24, 5, 3, 3}, {1, 24, 24, 72}});
  check("linalg.depthwise_conv_2d_nchw_chw ins(%0, %1 : $0, $1) "
        "outs(%2 : $2)",
        {{1, 24, 50, 74}, {24, 3, 3}, {1, 24, 48, 72}});
  check("linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<2> : "
        "vector<2xi64>} ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{1, 52, 76, 24}, {3, 3, 24}, {1, 48, 72, 24}});
  for (int64_t stride : {2, 3})
    check("linalg.pooling_nchw_max {strides = dense<" + std::to_string(stride) +
              "> : vector<2xi64>} ins(%0, %1 : $0, $1) outs(%2 : $2)",
          {{1, 24, 47 * stride + 3, 71 * stride + 3}, {3, 3}, {1, 24, 48, 72}});
  EXPECT_GT(numBlocked, 20);
}

/// With few work-items and long sums, a group computes each result. Operands
/// without the split loop are read by all work-items of a group.
TEST_F(PricedReads, OfItemsOfGroups) {
  itemPixels = 2; // divides all rows of pixels
  check("linalg.matmul ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{6, 301}, {301, 16}, {6, 16}});
  check(kConvolution, {{1, 48, 9, 17}, {8, 48, 2, 2}, {1, 8, 8, 16}});
  check("linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, "
        "affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a)>], "
        "iterator_types = [\"parallel\", \"reduction\", \"reduction\"]} "
        "ins(%0, %1 : $0, $1) outs(%2 : $2) {\n"
        "^bb0(%a: f32, %b: f32, %c: f32):\n"
        "  %p = arith.mulf %a, %b : f32\n"
        "  %s = arith.addf %c, %p : f32\n"
        "  linalg.yield %s : f32\n}",
        {{6, 3, 700}, {6, 3}, {6}});
  EXPECT_GT(numSplit, 60);
}

TEST_F(PricedReads, OfDepthwiseConvolutions) {
  for (int64_t channels : {8, 3})
    check("linalg.depthwise_conv_2d_nchw_chw ins(%0, %1 : $0, $1) "
          "outs(%2 : $2)",
          {{1, channels, 4, 4}, {channels, 3, 3}, {1, channels, 2, 2}});
}

/// The window operand is not read.
TEST_F(PricedReads, OfPoolings) {
  check("linalg.pooling_nchw_max ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{1, 6, 4, 5}, {3, 3}, {1, 6, 2, 3}});
}

TEST_F(PricedReads, OfProductsOfMatrices) {
  for (int64_t summed : {8, 5, 1})
    check("linalg.matmul ins(%0, %1 : $0, $1) outs(%2 : $2)",
          {{3, summed}, {summed, 10}, {3, 10}});
  check("linalg.batch_matmul ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{2, 3, 7}, {2, 7, 6}, {2, 3, 6}});
  check("linalg.matmul ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{4, 6}, {6, 9}, {4, 9}}, "f16");
}

std::string getAddition(StringRef maps, StringRef iterators) {
  return ("linalg.generic {indexing_maps = [" + maps + "], iterator_types = [" +
          iterators +
          "]} ins(%0, %1 : $0, $1) outs(%2 : $2) {\n"
          "^bb0(%a: f32, %b: f32, %c: f32):\n"
          "  %s = arith.addf %a, %b : f32\n"
          "  linalg.yield %s : f32\n}")
      .str();
}

TEST_F(PricedReads, OfElementwiseOps) {
  constexpr const char *kParallel = "\"parallel\", \"parallel\", \"parallel\"";
  constexpr const char *kSame = "affine_map<(a, b, c) -> (a, b, c)>";
  auto add = [&](std::string second) {
    return getAddition(std::string(kSame) + ", affine_map<(a, b, c) -> (" +
                           second + ")>, " + kSame,
                       kParallel);
  };
  check(add("a, b, c"), {{5, 3, 6}, {5, 3, 6}, {5, 3, 6}});
  check(add("b"), {{5, 3, 6}, {3}, {5, 3, 6}});
  check(add("b, c"), {{5, 3, 6}, {3, 6}, {5, 3, 6}});
  check(add("c, a, b"), {{5, 3, 6}, {6, 5, 3}, {5, 3, 6}});
  check(add("a, 0, c"), {{5, 1, 6}, {5, 1, 6}, {5, 1, 6}});
  check(add("a, b, b"), {{2, 5, 5}, {2, 5, 5}, {2, 5, 5}});
}

/// An operand without the inner loop is read outside of it.
TEST_F(PricedReads, OfSumsWithOperandsOfOuterLoops) {
  check("linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, "
        "affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a)>], "
        "iterator_types = [\"parallel\", \"reduction\", \"reduction\"]} "
        "ins(%0, %1 : $0, $1) outs(%2 : $2) {\n"
        "^bb0(%a: f32, %b: f32, %c: f32):\n"
        "  %p = arith.mulf %a, %b : f32\n"
        "  %s = arith.addf %c, %p : f32\n"
        "  linalg.yield %s : f32\n}",
        {{6, 3, 7}, {6, 3}, {6}});
}

} // namespace
