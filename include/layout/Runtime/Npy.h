//===- Npy.h - Dense arrays and their .npy files ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An Array is a dense row-major block of numbers with a shape: an input or
// result of a compiled function. Its file format is numpy's .npy (versions 1, 2
// and 3), little endian, C order.
//
//   Expected<Array> x = readNpy("x.npy");       // np.save("x.npy", x)
//   Error e = writeNpy("y.npy", y);             // np.load("y.npy")
//
// Element types that numpy lacks are stored in a dtype of the same width
// (`kinds` in Npy.cpp): bf16 as bits in uint16, floats of 4 to 8 bits as bits
// in uint8, i4 and i2 as values in int8 (ui4 and ui2: uint8). The files that
// ml_dtypes writes for bf16 and f8 (dtype V2 and V1) are read too. Signless
// integers of MLIR match both signed and unsigned dtypes.
//
// Laws: readNpy(writeNpy(a)) has the bytes and the shape of a, and its kind if
// numpy has the type. A file that is truncated, has extra bytes, is in Fortran
// order or has another type is an error that names the file and a remedy; no
// data is converted silently.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_NPY_H
#define LAYOUT_RUNTIME_NPY_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <complex>
#include <memory>
#include <string>

namespace mlir::layout {

enum class ElementKind {
  F16,
  F32,
  F64,
  C64,
  C128,
  I1,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  I4,
  U4,
  I2,
  U2,
  BF16,
  F8E3M4,
  F8E4M3,
  F8E4M3B11FNUZ,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F8E8M0FNU,
  F6E2M3FN,
  F6E3M2FN,
  F4E2M1FN
};

/// Returns the MLIR name of a kind, e.g. "f32" or "i8".
StringRef getName(ElementKind kind);
int64_t getByteSize(ElementKind kind);
/// Returns the names of all element types that arrays support, for messages:
/// "index" and the MLIR names of all kinds, separated by commas.
std::string getElementNames();
/// Returns the kind of arrays with elements of `type`, i64 for index, or
/// std::nullopt if arrays cannot have such elements.
std::optional<ElementKind> getElementKind(Type type);
/// Returns the number of bits of `type` if an array stores each element in a
/// byte of its own although it has fewer bits (i2, i4, f4 and f6, not i1).
/// Returns 0 for other types.
unsigned getPartialBits(Type type);
/// Returns true if an array of kind `kind`, read from a file, can hold elements
/// of `type`: if it is the kind of `type`, is stored with the same dtype (ui16
/// for bf16), or is the unsigned counterpart (ui32 for i32).
bool canHold(ElementKind kind, Type type);

class Array {
public:
  /// Constructs an array with undefined contents. The caller guarantees that
  /// `byteSize` is not std::nullopt: no size is negative, and the array has at
  /// most 2^62 bytes.
  Array(ElementKind kind, ArrayRef<int64_t> shape);

  /// Constructs an array whose elements are at `data`, without a copy: dense,
  /// in row-major order and aligned to their size. The destructor calls
  /// `release(block)`; if `release` is null, the elements belong to the caller.
  Array(ElementKind kind, ArrayRef<int64_t> shape, char *data,
        void *block = nullptr, void (*release)(void *) = nullptr);

  /// Returns the size of an array in bytes, or std::nullopt if a size is
  /// negative or the product exceeds 2^62, where a size of 0 counts as 1.
  static std::optional<int64_t> byteSize(ElementKind kind,
                                         ArrayRef<int64_t> shape);

  ElementKind getKind() const { return kind; }
  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getNumElements() const;
  int64_t getNumBytes() const { return getNumElements() * getByteSize(kind); }
  char *data() { return storage.get(); }
  const char *data() const { return storage.get(); }
  MutableArrayRef<char> bytes() {
    return {data(), static_cast<size_t>(getNumBytes())};
  }
  ArrayRef<char> bytes() const {
    return {data(), static_cast<size_t>(getNumBytes())};
  }

  /// Returns element `i` in row-major order, converted to a complex number; the
  /// imaginary part of a real element is 0.
  std::complex<double> getAsComplex(int64_t i) const;

  /// Returns the shape and element type for messages, e.g. "tensor<2x3xf32>".
  std::string describe() const;

private:
  struct Release {
    void *block;
    void (*release)(void *);
    void operator()(char *) const {
      if (release)
        release(block);
    }
  };
  ElementKind kind;
  SmallVector<int64_t, 4> shape;
  std::unique_ptr<char, Release> storage;
};

llvm::Expected<Array> readNpy(StringRef path);
llvm::Error writeNpy(StringRef path, const Array &array);

} // namespace mlir::layout

#endif // LAYOUT_RUNTIME_NPY_H
