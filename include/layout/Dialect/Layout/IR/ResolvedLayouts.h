//===- ResolvedLayouts.h - Cached maps of types -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Caches the map that the layout of a type resolves to. Types are unique and
// live as long as their context, so entries stay valid. Thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_RESOLVEDLAYOUTS_H
#define LAYOUT_DIALECT_LAYOUT_IR_RESOLVEDLAYOUTS_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/RWMutex.h"

namespace mlir::layout {

/// A thread-safe cache of the maps of tensor types.
class ResolvedLayouts {
public:
  /// Returns the cached map of `type`, or the result of `resolve`, which is
  /// cached if it succeeds.
  FailureOr<LayoutMap> get(Type type,
                           function_ref<FailureOr<LayoutMap>()> resolve) {
    {
      llvm::sys::SmartScopedReader<true> reading(mutex);
      if (auto it = maps.find(type); it != maps.end())
        return it->second;
    }
    FailureOr<LayoutMap> map = resolve();
    if (failed(map))
      return failure();
    llvm::sys::SmartScopedWriter<true> writing(mutex);
    return maps.try_emplace(type, *map).first->second;
  }

private:
  llvm::sys::SmartRWMutex<true> mutex;
  DenseMap<Type, LayoutMap> maps;
};

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_IR_RESOLVEDLAYOUTS_H
