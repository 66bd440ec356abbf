//===- KernelMetadata.cpp - Facts about kernels ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/GPUToOpenCL/KernelMetadata.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::layout;

bool layout::seesGroups(gpu::GPUFuncOp kernel) {
  if (kernel.getKnownBlockSizeAttr())
    return true;
  return kernel
      .walk([](Operation *op) {
        return isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::BlockDimOp,
                   gpu::GridDimOp, gpu::BarrierOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns true if the kernel does not write memory that it reads, so that
/// running it again gives the same results.
static bool mayRepeat(gpu::GPUFuncOp kernel) {
  for (BlockArgument argument :
       kernel.getBody().getArguments().take_front(kernel.getNumArguments())) {
    if (!isa<BaseMemRefType>(argument.getType()))
      continue;
    bool isRead = false, isWritten = false;
    for (OpOperand &use : argument.getUses()) {
      auto store = dyn_cast<memref::StoreOp>(use.getOwner());
      isWritten |= store != nullptr;
      isRead |= !store;
      if (!store && !isa<memref::LoadOp>(use.getOwner()))
        return false;
    }
    if (isRead && isWritten)
      return false;
  }
  return true;
}

/// Returns the numbers of the arguments that the kernel may store to.
static SmallVector<int64_t> findWrites(gpu::GPUFuncOp kernel) {
  SmallVector<int64_t> writes;
  for (BlockArgument argument :
       kernel.getBody().getArguments().take_front(kernel.getNumArguments()))
    if (llvm::any_of(argument.getUsers(), [](Operation *user) {
          return !isa<memref::LoadOp>(user);
        }))
      if (isa<BaseMemRefType>(argument.getType()))
        writes.push_back(argument.getArgNumber());
  return writes;
}

DictionaryAttr layout::makeKernelMetadata(gpu::GPUFuncOp kernel) {
  Builder b(kernel.getContext());
  NamedAttrList facts;
  for (StringRef name : {StringRef(kOperationsAttrName),
                         StringRef(kBytesAttrName), StringRef(kItemsAttrName)})
    if (Attribute fact = kernel->getAttr(name))
      facts.set(name, fact);
  if (!seesGroups(kernel))
    facts.set(kAnyGroupsAttrName, b.getUnitAttr());
  if (mayRepeat(kernel))
    facts.set(kMayRepeatAttrName, b.getUnitAttr());
  facts.set(kWritesAttrName, b.getDenseI64ArrayAttr(findWrites(kernel)));
  return facts.getDictionary(b.getContext());
}

LayoutClKernelMetadata layout::readKernelMetadata(DictionaryAttr metadata) {
  LayoutClKernelMetadata facts = LAYOUT_CL_UNKNOWN_FACTS;
  if (!metadata)
    return facts;
  auto read = [&](StringRef name, int64_t &count) {
    auto attribute = metadata.getAs<IntegerAttr>(name);
    if (attribute && attribute.getType().isInteger(64))
      count = std::max<int64_t>(attribute.getInt(), -1);
  };
  read(kOperationsAttrName, facts.operations);
  read(kBytesAttrName, facts.bytes);
  auto items = metadata.getAs<DenseI64ArrayAttr>(kItemsAttrName);
  if (items && items.size() == 3)
    llvm::copy(items.asArrayRef(), facts.items);
  if (auto writes = metadata.getAs<DenseI64ArrayAttr>(kWritesAttrName)) {
    facts.writes = 0;
    for (int64_t number : writes.asArrayRef())
      if (number >= 0 && number < 63)
        facts.writes |= int64_t(1) << number;
  }
  facts.any_groups = metadata.contains(kAnyGroupsAttrName);
  facts.may_repeat = metadata.contains(kMayRepeatAttrName);
  return facts;
}
