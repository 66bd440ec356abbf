//===- OneDnnTest.cpp - Tags and descriptors against oneDNN ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle is oneDNN: it reorders a tensor of distinct numbers, and the
// position of each number is the storage point of its index.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "layout/Algebra/Evaluator.h"
#include "llvm/ADT/StringExtras.h"
#ifdef LAYOUT_HAS_DNNL
#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"
#include <dlfcn.h>
#endif

using namespace layout_test;

namespace {

TEST(OneDnnImport, TheExampleOfTheSpecification) {
  Index sizes{2, 17, 5, 4};
  for (const char *text :
       {"nChw8c", "aBcd8b",
        "strides=[480,160,32,8] blks=[8] idxs=[1] padded=[2,24,5,4]"}) {
    LayoutMap map = *import(Notation::OneDnn, text, sizes).value;
    EXPECT_EQ((*map.forward({1, 16, 4, 3}, sizes))[0], 952) << text;
    EXPECT_EQ((*map.forward({1, 0, 0, 0}, sizes))[0], 480) << text;
    EXPECT_EQ((*map.forward({0, 8, 0, 0}, sizes))[0], 160) << text;
    EXPECT_EQ((*map.storageExtent(sizes))[0], 960) << text;
    EXPECT_EQ(write(Notation::OneDnn, map, sizes).value, "aBcd8b");
  }
}

#ifndef LAYOUT_HAS_DNNL

TEST(OneDnnImport, EveryTagIsWhatOneDnnReorders) {
  GTEST_SKIP() << "oneDNN was not found when the build was configured";
}

#else

constexpr uint64_t kSeed = 20240702;

#define CHECK_DNNL(call) ASSERT_EQ(dnnl_success, call)

/// Reorders a plain tensor of 1, 2, .. to the layout `desc`. Padding is 0 or
/// -1.
void reorder(dnnl_engine_t engine, const Index &sizes,
             const dnnl_memory_desc_t &desc, std::vector<float> &stored) {
  int64_t count = 1;
  std::vector<int64_t> strides(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; count *= sizes[d])
    strides[d] = count;
  std::vector<float> plain(count);
  for (int64_t i = 0; i < count; ++i)
    plain[i] = float(i + 1);
  stored.assign(dnnl_memory_desc_get_size(&desc) / sizeof(float), -1.0f);

  dnnl_memory_desc_t plainDesc;
  CHECK_DNNL(dnnl_memory_desc_init_by_strides(
      &plainDesc, sizes.size(), sizes.data(), dnnl_f32, strides.data()));
  dnnl_memory_t from, to;
  CHECK_DNNL(dnnl_memory_create(&from, &plainDesc, engine, plain.data()));
  CHECK_DNNL(dnnl_memory_create(&to, &desc, engine, stored.data()));
  dnnl_primitive_desc_t primitiveDesc;
  CHECK_DNNL(dnnl_reorder_primitive_desc_create(
      &primitiveDesc, &plainDesc, engine, &desc, engine, nullptr));
  dnnl_primitive_t primitive;
  CHECK_DNNL(dnnl_primitive_create(&primitive, primitiveDesc));
  dnnl_stream_t stream;
  CHECK_DNNL(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
  dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  CHECK_DNNL(dnnl_primitive_execute(primitive, stream, 2, arguments));
  CHECK_DNNL(dnnl_stream_wait(stream));
  dnnl_stream_destroy(stream);
  dnnl_primitive_destroy(primitive);
  dnnl_primitive_desc_destroy(primitiveDesc);
  dnnl_memory_destroy(from);
  dnnl_memory_destroy(to);
}

/// Writes the descriptor in the notation.
std::string describe(const dnnl_memory_desc_t &desc) {
  const dnnl_blocking_desc_t &blocking = desc.format_desc.blocking;
  auto list = [](const dnnl_dim_t *numbers, int n) {
    std::string text;
    for (int i = 0; i < n; ++i)
      text += (i ? "," : "") + std::to_string(numbers[i]);
    return "[" + text + "]";
  };
  return "strides=" + list(blocking.strides, desc.ndims) +
         " blks=" + list(blocking.inner_blks, blocking.inner_nblks) +
         " idxs=" + list(blocking.inner_idxs, blocking.inner_nblks) +
         " padded=" + list(desc.padded_dims, desc.ndims);
}

/// Checks that the map has every element at the position of oneDNN.
void expectStored(const LayoutMap &map, const Index &sizes,
                  const std::vector<float> &stored) {
  ASSERT_EQ((*map.storageExtent(sizes))[0], int64_t(stored.size()));
  std::optional<Evaluator> evaluator = Evaluator::ofCoordinates(map, sizes);
  ASSERT_TRUE(evaluator);
  float number = 0;
  forEachIndex(sizes, [&](const Index &index) {
    number += 1;
    int64_t offset;
    evaluator->evaluate(index.data(), &offset);
    ASSERT_EQ(stored[offset], number) << testing::PrintToString(index);
  });
}

struct Engine {
  dnnl_engine_t engine;
  Engine() {
    // Thread synchronization costs more than these small tensors.
    using SetThreads = void (*)(int);
    if (auto set = reinterpret_cast<SetThreads>(
            dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
      set(1);
    EXPECT_EQ(dnnl_success, dnnl_engine_create(&engine, dnnl_cpu, 0));
  }
  ~Engine() { dnnl_engine_destroy(engine); }
};

TEST(OneDnnImport, EveryTagIsWhatOneDnnReorders) {
  Engine engine;
  Random random(kSeed);
  int tags = 0;
  for (int t = dnnl_a; t < dnnl_format_tag_last && !HasFailure(); ++t) {
    auto tag = static_cast<dnnl_format_tag_t>(t);
    std::string text = dnnl_fmt_tag2str(tag);
    std::string letters =
        llvm::StringRef(text).take_while(llvm::isAlpha).lower();
    unsigned rank = letters.size();
    if (rank > 5)
      continue;
    ++tags;
    std::vector<int64_t> blocks(rank, 1);
    for (llvm::StringRef rest = llvm::StringRef(text).drop_front(rank);
         !rest.empty(); rest = rest.drop_front()) {
      int64_t factor;
      ASSERT_FALSE(rest.consumeInteger(10, factor));
      blocks[rest.front() - 'a'] *= factor;
    }
    // Sizes below a block, and non-divisible sizes above it.
    for (bool isSmall : {true, false}) {
      Index sizes;
      for (int64_t block : blocks)
        sizes.push_back(block == 1 ? 1 + random.below(3)
                        : isSmall  ? 1 + random.below(block)
                                   : block + 1 + random.below(3));
      SCOPED_TRACE("seed " + std::to_string(kSeed) + ": " + text + " on " +
                   testing::PrintToString(sizes));
      dnnl_memory_desc_t desc;
      CHECK_DNNL(dnnl_memory_desc_init_by_tag(&desc, rank, sizes.data(),
                                              dnnl_f32, tag));
      std::vector<float> stored;
      reorder(engine.engine, sizes, desc, stored);
      LayoutMap map = *import(Notation::OneDnn, text, sizes).value;
      expectStored(map, sizes, stored);
      LayoutMap byNumbers =
          *import(Notation::OneDnn, describe(desc), sizes).value;
      ASSERT_EQ(equalOn(map, byNumbers, sizes), ProofResult::Proved)
          << describe(desc);
      ASSERT_EQ(write(Notation::OneDnn, map, sizes).value, text);
      // From a map for one shape, export writes an equivalent text.
      std::string again = *write(Notation::OneDnn, byNumbers, sizes).value;
      ASSERT_EQ(
          equalOn(map, *import(Notation::OneDnn, again, sizes).value, sizes),
          ProofResult::Proved)
          << again;
    }
  }
  RecordProperty("tags", tags);
  EXPECT_GT(tags, 200);
}

TEST(OneDnnImport, NamesOfDimsAreThoseOfOneDnn) {
  static const std::pair<const char *, dnnl_format_tag_t> aliases[] = {
#include "DnnlAliases.inc"
  };
  int compared = 0;
  for (auto [name, tag] : aliases) {
    std::string generic = dnnl_fmt_tag2str(tag);
    unsigned rank = llvm::StringRef(generic).take_while(llvm::isAlpha).size();
    Index unknown(rank, kUnknownSize);
    auto map = import(Notation::OneDnn, name, unknown);
    // Some names of oneDNN contradict the tag. Two state a block of i that does
    // not exist: Acdb32a is Ohwi32o.
    if (llvm::StringRef(name).ends_with("OhwI32o")) {
      EXPECT_THAT(map.fault, testing::HasSubstr("'i' in upper case without"));
      continue;
    }
    // In two others the dims are in another order.
    if (llvm::StringRef(name).ends_with("hw2i8o16i2o") && name[0] == 'g') {
      EXPECT_THAT(map.fault, testing::HasSubstr(std::string("oneDNN reads ") +
                                                name + " as " + generic));
      continue;
    }
    ASSERT_TRUE(map.value) << name << ": " << map.fault;
    EXPECT_EQ(*map.value, *import(Notation::OneDnn, generic, unknown).value)
        << name << " is " << generic;
    EXPECT_EQ(write(Notation::OneDnn, *map.value, unknown).value, generic);
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

#endif // LAYOUT_HAS_DNNL

} // namespace
