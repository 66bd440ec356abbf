//===- Bundle.h - Tensors of coded components -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contents of `#layout.bundle`: components with a code, an index and a map
// into a stream of bits each, and the function that computes a value of the
// tensor from its codes (docs/bundles.md).
//
//     "gguf.q8_0" of 2x64:
//       value   2x64 codes si8     scale   2x2 codes f16
//       stream `block`: 2 * 2 * 34 bytes
//       tensor(r, k) = scale(r, k floordiv 32) * value(r, k)
//
// Laws: the codes of all components of a stream are at different bits, proven
// when a type is verified; two bundles hold the same values if and only if
// `findDifferentValues` returns nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_BUNDLE_H
#define LAYOUT_DIALECT_LAYOUT_IR_BUNDLE_H

#include "layout/Algebra/Pieces.h"
#include "layout/Dialect/Layout/IR/BundleRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::layout {

/// The functions from codes to values. getComponentNames lists their operands.
enum class Decode { Value, Scale, Scale2, Zero, Min, Min2 };

StringRef getName(Decode decode);
std::optional<Decode> getDecode(StringRef name);
/// Returns the names of the components that the function reads, each once.
ArrayRef<StringRef> getComponentNames(Decode decode);

/// Returns what the decode function computes of `x`, the numbers of
/// getComponentNames(decode). `f` has the operations add, subtract and multiply,
/// whose results are rounded to f32.
template <typename Number, typename Arithmetic>
Number applyDecode(Decode decode, ArrayRef<Number> x, Arithmetic f) {
  switch (decode) {
  case Decode::Value:
    return x[0];
  case Decode::Scale:
    return f.multiply(x[1], x[0]);
  case Decode::Scale2:
    return f.multiply(f.multiply(x[2], x[1]), x[0]);
  case Decode::Zero:
    return f.multiply(f.subtract(x[0], x[2]), x[1]);
  case Decode::Min:
    return f.add(f.multiply(x[1], x[0]), x[2]);
  case Decode::Min2:
    return f.subtract(f.multiply(f.multiply(x[2], x[1]), x[0]),
                      f.multiply(x[4], x[3]));
  }
  llvm_unreachable("all decode functions are listed");
}

struct BundleComponent {
  std::string name;
  /// The type of a code: an integer with a sign, or a float.
  Type element;
  /// An integer code c stands for (c - excess) / 2^fraction.
  int64_t excess = 0, fraction = 0;
  /// The index of a code, as digits of the index of the tensor.
  std::vector<BoundedIndex> index;
  std::string stream;
  /// Maps over the dims of `index` and the bit of a code.
  std::vector<Piece> pieces;

  unsigned getWidth() const { return element.getIntOrFloatBitWidth(); }
  /// Returns true if both have equal codes at equal indices, wherever stored.
  bool hasSameCodes(const BundleComponent &other) const;
  bool operator==(const BundleComponent &other) const;
};

/// The byte that positions of a stream hold if no code has them.
struct StreamPadding {
  std::string stream;
  int64_t byte = 0;
  bool operator==(const StreamPadding &other) const {
    return stream == other.stream && byte == other.byte;
  }
};

struct Bundle {
  /// The name and the parameters if the bundle was written by name, else empty.
  std::string name;
  std::vector<std::pair<std::string, int64_t>> parameters;
  Decode decode = Decode::Value;
  unsigned rank = 0;
  std::vector<BundleComponent> components;
  std::vector<StreamPadding> paddings;

  const BundleComponent *find(StringRef component) const;
  /// Returns the names of the streams in the order of their first component.
  SmallVector<StringRef> getStreams() const;
  std::optional<int64_t> getPadding(StringRef stream) const;
  /// Prints the bundle between the brackets of the attribute: by its name if it
  /// has one and not `expanded`.
  void print(llvm::raw_ostream &os, bool expanded = false) const;
};

/// A component on the shape of a tensor: the shape of its codes, and its pieces,
/// whose last dim is the bit.
struct PlacedComponent {
  const BundleComponent *component;
  SmallVector<int64_t> shape;
  std::vector<PlacedPiece> pieces;
};

/// Places all components on a static shape. Emits an error (if `emitError` is
/// not null), in which `name` is the bundle, and fails if the bundle does not
/// apply to it. Proves nothing about positions.
FailureOr<std::vector<PlacedComponent>>
placeBundle(const Bundle &bundle, Attribute name, ArrayRef<int64_t> shape,
            function_ref<InFlightDiagnostic()> emitError);

/// Returns the bytes of each stream of getStreams(), or std::nullopt if one
/// overflows int64.
std::optional<SmallVector<int64_t>>
getStreamBytes(const Bundle &bundle, ArrayRef<PlacedComponent> placed);

/// Two bits of one stream that have one position.
struct SharedBit {
  /// Proved if there are none.
  ProofResult answer = ProofResult::Proved;
  /// The components, and an index and a bit of each if a witness is known.
  const BundleComponent *first = nullptr, *second = nullptr;
  SmallVector<int64_t> firstIndex, secondIndex;
};

/// Decides if every bit of every code of a stream has a position of its own.
SharedBit proveBitsDistinct(ArrayRef<PlacedComponent> placed);

/// Verifies a tensor type with this bundle: it applies to the shape and the
/// element type, every code has positions in its stream, and no two bits share
/// one. Otherwise emits an error and fails.
LogicalResult verifyBundle(const Bundle &bundle, Attribute name,
                           ArrayRef<int64_t> shape, Type elementType,
                           function_ref<InFlightDiagnostic()> emitError);

/// Returns why tensors of `a` and of `b` hold different values, as a clause, or
/// an empty string if equal codes give equal values.
std::string findDifferentValues(const Bundle &a, const Bundle &b);

/// Decides if both bundles store every code of a tensor of this shape at the
/// same bits of streams of the same names and sizes.
ProofResult equalOn(const Bundle &a, const Bundle &b, ArrayRef<int64_t> shape);

/// Returns true if `type` is a tensor with a #layout.bundle.
bool isBundle(Type type);

/// Returns the number that a code stands for, rounded to f32.
float getCodeValue(const BundleComponent &component, uint64_t code);

/// Computes the values of a tensor, row-major. `codes` has the codes of each
/// component of `placed`, in the form of layout/Algebra/Bits.h. Returns false if
/// a number does not fit the algebra.
[[nodiscard]] bool decodeValues(const Bundle &bundle,
                                ArrayRef<PlacedComponent> placed,
                                ArrayRef<int64_t> shape,
                                ArrayRef<ArrayRef<char>> codes,
                                MutableArrayRef<float> values);

/// Returns the text of the format `name`, to be parsed as the contents of
/// `#layout.bundle`, or an empty string and a reason if it is not known or has
/// no such parameters. Parameters that are not given are added with their
/// default.
std::string
getFormatText(StringRef name,
              std::vector<std::pair<std::string, int64_t>> &parameters,
              FailureReason error);
/// Returns the names of all formats.
SmallVector<StringRef> getFormatNames();

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_IR_BUNDLE_H
