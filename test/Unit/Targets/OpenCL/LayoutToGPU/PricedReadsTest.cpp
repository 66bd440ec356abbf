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

class PricedReadsTest : public ::testing::Test {
protected:
  PricedReadsTest() {
    DialectRegistry registry;
    registry.insert<LayoutDialect, affine::AffineDialect, arith::ArithDialect,
                    func::FuncDialect, gpu::GPUDialect, linalg::LinalgDialect,
                    memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect, vector::VectorDialect>();
    registerLayoutRules(registry);
    registerOpenCLTarget(registry);
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
constexpr const char *kMatmul =
    "linalg.matmul ins(%0, %1 : $0, $1) outs(%2 : $2)";

using Shapes = SmallVector<SmallVector<int64_t>>;

/// Returns the number of image rows or columns under `count` windows.
constexpr int64_t getImageSize(int64_t count, int64_t window,
                               int64_t stride = 1) {
  return (count - 1) * stride + window;
}

/// Returns the shapes of image, filter and result of a convolution of NCHW
/// images; `rows` and `columns` are those of the result.
Shapes getConvolution(int64_t channels, int64_t filters, int64_t window,
                      int64_t rows, int64_t columns, int64_t stride = 1) {
  return {{1, channels, getImageSize(rows, window, stride),
           getImageSize(columns, window, stride)},
          {filters, channels, window, window},
          {1, filters, rows, columns}};
}

/// Returns the shapes of operands and result of a matmul.
Shapes getMatmul(int64_t rows, int64_t columns, int64_t summed) {
  return {{rows, summed}, {summed, columns}, {rows, columns}};
}

TEST_F(PricedReadsTest, EqualLoadsOfPointwiseConvolutions) {
  for (int64_t channels : {8, 5, 3})
    check(kConvolution, getConvolution(channels, /*filters=*/6, /*window=*/1,
                                       /*rows=*/2, /*columns=*/3));
}

TEST_F(PricedReadsTest, EqualLoadsOfConvolutionsWithWindows) {
  check(kConvolution, getConvolution(/*channels=*/4, /*filters=*/5,
                                     /*window=*/3, /*rows=*/2, /*columns=*/3));
  check("linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>} "
        "ins(%0, %1 : $0, $1) outs(%2 : $2)",
        getConvolution(/*channels=*/21, /*filters=*/8, /*window=*/3,
                       /*rows=*/2, /*columns=*/2, /*stride=*/2));
}

TEST_F(PricedReadsTest, EqualLoadsOfWorkItemsWithSeveralPixels) {
  check(kConvolution, getConvolution(/*channels=*/8, /*filters=*/16,
                                     /*window=*/1, /*rows=*/48,
                                     /*columns=*/64));
  check(kMatmul, getMatmul(/*rows=*/960, /*columns=*/64, /*summed=*/5));
  EXPECT_GT(numBlocked, 20);
}

/// Neighbors share the reads of a window, to an extent that depends on stride
/// and dilation, or none.
TEST_F(PricedReadsTest, EqualLoadsOfWindowsThatSeveralPixelsShare) {
  itemPixels = 3; // divides all rows of pixels, as do fewer
  constexpr int64_t channels = 24, window = 3, rows = 48, columns = 72;
  constexpr int64_t dilation = 2, dilated = (window - 1) * dilation + 1;
  check(kConvolution, getConvolution(/*channels=*/5, /*filters=*/24, window,
                                     /*rows=*/24, columns));
  check(
      "linalg.depthwise_conv_2d_nchw_chw ins(%0, %1 : $0, $1) "
      "outs(%2 : $2)",
      {{1, channels, getImageSize(rows, window), getImageSize(columns, window)},
       {channels, window, window},
       {1, channels, rows, columns}});
  check("linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<2> : "
        "vector<2xi64>} ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{1, getImageSize(rows, dilated), getImageSize(columns, dilated),
          channels},
         {window, window, channels},
         {1, rows, columns, channels}});
  for (int64_t stride : {2, 3})
    check("linalg.pooling_nchw_max {strides = dense<" + std::to_string(stride) +
              "> : vector<2xi64>} ins(%0, %1 : $0, $1) outs(%2 : $2)",
          {{1, channels, getImageSize(rows, window, stride),
            getImageSize(columns, window, stride)},
           {window, window},
           {1, channels, rows, columns}});
  EXPECT_GT(numBlocked, 20);
}

/// With few work-items and long sums, a group computes each result. Operands
/// without the split loop are read by all work-items of a group.
TEST_F(PricedReadsTest, EqualLoadsOfWorkGroupsThatSplitASum) {
  itemPixels = 2; // divides all rows of pixels
  check(kMatmul, getMatmul(/*rows=*/6, /*columns=*/16, /*summed=*/301));
  check(kConvolution, getConvolution(/*channels=*/48, /*filters=*/8,
                                     /*window=*/2, /*rows=*/8,
                                     /*columns=*/16));
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

TEST_F(PricedReadsTest, EqualLoadsOfDepthwiseConvolutions) {
  for (int64_t channels : {8, 3})
    check("linalg.depthwise_conv_2d_nchw_chw ins(%0, %1 : $0, $1) "
          "outs(%2 : $2)",
          {{1, channels, 4, 4}, {channels, 3, 3}, {1, channels, 2, 2}});
}

TEST_F(PricedReadsTest, ExcludeTheWindowOperandOfPoolings) {
  check("linalg.pooling_nchw_max ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{1, 6, 4, 5}, {3, 3}, {1, 6, 2, 3}});
}

TEST_F(PricedReadsTest, EqualLoadsOfMatmuls) {
  for (int64_t summed : {8, 5, 1})
    check(kMatmul, getMatmul(/*rows=*/3, /*columns=*/10, summed));
  check("linalg.batch_matmul ins(%0, %1 : $0, $1) outs(%2 : $2)",
        {{2, 3, 7}, {2, 7, 6}, {2, 3, 6}});
  check(kMatmul, getMatmul(/*rows=*/4, /*columns=*/9, /*summed=*/6), "f16");
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

TEST_F(PricedReadsTest, EqualLoadsOfElementwiseOps) {
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

TEST_F(PricedReadsTest, CountOperandsOfOuterLoopsOncePerOuterLoop) {
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
