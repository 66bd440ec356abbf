// Matrix transposes written with AVX-512 intrinsics, for conversions.py: a
// reference for generated code. A variant is one traversal of a matrix of
// `rows` x `columns`; the fastest variant counts.
//
//   tile     64 / bytes rows and `lanes` 16-byte lanes of columns, in registers
//   block    the tiles before the next block, rows or columns innermost
//   stage    a block of the source or of the result that is copied by lines
//   ahead    the lines of the next tile, of the source or of the result, that
//            are prefetched during the transpose of this one

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

namespace {

enum Stage { None, OfSource, OfResult };

struct Variant {
  int lanes;
  Stage stage;
  bool streams;
  int ahead;
  bool columnsFirst;
  /// The bytes of a block in a row of the source (`ofColumns`) and in a row of
  /// the result (`ofRows`).
  size_t ofColumns, ofRows;
};

constexpr size_t all = SIZE_MAX;
constexpr Variant variants[] = {
    // clang-format off
    {1, None, false, 0, false, 64, all}, {2, None, false, 0, false, 64, all}, {4, None, false, 0, false, 64, all},
    {1, None, false, 0, true, all, 64}, {2, None, false, 0, true, all, 64}, {4, None, false, 0, true, all, 64},
    {2, None, false, 0, true, 256, all}, {2, None, false, 0, true, 1024, all}, {4, None, false, 0, true, 256, all},
    {4, None, false, 0, true, 1024, all}, {1, None, false, 0, true, 1024, all}, {4, None, false, 0, true, 4096, 128},
    {2, None, false, 0, true, 4096, 128}, {2, None, false, 1, false, 64, all}, {2, None, false, 2, false, 64, all},
    {4, None, false, 1, false, 64, all}, {4, None, false, 2, false, 64, all}, {2, None, false, 1, true, all, 64},
    {2, None, false, 2, true, all, 64}, {4, None, false, 1, true, all, 64}, {4, None, false, 2, true, all, 64},
    {2, OfSource, false, 0, false, 64, 128}, {2, OfSource, false, 0, false, 64, 256},
    {2, OfSource, false, 0, false, 128, 256}, {1, OfSource, false, 0, false, 128, 128},
    {4, OfSource, false, 0, false, 128, 512}, {2, OfSource, true, 0, false, 128, 128},
    {2, OfSource, true, 0, false, 128, 256}, {1, OfSource, true, 0, false, 128, 128},
    {2, OfResult, false, 0, false, 64, 128}, {2, OfResult, false, 0, false, 64, 512},
    {4, OfResult, false, 0, false, 64, 512}, {4, OfResult, false, 0, false, 64, 1024},
    {4, OfResult, false, 0, false, 128, 512}, {4, OfResult, false, 0, false, 256, 256},
    {2, OfResult, true, 0, false, 64, 128}, {2, OfResult, true, 0, false, 128, 256},
    {2, OfResult, true, 0, false, 512, 512}, {4, OfResult, true, 0, false, 128, 512},
    {4, OfResult, true, 0, false, 256, 256}, {4, OfResult, true, 0, false, 512, 1024},
    // clang-format on
};

template <int bytes> __m512i unpack(__m512i a, __m512i b, bool high) {
  if constexpr (bytes == 1)
    return high ? _mm512_unpackhi_epi8(a, b) : _mm512_unpacklo_epi8(a, b);
  else if constexpr (bytes == 2)
    return high ? _mm512_unpackhi_epi16(a, b) : _mm512_unpacklo_epi16(a, b);
  else
    return high ? _mm512_unpackhi_epi32(a, b) : _mm512_unpacklo_epi32(a, b);
}

/// Transposes the square matrix in each 16-byte lane of the registers `r`, and
/// stores one line per column.
template <int bytes> void turnLanes(__m512i *r, char *result, size_t stride) {
  constexpr int count = 16 / bytes;
  for (int round = 1; round < count; round *= 2) {
    __m512i next[count];
    for (int i = 0; i < count / 2; ++i) {
      next[2 * i] = unpack<bytes>(r[i], r[i + count / 2], false);
      next[2 * i + 1] = unpack<bytes>(r[i], r[i + count / 2], true);
    }
    std::copy(next, next + count, r);
  }
  for (int i = 0; i < count; ++i)
    _mm512_storeu_si512(result + i * stride, r[i]);
}

template <int bytes, int lanes>
inline __attribute__((always_inline)) void
turnTile(char *result, size_t out, const char *source, size_t in) {
  constexpr int count = 16 / bytes;
  __m512i r[lanes][count];
  for (int i = 0; i < count; ++i) {
    auto at = [&](int part) { return source + (i + part * count) * in; };
    if constexpr (lanes == 1) {
      __m512i all =
          _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)at(0)));
      all = _mm512_inserti32x4(all, _mm_loadu_si128((const __m128i *)at(1)), 1);
      all = _mm512_inserti32x4(all, _mm_loadu_si128((const __m128i *)at(2)), 2);
      r[0][i] =
          _mm512_inserti32x4(all, _mm_loadu_si128((const __m128i *)at(3)), 3);
    } else if constexpr (lanes == 2) {
      auto pair = [&](int part) {
        return _mm512_inserti64x4(
            _mm512_castsi256_si512(
                _mm256_loadu_si256((const __m256i *)at(part))),
            _mm256_loadu_si256((const __m256i *)at(part + 1)), 1);
      };
      __m512i a = pair(0), b = pair(2);
      r[0][i] = _mm512_shuffle_i64x2(a, b, 0x88);
      r[1][i] = _mm512_shuffle_i64x2(a, b, 0xdd);
    } else {
      auto pick = [](__m512i a, __m512i b, bool odd) {
        return odd ? _mm512_shuffle_i64x2(a, b, 0xdd)
                   : _mm512_shuffle_i64x2(a, b, 0x88);
      };
      __m512i rows[4];
      for (int part = 0; part < 4; ++part)
        rows[part] = _mm512_loadu_si512(at(part));
      for (int odd = 0; odd < 2; ++odd) {
        __m512i a = pick(rows[0], rows[1], odd),
                b = pick(rows[2], rows[3], odd);
        r[odd][i] = pick(a, b, false);
        r[2 + odd][i] = pick(a, b, true);
      }
    }
  }
  for (int lane = 0; lane < lanes; ++lane)
    turnLanes<bytes>(r[lane], result + lane * count * out, out);
}

void copyLines(char *result, const char *source, size_t bytes, bool streams) {
  for (size_t i = 0; i < bytes; i += 64) {
    size_t at = std::min(i, bytes - 64);
    __m512i line = _mm512_loadu_si512(source + at);
    if (streams)
      _mm512_stream_si512((__m512i *)(result + at), line);
    else
      _mm512_storeu_si512(result + at, line);
  }
}

/// Calls `use` with the first row and column of each part of `height` x `width`
/// elements. If `columnsFirst`, the inner loop runs over columns, otherwise
/// over rows. The last parts overlap the previous ones to stay in the matrix.
template <typename Use>
void forEachPart(size_t rows, size_t height, size_t columns, size_t width,
                 bool columnsFirst, Use use) {
  auto at = [&](size_t i, size_t k) {
    use(std::min(i, rows - height), std::min(k, columns - width));
  };
  if (columnsFirst)
    for (size_t i = 0; i < rows; i += height)
      for (size_t k = 0; k < columns; k += width)
        at(i, k);
  else
    for (size_t k = 0; k < columns; k += width)
      for (size_t i = 0; i < rows; i += height)
        at(i, k);
}

template <int bytes, int lanes>
void turnBlock(char *result, size_t out, const char *source, size_t in,
               size_t rows, size_t columns, int ahead, bool columnsFirst) {
  constexpr size_t height = 64 / bytes, width = lanes * 16 / bytes;
  forEachPart(rows, height, columns, width, columnsFirst,
              [&](size_t row, size_t column) {
                const char *from = source + row * in + column * bytes;
                char *to = result + column * out + row * bytes;
                if (ahead == 1)
                  for (size_t line = 0; line < height; ++line)
                    _mm_prefetch(columnsFirst ? from + line * in + 64
                                              : from + (height + line) * in,
                                 _MM_HINT_T0);
                if (ahead == 2)
                  for (size_t line = 0; line < width; ++line)
                    __builtin_prefetch(columnsFirst ? to + (width + line) * out
                                                    : to + line * out + 64,
                                       1);
                turnTile<bytes, lanes>(to, out, from, in);
              });
}

template <int bytes, int lanes>
bool transpose(const Variant &v, char *result, const char *source, size_t rows,
               size_t columns) {
  alignas(64) static char stage[2 << 20];
  size_t in = columns * bytes, out = rows * bytes;
  size_t height = std::min(v.ofRows / bytes, rows),
         width = std::min(v.ofColumns / bytes, columns);
  // One extra line keeps the columns of the stage in different cache sets.
  size_t stride = height * bytes + 64;
  if (height * bytes < 64 || width < lanes * 16 / bytes ||
      (v.stage == OfSource && width * bytes < 64) ||
      (v.streams && out % 64 != 0) ||
      (v.stage && stride * width * bytes > sizeof stage))
    return false;
  // A block of whole rows or columns is one loop; others follow the result.
  bool follows = v.ofColumns == all || v.ofRows != all;
  forEachPart(rows, height, columns, width, follows,
              [&](size_t row, size_t column) {
                const char *from = source + row * in + column * bytes;
                char *to = result + column * out + row * bytes;
                if (v.stage == OfSource) {
                  for (size_t r = 0; r < height; ++r)
                    copyLines(stage + r * width * bytes, from + r * in,
                              width * bytes, false);
                  turnBlock<bytes, lanes>(to, out, stage, width * bytes, height,
                                          width, 0, v.columnsFirst);
                } else if (v.stage == OfResult) {
                  turnBlock<bytes, lanes>(stage, stride, from, in, height,
                                          width, 0, v.columnsFirst);
                  for (size_t c = 0; c < width; ++c)
                    copyLines(to + c * out, stage + c * stride, height * bytes,
                              v.streams);
                } else {
                  turnBlock<bytes, lanes>(to, out, from, in, height, width,
                                          v.ahead, v.columnsFirst);
                }
              });
  return true;
}

template <int bytes>
bool turnOf(const Variant &v, char *result, const char *source, size_t rows,
            size_t columns) {
  if (v.lanes == 1)
    return transpose<bytes, 1>(v, result, source, rows, columns);
  if (v.lanes == 2)
    return transpose<bytes, 2>(v, result, source, rows, columns);
  return transpose<bytes, 4>(v, result, source, rows, columns);
}

} // namespace

extern "C" {

int count_transposes(void) { return sizeof variants / sizeof *variants; }

/// Transposes a matrix of 1, 2 or 4-byte elements and returns 1, or returns 0 if
/// the variant with the index `variant` does not support this matrix.
int transpose_by_hand(int variant, int bytes, char *result, const char *source,
                      size_t rows, size_t columns) {
  const Variant &v = variants[variant];
  return bytes == 1   ? turnOf<1>(v, result, source, rows, columns)
         : bytes == 2 ? turnOf<2>(v, result, source, rows, columns)
                      : turnOf<4>(v, result, source, rows, columns);
}
}
