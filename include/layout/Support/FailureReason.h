//===- FailureReason.h - Callback for the reason of a failure ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that may fail has a parameter of type FailureReason. It calls the
// FailureReason once with the reason before it returns std::nullopt or failure,
// and never otherwise. The caller emits the reason as a diagnostic, stores it
// in a string, or passes nothing if it does not need the reason:
//
//   takeSlice(map, .., [&](const llvm::Twine &why) { emitError() << why; });
//   std::string whyNot;
//   takeSlice(map, .., whyNot);
//   takeSlice(map, ..);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_FAILUREREASON_H
#define LAYOUT_SUPPORT_FAILUREREASON_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <type_traits>

namespace mlir::layout {

/// The result of a failed function: converts to failure() and std::nullopt.
struct Failed {
  operator llvm::LogicalResult() const { return llvm::failure(); }
  template <typename T> operator llvm::FailureOr<T>() const {
    return llvm::failure();
  }
  template <typename T> operator std::optional<T>() const {
    return std::nullopt;
  }
};

class FailureReason {
public:
  FailureReason(std::nullptr_t = nullptr) {}
  FailureReason(std::string &kept) : kept(&kept) {}
  template <typename Callable,
            std::enable_if_t<
                !std::is_same_v<std::decay_t<Callable>, FailureReason> &&
                std::is_invocable_v<Callable, const llvm::Twine &>> * = nullptr>
  FailureReason(Callable &&callable) : take(callable) {}

  /// Reports the reason, a clause without a final period. Returns a value that
  /// converts to any failure.
  Failed operator()(const llvm::Twine &why) const {
    if (kept)
      *kept = why.str();
    if (take)
      take(why);
    return {};
  }

  /// Reports the text that `print` writes. `print` runs only if the reason is
  /// needed, because types are slow to print.
  Failed operator()(llvm::function_ref<void(llvm::raw_ostream &)> print) const {
    if (!*this)
      return {};
    std::string why;
    llvm::raw_string_ostream os(why);
    print(os);
    return (*this)(why);
  }

  /// Returns true if the caller needs the reason.
  explicit operator bool() const { return kept || take; }

private:
  std::string *kept = nullptr;
  llvm::function_ref<void(const llvm::Twine &why)> take;
};

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_FAILUREREASON_H
