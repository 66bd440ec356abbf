//===- Npy.h - Dense arrays and their .npy files ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An Array is a dense row-major block of numbers with a shape: what is given to
// a compiled function and what comes back. Its file form is numpy's .npy
// (format versions 1, 2 and 3), little endian, C order.
//
//   Expected<Array> x = readNpy("x.npy");       // np.save("x.npy", x)
//   Error e = writeNpy("y.npy", y);             // np.load("y.npy")
//
// Element types that numpy lacks are stored in the dtype of the same width that
// `kinds` in Npy.cpp names: bf16 as the bits in a uint16, the floats of 4 to 8
// bits as the bits in a uint8, an i4 or i2 as its value in an int8 (ui4 and
// ui2: uint8). The files that ml_dtypes makes of bf16 and f8 (dtype V2 and V1)
// are read too. A signless integer of MLIR is stored by the signed and by the
// unsigned dtype of its width alike.
//
// Laws: readNpy(writeNpy(a)) has the bytes and the shape of a, and its kind
// where numpy has the type. A file that is truncated, has bytes left over, is
// in Fortran order or holds another type is an error that names the file and
// says what to do; nothing is converted silently.
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

namespace mlir {
namespace layout {

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

/// "f32", "i8", ...
StringRef getName(ElementKind kind);
int64_t getByteSize(ElementKind kind);
/// All names with commas between them, for messages.
std::string getElementNames();
/// The kind that stores `type`, if there is one.
std::optional<ElementKind> getElementKind(Type type);
/// Returns the bits of an element of `type` if they are less than a byte, which
/// an array has for each (i2, i4, f4 and f6, not i1), or 0.
unsigned getPartialBits(Type type);
/// Whether an array of kind `kind`, as it comes from a file, holds elements of
/// `type`.
bool canHold(ElementKind kind, Type type);

class Array {
public:
  /// An array of that shape with undefined contents; `shape` must have been
  /// checked with `byteSize`.
  Array(ElementKind kind, ArrayRef<int64_t> shape);

  /// The bytes such an array takes, or none when a size is negative or the
  /// product is past 2^62.
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

  /// Element `i` in row-major order, as a number.
  std::complex<double> getAsComplex(int64_t i) const;

  /// "tensor<2x3xf32>", for messages.
  std::string describe() const;

private:
  struct Free {
    void operator()(char *p) const;
  };
  ElementKind kind;
  SmallVector<int64_t, 4> shape;
  std::unique_ptr<char, Free> storage; // 64-byte aligned
};

llvm::Expected<Array> readNpy(StringRef path);
llvm::Error writeNpy(StringRef path, const Array &array);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_RUNTIME_NPY_H
