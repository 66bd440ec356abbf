//===- Constants.cpp - The block of constants -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/NPUToEmitC/Constants.h"
#include "layout/Algebra/Pack.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Support/ConstantBytes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;

ChipAttr npu::findChip(ModuleOp module) {
  ChipAttr chip;
  module.walk([&](AllocOp alloc) {
    auto scatter = dyn_cast<layout::NpuScatterAttr>(
        cast<MemRefType>(alloc.getMemref().getType()).getLayout());
    if (scatter)
      chip = dyn_cast_or_null<ChipAttr>(scatter.getTarget());
    return chip ? WalkResult::interrupt() : WalkResult::advance();
  });
  return chip;
}

KernelApi npu::getKernelApi(ModuleOp module) {
  if (ChipAttr chip = findChip(module))
    return getKernelApi(chip);
  auto target =
      module->getAttrOfType<layout::NpuTargetAttr>(layout::kTargetAttr);
  return getKernelApi(target ? target.getChip() : layout::NpuTargetInterface());
}

FailureOr<ConstantBlock> npu::getConstantBlock(ModuleOp module) {
  int64_t alignment = 64;
  if (ChipAttr chip = findChip(module))
    alignment = std::max(alignment, chip.getDmaAlignment());
  ConstantBlock block;
  for (auto global : module.getOps<memref::GlobalOp>()) {
    auto type = cast<MemRefType>(global.getType());
    std::optional<int64_t> bytes = layout::getWholeBytes(type.getElementType());
    MemoryAttr memory = getMemory(type);
    if (!bytes || !memory || !memory.isSystem() ||
        !(type.getLayout().isIdentity() ||
          isa<layout::MapAttr>(type.getLayout())))
      return global.emitOpError()
             << "becomes coefficients in system memory: it must have integers "
                "or floats of whole bytes in row-major order or in a "
                "#layout.map in #npu.memory<system>, found "
             << type;
    FailureOr<Storage> storage =
        getStorage(type, [&] { return global.emitOpError(); });
    if (failed(storage))
      return failure();
    std::optional<ArrayRef<char>> data;
    if (global.getConstant())
      data = layout::getConstantBytes(global.getInitialValueAttr());
    int64_t size = type.getNumElements() * *bytes;
    if (!data ||
        (int64_t(data->size()) != size && int64_t(data->size()) != *bytes))
      return global.emitOpError()
             << "becomes coefficients in system memory: it must be a constant "
                "with its data";
    int64_t offset = llvm::alignTo(block.bytes, alignment);
    size = (*storage->map.storageExtent(type.getShape()))[0] * *bytes;
    block.entries.push_back({global, offset, size, *data, *storage,
                             llvm::to_vector(type.getShape())});
    block.offsets[global.getSymName()] = offset;
    block.bytes = offset + size;
  }
  return block;
}

void ConstantBlock::write(raw_ostream &os) const {
  int64_t at = 0;
  for (const Entry &entry : entries) {
    os.write_zeros(entry.offset - at);
    at = entry.offset + entry.bytes;
    int64_t elements = ShapedType::getNumElements(entry.shape);
    bool isWhole =
        int64_t(entry.once.size()) == elements * entry.storage.elementBytes;
    if (isWhole &&
        entry.storage.map != layout::LayoutMap::rowMajor(entry.shape.size())) {
      std::vector<char> ordered(entry.bytes, 0);
      bool isPacked =
          layout::pack(entry.storage.map, entry.shape,
                       entry.storage.elementBytes, entry.once, ordered);
      assert(isPacked && "the block has the extent of the map");
      (void)isPacked;
      os.write(ordered.data(), ordered.size());
      continue;
    }
    if (isWhole) {
      os.write(entry.once.data(), entry.once.size());
      continue;
    }
    // Repeated data is written in few large writes.
    std::string repeated;
    int64_t step = entry.once.size();
    int64_t most = std::min(entry.bytes, step * 4096);
    while (int64_t(repeated.size()) < most)
      repeated.append(entry.once.begin(), entry.once.end());
    for (int64_t left = entry.bytes; left > 0; left -= most)
      os.write(repeated.data(), std::min(left, most));
  }
}
