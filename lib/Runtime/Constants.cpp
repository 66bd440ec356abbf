//===- Constants.cpp - Large constants outside of the code ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/Constants.h"
#include "layout/Runtime/KeptMemory.h"
#include "layout/Support/ConstantBytes.h"
#include "layout/Support/HugePages.h"
#include "layout/Support/MappedFiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "llvm/Support/Alignment.h"
#include <cstring>

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The contents of a constant: `bytes`, repeated until they fill `size` bytes.
struct Contents {
  ArrayRef<char> bytes;
  size_t size = 0;
};
} // namespace

/// Returns the size of an element in bytes, or std::nullopt if it is not an
/// integer or float of 8, 16, 32 or 64 bits.
static std::optional<int64_t> getElementBytes(Type type) {
  if (!type.isIntOrFloat())
    return std::nullopt;
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return std::nullopt;
  return bits / 8;
}

static std::optional<Contents> getContents(LLVM::GlobalOp global) {
  auto elements = dyn_cast_or_null<ElementsAttr>(global.getValueOrNull());
  if (!elements || !elements.getShapedType().hasStaticShape())
    return std::nullopt;
  std::optional<int64_t> bytes = getElementBytes(elements.getElementType());
  if (!bytes)
    return std::nullopt;
  Contents contents;
  contents.size = elements.getNumElements() * *bytes;
  // A resource without data is not detached; the translation to LLVM IR reports
  // it.
  contents.bytes = getConstantBytes(elements).value_or(ArrayRef<char>());
  bool whole = contents.bytes.size() == contents.size ||
               contents.bytes.size() == static_cast<size_t>(*bytes);
  return whole ? std::make_optional(contents) : std::nullopt;
}

static void copyTo(char *data, const Contents &contents) {
  size_t piece = contents.bytes.size();
  for (size_t at = 0; at < contents.size; at += piece)
    std::memcpy(data + at, contents.bytes.data(), piece);
  forgetMappedPages(contents.bytes);
}

namespace {
/// Frees each `dense_resource` of the context as soon as `release` was called
/// for all globals of `module` that read it, because their contents have been
/// copied or moved out. Resources that no global reads are freed at once.
class ResourceDropper {
public:
  ResourceDropper(ModuleOp module, bool sharesAll) : sharesAll(sharesAll) {
    for (auto global : module.getOps<LLVM::GlobalOp>())
      if (Entry *entry = getEntry(global))
        ++readers[entry];
    auto &manager =
        DenseResourceElementsHandle::getManagerInterface(module.getContext())
            .getBlobManager();
    SmallVector<StringRef> names;
    manager.getBlobMap([&](const llvm::StringMap<Entry> &entries) {
      llvm::append_range(names, entries.keys());
    });
    for (StringRef name : names)
      if (Entry *entry = manager.lookup(name); !readers.contains(entry))
        entry->setBlob({});
    giveBackFreedMemory();
  }
  ~ResourceDropper() { giveBackFreedMemory(); }

  /// Moves the memory out of the resource of `global`, to use it without a
  /// copy. Returns std::nullopt if the global has no resource or a resource of
  /// one repeated element, or if the memory is aligned to less than
  /// `alignment`, or may not be shared: without `sharesAll`, only memory from
  /// allocateConstantBytes may be.
  std::optional<DetachedConstants::Entry>
  take(LLVM::GlobalOp global, const Contents &contents, uint64_t alignment) {
    Entry *entry = getEntry(global);
    bool isOwn = isConstantMemory(contents.bytes.data());
    if (!entry || contents.bytes.size() != contents.size ||
        !(sharesAll || isOwn) ||
        !llvm::isAddrAligned(llvm::Align(alignment), contents.bytes.data()))
      return std::nullopt;
    return DetachedConstants::Entry{global.getSymName().str(),
                                    std::move(*entry->getBlob()),
                                    isOwn ? "" : entry->getKey().str()};
  }

  /// Marks that `global` no longer reads its resource, and frees the resource
  /// if this was its last reader.
  void release(LLVM::GlobalOp global) {
    if (Entry *entry = getEntry(global); entry && --readers[entry] == 0)
      entry->setBlob({});
  }

private:
  using Entry = DialectResourceBlobManager::BlobEntry;

  static Entry *getEntry(LLVM::GlobalOp global) {
    auto resource =
        dyn_cast_or_null<DenseResourceElementsAttr>(global.getValueOrNull());
    return resource ? resource.getRawHandle().getResource() : nullptr;
  }

  bool sharesAll;
  llvm::DenseMap<Entry *, unsigned> readers;
};
} // namespace

char *DetachedConstants::add(StringRef name, size_t bytes, size_t alignment) {
  entries.push_back({name.str(), allocateConstant(bytes, alignment), ""});
  return entries.back().blob.getMutableData().data();
}

void DetachedConstants::add(StringRef name, AsmResourceBlob blob,
                            size_t alignment) {
  ArrayRef<char> bytes = blob.getData();
  if (llvm::isAddrAligned(llvm::Align(alignment), bytes.data()))
    entries.push_back({name.str(), std::move(blob), ""});
  else
    llvm::copy(bytes, add(name, bytes.size(), alignment));
}

DetachedConstants::DetachedConstants(ModuleOp module, bool dropResources,
                                     bool shareResources) {
  std::optional<ResourceDropper> dropper;
  if (dropResources)
    dropper.emplace(module, shareResources);
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (!global.getConstant() || global.getThreadLocal_() ||
        global.getAddrSpace() != 0 || global.getSection() ||
        global.getComdat() || !global.getInitializerRegion().empty())
      continue;
    std::optional<Contents> contents = getContents(global);
    uint64_t alignment =
        std::max<uint64_t>(64, global.getAlignment().value_or(1));
    if (!contents || contents->size < kMinBytes || alignment > kHugePageBytes)
      continue;
    std::optional<Entry> taken;
    if (dropper)
      taken = dropper->take(global, *contents, alignment);
    if (taken)
      entries.push_back(std::move(*taken));
    else
      copyTo(add(global.getSymName(), contents->size, alignment), *contents);
    if (dropper)
      dropper->release(global);
    global.removeValueAttr();
    global.setLinkage(LLVM::Linkage::External);
    global.setDsoLocal(false);
  }
}
