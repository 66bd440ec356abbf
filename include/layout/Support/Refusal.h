//===- Refusal.h - Who is told why something cannot be ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that may have to refuse takes a Refusal, calls it once with the
// reason before it returns nothing or failure, and calls it never otherwise.
// Whoever calls that function makes a diagnostic of the reason, keeps it in a
// string, or passes nothing where it does not matter:
//
//   takeSlice(map, .., [&](const llvm::Twine &why) { emitError() << why; });
//   std::string whyNot;
//   takeSlice(map, .., whyNot);
//   takeSlice(map, ..);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_REFUSAL_H
#define LAYOUT_SUPPORT_REFUSAL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <type_traits>

namespace mlir {
namespace layout {

/// What a function that refuses returns.
struct Refused {
  operator llvm::LogicalResult() const { return llvm::failure(); }
  template <typename T> operator llvm::FailureOr<T>() const {
    return llvm::failure();
  }
  template <typename T> operator std::optional<T>() const {
    return std::nullopt;
  }
};

class Refusal {
public:
  Refusal(std::nullptr_t = nullptr) {}
  Refusal(std::string &kept) : kept(&kept) {}
  template <typename Callable,
            std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, Refusal> &&
                             std::is_invocable_v<Callable, const llvm::Twine &>>
                * = nullptr>
  Refusal(Callable &&callable) : take(callable) {}

  /// The reason is a clause without a final period.
  Refused operator()(const llvm::Twine &why) const {
    if (kept)
      *kept = why.str();
    if (take)
      take(why);
    return {};
  }

  /// Types take long to print: their text is made only where it is asked for.
  Refused
  operator()(llvm::function_ref<void(llvm::raw_ostream &)> print) const {
    if (!*this)
      return {};
    std::string why;
    llvm::raw_string_ostream os(why);
    print(os);
    return (*this)(why);
  }

  /// Whether anybody asks for the reason.
  explicit operator bool() const { return kept || take; }

private:
  std::string *kept = nullptr;
  llvm::function_ref<void(const llvm::Twine &why)> take;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_REFUSAL_H
