//===- IterationSpaceTest.cpp - Loops on physical tensors -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/IterationSpace.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;
using ::testing::HasSubstr;
using utils::IteratorType;

namespace {

class IterationSpaces : public ::testing::Test {
protected:
  IterationSpaces() { context.loadDialect<LayoutDialect>(); }

  RankedTensorType getType(StringRef text) {
    return cast<RankedTensorType>(parseType(text, &context));
  }
  RankedTensorType getType(StringRef shape, StringRef map) {
    return getType(
        ("tensor<" + shape + "xf32, #layout.map<" + map + ">>").str());
  }
  AffineMap getMap(StringRef text) {
    return cast<AffineMapAttr>(
               parseAttribute(("affine_map<" + text + ">").str(), &context))
        .getValue();
  }
  OperandAccess read(StringRef map, RankedTensorType type) {
    return {getMap(map), type, false};
  }
  OperandAccess write(StringRef map, RankedTensorType type) {
    return {getMap(map), type, true};
  }
  IterationSpace getSpace(ArrayRef<OperandAccess> operands,
                          ArrayRef<int64_t> sizes,
                          ArrayRef<IteratorType> iterators = {}) {
    SmallVector<IteratorType> all(iterators);
    all.resize(sizes.size(), IteratorType::parallel);
    std::string whyNot;
    FailureOr<IterationSpace> space =
        getIterationSpace(operands, all, sizes, whyNot);
    EXPECT_TRUE(succeeded(space)) << whyNot;
    return succeeded(space) ? *space : IterationSpace();
  }
  std::string whyNot(ArrayRef<OperandAccess> operands,
                     ArrayRef<int64_t> sizes) {
    SmallVector<IteratorType> all(sizes.size(), IteratorType::parallel);
    std::string reason;
    EXPECT_TRUE(failed(getIterationSpace(operands, all, sizes, reason)));
    return reason;
  }
  /// Prints loop / weight : extent of every digit.
  static std::string print(const IterationSpace &space) {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleave(
        space.digits, os,
        [&](const LoopDigit &digit) {
          os << "d" << digit.loop << "/" << digit.weight << ":";
          if (std::optional<int64_t> extent = digit.extent.getConstant())
            os << *extent;
          else
            os << "?";
        },
        " ");
    return text;
  }

  MLIRContext context;
};

/// The example of the header: outer digits in loop order, then the inner ones.
/// A partial tile is padding.
TEST_F(IterationSpaces, CutsLoopsWhereStorageDoes) {
  RankedTensorType tiled =
      getType("6x5", "(d0, d1) -> buffer(d0 floordiv 4, d1, d0 mod 4)");
  StringRef same = "(d0, d1) -> (d0, d1)";
  IterationSpace space =
      getSpace({read(same, tiled), write(same, tiled)}, {6, 5});
  EXPECT_EQ(print(space), "d0/4:2 d1/1:5 d0/1:4");
  EXPECT_EQ(space.isPadded, SmallVector<bool>({true, false}));
  EXPECT_EQ(space.digitsOf[0], SmallVector<unsigned>({0, 2}));
  for (const auto &axes : space.operands) {
    ASSERT_EQ(axes.size(), 3u);
    EXPECT_EQ(axes[0].digits, SmallVector<unsigned>({0}));
    EXPECT_EQ(axes[1].digits, SmallVector<unsigned>({1}));
    EXPECT_EQ(axes[2].digits, SmallVector<unsigned>({2}));
  }
}

/// A plain operand is the fusion of the digits that the other operand needs.
TEST_F(IterationSpaces, FusesDigitsOfWholeDims) {
  StringRef same = "(d0, d1) -> (d0, d1)";
  IterationSpace space = getSpace(
      {read(same, getType("tensor<8x5xf32>")),
       write(same, getType("8x5",
                           "(d0, d1) -> buffer(d1, d0 mod 4, d0 floordiv 4)"))},
      {8, 5});
  EXPECT_EQ(print(space), "d0/4:2 d1/1:5 d0/1:4");
  EXPECT_FALSE(space.hasPadding());
  EXPECT_EQ(space.operands[0][0].digits, SmallVector<unsigned>({0, 2}));
  EXPECT_EQ(space.operands[1][0].digits, SmallVector<unsigned>({1}));
  EXPECT_EQ(space.operands[1][1].digits, SmallVector<unsigned>({2}));
  EXPECT_EQ(space.operands[1][2].digits, SmallVector<unsigned>({0}));
}

/// On one level, reduction digits come first, so that a lane is last, and
/// larger digits come before smaller ones.
TEST_F(IterationSpaces, OrdersInnerDigits) {
  IterationSpace space = getSpace(
      {read("(d0, d1) -> (d0, d1)",
            getType("8x8", "(d0, d1) -> buffer(d0 floordiv 4, d1 floordiv 4, "
                           "d0 mod 4, d1 mod 4)")),
       write("(d0, d1) -> (d0)",
             getType("8", "(d0) -> buffer(d0 mod 2, d0 floordiv 4, "
                          "d0 mod 4 floordiv 2)"))},
      {8, 8}, {IteratorType::parallel, IteratorType::reduction});
  EXPECT_EQ(print(space), "d0/4:2 d1/4:2 d0/2:2 d1/1:4 d0/1:2");
}

TEST_F(IterationSpaces, RefusesCutsThatDoNotNest) {
  StringRef same = "(d0) -> (d0)";
  EXPECT_THAT(
      whyNot(
          {read(same, getType("12", "(d0) -> buffer(d0 mod 4, d0 floordiv 4)")),
           write(same,
                 getType("12", "(d0) -> buffer(d0 mod 6, d0 floordiv 6)"))},
          {12}),
      HasSubstr("loop d0 is cut at multiples of 4 and of 6"));
}

/// Padding that a result stores is written; padding that an operand stores is
/// not read.
TEST_F(IterationSpaces, GoesAsFarAsTheResultStores) {
  StringRef same = "(d0) -> (d0)";
  RankedTensorType plain = getType("tensor<6xf32>");
  RankedTensorType aligned = getType("6", "(d0) -> buffer([d0] align 8)");
  IterationSpace space =
      getSpace({read(same, plain), write(same, aligned)}, {6});
  EXPECT_EQ(print(space), "d0/1:8");
  EXPECT_TRUE(space.isPadded[0]);
  EXPECT_TRUE(space.operands[0][0].required.isConstantEqual(8));
  EXPECT_TRUE(space.operands[0][0].extent.isConstantEqual(6));
  space = getSpace({read(same, aligned), write(same, plain)}, {6});
  EXPECT_EQ(print(space), "d0/1:6");
  EXPECT_FALSE(space.isPadded[0]);
}

/// A tile of 4 and a window of 3 reach 8 + 3 - 1 of 8 stored positions.
TEST_F(IterationSpaces, SaysHowFarSumsReach) {
  IterationSpace space =
      getSpace({read("(d0, d1) -> (d0 + d1)", getType("tensor<8xf32>")),
                read("(d0, d1) -> (d1)", getType("tensor<3xf32>")),
                write("(d0, d1) -> (d0)",
                      getType("6", "(d0) -> buffer(d0 mod 4, d0 floordiv 4)"))},
               {6, 3}, {IteratorType::parallel, IteratorType::reduction});
  EXPECT_EQ(print(space), "d0/4:2 d1/1:3 d0/1:4");
  const AxisAccess &axis = space.operands[0][0];
  EXPECT_TRUE(axis.digits.empty());
  EXPECT_TRUE(axis.extent.isConstantEqual(8));
  EXPECT_TRUE(axis.required.isConstantEqual(10));
  // Without padding, every access is in bounds.
  space = getSpace({read("(d0, d1) -> (d0 + d1)", getType("tensor<8xf32>")),
                    read("(d0, d1) -> (d1)", getType("tensor<3xf32>")),
                    write("(d0, d1) -> (d0)", getType("tensor<6xf32>"))},
                   {6, 3}, {IteratorType::parallel, IteratorType::reduction});
  EXPECT_TRUE(space.operands[0][0].required.isConstantEqual(8));
}

TEST_F(IterationSpaces, RefusesToStorePaddingOverElements) {
  StringRef same = "(d0) -> (d0)";
  EXPECT_THAT(
      whyNot(
          {read(same, getType("6", "(d0) -> buffer(d0 mod 4, d0 floordiv 4)")),
           write(same, getType("6", "(d0) -> buffer(d0 * 3)"))},
          {6}),
      HasSubstr("padding of the loops would be stored over elements"));
}

TEST_F(IterationSpaces, RefusesLoopsThatNoShapeTells) {
  EXPECT_THAT(whyNot({read("(d0, d1) -> (d0 + d1)", getType("tensor<8xf32>")),
                      write("(d0, d1) -> (d0)", getType("tensor<6xf32>"))},
                     {6, 3}),
              HasSubstr("loop d1 is not a stored axis of any operand"));
}

/// A dim of at most one tile has no tile digit.
TEST_F(IterationSpaces, DropsDigitsOfOneValue) {
  StringRef same = "(d0) -> (d0)";
  RankedTensorType type = getType("3", "(d0) -> buffer(d0 mod 4)");
  IterationSpace space = getSpace({read(same, type), write(same, type)}, {3});
  EXPECT_EQ(print(space), "d0/1:4");
  EXPECT_TRUE(space.isPadded[0]);
}

/// The number of tiles of a dynamic dim is dynamic.
TEST_F(IterationSpaces, HoldsForSizesOfRunTime) {
  StringRef same = "(d0) -> (d0)";
  RankedTensorType type =
      getType("?", "(d0) -> buffer(d0 mod 4, d0 floordiv 4)");
  IterationSpace space =
      getSpace({read(same, type), write(same, type)}, {ShapedType::kDynamic});
  EXPECT_EQ(print(space), "d0/4:? d0/1:4");
  EXPECT_EQ(space.digits[0].extent.evaluate({9}), 3);
  EXPECT_TRUE(space.isPadded[0]);
}

} // namespace
