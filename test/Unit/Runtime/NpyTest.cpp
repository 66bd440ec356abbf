//===- NpyTest.cpp - Arrays in files --------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/Npy.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::layout;

namespace {

/// A file that is removed after the test.
class NpyFile : public ::testing::Test {
protected:
  NpyFile() {
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("layout", "npy", path));
  }
  ~NpyFile() override { llvm::sys::fs::remove(path); }

  void put(StringRef bytes) {
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    os << bytes;
  }
  std::string get() {
    return (*llvm::MemoryBuffer::getFile(path, false, false))
        ->getBuffer()
        .str();
  }
  /// Writes a file as the format specifies: magic, version, the length of the
  /// header in two bytes, or four from version 2 on, header, data.
  void putArray(StringRef header, StringRef data, char version = 1) {
    std::string text("\x93NUMPY");
    text +=
        {version, '\0', char(header.size() % 256), char(header.size() / 256)};
    if (version > 1)
      text += {'\0', '\0'};
    put(text + header.str() + data.str());
  }
  std::string getError() {
    llvm::Expected<Array> array = readNpy(path);
    return array ? "none" : llvm::toString(array.takeError());
  }

  SmallString<128> path;
};

std::string getHeader(StringRef descr, StringRef shape,
                      StringRef fortran = "False") {
  return ("{'descr': '" + descr + "', 'fortran_order': " + fortran +
          ", 'shape': " + shape + ", }")
      .str();
}

TEST_F(NpyFile, ComesBackAsItWasWritten) {
  for (SmallVector<int64_t> shape : {SmallVector<int64_t>{},
                                     {3},
                                     {2, 3, 4},
                                     {5, 0, 2},
                                     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}) {
    Array array(ElementKind::I16, shape);
    for (int64_t i = 0; i < array.getNumElements(); ++i) {
      int16_t value = 1000 - 300 * i;
      std::memcpy(array.data() + 2 * i, &value, 2);
    }
    ASSERT_FALSE(bool(writeNpy(path, array)));
    // The data start at a multiple of 64 bytes and end the file.
    std::string bytes = get();
    size_t begin = bytes.size() - array.getNumBytes();
    EXPECT_EQ(begin % 64, 0u);
    EXPECT_EQ(bytes[begin - 1], '\n');
    llvm::Expected<Array> back = readNpy(path);
    ASSERT_TRUE(bool(back)) << llvm::toString(back.takeError());
    EXPECT_EQ(back->getKind(), array.getKind());
    EXPECT_EQ(back->getShape(), array.getShape());
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      EXPECT_EQ(back->getAsComplex(i).real(), 1000 - 300 * i);
  }
}

TEST_F(NpyFile, ReadsEveryVersion) {
  for (char version : {1, 2, 3}) {
    putArray(getHeader("|i1", "(2,)"), "\x01\xfe", version);
    llvm::Expected<Array> array = readNpy(path);
    ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
    EXPECT_EQ(array->getAsComplex(0).real(), 1);
    EXPECT_EQ(array->getAsComplex(1).real(), -2);
  }
  putArray(getHeader("|i1", "(1,)"), "\x01", 4);
  EXPECT_NE(getError().find("versions 1 to 3"), std::string::npos);
}

/// The bits of an f16: 1 of the sign, 5 of the exponent, 10 of the fraction.
TEST_F(NpyFile, ReadsHalves) {
  struct Half {
    uint16_t bits;
    double value;
  };
  const Half halves[] = {{0x0000, 0},
                         {0x3c00, 1},
                         {0xc000, -2},
                         {0x3555, 0.333251953125},
                         {0x7bff, 65504},
                         {0x0400, std::ldexp(1, -14)},
                         {0x0001, std::ldexp(1, -24)},
                         {0x83ff, -std::ldexp(1023, -24)},
                         {0x7c00, INFINITY},
                         {0xfc00, -INFINITY}};
  std::string data;
  for (const Half &half : halves)
    data += {char(half.bits % 256), char(half.bits / 256)};
  data += {'\x01', '\x7c'};
  putArray(getHeader("<f2", "(11,)"), data);
  llvm::Expected<Array> array = readNpy(path);
  ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
  for (auto [i, half] : llvm::enumerate(halves))
    EXPECT_EQ(array->getAsComplex(i).real(), half.value) << half.bits;
  EXPECT_TRUE(std::isnan(array->getAsComplex(10).real()));
}

/// Two bytes each, least significant first.
TEST_F(NpyFile, ReadsSignedAndUnsignedNumbers) {
  struct Example {
    const char *descr;
    std::string data;
    double value;
  };
  const std::string ones(8, '\xff');
  const Example examples[] = {{"<u2", ones.substr(0, 2), 65535},
                              {"<i2", ones.substr(0, 2), -1},
                              {"<u4", ones.substr(0, 4), 4294967295.0},
                              {"<i4", ones.substr(0, 4), -1},
                              {"<u8", ones, 18446744073709551616.0},
                              {"<i8", ones, -1},
                              {"|u1", "\x80", 128},
                              {"|i1", "\x80", -128},
                              {"|b1", "\x01", 1}};
  for (const Example &example : examples) {
    putArray(getHeader(example.descr, "(1,)"), example.data);
    llvm::Expected<Array> array = readNpy(path);
    ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
    EXPECT_EQ(array->getAsComplex(0), example.value) << example.descr;
  }
}

/// Sub-byte types, which a file stores in another dtype.
TEST(Npy, ReadsNumbersOfFewBits) {
  auto read = [](ElementKind kind, char byte) {
    Array array(kind, {1});
    *array.data() = byte;
    return array.getAsComplex(0);
  };
  EXPECT_EQ(read(ElementKind::F4E2M1FN, 0xf), -6.0);
  EXPECT_EQ(read(ElementKind::F6E2M3FN, 0x1f), 7.5);
  EXPECT_EQ(read(ElementKind::F6E3M2FN, 0x21), -0.0625);
  EXPECT_EQ(read(ElementKind::F8E8M0FNU, 0), std::ldexp(1.0, -127));
  EXPECT_EQ(read(ElementKind::I2, -2), -2.0);
  EXPECT_EQ(read(ElementKind::U2, 3), 3.0);

  MLIRContext context;
  Builder b(&context);
  EXPECT_EQ(getPartialBits(b.getIntegerType(2)), 2u);
  EXPECT_EQ(getPartialBits(Float6E2M3FNType::get(&context)), 6u);
  EXPECT_EQ(getPartialBits(b.getI1Type()), 0u);
  EXPECT_EQ(getPartialBits(Float8E8M0FNUType::get(&context)), 0u);
}

TEST_F(NpyFile, SaysWhatIsWrongWithAFile) {
  auto holds = [&](StringRef part) {
    std::string error = getError();
    EXPECT_TRUE(StringRef(error).contains(part)) << error;
  };
  put("no array");
  holds("is not a .npy file");
  put(StringRef("\x93NUMPY\x01", 7));
  holds("truncated in the header");
  putArray(getHeader("<f4", "(2,)"), StringRef("\0\0\0\0\0\0\0", 7));
  holds("is truncated: 7 bytes of data, the shape needs 8");
  putArray(getHeader("<f4", "(2,)"), StringRef("\0\0\0\0\0\0\0\0\0", 9));
  holds("has bytes left over: 9 bytes");
  putArray(getHeader("<f4", "(1, 1)", "True"), StringRef("\0\0\0\0", 4));
  holds("Fortran order");
  putArray(getHeader(">f4", "(1,)"), StringRef("\0\0\0\0", 4));
  holds("has dtype '>f4'");
  putArray(getHeader("<f4", "(4611686018427387904, 4)"), "");
  holds("too large");
  putArray(getHeader("|b1", "(2,)"), "\x01\x02");
  holds("a boolean that is neither 0 nor 1");
  putArray(getHeader("<f4", "(-1,)"), "");
  holds("not a tuple of sizes");
  putArray("{'descr': '<f4'}", "");
  holds("needs 'descr', 'fortran_order' and 'shape'");
}

/// A vector is the same in both orders.
TEST_F(NpyFile, TakesVectorsInFortranOrder) {
  putArray(getHeader("|i1", "(2,)", "True"), "\x03\x04");
  EXPECT_EQ(getError(), "none");
}

TEST(Array, CountsItsBytes) {
  EXPECT_EQ(Array::byteSize(ElementKind::F32, {}), 4);
  EXPECT_EQ(Array::byteSize(ElementKind::I64, {2, 3}), 48);
  EXPECT_EQ(Array::byteSize(ElementKind::F16, {4, 0, 5}), 0);
  EXPECT_EQ(Array::byteSize(ElementKind::I8, {int64_t(1) << 62}), int64_t(1)
                                                                      << 62);
  EXPECT_EQ(Array::byteSize(ElementKind::I16, {int64_t(1) << 62}),
            std::nullopt);
  EXPECT_EQ(Array::byteSize(ElementKind::I8, {2, -1}), std::nullopt);
  // The strides must be representable, too.
  EXPECT_EQ(Array::byteSize(ElementKind::I8, {0, INT64_MAX, 3}), std::nullopt);
  EXPECT_EQ(Array(ElementKind::F64, {2, 0}).describe(), "tensor<2x0xf64>");
}

TEST(Array, KnowsItsElementTypes) {
  MLIRContext context;
  Builder builder(&context);
  EXPECT_EQ(getElementKind(builder.getF16Type()), ElementKind::F16);
  EXPECT_EQ(getElementKind(builder.getF64Type()), ElementKind::F64);
  EXPECT_EQ(getElementKind(builder.getIntegerType(16)), ElementKind::I16);
  EXPECT_EQ(getElementKind(ComplexType::get(builder.getF32Type())),
            ElementKind::C64);
  EXPECT_EQ(getElementKind(ComplexType::get(builder.getF16Type())),
            std::nullopt);
  EXPECT_EQ(getElementKind(builder.getIndexType()), ElementKind::I64);
  EXPECT_EQ(getElementKind(builder.getIntegerType(8, /*isSigned=*/false)),
            ElementKind::U8);
  EXPECT_EQ(getElementKind(builder.getIntegerType(12)), std::nullopt);
}

} // namespace
