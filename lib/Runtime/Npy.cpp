//===- Npy.cpp - Dense arrays and their .npy files ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/Npy.h"
#include "layout/Support/WholeFile.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::layout;
using llvm::Error;
using llvm::Expected;

using llvm::APFloat;

namespace {
struct KindInfo {
  ElementKind kind;
  StringLiteral name;
  StringLiteral descr; // numpy's name of the stored dtype
  int64_t bytes;
  const llvm::fltSemantics &(*semantics)() = nullptr; // of a float
};
} // namespace

// In the order of ElementKind. Types that numpy lacks follow those that it has,
// so that a file of a shared dtype is read as the latter.
static constexpr KindInfo kinds[] = {
    {ElementKind::F16, "f16", "<f2", 2, APFloat::IEEEhalf},
    {ElementKind::F32, "f32", "<f4", 4, APFloat::IEEEsingle},
    {ElementKind::F64, "f64", "<f8", 8, APFloat::IEEEdouble},
    {ElementKind::C64, "complex<f32>", "<c8", 8},
    {ElementKind::C128, "complex<f64>", "<c16", 16},
    {ElementKind::I1, "i1", "|b1", 1},
    {ElementKind::I8, "i8", "|i1", 1},
    {ElementKind::I16, "i16", "<i2", 2},
    {ElementKind::I32, "i32", "<i4", 4},
    {ElementKind::I64, "i64", "<i8", 8},
    {ElementKind::U8, "ui8", "|u1", 1},
    {ElementKind::U16, "ui16", "<u2", 2},
    {ElementKind::U32, "ui32", "<u4", 4},
    {ElementKind::U64, "ui64", "<u8", 8},
    {ElementKind::I4, "i4", "|i1", 1},
    {ElementKind::U4, "ui4", "|u1", 1},
    {ElementKind::I2, "i2", "|i1", 1},
    {ElementKind::U2, "ui2", "|u1", 1},
    {ElementKind::BF16, "bf16", "<u2", 2, APFloat::BFloat},
    {ElementKind::F8E3M4, "f8E3M4", "|u1", 1, APFloat::Float8E3M4},
    {ElementKind::F8E4M3, "f8E4M3", "|u1", 1, APFloat::Float8E4M3},
    {ElementKind::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", "|u1", 1,
     APFloat::Float8E4M3B11FNUZ},
    {ElementKind::F8E4M3FN, "f8E4M3FN", "|u1", 1, APFloat::Float8E4M3FN},
    {ElementKind::F8E4M3FNUZ, "f8E4M3FNUZ", "|u1", 1, APFloat::Float8E4M3FNUZ},
    {ElementKind::F8E5M2, "f8E5M2", "|u1", 1, APFloat::Float8E5M2},
    {ElementKind::F8E5M2FNUZ, "f8E5M2FNUZ", "|u1", 1, APFloat::Float8E5M2FNUZ},
    {ElementKind::F8E8M0FNU, "f8E8M0FNU", "|u1", 1, APFloat::Float8E8M0FNU},
    {ElementKind::F6E2M3FN, "f6E2M3FN", "|u1", 1, APFloat::Float6E2M3FN},
    {ElementKind::F6E3M2FN, "f6E3M2FN", "|u1", 1, APFloat::Float6E3M2FN},
    {ElementKind::F4E2M1FN, "f4E2M1FN", "|u1", 1, APFloat::Float4E2M1FN}};

/// Pairs of a dtype that another library writes, e.g. ml_dtypes, and the
/// equivalent dtype in `kinds`.
static constexpr std::pair<StringLiteral, StringLiteral> spellings[] = {
    {"<i1", "|i1"}, {"<u1", "|u1"}, {"<b1", "|b1"}, {"|V2", "<u2"},
    {"<V2", "<u2"}, {"|V1", "|u1"}, {"<V1", "|u1"}, {"<f1", "|u1"}};

static const KindInfo &info(ElementKind kind) {
  return kinds[static_cast<int>(kind)];
}

/// Returns the kind of the first entry of `kinds` that satisfies `matches`, or
/// std::nullopt.
template <typename Fn> static std::optional<ElementKind> findKind(Fn matches) {
  const KindInfo *found = llvm::find_if(kinds, matches);
  return found == std::end(kinds) ? std::nullopt
                                  : std::make_optional(found->kind);
}

StringRef layout::getName(ElementKind kind) { return info(kind).name; }
int64_t layout::getByteSize(ElementKind kind) { return info(kind).bytes; }

std::string layout::getElementNames() {
  std::string names = "index";
  for (const KindInfo &kind : kinds)
    names += (", " + kind.name).str();
  return names;
}

/// Returns the text of an element type, or an empty string for a type that is
/// not a number. The printer of types takes longer than a small program.
static std::string getText(Type type) {
  if (isa<FloatType>(type)) {
    StringRef name = type.getAbstractType().getName();
    return name.drop_front(name.find('.') + 1).str();
  }
  if (auto integer = dyn_cast<IntegerType>(type))
    return (integer.isSigned()     ? "si"
            : integer.isUnsigned() ? "ui"
                                   : "i") +
           std::to_string(integer.getWidth());
  if (auto number = dyn_cast<ComplexType>(type))
    return "complex<" + getText(number.getElementType()) + ">";
  return "";
}

std::optional<ElementKind> layout::getElementKind(Type type) {
  if (type.isIndex())
    return ElementKind::I64;
  std::string text = getText(type);
  return findKind([&](const KindInfo &kind) { return kind.name == text; });
}

unsigned layout::getPartialBits(Type type) {
  if (!type.isIntOrFloat() || type.isInteger(1))
    return 0;
  unsigned width = type.getIntOrFloatBitWidth();
  return width < 8 ? width : 0;
}

bool layout::canHold(ElementKind kind, Type type) {
  std::optional<ElementKind> wanted = getElementKind(type);
  if (!wanted || kind == *wanted)
    return wanted.has_value();
  // A kind can also hold the types that are stored in its dtype, e.g. bf16 in
  // uint16, and signless integers of its width.
  const KindInfo &has = info(kind), &needs = info(*wanted);
  return has.descr == needs.descr || has.name == ("u" + needs.name).str();
}

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

static constexpr int64_t kAlignment = 64;

std::optional<int64_t> Array::byteSize(ElementKind kind,
                                       ArrayRef<int64_t> shape) {
  // A zero makes the array empty, but the strides of the other extents must
  // still be computable.
  int64_t product = getByteSize(kind);
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    empty |= size == 0;
    std::optional<int64_t> next =
        llvm::checkedMul(product, std::max<int64_t>(size, 1));
    if (!next || *next > (int64_t(1) << 62))
      return std::nullopt;
    product = *next;
  }
  return empty ? 0 : product;
}

Array::Array(ElementKind kind, ArrayRef<int64_t> shape)
    : kind(kind), shape(shape.begin(), shape.end()) {
  // The size is never zero, so that every array has a distinct address.
  void *data;
  if (posix_memalign(&data, kAlignment, std::max<int64_t>(getNumBytes(), 1)))
    llvm::report_bad_alloc_error("out of memory for an array");
  storage = {static_cast<char *>(data), Release{data, std::free}};
}

Array::Array(ElementKind kind, ArrayRef<int64_t> shape, char *data, void *block,
             void (*release)(void *))
    : kind(kind), shape(shape.begin(), shape.end()),
      storage(data, Release{block, release}) {}

int64_t Array::getNumElements() const {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

template <typename T> static T loadAs(const char *p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

std::complex<double> Array::getAsComplex(int64_t i) const {
  const char *p = data() + i * getByteSize(kind);
  switch (kind) {
  case ElementKind::F32:
    return loadAs<float>(p);
  case ElementKind::F64:
    return loadAs<double>(p);
  case ElementKind::C64:
    return loadAs<std::complex<float>>(p);
  case ElementKind::C128:
    return loadAs<std::complex<double>>(p);
  case ElementKind::I2:
  case ElementKind::I4:
  case ElementKind::I8:
    return loadAs<int8_t>(p);
  case ElementKind::I16:
    return loadAs<int16_t>(p);
  case ElementKind::I32:
    return loadAs<int32_t>(p);
  case ElementKind::I64:
    return static_cast<double>(loadAs<int64_t>(p));
  case ElementKind::I1:
  case ElementKind::U2:
  case ElementKind::U4:
  case ElementKind::U8:
    return loadAs<uint8_t>(p);
  case ElementKind::U16:
    return loadAs<uint16_t>(p);
  case ElementKind::U32:
    return loadAs<uint32_t>(p);
  case ElementKind::U64:
    return static_cast<double>(loadAs<uint64_t>(p));
  default:
    break;
  }
  const llvm::fltSemantics &semantics = info(kind).semantics();
  uint64_t bits =
      getByteSize(kind) == 1 ? loadAs<uint8_t>(p) : loadAs<uint16_t>(p);
  return APFloat(semantics,
                 llvm::APInt(APFloat::semanticsSizeInBits(semantics), bits))
      .convertToDouble();
}

std::string Array::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "tensor<";
  for (int64_t size : shape)
    os << size << "x";
  os << getName(kind) << ">";
  return text;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kMagic("\x93NUMPY");

static Error fail(StringRef path, const Twine &message) {
  return llvm::createStringError(path + ": " + message);
}

namespace {
/// The dictionary of a .npy header, a Python literal with three keys.
struct Header {
  StringRef descr;
  std::optional<bool> fortran;
  std::optional<SmallVector<int64_t, 4>> shape;

  Error parse(StringRef path, StringRef text);

private:
  Error parseShape(StringRef path, StringRef &text);
};
} // namespace

Error Header::parseShape(StringRef path, StringRef &text) {
  if (!text.consume_front("("))
    return fail(path, "the 'shape' of the header is not a tuple");
  shape.emplace();
  while (true) {
    text = text.ltrim();
    if (text.consume_front(")"))
      return Error::success();
    int64_t size;
    if (text.consumeInteger(10, size) || size < 0)
      return fail(path, "the 'shape' of the header is not a tuple of sizes");
    shape->push_back(size);
    text = text.ltrim();
    if (!text.consume_front(",") && !text.starts_with(")"))
      return fail(path, "the 'shape' of the header is not a tuple of sizes");
  }
}

Error Header::parse(StringRef path, StringRef text) {
  text = text.trim();
  if (!text.consume_front("{"))
    return fail(path, "the header is not a dictionary");
  while (true) {
    text = text.ltrim();
    if (text.consume_front("}"))
      break;
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      return fail(path, "the header has a key that is not a string");
    char quote = text[0];
    auto [key, rest] = text.drop_front().split(quote);
    text = rest.ltrim();
    if (!text.consume_front(":"))
      return fail(path, "the header has no value for '" + key + "'");
    text = text.ltrim();
    if (key == "descr") {
      if (text.starts_with("["))
        return fail(path, "holds records; save one plain array in each file");
      if (text.empty() || (text[0] != '\'' && text[0] != '"'))
        return fail(path, "the 'descr' of the header is not a string");
      std::tie(descr, text) = text.drop_front().split(text[0]);
    } else if (key == "fortran_order") {
      fortran = text.starts_with("True");
      if (!text.consume_front("True") && !text.consume_front("False"))
        return fail(path, "the 'fortran_order' of the header is not a boolean");
    } else if (key == "shape") {
      if (Error error = parseShape(path, text))
        return error;
    } else {
      return fail(path, "the header has the unknown key '" + key + "'");
    }
    text = text.ltrim();
    if (!text.consume_front(",") && !text.starts_with("}"))
      return fail(path, "the header is not a dictionary");
  }
  if (descr.empty() || !fortran || !shape)
    return fail(path, "the header needs 'descr', 'fortran_order' and 'shape'");
  return Error::success();
}

Expected<Array> layout::readNpy(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(path, "cannot be read: " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  if (!bytes.consume_front(kMagic))
    return fail(path, "is not a .npy file; write it with numpy.save");
  if (bytes.size() < 4)
    return fail(path, "is truncated in the header");
  unsigned version = static_cast<unsigned char>(bytes[0]);
  if (version < 1 || version > 3)
    return fail(path, "has .npy format version " + Twine(version) +
                          "; versions 1 to 3 are read");
  size_t lengthBytes = version == 1 ? 2 : 4;
  bytes = bytes.drop_front(2);
  if (bytes.size() < lengthBytes)
    return fail(path, "is truncated in the header");
  size_t length = version == 1 ? llvm::support::endian::read16le(bytes.data())
                               : llvm::support::endian::read32le(bytes.data());
  bytes = bytes.drop_front(lengthBytes);
  if (bytes.size() < length)
    return fail(path, "is truncated in the header");

  Header header;
  if (Error error = header.parse(path, bytes.take_front(length)))
    return std::move(error);
  bytes = bytes.drop_front(length);
  if (*header.fortran && header.shape->size() > 1)
    return fail(path, "is in Fortran order; save numpy.ascontiguousarray(x)");
  StringRef descr = header.descr;
  for (auto [other, numpys] : spellings)
    if (descr == other)
      descr = numpys;
  std::optional<ElementKind> kind =
      findKind([&](const KindInfo &each) { return each.descr == descr; });
  if (!kind)
    return fail(path, "has dtype '" + header.descr +
                          "'; bool, float16 to float64, int8 to int64, uint8 "
                          "to uint64, complex64 and complex128 in little "
                          "endian are read");
  std::optional<int64_t> size = Array::byteSize(*kind, *header.shape);
  if (!size)
    return fail(path, "has a shape that is too large");
  if (static_cast<int64_t>(bytes.size()) != *size)
    return fail(path, (static_cast<int64_t>(bytes.size()) < *size
                           ? "is truncated: "
                           : "has bytes left over: ") +
                          Twine(bytes.size()) +
                          " bytes of data, the shape needs " + Twine(*size));
  Array array(*kind, *header.shape);
  std::memcpy(array.data(), bytes.data(), *size);
  if (*kind == ElementKind::I1 &&
      llvm::any_of(bytes, [](unsigned char byte) { return byte > 1; }))
    return fail(path, "has a boolean that is neither 0 nor 1");
  return array;
}

Error layout::writeNpy(StringRef path, const Array &array) {
  std::string header;
  llvm::raw_string_ostream os(header);
  os << "{'descr': '" << info(array.getKind()).descr
     << "', 'fortran_order': False, 'shape': (";
  for (int64_t size : array.getShape())
    os << size << ", ";
  os << "), }";
  // Magic, version, length and header are padded to a multiple of 64 bytes.
  constexpr size_t fixed = 10;
  header.append(63 - (fixed + header.size()) % 64, ' ');
  header.push_back('\n');

  WholeFile file(path);
  char length[2];
  llvm::support::endian::write16le(length, header.size());
  file.os() << kMagic << '\x01' << '\0' << StringRef(length, 2) << header;
  file.os().write(array.data(), array.getNumBytes());
  if (std::error_code code = file.commit())
    return fail(path, "cannot be written: " + code.message());
  return Error::success();
}
