//===- CommandsTest.cpp - Loops as commands of execution units ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/Commands.h"
#include "RandomScatter.h"
#include "mlir/IR/MLIRContext.h"
#include <map>

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

namespace {

/// A position in local memory: a core, and a byte in it.
using Place = std::pair<int64_t, int64_t>;
using Places = std::vector<Place>;

class CommandsTest : public RandomScatterTest {
protected:
  AffineMap getMap(unsigned loops, llvm::ArrayRef<AffineExpr> results) {
    return AffineMap::get(loops, 0, results, &context);
  }
  AffineExpr dim(unsigned d) { return getAffineDimExpr(d, &context); }

  /// Returns the places that each iteration accesses, by definition of the
  /// maps.
  static std::vector<Places> walk(llvm::ArrayRef<CommandOperand> operands,
                                  const Index &ranges) {
    std::vector<Places> all;
    forEachIndex(ranges, [&](const Index &at) {
      Places &places = all.emplace_back();
      for (const CommandOperand &operand : operands) {
        llvm::SmallVector<int64_t> index = operand.index.compose(at);
        auto coordinates = operand.map.getCoordinates();
        places.push_back(
            {*coordinates[0].value.evaluate(index, operand.shape),
             4 * *coordinates[1].value.evaluate(index, operand.shape)});
      }
    });
    return all;
  }

  /// Returns the places that the commands access, in order.
  static std::vector<Places> walk(llvm::ArrayRef<Command> commands,
                                  int64_t npus) {
    std::vector<Places> all;
    for (const Command &command : commands)
      forEachIndex(Index(command.shape.begin(), command.shape.end()),
                   [&](const Index &at) {
                     Places &places = all.emplace_back();
                     for (const TransferSide &side : command.sides) {
                       int64_t core = side.core + at[1];
                       int64_t element = at[0] * side.strides[0] +
                                         core / npus * side.strides[1] +
                                         at[2] * side.strides[2] +
                                         at[3] * side.strides[3];
                       places.push_back({core % npus, side.byte + 4 * element});
                     }
                   });
    return all;
  }

  /// Places a tensor of another shape in the f32 layout of `base`. Returns
  /// false if there is no such layout.
  static bool placeAs(Case &c, const Case &base, const Index &shape) {
    c.params = base.params;
    c.elementBytes = 4;
    c.shape = shape;
    return place(c);
  }

  MLIRContext context;
};

/// y[i] = x[i] + b[..] with operands of all modes on one chip; b has all loops
/// or only the channel.
TEST_F(CommandsTest, ElementsAreVisitedOnceEach) {
  int planned = 0;
  for (int round = 0; round < 3000; ++round) {
    Case y = get(), x = get(), b = get();
    if (y.elementBytes != 4 || y.shape.size() != 4)
      continue;
    bool isRow = below(2);
    Index rowShape{1, y.shape[1], 1, 1};
    x.scatter.start = b.scatter.start = y.scatter.start;
    if (x.scatter.mode == NpuMode::Matrix ||
        b.scatter.mode == NpuMode::Matrix || !placeAs(x, y, y.shape) ||
        !placeAs(b, y, isRow ? rowShape : y.shape))
      continue;
    AffineMap whole = getMap(4, {dim(0), dim(1), dim(2), dim(3)});
    AffineExpr zero = getAffineConstantExpr(0, &context);
    std::vector<CommandOperand> operands{
        {y.map, y.shape, whole},
        {x.map, x.shape, whole},
        {b.map, b.shape,
         isRow ? getMap(4, {zero, dim(1), zero, zero}) : whole}};
    TransferLimits limits{y.params.npus};
    if (below(2))
      limits.maxShape = {1 + below(4), 1 + below(4), 1 + below(4),
                         1 + below(4)};
    std::string why;
    std::optional<std::vector<Command>> commands =
        planCommands(operands, y.shape, limits,
                     [&](const llvm::Twine &reason) { why = reason.str(); });
    if (!commands) {
      EXPECT_FALSE(why.empty());
      continue;
    }
    ++planned;
    for (const Command &command : *commands)
      for (int d = 0; d < 4; ++d)
        EXPECT_TRUE(!limits.maxShape[d] ||
                    command.shape[d] <= limits.maxShape[d]);
    std::vector<Places> wanted = walk(operands, y.shape),
                        found = walk(*commands, y.params.npus);
    llvm::sort(wanted);
    llvm::sort(found);
    ASSERT_EQ(wanted, found) << y.text << "; " << x.text << "; " << b.text;
  }
  EXPECT_GT(planned, 100);
}

/// s[d0, d1] = s[d0, d1] + x[d0, d1, d2, d3]: additions to one element keep the
/// order of the loops, and no command has two of them.
TEST_F(CommandsTest, SumsKeepTheirOrder) {
  int planned = 0;
  for (int round = 0; round < 2000; ++round) {
    Case x = get(), s = get();
    // Strides of another shape may map two elements to one place.
    if (x.elementBytes != 4 || x.shape.size() != 4 ||
        s.scatter.mode == NpuMode::Matrix || s.scatter.mode == NpuMode::Strided)
      continue;
    s.scatter.start = x.scatter.start;
    if (!placeAs(s, x, {x.shape[0], x.shape[1], 1, 1}))
      continue;
    AffineExpr zero = getAffineConstantExpr(0, &context);
    std::vector<CommandOperand> operands{
        {s.map, s.shape, getMap(4, {dim(0), dim(1), zero, zero})},
        {x.map, x.shape, getMap(4, {dim(0), dim(1), dim(2), dim(3)})}};
    std::optional<std::vector<Command>> commands = planCommands(
        operands, x.shape, {x.params.npus}, [](const llvm::Twine &) {});
    if (!commands)
      continue;
    ++planned;
    auto byDest = [](const std::vector<Places> &all) {
      std::map<Place, Places> of;
      for (const Places &places : all)
        of[places[0]].push_back(places[1]);
      return of;
    };
    ASSERT_EQ(byDest(walk(operands, x.shape)),
              byDest(walk(*commands, x.params.npus)))
        << x.text << "; " << s.text;
    for (const Command &command : *commands) {
      std::vector<Places> all = walk({command}, x.params.npus);
      for (auto &[dest, sources] : byDest(all))
        ASSERT_EQ(sources.size(), 1u) << x.text;
    }
  }
  EXPECT_GT(planned, 100);
}

TEST_F(CommandsTest, RowsOfTwoCoresAreRefused) {
  Case c = get();
  while (c.elementBytes != 4 || c.shape.size() != 4 || c.params.npus < 2 ||
         c.scatter.mode == NpuMode::Strided)
    c = get();
  Case other = c;
  other.scatter.start = (c.scatter.start + 1) % c.params.npus;
  ASSERT_TRUE(place(other));
  AffineMap whole = getMap(4, {dim(0), dim(1), dim(2), dim(3)});
  std::string why;
  EXPECT_FALSE(planCommands(
      {{c.map, c.shape, whole}, {other.map, other.shape, whole}}, c.shape,
      {c.params.npus}, [&](const llvm::Twine &reason) { why = reason.str(); }));
  EXPECT_EQ(why, "operands start at different cores: move one of them");
}

/// y[i] = x[i + j] with x in a matrix whose columns are not contiguous: the
/// distance from column 2 to 4 exceeds that from 0 to 2.
TEST_F(CommandsTest, WindowsOverGapsAreRefused) {
  Case x;
  x.params = {1, 1024, 16};
  x.scatter.mode = NpuMode::Matrix;
  x.scatter.width = 3;
  Case y = x;
  x.shape = {1, 6};
  y.shape = {1, 3};
  ASSERT_TRUE(place(x) && place(y));
  AffineExpr zero = getAffineConstantExpr(0, &context);
  std::string why;
  EXPECT_FALSE(planCommands(
      {{y.map, y.shape, getMap(2, {zero, dim(0)})},
       {x.map, x.shape, getMap(2, {zero, dim(0) + dim(1)})}},
      {3, 3}, {1}, [&](const llvm::Twine &reason) { why = reason.str(); }));
  EXPECT_EQ(why,
            "an operand is read at positions that are not linear in the loops");
}

/// Functions without stride parameters accept aligned or compact tensors only.
TEST_F(CommandsTest, WithoutStridesTensorsAreAlignedOrCompact) {
  constexpr int64_t kEuBytes = 32;
  TransferLimits limits{4};
  auto drop = [&](int64_t batchStride, bool mayBeCompact) {
    Command command;
    command.shape = {2, 2, 2, 3};
    TransferSide side;
    side.core = 0;
    side.strides = {batchStride, 6, 3, 1};
    command.sides = {side};
    command.elementBytes = {4};
    return dropStrides({command}, kEuBytes, limits, mayBeCompact);
  };
  std::optional<UnstridedCommands> aligned = drop(8, true);
  ASSERT_TRUE(aligned);
  EXPECT_FALSE(aligned->isCompact);
  EXPECT_EQ(aligned->commands.size(), 1u);
  std::optional<UnstridedCommands> compact = drop(6, true);
  ASSERT_TRUE(compact);
  EXPECT_TRUE(compact->isCompact);
  EXPECT_FALSE(drop(6, false));
  EXPECT_FALSE(drop(7, true));
  // Compact channels of bytes begin at words: 6 bytes and 2 of a hole.
  auto dropBytes = [&](int64_t channelStride) {
    Command command;
    command.shape = {2, 5, 2, 3};
    TransferSide side;
    side.core = 0;
    side.strides = {2 * channelStride, channelStride, 3, 1};
    command.sides = {side};
    command.elementBytes = {1};
    return dropStrides({command}, kEuBytes, limits, /*mayBeCompact=*/true);
  };
  std::optional<UnstridedCommands> bytes = dropBytes(8);
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(bytes->isCompact);
  EXPECT_FALSE(dropBytes(6));
  // Batches with gaps become separate commands.
  std::optional<UnstridedCommands> apart = drop(16, false);
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->commands.size(), 2u);
}

/// With equal strides, the first byte decides.
TEST_F(CommandsTest, AlignedTensorsStartWhereLanesDo) {
  TransferSide box;
  box.core = 0;
  box.strides = {8, 8, 3, 1};
  box.byte = 64;
  EXPECT_TRUE(isAligned(box, {2, 2, 2, 3}, 4, 32, {4}));
  box.byte = 68;
  EXPECT_FALSE(isAligned(box, {2, 2, 2, 3}, 4, 32, {4}));
}
} // namespace
