//===- OpenCLSpirvPatcherTest.cpp - Patched SPIR-V binaries ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The resulting words are compared with words written by hand from the SPIR-V
// specification.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/GPUToOpenCL/OpenCLSpirvPatcher.h"
#include "llvm/ADT/Twine.h"
#include "gmock/gmock.h"
#include <string>
#include <vector>

using namespace mlir;
using namespace mlir::layout;
using testing::ElementsAreArray;
using testing::HasSubstr;

namespace {
using Words = std::vector<uint32_t>;

// Opcodes.
enum : uint32_t {
  Name = 5,
  ExtInstImport = 11,
  ExtInst = 12,
  MemoryModel = 14,
  Capability = 17,
  TypeVoid = 19,
  TypeInt = 21,
  TypeFloat = 22,
  TypeVector = 23,
  TypeImage = 25,
  TypeSampler = 26,
  TypeSampledImage = 27,
  TypeFunction = 33,
  Constant = 43,
  ConstantSampler = 45,
  Function = 54,
  FunctionParameter = 55,
  FunctionEnd = 56,
  FunctionCall = 57,
  Decorate = 71,
  SampledImage = 86,
  ImageSampleExplicitLod = 88,
  ImageRead = 98,
  ImageWrite = 99,
  Label = 248,
  Return = 253
};

Words op(uint32_t code, Words operands) {
  operands.insert(operands.begin(), (operands.size() + 1) << 16 | code);
  return operands;
}

Words text(const std::string &string) {
  Words words(string.size() / 4 + 1);
  for (size_t i = 0; i < string.size(); ++i)
    words[i / 4] |= uint32_t(string[i]) << 8 * (i % 4);
  return words;
}

Words join(Words first, const Words &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Words module(uint32_t bound, const std::vector<Words> &instructions) {
  Words words{0x07230203, 0x00010000, 0, bound, 0};
  for (const Words &each : instructions)
    words = join(words, each);
  return words;
}

/// The patched words, or the reason of a failure.
struct Fixed {
  Words words;
  std::string reason;
};
Fixed fix(const Words &given) {
  Fixed result;
  SmallVector<uint32_t> words(given.begin(), given.end());
  LogicalResult done = patchSpirvForOpenCL(
      words, [&](const Twine &message) { result.reason = message.str(); });
  EXPECT_EQ(succeeded(done), result.reason.empty());
  if (succeeded(done))
    result.words.assign(words.begin(), words.end());
  return result;
}

// void = 1, float = 2, image = 3, function type = 4.
const Words imageType = op(TypeImage, {3, 2, /*2D*/ 1, 0, 0, 0, 2, 0});

TEST(OpenCLSpirvPatcherTest, ReadAndWrittenImagesBecomeTwoTypes) {
  Words given = module(
      20, {op(MemoryModel, {2, 2}), op(TypeFloat, {2, 32}), imageType,
           op(TypeVoid, {1}), op(TypeFunction, {4, 1, 3, 2, 3}),
           op(Function, {1, 5, 0, 4}), op(FunctionParameter, {3, 6}),
           op(FunctionParameter, {2, 7}), op(FunctionParameter, {3, 8}),
           op(Label, {9}), op(ImageRead, {10, 11, 6, 12}),
           op(ImageWrite, {8, 12, 11}), op(Return, {}), op(FunctionEnd, {})});
  // Ids from 20 on: read-only image, write-only image, function type, image
  // with sampler, sampler, its type, level of detail, sampled value. The image
  // types have sampled type void, depth 0, sampled 0 and an access.
  Words expected =
      module(28, {op(Capability, {/*LiteralSampler*/ 20}),
                  op(MemoryModel, {2, 2}),
                  op(TypeVoid, {1}),
                  op(TypeImage, {20, 1, 1, 0, 0, 0, 0, 0, /*ReadOnly*/ 0}),
                  op(TypeImage, {21, 1, 1, 0, 0, 0, 0, 0, /*WriteOnly*/ 1}),
                  op(TypeSampledImage, {23, 20}),
                  op(TypeFloat, {2, 32}),
                  op(TypeSampler, {25}),
                  op(ConstantSampler, {25, 24, /*Clamp*/ 2, 0, /*Nearest*/ 0}),
                  op(Constant, {2, 26, 0}),
                  op(TypeFunction, {22, 1, 20, 2, 21}),
                  op(Function, {1, 5, 0, 22}),
                  op(FunctionParameter, {20, 6}),
                  op(FunctionParameter, {2, 7}),
                  op(FunctionParameter, {21, 8}),
                  op(Label, {9}),
                  op(SampledImage, {23, 27, 6, 24}),
                  op(ImageSampleExplicitLod, {10, 11, 27, 12, /*Lod*/ 2, 26}),
                  op(ImageWrite, {8, 12, 11}),
                  op(Return, {}),
                  op(FunctionEnd, {})});
  EXPECT_THAT(fix(given).words, ElementsAreArray(expected));
}

TEST(OpenCLSpirvPatcherTest, TypesThatDifferInTheSampledTypeBecomeOne) {
  // An image of float and one of int, both read: SPIR-V forbids equal types.
  Words given =
      module(20, {op(TypeFloat, {2, 32}), imageType, op(TypeInt, {13, 32, 0}),
                  op(TypeImage, {14, 13, 1, 0, 0, 0, 2, 0}), op(TypeVoid, {1}),
                  op(TypeFunction, {4, 1, 3, 14}), op(Function, {1, 5, 0, 4}),
                  op(FunctionParameter, {3, 6}), op(FunctionParameter, {14, 7}),
                  op(FunctionEnd, {})});
  Words expected = module(
      22, {op(TypeVoid, {1}), op(TypeImage, {20, 1, 1, 0, 0, 0, 0, 0, 0}),
           op(TypeFloat, {2, 32}), op(TypeInt, {13, 32, 0}),
           op(TypeFunction, {21, 1, 20, 20}), op(Function, {1, 5, 0, 21}),
           op(FunctionParameter, {20, 6}), op(FunctionParameter, {20, 7}),
           op(FunctionEnd, {})});
  EXPECT_THAT(fix(given).words, ElementsAreArray(expected));
}

TEST(OpenCLSpirvPatcherTest, ArraysAndVolumesStayApart) {
  Words given =
      module(20, {op(TypeFloat, {2, 32}),
                  op(TypeImage, {3, 2, /*2D*/ 1, 0, /*arrayed*/ 1, 0, 2, 0}),
                  op(TypeImage, {14, 2, /*3D*/ 2, 0, 0, 0, 2, 0}),
                  op(TypeVoid, {1}), op(TypeFunction, {4, 1, 3, 14}),
                  op(Function, {1, 5, 0, 4}), op(FunctionParameter, {3, 6}),
                  op(FunctionParameter, {14, 7}), op(FunctionEnd, {})});
  Words words = fix(given).words;
  Words types =
      join(join(op(TypeVoid, {1}), op(TypeImage, {20, 1, 1, 0, 1, 0, 0, 0, 0})),
           op(TypeImage, {21, 1, 2, 0, 0, 0, 0, 0, 0}));
  ASSERT_GE(words.size(), 5 + types.size());
  EXPECT_THAT(Words(words.begin() + 5, words.begin() + 5 + types.size()),
              ElementsAreArray(types));
}

TEST(OpenCLSpirvPatcherTest, ImportedFunctionsBecomeExtendedInstructions) {
  Words linkage = op(Decorate, join(join({5, /*LinkageAttributes*/ 41},
                                         text("OpenCL.std/vload_half")),
                                    {/*Import*/ 1}));
  Words given =
      module(20, {op(MemoryModel, {2, 2}), op(Name, join({5}, text("load"))),
                  linkage, op(TypeVoid, {1}), op(TypeFloat, {2, 32}),
                  op(TypeFunction, {4, 2, 2}), op(TypeFunction, {14, 1}),
                  // The declaration, then a function that calls it.
                  op(Function, {2, 5, 0, 4}), op(FunctionParameter, {2, 6}),
                  op(FunctionEnd, {}), op(Function, {1, 7, 0, 14}),
                  op(Label, {8}), op(FunctionCall, {2, 9, 5, 10}),
                  op(Return, {}), op(FunctionEnd, {})});
  Words expected = module(
      21, {op(ExtInstImport, join({20}, text("OpenCL.std"))),
           op(MemoryModel, {2, 2}), op(TypeVoid, {1}), op(TypeFloat, {2, 32}),
           op(TypeFunction, {4, 2, 2}), op(TypeFunction, {14, 1}),
           op(Function, {1, 7, 0, 14}), op(Label, {8}),
           op(ExtInst, {2, 9, 20, /*vload_half*/ 173, 10}), op(Return, {}),
           op(FunctionEnd, {})});
  EXPECT_THAT(fix(given).words, ElementsAreArray(expected));
}

TEST(OpenCLSpirvPatcherTest, OtherModulesStayAsTheyAre) {
  Words given = module(9, {op(MemoryModel, {2, 2}), op(TypeVoid, {1}),
                           op(TypeFunction, {4, 1}), op(Function, {1, 5, 0, 4}),
                           op(FunctionEnd, {})});
  EXPECT_THAT(fix(given).words, ElementsAreArray(given));
}

TEST(OpenCLSpirvPatcherTest, WhatCannotBeSaidIsAnError) {
  EXPECT_THAT(fix({1, 2, 3}).reason, HasSubstr("not a SPIR-V module"));
  Words cut = module(9, {op(TypeVoid, {1})});
  cut.pop_back();
  EXPECT_THAT(fix(cut).reason, HasSubstr("ends past the end"));
  Words empty = module(9, {{0}});
  EXPECT_THAT(fix(empty).reason, HasSubstr("ends past the end"));
  Words both =
      module(20, {op(TypeFloat, {2, 32}), imageType, op(TypeVoid, {1}),
                  op(TypeFunction, {4, 1, 3}), op(Function, {1, 5, 0, 4}),
                  op(FunctionParameter, {3, 6}), op(Label, {9}),
                  op(ImageRead, {10, 11, 6, 12}), op(ImageWrite, {6, 12, 11}),
                  op(FunctionEnd, {})});
  EXPECT_THAT(fix(both).reason, HasSubstr("read and written"));
  Words unknown = module(
      20, {op(MemoryModel, {2, 2}),
           op(Decorate, join(join({5, 41}, text("OpenCL.std/no_such")), {1}))});
  EXPECT_THAT(fix(unknown).reason, HasSubstr("'no_such'"));
}
} // namespace
