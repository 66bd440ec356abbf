//===- BundleRef.h - The parameter of #layout.bundle ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared, immutable `Bundle`, as a parameter of an attribute. Bundle.h
// defines the bundle.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_BUNDLEREF_H
#define LAYOUT_DIALECT_LAYOUT_IR_BUNDLEREF_H

#include "llvm/ADT/Hashing.h"
#include <memory>

namespace mlir::layout {

struct Bundle;

class BundleRef {
public:
  BundleRef() = default;
  explicit BundleRef(Bundle bundle);

  explicit operator bool() const { return static_cast<bool>(bundle); }
  const Bundle &operator*() const { return *bundle; }
  const Bundle *operator->() const { return bundle.get(); }

  bool operator==(const BundleRef &other) const;
  friend llvm::hash_code hash_value(const BundleRef &bundle);

private:
  std::shared_ptr<const Bundle> bundle;
};

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_IR_BUNDLEREF_H
