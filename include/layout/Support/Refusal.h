//===- Refusal.h - Who is told why something cannot be ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that may have to refuse takes a Refusal, calls it once with the
// reason before it returns nothing or failure, and calls it never otherwise.
// Whoever calls that function makes a diagnostic of the reason, keeps it, or
// passes nothing where it does not matter:
//
//   std::string whyNot;
//   takeSlice(map, .., [&](const llvm::Twine &why) { whyNot = why.str(); });
//   takeSlice(map, ..);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_REFUSAL_H
#define LAYOUT_SUPPORT_REFUSAL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include <optional>
#include <type_traits>

namespace mlir {
namespace layout {

class Refusal {
public:
  Refusal(std::nullptr_t = nullptr) {}
  template <typename Callable,
            std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, Refusal> &&
                             std::is_invocable_v<Callable, const llvm::Twine &>>
                * = nullptr>
  Refusal(Callable &&callable) : take(callable) {}

  /// The reason is a clause without a final period. Returns what a function
  /// that refuses returns.
  std::nullopt_t operator()(const llvm::Twine &why) const {
    if (take)
      take(why);
    return std::nullopt;
  }

private:
  llvm::function_ref<void(const llvm::Twine &why)> take;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_REFUSAL_H
