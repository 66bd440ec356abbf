//===- RgbaImageTest.cpp - Every kind of image on numbers -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of docs/spec.md, section 3.3, on numbers: the expected values use
// no digit, extent or map of the library.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/RgbaImage.h"
#include "RandomShapes.h"
#include "layout/Algebra/Proof.h"
#include "gtest/gtest.h"
#include <functional>
#include <map>

using namespace layout_test;
using namespace mlir::layout;

namespace {

constexpr uint64_t kSeed = 20250117;

using Index = SmallIndex;

/// The indices of one element, or the sizes, by letter.
using Letters = std::map<char, int64_t>;

int64_t c4(int64_t a) { return (a + 3) / 4; }

/// A row of the table of the specification: image sizes and positions.
struct ImageRow {
  const char *kind;
  const char *letters;
  std::function<Index(Letters)> image;
  std::function<Index(Letters, Letters)> place;
};

const ImageRow imageRows[] = {
    {"in_out_channel", "NHWC",
     [](Letters s) -> Index {
       return {s['W'] * c4(s['C']), s['N'] * s['H'], 4};
     },
     [](Letters s, Letters i) -> Index {
       return {i['C'] / 4 * s['W'] + i['W'], i['N'] * s['H'] + i['H'],
               i['C'] % 4};
     }},
    {"in_out_height", "NHWC",
     [](Letters s) -> Index {
       return {s['W'] * s['C'], s['N'] * c4(s['H']), 4};
     },
     [](Letters s, Letters i) -> Index {
       return {i['C'] * s['W'] + i['W'], i['N'] * c4(s['H']) + i['H'] / 4,
               i['H'] % 4};
     }},
    {"in_out_width", "NHWC",
     [](Letters s) -> Index {
       return {c4(s['W']) * s['C'], s['N'] * s['H'], 4};
     },
     [](Letters s, Letters i) -> Index {
       return {i['C'] * c4(s['W']) + i['W'] / 4, i['N'] * s['H'] + i['H'],
               i['W'] % 4};
     }},
    {"conv2d_filter", "OIHW",
     [](Letters s) -> Index {
       return {s['I'], c4(s['O']) * s['H'] * s['W'], 4};
     },
     [](Letters s, Letters i) -> Index {
       return {i['I'], i['O'] / 4 * s['H'] * s['W'] + i['H'] * s['W'] + i['W'],
               i['O'] % 4};
     }},
    {"dw_conv2d_filter", "MIHW",
     [](Letters s) -> Index { return {s['H'] * s['W'], c4(s['I']), 4}; },
     [](Letters s, Letters i) -> Index {
       return {i['H'] * s['W'] + i['W'], i['I'] / 4, i['I'] % 4};
     }},
    {"weight_height", "OIHW",
     [](Letters s) -> Index {
       return {s['I'] * s['H'] * s['W'], c4(s['O']), 4};
     },
     [](Letters s, Letters i) -> Index {
       return {(i['H'] * s['W'] + i['W']) * s['I'] + i['I'], i['O'] / 4,
               i['O'] % 4};
     }},
    {"weight_width", "OIHW",
     [](Letters s) -> Index {
       return {c4(s['I']) * s['H'] * s['W'], s['O'], 4};
     },
     [](Letters s, Letters i) -> Index {
       return {(i['H'] * s['W'] + i['W']) * c4(s['I']) + i['I'] / 4, i['O'],
               i['I'] % 4};
     }},
    {"argument", "W", [](Letters s) -> Index { return {c4(s['W']), 1, 4}; },
     [](Letters, Letters i) -> Index { return {i['W'] / 4, 0, i['W'] % 4}; }},
    {"texture_2d", "NHWC",
     [](Letters s) -> Index {
       return {s['W'] * s['N'], s['H'] * c4(s['C']), 4};
     },
     [](Letters s, Letters i) -> Index {
       return {i['W'] * s['N'] + i['N'], i['H'] * c4(s['C']) + i['C'] / 4,
               i['C'] % 4};
     }},
    {"image_array", "NHWC",
     [](Letters s) -> Index {
       return {s['W'] * s['N'], s['H'], c4(s['C']), 4};
     },
     [](Letters s, Letters i) -> Index {
       return {i['W'] * s['N'] + i['N'], i['H'], i['C'] / 4, i['C'] % 4};
     }},
    {"image_3d", "NHWC",
     [](Letters s) -> Index {
       return {s['W'] * s['N'], s['H'], c4(s['C']), 4};
     },
     [](Letters s, Letters i) -> Index {
       return {i['W'] * s['N'] + i['N'], i['H'], i['C'] / 4, i['C'] % 4};
     }},
    {"single_pixel", "NHWC",
     [](Letters s) -> Index { return {s['W'], s['N'] * s['H'], 4}; },
     [](Letters s, Letters i) -> Index {
       return {i['W'], i['N'] * s['H'] + i['H'], i['C']};
     }},
};

TEST(RgbaImage, EveryKindIsItsRowOfTheTableInEveryOrder) {
  RandomShapes random(kSeed);
  auto unexpected = [](const llvm::Twine &message) {
    ADD_FAILURE() << message.str();
  };
  ASSERT_EQ(getRgbaImageNames().size(), std::size(imageRows));
  for (const ImageRow &row : imageRows) {
    RgbaImageKind kind = *getRgbaImageKind(row.kind);
    ASSERT_EQ(getLetters(kind), row.letters);
    for (int i = 0; i < 9; ++i) {
      std::string letters = row.letters;
      llvm::SmallVector<unsigned> order;
      if (i % 3) {
        random.shuffle(letters);
        order = *parseOrder(kind, letters, [](size_t, const llvm::Twine &m) {
          ADD_FAILURE() << m.str();
        });
      }
      Index shape = random.shape(letters.size(), 6), unknown = shape;
      Letters sizes;
      for (size_t d = 0; d < letters.size(); ++d) {
        bool isFixed = letters[d] == 'M';
        if (isFixed)
          shape[d] = 1;
        if (row.kind == llvm::StringRef("single_pixel") && letters[d] == 'C') {
          shape[d] = 1 + shape[d] % 4;
          isFixed = true;
        }
        unknown[d] = isFixed ? shape[d] : kUnknownSize;
        sizes[letters[d]] = shape[d];
      }
      SCOPED_TRACE("seed " + std::to_string(kSeed) + ", " + row.kind + " " +
                   letters + " on " + testing::PrintToString(shape));
      std::optional<RgbaImage> image =
          getRgbaImage(kind, order, shape, unexpected);
      ASSERT_TRUE(image.has_value());
      LayoutMap map = image->getMap(shape.size());
      ASSERT_EQ(*map.storageExtent(shape), row.image(sizes));
      ASSERT_EQ(proveInjective(map, shape).answer, ProofResult::Proved);
      for (const Index &index : allIndices(shape)) {
        Letters at;
        for (size_t d = 0; d < letters.size(); ++d)
          at[letters[d]] = index[d];
        ASSERT_EQ(*map.forward(index, shape), row.place(sizes, at));
        ASSERT_EQ(*map.backward(row.place(sizes, at), shape), index);
      }
      // The map of unknown sizes is equal and provably injective.
      LayoutMap dynamic =
          getRgbaImage(kind, order, unknown, unexpected)->getMap(shape.size());
      ASSERT_TRUE(dynamic == map);
      ASSERT_EQ(proveInjective(map, unknown).answer, ProofResult::Proved);
    }
  }
}

TEST(RgbaImage, ATensorTooWideForADeviceFitsInAnotherKind) {
  Index shape{1, 760, 1352, 64};
  auto extentOf = [&](RgbaImageKind kind) {
    auto unexpected = [](const llvm::Twine &m) { ADD_FAILURE() << m.str(); };
    return *getRgbaImage(kind, {}, shape, unexpected)
                ->getMap(4)
                .storageExtent(shape);
  };
  EXPECT_EQ(extentOf(RgbaImageKind::InOutChannel), (Index{21632, 760, 4}));
  EXPECT_EQ(extentOf(RgbaImageKind::Texture2d), (Index{1352, 12160, 4}));
}

} // namespace
