//===- OpenCLSpirvPatcher.cpp - Patch SPIR-V binaries for OpenCL ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/GPUToOpenCL/OpenCLSpirvPatcher.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/SPIRVBinaryUtils.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"
#include <array>
#include <map>

using namespace mlir;
using namespace mlir::layout;

namespace {
using Op = spirv::Opcode;

/// SPIR-V opcodes that the spirv dialect lacks.
constexpr auto kTypeSampler = static_cast<Op>(26);
constexpr auto kConstantSampler = static_cast<Op>(45);
constexpr auto kSampledImage = static_cast<Op>(86);

/// The words of an instruction; the first one has the opcode and the length.
struct Instruction {
  SmallVector<uint32_t, 6> words;

  Instruction(Op op, ArrayRef<uint32_t> operands) {
    words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 |
                    static_cast<uint32_t>(op));
    words.append(operands.begin(), operands.end());
  }
  explicit Instruction(ArrayRef<uint32_t> words)
      : words(words.begin(), words.end()) {}

  Op op() const { return static_cast<Op>(words[0] & 0xffff); }
};

/// Returns the string literal that starts at the first word.
std::string getText(ArrayRef<uint32_t> words) {
  std::string text;
  for (uint32_t word : words)
    for (unsigned i = 0; i < 4; ++i) {
      char c = static_cast<char>(word >> 8 * i);
      if (!c)
        return text;
      text += c;
    }
  return text;
}

SmallVector<uint32_t> getWords(StringRef text) {
  SmallVector<uint32_t> words(text.size() / 4 + 1);
  for (auto [i, c] : llvm::enumerate(text))
    words[i / 4] |= static_cast<uint32_t>(static_cast<unsigned char>(c))
                    << 8 * (i % 4);
  return words;
}

/// Returns the number of an instruction of the set OpenCL.std for which the
/// spirv dialect has no op, or std::nullopt for other names.
std::optional<uint32_t> getExtendedInstruction(StringRef name) {
  int number = llvm::StringSwitch<int>(name)
                   .Case("cbrt", 11)
                   .Case("erfc", 17)
                   .Case("exp2", 20)
                   .Case("expm1", 22)
                   .Case("log2", 38)
                   .Case("log10", 39)
                   .Case("log1p", 40)
                   .Case("trunc", 66)
                   .Case("popcount", 166)
                   .Case("vload_half", 173)
                   .Case("vstore_half", 175)
                   .Default(-1);
  if (number < 0)
    return std::nullopt;
  return number;
}

class OpenCLSpirvPatcher {
public:
  OpenCLSpirvPatcher(SmallVectorImpl<uint32_t> &words, FailureReason report)
      : words(words), report(report) {}

  LogicalResult run();

private:
  LogicalResult read();
  LogicalResult replaceCalls();
  LogicalResult qualifyImages();
  /// The ids of function types, by the ids of their result and parameter types.
  using FunctionTypes = std::map<std::vector<uint32_t>, uint32_t>;
  /// Moves void and the images before all other types, and function types after
  /// all other types and constants.
  void orderTypes(uint32_t voidType, const FunctionTypes &functionTypes);
  void addSampler(std::vector<Instruction> &ordered);
  void sampleReads();
  void write();

  LogicalResult fail(const Twine &message) {
    report(message);
    return failure();
  }
  bool isImage(uint32_t type) const { return imageTypes.count(type); }
  uint32_t getQualified(uint32_t type, bool isWritten);

  SmallVectorImpl<uint32_t> &words;
  FailureReason report;
  uint32_t bound = 0;
  std::vector<Instruction> instructions;
  llvm::DenseMap<uint32_t, Instruction> imageTypes; // by id
  /// Maps (dim, arrayed, access) of an image type to its new id. Image types
  /// that differ only in the sampled type become one: types must be unique.
  std::map<std::array<uint32_t, 3>, uint32_t> qualified;

  /// Maps the image types that are read to their sampled image types.
  std::map<uint32_t, uint32_t> sampled;
  llvm::DenseMap<uint32_t, uint32_t> typeOfRead; // by parameter
  uint32_t floatType = 0, sampler = 0, samplerType = 0, levelOfDetail = 0;
};
} // namespace

LogicalResult OpenCLSpirvPatcher::read() {
  constexpr size_t header = 5;
  if (words.size() < header || words[0] != spirv::kMagicNumber)
    return fail("these words are not a SPIR-V module");
  bound = words[3];
  for (size_t at = header; at < words.size();) {
    size_t count = words[at] >> 16;
    if (count == 0 || at + count > words.size())
      return fail("an instruction ends past the end of the SPIR-V module");
    instructions.emplace_back(ArrayRef<uint32_t>(words).slice(at, count));
    at += count;
  }
  return success();
}

/// Replaces calls of imported "OpenCL.std/.." functions by OpExtInst. Reports
/// an error and fails if the instruction number of a name is unknown.
LogicalResult OpenCLSpirvPatcher::replaceCalls() {
  llvm::DenseMap<uint32_t, uint32_t> imported; // function id -> number
  uint32_t set = 0;
  for (const Instruction &each : instructions) {
    if (each.op() == Op::OpExtInstImport &&
        getText(ArrayRef(each.words).drop_front(2)) == "OpenCL.std")
      set = each.words[1];
    if (each.op() != Op::OpDecorate ||
        each.words[2] !=
            static_cast<uint32_t>(spirv::Decoration::LinkageAttributes))
      continue;
    std::string linkage = getText(ArrayRef(each.words).drop_front(3));
    StringRef name = linkage;
    if (!name.consume_front(kOpenCLStdPrefix))
      continue;
    std::optional<uint32_t> number = getExtendedInstruction(name);
    if (!number)
      return fail("OpenCL.std's '" + name +
                  "' has no known instruction number");
    imported.insert({each.words[1], *number});
  }
  if (imported.empty())
    return success();

  std::vector<Instruction> kept;
  bool isImport = false;
  for (Instruction &each : instructions) {
    if (!set && each.op() == Op::OpMemoryModel) {
      set = bound++;
      SmallVector<uint32_t> operands = getWords("OpenCL.std");
      operands.insert(operands.begin(), set);
      kept.emplace_back(Op::OpExtInstImport, operands);
    }
    isImport |= each.op() == Op::OpFunction && imported.count(each.words[2]);
    if (isImport) {
      isImport = each.op() != Op::OpFunctionEnd;
      continue;
    }
    if ((each.op() == Op::OpName || each.op() == Op::OpDecorate) &&
        imported.count(each.words[1]))
      continue;
    auto place = each.op() == Op::OpFunctionCall ? imported.find(each.words[3])
                                                 : imported.end();
    if (place == imported.end()) {
      kept.push_back(std::move(each));
      continue;
    }
    SmallVector<uint32_t> operands{each.words[1], each.words[2], set,
                                   place->second};
    operands.append(each.words.begin() + 4, each.words.end());
    kept.emplace_back(Op::OpExtInst, operands);
  }
  instructions = std::move(kept);
  return success();
}

uint32_t OpenCLSpirvPatcher::getQualified(uint32_t type, bool isWritten) {
  ArrayRef<uint32_t> given = imageTypes.find(type)->second.words;
  uint32_t &id = qualified[{given[3], given[5], isWritten ? 1u : 0u}];
  if (!id)
    id = bound++;
  return id;
}

LogicalResult OpenCLSpirvPatcher::qualifyImages() {
  llvm::DenseMap<uint32_t, uint32_t> functionResults; // of function types
  llvm::DenseSet<uint32_t> readImages, writtenImages;
  std::optional<uint32_t> voidType;
  for (const Instruction &each : instructions) {
    if (each.op() == Op::OpTypeImage)
      imageTypes.insert({each.words[1], each});
    else if (each.op() == Op::OpTypeFunction)
      functionResults[each.words[1]] = each.words[2];
    else if (each.op() == Op::OpTypeVoid)
      voidType = each.words[1];
    else if (each.op() == Op::OpTypeFloat && each.words[2] == 32)
      floatType = each.words[1];
    else if (each.op() == Op::OpImageRead)
      readImages.insert(each.words[3]);
    else if (each.op() == Op::OpImageWrite)
      writtenImages.insert(each.words[1]);
  }
  if (imageTypes.empty())
    return success();

  // Update the types of parameters, then those of the functions.
  FunctionTypes functionTypes;
  Instruction *function = nullptr;
  std::vector<uint32_t> signature; // result, parameters
  for (Instruction &each : instructions) {
    switch (each.op()) {
    case Op::OpFunction:
      function = &each;
      signature = {functionResults[each.words[4]]};
      break;
    case Op::OpFunctionParameter: {
      uint32_t value = each.words[2];
      if (isImage(each.words[1])) {
        if (readImages.count(value) && writtenImages.count(value))
          return fail("an image is read and written by one kernel, which "
                      "OpenCL 1.2 does not support");
        each.words[1] = getQualified(each.words[1], writtenImages.count(value));
        if (readImages.count(value)) {
          typeOfRead[value] = each.words[1];
          sampled.insert({each.words[1], 0});
        }
      }
      signature.push_back(each.words[1]);
      break;
    }
    case Op::OpLabel:
    case Op::OpFunctionEnd:
      if (function) {
        uint32_t &id = functionTypes[signature];
        if (!id)
          id = bound++;
        function->words[4] = id;
        function = nullptr;
      }
      break;
    case Op::OpFunctionCall:
    case Op::OpLoad:
      if (isImage(each.words[1]))
        return fail("an image is not a parameter of a kernel");
      break;
    default:
      break;
    }
  }
  if (!voidType)
    return fail("the SPIR-V module has images but no kernel");

  for (auto &[image, type] : sampled)
    type = bound++;
  orderTypes(*voidType, functionTypes);
  if (!sampled.empty())
    sampleReads();
  return success();
}

/// Appends a sampler with which reads outside of an image return zeros, and the
/// constant 0, the level of detail of all reads.
void OpenCLSpirvPatcher::addSampler(std::vector<Instruction> &ordered) {
  enum { Clamp = 2, NotNormalized = 0, Nearest = 0 };
  for (uint32_t *id : {&sampler, &samplerType, &levelOfDetail})
    *id = bound++;
  if (!floatType) {
    floatType = bound++;
    ordered.emplace_back(Op::OpTypeFloat, ArrayRef<uint32_t>{floatType, 32});
  }
  ordered.emplace_back(kTypeSampler, samplerType);
  ordered.emplace_back(
      kConstantSampler,
      ArrayRef<uint32_t>{samplerType, sampler, Clamp, NotNormalized, Nearest});
  ordered.emplace_back(Op::OpConstant,
                       ArrayRef<uint32_t>{floatType, levelOfDetail, 0});
}

/// Replaces each OpImageRead, which is undefined outside of an image, by
/// OpImageSampleExplicitLod, which returns zeros there.
void OpenCLSpirvPatcher::sampleReads() {
  std::vector<Instruction> all;
  bool isAdded = false;
  for (Instruction &each : instructions) {
    if (!isAdded && each.op() != Op::OpCapability) {
      isAdded = true;
      all.emplace_back(
          Op::OpCapability,
          ArrayRef{static_cast<uint32_t>(spirv::Capability::LiteralSampler)});
    }
    if (each.op() != Op::OpImageRead) {
      all.push_back(std::move(each));
      continue;
    }
    uint32_t image = each.words[3], both = bound++;
    all.emplace_back(
        kSampledImage,
        ArrayRef<uint32_t>{sampled[typeOfRead[image]], both, image, sampler});
    auto level = static_cast<uint32_t>(spirv::ImageOperands::Lod);
    all.emplace_back(Op::OpImageSampleExplicitLod,
                     ArrayRef<uint32_t>{each.words[1], each.words[2], both,
                                        each.words[4], level, levelOfDetail});
  }
  instructions = std::move(all);
}

void OpenCLSpirvPatcher::orderTypes(uint32_t voidType,
                                    const FunctionTypes &functionTypes) {
  std::vector<Instruction> ordered;
  bool sawTypes = false, sawFunctions = false;
  for (Instruction &each : instructions) {
    auto code = static_cast<uint32_t>(each.op());
    bool isType = code >= static_cast<uint32_t>(Op::OpTypeVoid) &&
                  code <= static_cast<uint32_t>(Op::OpVariable);
    if (isType && !sawTypes) {
      sawTypes = true;
      ordered.emplace_back(Op::OpTypeVoid, voidType);
      for (auto &[key, id] : qualified) {
        // Sampled type, dim, depth, arrayed, MS, sampled, format, access. An
        // OpenCL image has depth 0 and sampled 0, "known at run time".
        ordered.emplace_back(Op::OpTypeImage,
                             ArrayRef<uint32_t>{id, voidType, key[0], 0, key[1],
                                                0, 0, 0, key[2]});
      }
      for (auto [image, type] : sampled)
        ordered.emplace_back(Op::OpTypeSampledImage,
                             ArrayRef<uint32_t>{type, image});
    }
    if (each.op() == Op::OpFunction && !sawFunctions) {
      sawFunctions = true;
      if (!sampled.empty())
        addSampler(ordered);
      for (auto &[types, id] : functionTypes) {
        SmallVector<uint32_t> operands{id};
        llvm::append_range(operands, types);
        ordered.emplace_back(Op::OpTypeFunction, operands);
      }
    }
    if (each.op() != Op::OpTypeVoid && each.op() != Op::OpTypeImage &&
        each.op() != Op::OpTypeFunction)
      ordered.push_back(std::move(each));
  }
  instructions = std::move(ordered);
}

void OpenCLSpirvPatcher::write() {
  SmallVector<uint32_t> header(words.begin(), words.begin() + 5);
  header[3] = bound;
  words.assign(header.begin(), header.end());
  for (const Instruction &each : instructions)
    llvm::append_range(words, each.words);
}

LogicalResult OpenCLSpirvPatcher::run() {
  if (failed(read()) || failed(replaceCalls()) || failed(qualifyImages()))
    return failure();
  write();
  return success();
}

LogicalResult layout::patchSpirvForOpenCL(SmallVectorImpl<uint32_t> &words,
                                          FailureReason report) {
  return OpenCLSpirvPatcher(words, report).run();
}

void layout::patchSpirvForVulkan(SmallVectorImpl<uint32_t> &words) {
  constexpr size_t headerWords = 5;
  size_t decorations = 0;
  for (size_t at = headerWords; at < words.size(); at += words[at] >> 16) {
    auto op = static_cast<spirv::Opcode>(words[at] & 0xffff);
    if (op == spirv::Opcode::OpDecorate && !decorations)
      decorations = at;
    if (op != spirv::Opcode::OpSpecConstantComposite)
      continue;
    Instruction decorate(
        spirv::Opcode::OpDecorate,
        {words[at + 2], static_cast<uint32_t>(spirv::Decoration::BuiltIn),
         static_cast<uint32_t>(spirv::BuiltIn::WorkgroupSize)});
    assert(decorations && "its constituents are decorated");
    words.insert(words.begin() + decorations, decorate.words.begin(),
                 decorate.words.end());
    return;
  }
}

LogicalResult layout::serializeForDevice(spirv::ModuleOp module,
                                         SmallVectorImpl<uint32_t> &words) {
  if (failed(spirv::serialize(module, words)))
    return module.emitError() << "cannot be serialized";
  if (module.getAddressingModel() == spirv::AddressingModel::Logical) {
    patchSpirvForVulkan(words);
    return success();
  }
  return patchSpirvForOpenCL(words, [&](const Twine &message) {
    module.emitError() << "cannot be converted to a binary for OpenCL: "
                       << message;
  });
}
