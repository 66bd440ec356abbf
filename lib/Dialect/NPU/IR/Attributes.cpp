//===- Attributes.cpp - Chips and their memories --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/IR/KernelApi.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;

//===----------------------------------------------------------------------===//
// Published chips
//===----------------------------------------------------------------------===//

namespace {
/// The parameters of a published chip, a row of the table in NPUAttributes.td.
struct Published {
  StringLiteral name;
  int64_t npus, bytesPerNpu, euBytes, banks, megahertz, maxComputeStride;
  layout::ClockModel clock;
  KernelApi api;
};
} // namespace

static constexpr Published kChips[] = {
    {"BM1684", 64, 512 << 10, 128, 8, 550, (1 << 19) - 1,
     layout::ClockModel::BM1684, KernelApi::OKKernel},
    {"BM1684X", 64, 256 << 10, 64, 16, 1000, (1 << 18) - 1,
     layout::ClockModel::BM1684X, KernelApi::TPUKernel},
    {"BM1688", 32, 128 << 10, 16, 16, 900, (1 << 18) - 1,
     layout::ClockModel::BM1688, KernelApi::TPUKernel},
    {"BM1690", 64, 256 << 10, 64, 16, 1000, (1 << 18) - 1,
     layout::ClockModel::BM1684X, KernelApi::TPUKernel},
};

namespace {
/// The parameters whose defaults are those of the published chip with the same
/// npus, bytes_per_npu, eu_bytes and banks. For any other chip they are the
/// following.
struct Usual {
  int64_t megahertz = layout::ChipClock().megahertz;
  int64_t maxComputeStride = ChipAttr::kUsualComputeStride;
  layout::ClockModel clock = layout::ClockModel::Usual;
};
} // namespace

/// Returns the first published chip with these parameters, or nullptr.
static const Published *findPublished(const layout::ChipParams &params) {
  const Published *found = llvm::find_if(kChips, [&](const Published &chip) {
    return chip.npus == params.npus && chip.bytesPerNpu == params.bytesPerNpu &&
           chip.euBytes == params.euBytes;
  });
  return found == std::end(kChips) ? nullptr : found;
}

/// Returns the default frequency, compute stride and clock of a chip with these
/// parameters: those of the published chip with the same parameters or, if
/// there is none, those of a default-constructed Usual.
static Usual getUsual(int64_t npus, int64_t bytesPerNpu, int64_t euBytes,
                      std::optional<int64_t> banks) {
  const Published *chip = findPublished({npus, bytesPerNpu, euBytes});
  if (chip && chip->banks == banks)
    return {chip->megahertz, chip->maxComputeStride, chip->clock};
  return {};
}

static ChipAttr getAttr(MLIRContext *context, const Published &chip) {
  auto none = DictionaryAttr::get(context);
  return ChipAttr::get(context, chip.npus, chip.bytesPerNpu, chip.euBytes,
                       chip.banks, 1, {}, std::nullopt, chip.maxComputeStride,
                       chip.megahertz, none, none);
}

ChipAttr ChipAttr::getChip(MLIRContext *context, StringRef name) {
  for (const Published &chip : kChips)
    if (chip.name == name)
      return getAttr(context, chip);
  return {};
}

SmallVector<StringRef> ChipAttr::getChipNames() {
  return llvm::map_to_vector(
      kChips, [](const Published &chip) -> StringRef { return chip.name; });
}

StringRef ChipAttr::getChipName() const {
  for (const Published &chip : kChips)
    if (getAttr(getContext(), chip) == *this)
      return chip.name;
  return {};
}

KernelApi npu::getKernelApi(layout::NpuTargetInterface target) {
  const Published *chip = target ? findPublished(target.getParams()) : nullptr;
  return chip ? chip->api : KernelApi::OKKernel;
}

StringRef npu::getApiName(KernelApi api) {
  return api == KernelApi::OKKernel ? "OKKernel" : "TPU-KERNEL";
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

layout::ChipParams ChipAttr::getParams() const {
  return {getNpus(), getBytesPerNpu(), getEuBytes()};
}

layout::ChipClock ChipAttr::getClock() const {
  layout::ChipClock clock(
      getUsual(getNpus(), getBytesPerNpu(), getEuBytes(), getBanks()).clock);
  clock.megahertz = getMegahertz();
  for (NamedAttribute param : getClockParams())
    if (auto found = layout::ChipClock::find(param.getName().getValue()))
      clock.set(*found, cast<IntegerAttr>(param.getValue()).getInt());
  return clock;
}

std::optional<int64_t> ChipAttr::getBankBytes() const {
  if (!getBanks())
    return std::nullopt;
  return getBytesPerNpu() / *getBanks();
}

std::optional<int64_t> ChipAttr::getMemoryBytes(StringRef name) const {
  if (auto bytes = getMemories().getAs<IntegerAttr>(name))
    return bytes.getInt();
  return std::nullopt;
}

static LogicalResult
verifyMemories(function_ref<InFlightDiagnostic()> emitError,
               DictionaryAttr memories) {
  for (NamedAttribute memory : memories) {
    if (memory.getName() == "system" || memory.getName() == "local")
      return emitError()
             << "target lists the memory '" << memory.getName().getValue()
             << "', which every target has: list only other memories";
    auto bytes = dyn_cast<IntegerAttr>(memory.getValue());
    if (!bytes || !bytes.getType().isSignlessInteger(64) || bytes.getInt() < 1)
      return emitError()
             << "target memory '" << memory.getName().getValue() << "' has "
             << memory.getValue()
             << " as its size in bytes: it must be a 64-bit number, at least 1";
  }
  return success();
}

/// The maximum of `megahertz`. Beyond it, costs could overflow.
static constexpr int64_t kMostMegahertz = 1 << 16;
/// The maximum of a parameter of the clock. Beyond it, costs could overflow.
static constexpr int64_t kMostCycles = 1 << 20;

static LogicalResult verifyClock(function_ref<InFlightDiagnostic()> emitError,
                                 DictionaryAttr params) {
  for (NamedAttribute param : params) {
    StringRef name = param.getName().getValue();
    if (!layout::ChipClock::find(name)) {
      InFlightDiagnostic diag = emitError()
                                << "target parameter 'clock' has '" << name
                                << "': known parameters are ";
      llvm::interleaveComma(layout::kClockNames, diag,
                            [&](StringRef known) { diag << known; });
      return diag;
    }
    auto value = dyn_cast<IntegerAttr>(param.getValue());
    // A rate of 0 never ends, and a step of a convolution adds a channel.
    int64_t least = name.ends_with("_rate") || name == "conv_channels";
    if (!value || !value.getType().isSignlessInteger(64) ||
        value.getInt() < least || value.getInt() > kMostCycles)
      return emitError() << "target parameter '" << name << "' of the clock is "
                         << param.getValue() << ": it must be a 64-bit number, "
                         << least << " to " << kMostCycles;
  }
  return success();
}

LogicalResult ChipAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t npus, int64_t bytesPerNpu,
                               int64_t euBytes, std::optional<int64_t> banks,
                               int64_t dmaAlignment, ArrayRef<int64_t> maxShape,
                               std::optional<int64_t> maxStride,
                               int64_t maxComputeStride, int64_t megahertz,
                               DictionaryAttr clockParams,
                               DictionaryAttr memories) {
  struct Parameter {
    StringRef name;
    int64_t value;
  };
  for (const Parameter &param :
       {Parameter{"npus", npus}, Parameter{"bytes_per_npu", bytesPerNpu},
        Parameter{"eu_bytes", euBytes}, Parameter{"banks", banks.value_or(1)},
        Parameter{"dma_alignment", dmaAlignment},
        Parameter{"max_stride", maxStride.value_or(1)},
        Parameter{"max_compute_stride", maxComputeStride},
        Parameter{"megahertz", megahertz}})
    if (param.value < 1)
      return emitError() << "target parameter '" << param.name << "' is "
                         << param.value << ": it must be at least 1";
  if (megahertz > kMostMegahertz)
    return emitError() << "target parameter 'megahertz' must be at most "
                       << kMostMegahertz;
  if (failed(verifyClock(emitError, clockParams)))
    return failure();
  for (const Parameter &param : {Parameter{"eu_bytes", euBytes},
                                 Parameter{"dma_alignment", dmaAlignment}})
    if (!llvm::isPowerOf2_64(param.value))
      return emitError() << "target parameter '" << param.name << "' is "
                         << param.value << ": it must be a power of two";
  int64_t total;
  if (llvm::MulOverflow(npus, bytesPerNpu, total))
    return emitError() << npus << " cores of " << bytesPerNpu
                       << " bytes have addresses that do not fit 64 bits";
  // A core has at least one 4-byte lane.
  int64_t atOnce = std::max<int64_t>(euBytes, 4);
  if (llvm::MulOverflow(npus, atOnce, total))
    return emitError() << npus << " cores that process " << atOnce
                       << " bytes each at once process a number of bytes that "
                          "does not fit 64 bits: state fewer cores";
  if (banks && bytesPerNpu % *banks != 0)
    return emitError() << "target parameter 'banks' is " << *banks
                       << ": it must divide the " << bytesPerNpu
                       << " bytes of a core evenly";
  if (!maxShape.empty() && maxShape.size() != 4)
    return emitError() << "target parameter 'max_shape' has " << maxShape.size()
                       << " sizes: it must have four, of N, C, H and W";
  for (int64_t size : maxShape)
    if (size < 1)
      return emitError() << "target parameter 'max_shape' has the size " << size
                         << ": sizes must be at least 1";
  return verifyMemories(emitError, memories);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// The parameters of an #npu.target that have been parsed so far, and their
/// keywords (`seen`). The other parameters are unset.
struct Settings {
  std::optional<int64_t> npus, bytesPerNpu, euBytes, banks, dmaAlignment,
      maxStride, maxComputeStride, megahertz;
  SmallVector<int64_t> maxShape;
  DictionaryAttr clock, memories;
  SmallVector<StringRef> seen;
};

/// The keyword of a parameter, and the member of Settings that holds its value.
struct Number {
  StringLiteral name;
  std::optional<int64_t> Settings::*member;
};
} // namespace

static constexpr Number kNumbers[] = {
    {"npus", &Settings::npus},
    {"bytes_per_npu", &Settings::bytesPerNpu},
    {"eu_bytes", &Settings::euBytes},
    {"banks", &Settings::banks},
    {"dma_alignment", &Settings::dmaAlignment},
    {"max_stride", &Settings::maxStride},
    {"max_compute_stride", &Settings::maxComputeStride},
    {"megahertz", &Settings::megahertz},
};

static ParseResult parseNumber(AsmParser &parser, int64_t &value) {
  SMLoc loc = parser.getCurrentLocation();
  // AsmParser::parseInteger accepts `true` and `false`, as -1 and 0.
  if (succeeded(parser.parseOptionalKeyword("true")) ||
      succeeded(parser.parseOptionalKeyword("false")))
    return parser.emitError(loc) << "expected a number, found a truth value";
  return parser.parseInteger(value);
}

static ParseResult parseSetting(AsmParser &parser, Settings &settings) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  if (llvm::is_contained(settings.seen, name))
    return parser.emitError(loc) << "'" << name << "' is repeated";
  settings.seen.push_back(name);
  for (const Number &number : kNumbers) {
    if (number.name != name)
      continue;
    int64_t value;
    if (parseNumber(parser, value))
      return failure();
    settings.*number.member = value;
    return success();
  }
  if (name == "max_shape") {
    settings.maxShape.clear();
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return parseNumber(parser, settings.maxShape.emplace_back());
    });
  }
  if (name == "clock")
    return parser.parseAttribute(settings.clock);
  if (name == "memories")
    return parser.parseAttribute(settings.memories);
  return parser.emitError(loc)
         << "unknown parameter '" << name
         << "': known parameters are npus, bytes_per_npu, eu_bytes, banks, "
            "dma_alignment, max_shape, max_stride, max_compute_stride, "
            "megahertz, clock, memories";
}

static ParseResult parseChip(AsmParser &parser, StringRef name, SMLoc loc,
                             Settings &settings) {
  ChipAttr chip = ChipAttr::getChip(parser.getContext(), name);
  if (!chip) {
    InFlightDiagnostic diag = parser.emitError(loc)
                              << "no published chip is named \"" << name
                              << "\": known chips are ";
    llvm::interleaveComma(kChips, diag,
                          [&](const Published &known) { diag << known.name; });
    return diag << "; write the parameters of any other chip";
  }
  settings.npus = chip.getNpus();
  settings.bytesPerNpu = chip.getBytesPerNpu();
  settings.euBytes = chip.getEuBytes();
  settings.banks = chip.getBanks();
  settings.megahertz = chip.getMegahertz();
  settings.maxComputeStride = chip.getMaxComputeStride();
  return success();
}

Attribute ChipAttr::parse(AsmParser &parser, Type) {
  Settings settings;
  std::string name;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  bool more = true;
  if (succeeded(parser.parseOptionalString(&name))) {
    if (parseChip(parser, name, loc, settings))
      return {};
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && parser.parseCommaSeparatedList(
                  [&] { return parseSetting(parser, settings); }))
    return {};
  SMLoc end = parser.getCurrentLocation();
  if (parser.parseGreater())
    return {};
  for (const Number &number : ArrayRef(kNumbers).take_front(3)) {
    if (settings.*number.member)
      continue;
    parser.emitError(end) << "target parameter '" << number.name
                          << "' is missing: state it, or name a chip";
    return {};
  }
  auto none = DictionaryAttr::get(parser.getContext());
  Usual usual = getUsual(*settings.npus, *settings.bytesPerNpu,
                         *settings.euBytes, settings.banks);
  return parser.getChecked<ChipAttr>(
      loc, parser.getContext(), *settings.npus, *settings.bytesPerNpu,
      *settings.euBytes, settings.banks, settings.dmaAlignment.value_or(1),
      ArrayRef<int64_t>(settings.maxShape), settings.maxStride,
      settings.maxComputeStride.value_or(usual.maxComputeStride),
      settings.megahertz.value_or(usual.megahertz),
      settings.clock ? settings.clock : none,
      settings.memories ? settings.memories : none);
}

void ChipAttr::print(AsmPrinter &printer) const {
  StringRef name = getChipName();
  if (!name.empty()) {
    printer << "<\"" << name << "\">";
    return;
  }
  printer << "<npus = " << getNpus() << ", bytes_per_npu = " << getBytesPerNpu()
          << ", eu_bytes = " << getEuBytes();
  if (getBanks())
    printer << ", banks = " << *getBanks();
  if (getDmaAlignment() != 1)
    printer << ", dma_alignment = " << getDmaAlignment();
  if (!getMaxShape().empty())
    printer << ", max_shape = [" << getMaxShape() << "]";
  if (getMaxStride())
    printer << ", max_stride = " << *getMaxStride();
  Usual usual = getUsual(getNpus(), getBytesPerNpu(), getEuBytes(), getBanks());
  for (auto [param, value, byDefault] :
       {std::tuple("max_compute_stride", getMaxComputeStride(),
                   usual.maxComputeStride),
        std::tuple("megahertz", getMegahertz(), usual.megahertz)})
    if (value != byDefault)
      printer << ", " << param << " = " << value;
  if (!getClockParams().empty())
    printer << ", clock = " << getClockParams();
  if (!getMemories().empty())
    printer << ", memories = " << getMemories();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// MemoryAttr
//===----------------------------------------------------------------------===//

LogicalResult MemoryAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name) {
  if (!name.empty())
    return success();
  return emitError() << "a memory must have a name: system, local, or one that "
                        "the target lists";
}

Attribute MemoryAttr::parse(AsmParser &parser, Type) {
  std::string name;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseKeywordOrString(&name)) || parser.parseGreater())
    return {};
  return parser.getChecked<MemoryAttr>(loc, parser.getContext(),
                                       StringRef(name));
}

void MemoryAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printKeywordOrString(getName());
  printer << '>';
}
