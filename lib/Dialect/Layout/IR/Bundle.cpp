//===- Bundle.cpp - Tensors of coded components ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Bundle.h"
#include "layout/Algebra/Bits.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Print.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

using EmitErrorFn = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Decode functions
//===----------------------------------------------------------------------===//

namespace {
struct DecodeEntry {
  Decode decode;
  StringLiteral name;
  SmallVector<StringRef, 5> components;
};
} // namespace

static ArrayRef<DecodeEntry> getDecodeTable() {
  static const DecodeEntry table[] = {
      {Decode::Value, "value", {"value"}},
      {Decode::Scale, "scale", {"value", "scale"}},
      {Decode::Scale2, "scale2", {"value", "scale", "super"}},
      {Decode::Zero, "zero", {"value", "scale", "zero"}},
      {Decode::Min, "min", {"value", "scale", "min"}},
      {Decode::Min2, "min2", {"value", "scale", "super", "min", "supermin"}},
  };
  return table;
}

StringRef layout::getName(Decode decode) {
  return getDecodeTable()[size_t(decode)].name;
}

std::optional<Decode> layout::getDecode(StringRef name) {
  for (const DecodeEntry &entry : getDecodeTable())
    if (entry.name == name)
      return entry.decode;
  return std::nullopt;
}

ArrayRef<StringRef> layout::getComponentNames(Decode decode) {
  return getDecodeTable()[size_t(decode)].components;
}

//===----------------------------------------------------------------------===//
// Bundle
//===----------------------------------------------------------------------===//

static bool areEqual(ArrayRef<BoundedIndex> a, ArrayRef<BoundedIndex> b) {
  return llvm::equal(a, b, [](const BoundedIndex &x, const BoundedIndex &y) {
    return x.value == y.value && x.extent == y.extent;
  });
}

bool BundleComponent::hasSameCodes(const BundleComponent &other) const {
  return name == other.name && element == other.element &&
         excess == other.excess && fraction == other.fraction &&
         areEqual(index, other.index);
}

bool BundleComponent::operator==(const BundleComponent &other) const {
  return hasSameCodes(other) && stream == other.stream &&
         pieces == other.pieces;
}

BundleRef::BundleRef(Bundle bundle)
    : bundle(std::make_shared<const Bundle>(std::move(bundle))) {}

bool BundleRef::operator==(const BundleRef &other) const {
  if (bundle == other.bundle)
    return true;
  const Bundle *a = bundle.get(), *b = other.bundle.get();
  return a && b && a->name == b->name && a->parameters == b->parameters &&
         a->decode == b->decode && a->rank == b->rank &&
         a->components == b->components && a->paddings == b->paddings;
}

namespace mlir::layout {
llvm::hash_code hash_value(const BundleRef &bundle) {
  llvm::hash_code hash =
      llvm::hash_combine(bundle->name, unsigned(bundle->decode), bundle->rank);
  for (const BundleComponent &component : bundle->components) {
    hash = llvm::hash_combine(hash, component.name,
                              component.element.getAsOpaquePointer(),
                              component.excess, component.stream);
    for (const Piece &piece : component.pieces)
      hash = llvm::hash_combine(hash, hash_value(piece));
  }
  return hash;
}
} // namespace mlir::layout

const BundleComponent *Bundle::find(StringRef component) const {
  auto it = llvm::find_if(components, [&](const BundleComponent &candidate) {
    return candidate.name == component;
  });
  return it == components.end() ? nullptr : &*it;
}

SmallVector<StringRef> Bundle::getStreams() const {
  SmallVector<StringRef> streams;
  for (const BundleComponent &component : components)
    if (!llvm::is_contained(streams, component.stream))
      streams.push_back(component.stream);
  return streams;
}

std::optional<int64_t> Bundle::getPadding(StringRef stream) const {
  for (const StreamPadding &padding : paddings)
    if (padding.stream == stream)
      return padding.byte;
  return std::nullopt;
}

static void print(const BundleComponent &component, unsigned rank,
                  raw_ostream &os) {
  os << component.name << " : " << component.element;
  if (component.excess)
    os << " excess " << component.excess;
  if (component.fraction)
    os << " fraction " << component.fraction;
  os << " [";
  LayoutMap dims = LayoutMap::rowMajor(rank);
  llvm::interleaveComma(component.index, os, [&](const BoundedIndex &digit) {
    os << makeText(dims, digit);
  });
  os << "] in " << component.stream << ' ';
  bool inBraces = component.pieces.size() != 1;
  os << (inBraces ? "{" : "");
  llvm::interleaveComma(component.pieces, os,
                        [&](const Piece &piece) { piece.print(os); });
  os << (inBraces ? "}" : "");
}

void Bundle::print(raw_ostream &os, bool expanded) const {
  if (!name.empty() && !expanded) {
    os << '"' << name << '"';
    for (const auto &[parameter, value] : parameters)
      os << ", " << parameter << " = " << value;
    return;
  }
  os << getName(decode) << '(';
  for (unsigned d = 0; d < rank; ++d)
    os << (d ? ", d" : "d") << d;
  os << ')';
  for (const BundleComponent &component : components) {
    os << ", ";
    ::print(component, rank, os);
  }
  if (paddings.empty())
    return;
  os << ", padding(";
  llvm::interleaveComma(paddings, os, [&](const StreamPadding &padding) {
    os << padding.stream << " = " << padding.byte;
  });
  os << ')';
}

//===----------------------------------------------------------------------===//
// Bundles on a shape
//===----------------------------------------------------------------------===//

FailureOr<std::vector<PlacedComponent>>
layout::placeBundle(const Bundle &bundle, Attribute name,
                    ArrayRef<int64_t> shape, EmitErrorFn emitError) {
  auto fail = [&](const Twine &why) {
    if (emitError)
      emitError() << name << " " << why;
    return failure();
  };
  if (bundle.rank != shape.size())
    return fail("has " + Twine(bundle.rank) + " dims, the tensor has rank " +
                Twine(shape.size()) +
                " (B1): write the bundle over the dims of the tensor");
  if (ShapedType::isDynamicShape(shape))
    return fail("needs a static shape (B1): the positions of streams are those "
                "of known sizes");
  std::vector<PlacedComponent> placed;
  for (const BundleComponent &component : bundle.components) {
    PlacedComponent &at = placed.emplace_back();
    at.component = &component;
    for (const BoundedIndex &digit : component.index) {
      std::optional<int64_t> extent = digit.extent.evaluate(shape);
      if (!extent)
        return fail("has an index of '" + component.name +
                    "' that does not fit 64 bits (B1)");
      at.shape.push_back(*extent);
    }
    SmallVector<int64_t> box(at.shape);
    box.push_back(component.getWidth());
    std::string why;
    auto pieces = placePieces(component.pieces, box, why);
    if (!pieces)
      return fail("does not place '" + component.name + "' (B3): " + why);
    at.pieces = std::move(*pieces);
  }
  return placed;
}

std::optional<SmallVector<int64_t>>
layout::getStreamBytes(const Bundle &bundle, ArrayRef<PlacedComponent> placed) {
  SmallVector<int64_t> bytes;
  for (StringRef stream : bundle.getStreams()) {
    int64_t &most = bytes.emplace_back(0);
    for (const PlacedComponent &at : placed) {
      if (at.component->stream != stream)
        continue;
      std::optional<int64_t> needed = getStreamBytes(at.pieces);
      if (!needed)
        return std::nullopt;
      most = std::max(most, *needed);
    }
  }
  return bytes;
}

static std::string toText(const BundleComponent &component,
                          ArrayRef<int64_t> index) {
  std::string text = "'" + component.name + "'";
  if (index.empty())
    return text;
  llvm::raw_string_ostream os(text);
  os << " (";
  llvm::interleaveComma(index.drop_back(), os);
  os << ") bit " << index.back();
  return text;
}

/// Verifies that the digits of an index are within the shape of the codes, and
/// that every bit of every code has a position in the stream.
static LogicalResult verifyRanges(const Bundle &bundle, Attribute name,
                                  ArrayRef<int64_t> shape,
                                  const PlacedComponent &at,
                                  EmitErrorFn emitError) {
  const BundleComponent &component = *at.component;
  std::vector<Coordinate> digits;
  for (auto [i, digit] : llvm::enumerate(component.index))
    digits.push_back({std::to_string(i), digit.value, digit.extent});
  LayoutMap index = LayoutMap::get(bundle.rank, "index", std::move(digits));
  if (isWithinExtents(index, shape) != ProofResult::Proved)
    return emitError() << name << " has an index of '" << component.name
                       << "' that is not proven to be within its extents (B2): "
                          "use digits of the dims";
  for (const PlacedPiece &piece : at.pieces)
    if (isWithinExtents(piece.map, piece.sizes) != ProofResult::Proved)
      return emitError() << name << " has bits of '" << component.name
                         << "' that are not proven to be within the extent of "
                            "their map (L2): omit 'extent', or state a larger "
                            "one";
  return success();
}

SharedBit layout::proveBitsDistinct(ArrayRef<PlacedComponent> placed) {
  SharedBit unknown;
  SmallVector<std::pair<const BundleComponent *, const PlacedPiece *>> pieces;
  for (const PlacedComponent &at : placed)
    for (const PlacedPiece &piece : at.pieces)
      pieces.push_back({at.component, &piece});
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t j = i; j < pieces.size(); ++j) {
      auto [a, x] = pieces[i];
      auto [b, y] = pieces[j];
      if (a->stream != b->stream)
        continue;
      PairProof proof = i == j ? proveInjective(*x) : proveDisjoint(*x, *y);
      if (proof.answer == ProofResult::Proved)
        continue;
      SharedBit shared{proof.answer, a, b, proof.first, proof.second};
      if (proof.answer == ProofResult::Disproved)
        return shared;
      unknown = shared;
    }
  return unknown;
}

static LogicalResult verifyBits(Attribute name,
                                ArrayRef<PlacedComponent> placed,
                                EmitErrorFn emitError) {
  SharedBit shared = proveBitsDistinct(placed);
  if (shared.answer == ProofResult::Proved)
    return success();
  std::string a = toText(*shared.first, shared.firstIndex),
              b = toText(*shared.second, shared.secondIndex);
  if (shared.answer == ProofResult::Unknown)
    return emitError() << name << " cannot be proven to store " << a << " and "
                       << b
                       << " at different bits within the bound (B4): give them "
                          "the strides of one block";
  return emitError() << name << " stores two bits at one position of stream '"
                     << shared.first->stream << "' (B4): " << a << " and " << b;
}

static LogicalResult verifyElement(const Bundle &bundle, Attribute name,
                                   Type elementType, EmitErrorFn emitError) {
  if (bundle.decode != Decode::Value) {
    if (isa<FloatType>(elementType))
      return success();
    return emitError() << name << " decodes to floats, the tensor holds "
                       << elementType << " (B5): use a float element type";
  }
  Type code = bundle.components.front().element;
  auto integer = dyn_cast<IntegerType>(code);
  Type plain =
      integer ? IntegerType::get(code.getContext(), integer.getWidth()) : code;
  if (elementType == code || elementType == plain)
    return success();
  return emitError() << name << " holds values of " << code
                     << ", the tensor holds " << elementType
                     << " (B5): use the element type " << plain;
}

LogicalResult layout::verifyBundle(const Bundle &bundle, Attribute name,
                                   ArrayRef<int64_t> shape, Type elementType,
                                   EmitErrorFn emitError) {
  FailureOr<std::vector<PlacedComponent>> placed =
      placeBundle(bundle, name, shape, emitError);
  if (failed(placed) ||
      failed(verifyElement(bundle, name, elementType, emitError)))
    return failure();
  if (!getStreamBytes(bundle, *placed))
    return emitError() << name
                       << " has a stream that does not fit 64 bits (B1): the "
                          "tensor is too large";
  if (llvm::is_contained(shape, 0))
    return success();
  for (const PlacedComponent &at : *placed)
    if (failed(verifyRanges(bundle, name, shape, at, emitError)))
      return failure();
  return verifyBits(name, *placed, emitError);
}

//===----------------------------------------------------------------------===//
// Equality
//===----------------------------------------------------------------------===//

std::string layout::findDifferentValues(const Bundle &a, const Bundle &b) {
  if (a.decode != b.decode)
    return ("they decode by '" + getName(a.decode) + "' and by '" +
            getName(b.decode) + "'")
        .str();
  for (StringRef name : getComponentNames(a.decode)) {
    const BundleComponent &x = *a.find(name), &y = *b.find(name);
    if (x.hasSameCodes(y))
      continue;
    std::string why;
    llvm::raw_string_ostream(why)
        << "the codes of '" << name << "' differ in "
        << (x.element != y.element ? "their type"
            : x.excess != y.excess || x.fraction != y.fraction
                ? "the number that they stand for"
                : "their group");
    return why;
  }
  return {};
}

ProofResult layout::equalOn(const Bundle &a, const Bundle &b,
                            ArrayRef<int64_t> shape) {
  auto x = placeBundle(a, {}, shape, nullptr);
  auto y = placeBundle(b, {}, shape, nullptr);
  if (failed(x) || failed(y) || !findDifferentValues(a, b).empty() ||
      getStreamBytes(a, *x) != getStreamBytes(b, *y))
    return ProofResult::Disproved;
  ProofResult result = ProofResult::Proved;
  for (const PlacedComponent &mine : *x) {
    auto other = llvm::find_if(*y, [&](const PlacedComponent &at) {
      return at.component->name == mine.component->name;
    });
    if (mine.component->stream != other->component->stream)
      return ProofResult::Disproved;
    ProofResult answer = equalOn(mine.pieces, other->pieces);
    if (answer == ProofResult::Disproved)
      return answer;
    if (answer == ProofResult::Unknown)
      result = answer;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

float layout::getCodeValue(const BundleComponent &component, uint64_t code) {
  unsigned width = component.getWidth();
  if (auto floatType = dyn_cast<FloatType>(component.element)) {
    APFloat value(floatType.getFloatSemantics(), APInt(width, code));
    bool losesInfo;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return value.convertToFloat();
  }
  APInt bits(width, code);
  bool isSigned = cast<IntegerType>(component.element).isSigned();
  int64_t integer = isSigned ? bits.getSExtValue() : bits.getZExtValue();
  return std::ldexp(float(integer - component.excess), -component.fraction);
}

namespace {
/// The values of the codes of one component, at indices of the tensor.
class ComponentValues {
public:
  static std::optional<ComponentValues> get(const PlacedComponent &at,
                                            ArrayRef<int64_t> shape,
                                            ArrayRef<char> codes) {
    IndexExpr position;
    for (auto [digit, size] : llvm::zip_equal(at.component->index, at.shape))
      position = add(scale(position, SizeExpr(size)), digit.value);
    std::optional<Evaluator> evaluator = Evaluator::compile(
        position, shape, std::numeric_limits<int64_t>::max());
    if (!evaluator)
      return std::nullopt;
    ComponentValues result{*at.component, std::move(*evaluator), codes, {}};
    if (result.component.getWidth() <= 16)
      for (uint64_t code = 0; code < 1u << result.component.getWidth(); ++code)
        result.table.push_back(getCodeValue(result.component, code));
    return result;
  }

  float operator()(ArrayRef<int64_t> index) const {
    int64_t at;
    position.evaluate(index.data(), &at);
    unsigned bytes = getCodeBytes(component.getWidth());
    uint64_t code = 0;
    for (unsigned i = 0; i < bytes; ++i)
      code |= uint64_t(uint8_t(codes[at * bytes + i])) << (8 * i);
    return table.empty() ? getCodeValue(component, code) : table[code];
  }

private:
  ComponentValues(const BundleComponent &component, Evaluator position,
                  ArrayRef<char> codes, std::vector<float> table)
      : component(component), position(std::move(position)), codes(codes),
        table(std::move(table)) {}

  const BundleComponent &component;
  Evaluator position;
  ArrayRef<char> codes;
  std::vector<float> table;
};
} // namespace

namespace {
struct FloatArithmetic {
  static float add(float a, float b) { return a + b; }
  static float subtract(float a, float b) { return a - b; }
  /// The product of two f32 numbers is exact in f64, so that no compiler can
  /// fuse it with a sum that follows.
  static float multiply(float a, float b) {
    return float(double(a) * double(b));
  }
};
} // namespace

bool layout::isBundle(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_present<BundleAttr>(tensor.getEncoding());
}

bool layout::decodeValues(const Bundle &bundle,
                          ArrayRef<PlacedComponent> placed,
                          ArrayRef<int64_t> shape,
                          ArrayRef<ArrayRef<char>> codes,
                          MutableArrayRef<float> values) {
  if (llvm::is_contained(shape, 0))
    return true;
  SmallVector<ComponentValues> operands;
  for (StringRef name : getComponentNames(bundle.decode))
    for (auto [at, bytes] : llvm::zip_equal(placed, codes))
      if (at.component->name == name) {
        auto operand = ComponentValues::get(at, shape, bytes);
        if (!operand)
          return false;
        operands.push_back(std::move(*operand));
      }
  SmallVector<float> numbers(operands.size());
  float *value = values.data();
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    for (auto [number, operand] : llvm::zip_equal(numbers, operands))
      number = operand(index);
    *value++ = applyDecode<float>(bundle.decode, numbers, FloatArithmetic());
    return true;
  });
  return true;
}
