//===- Files.cpp - Files and environment variables ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

std::string mlir::layout::getVariable(const std::string &name) {
  const char *value = std::getenv(name.c_str());
  return value ? value : "";
}

bool mlir::layout::isSetupVariableOn(const char *name) {
  std::string value = getVariable(name);
  return !value.empty() && value != "0";
}

bool mlir::layout::readFile(const std::string &path, std::string &text) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return false;
  text.clear();
  char piece[1 << 16];
  size_t count;
  while ((count = std::fread(piece, 1, sizeof(piece), file)) > 0)
    text.append(piece, count);
  bool good = !std::ferror(file);
  std::fclose(file);
  return good;
}

bool mlir::layout::writeNewFile(std::string &path, std::string_view text) {
  int descriptor = mkstemp(path.data());
  FILE *file = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  if (!file)
    return false;
  bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && good;
}
