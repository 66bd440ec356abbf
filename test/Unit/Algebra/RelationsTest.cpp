//===- RelationsTest.cpp - Random splits and fuses on numbers -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every axis as a table of its values: the expected values use no digit, extent
// or map of the library.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/Relations.h"
#include "RandomShapes.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <map>

using namespace layout_test;
using namespace mlir::layout;

namespace {

constexpr uint64_t kSeed = 20250117;

using Index = SmallIndex;

/// An axis on one shape: its size, and its value at every index.
struct Table {
  int64_t size = 1;
  std::vector<int64_t> values;
};

/// A random text, with its axes computed along the way.
struct RandomRelations {
  RandomRelations(RandomShapes &random, const Index &shape) {
    std::vector<Index> indices = allIndices(shape);
    std::vector<std::string> open;
    for (size_t d = 0; d < shape.size(); ++d) {
      bool stated = random.below(4) == 0;
      text.dims.push_back({newName(), stated ? shape[d] : 0});
      Table &table = tables[text.dims.back().name];
      table.size = shape[d];
      for (const Index &index : indices)
        table.values.push_back(index[d]);
      open.push_back(text.dims.back().name);
    }
    for (int64_t n = random.below(4); n > 0; --n) {
      random.shuffle(open);
      AxisRelation relation;
      if (random.below(2) && open.size() > 1) {
        relation.kind = AxisRelation::Fuse;
        relation.whole.name = newName();
        Table fused{1, std::vector<int64_t>(indices.size(), 0)};
        for (int64_t k = 0; k < 2; ++k) {
          const Table &part = tables[open.back()];
          fused.size *= part.size;
          for (size_t i = 0; i < indices.size(); ++i)
            fused.values[i] = fused.values[i] * part.size + part.values[i];
          relation.parts.push_back({open.back(), 0});
          open.pop_back();
        }
        tables[relation.whole.name] = fused;
        open.push_back(relation.whole.name);
      } else {
        relation.whole.name = open.back();
        open.pop_back();
        Table rest = tables[relation.whole.name];
        for (int64_t k = 1 + random.below(2); k > 0; --k) {
          int64_t extent = 1 + random.below(5);
          relation.parts.insert(relation.parts.begin(), {newName(), extent});
          Table &part = tables[relation.parts.front().name];
          part.size = extent;
          rest.size = (rest.size + extent - 1) / extent;
          for (int64_t &value : rest.values) {
            part.values.push_back(value % extent);
            value /= extent;
          }
        }
        relation.parts.insert(relation.parts.begin(), {newName(), 0});
        tables[relation.parts.front().name] = rest;
        for (const NamedAxis &part : relation.parts)
          open.push_back(part.name);
      }
      text.relations.push_back(relation);
    }
    random.shuffle(open);
    text.stored = open;
    random.shuffle(text.relations);
  }

  std::string newName() { return "x" + std::to_string(count++); }

  RelationsText text;
  std::map<std::string, Table> tables;
  int count = 0;
};

TEST(Relations, RandomRelationsAreTheirAxesOnNumbers) {
  RandomShapes random(kSeed);
  for (int i = 0; i < 1500; ++i) {
    Index shape = random.shape(1 + random.below(3), 7);
    RandomRelations expected(random, shape);
    std::optional<Relations> relations =
        Relations::get(expected.text, [](size_t, const llvm::Twine &message) {
          ADD_FAILURE() << message.str();
        });
    ASSERT_TRUE(relations.has_value());
    std::string text;
    llvm::raw_string_ostream os(text);
    relations->print(os);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", " + text + " on " +
                 testing::PrintToString(shape));
    const LayoutMap &map = relations->getMap();
    std::vector<Index> indices = allIndices(shape);
    std::vector<int64_t> offsets(indices.size(), 0);
    int64_t size = 1;
    for (auto [dim, name] :
         llvm::zip_equal(relations->getStoredDims(), expected.text.stored)) {
      const Table &table = expected.tables[name];
      ASSERT_EQ(dim.extent.evaluate(shape), table.size) << name;
      size *= table.size;
      for (size_t k = 0; k < indices.size(); ++k) {
        ASSERT_EQ(dim.value.evaluate(indices[k], shape), table.values[k]);
        offsets[k] = offsets[k] * table.size + table.values[k];
      }
    }
    ASSERT_EQ(*map.storageExtent(shape), Index{size});
    for (size_t k = 0; k < indices.size(); ++k)
      ASSERT_EQ(*map.forward(indices[k], shape), Index{offsets[k]});
    ASSERT_EQ(proveInjective(map, shape).answer, ProofResult::Proved)
        << map.str();
  }
}

TEST(Relations, FaultsOfBuiltTextNameTheirAxis) {
  auto faultOf = [](RelationsText text) {
    std::optional<size_t> fault;
    Relations::get(std::move(text), [&](size_t name, const llvm::Twine &) {
      EXPECT_FALSE(fault.has_value());
      fault = name;
    });
    return fault;
  };
  EXPECT_EQ(faultOf({{{"a"}, {"b"}}, {}, {"b", "a"}}), std::nullopt);
  EXPECT_EQ(faultOf({{{"a"}, {"b c"}}, {}, {"b c", "a"}}), 1u);
  EXPECT_EQ(faultOf({{{"a"}, {""}}, {}, {"", "a"}}), 1u);
  EXPECT_EQ(faultOf({{{"a", -2}}, {}, {"a"}}), 0u);
  // The dim a is name 0, its use in the split is 1, and its parts are 2 and 3.
  EXPECT_EQ(faultOf({{{"a"}},
                     {{AxisRelation::Split, {"a"}, {{"b"}, {"d", 4}}}},
                     {"b", "x"}}),
            5u);
  // The result of a fuse follows its parts.
  EXPECT_EQ(faultOf({{{"a"}, {"b"}},
                     {{AxisRelation::Fuse, {"a"}, {{"a"}, {"b"}}}},
                     {"a"}}),
            4u);
}

TEST(Relations, HostileTextIsRefusedSoon) {
  RelationsText many;
  for (int d = 0; d < 100000; ++d) {
    many.dims.push_back({"x" + std::to_string(d)});
    many.stored.push_back(many.dims.back().name);
  }
  std::optional<size_t> fault;
  auto record = [&](size_t name, const llvm::Twine &) { fault = name; };
  EXPECT_FALSE(Relations::get(many, record));
  EXPECT_EQ(fault, 256u);

  // Each round splits what the previous one fused in reverse order.
  RelationsText deep;
  deep.dims = {{"a"}, {"b"}};
  NamedAxis a{"a"}, b{"b"};
  for (int round = 0; round < 60; ++round) {
    std::string n = std::to_string(round);
    AxisRelation fuse, split;
    fuse.kind = AxisRelation::Fuse;
    fuse.whole.name = split.whole.name = "f" + n;
    fuse.parts.push_back(a);
    fuse.parts.push_back(b);
    b.name = "a" + n;
    a.name = "b" + n;
    split.parts.push_back(b);
    split.parts.push_back({a.name, 3 + round % 5});
    deep.relations.push_back(fuse);
    deep.relations.push_back(split);
  }
  deep.stored = {a.name, b.name};
  fault.reset();
  std::optional<Relations> relations = Relations::get(deep, record);
  EXPECT_NE(relations.has_value(), fault.has_value());
}

} // namespace
