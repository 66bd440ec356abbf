//===- DiskCache.cpp - What the runtime keeps on disk ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiskCache.h"
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::layout;

std::string opencl::getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool opencl::readFile(const std::string &path, std::string &text) {
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

bool opencl::writeNewFile(std::string &path, std::string_view text) {
  int descriptor = mkstemp(path.data());
  FILE *file = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  if (!file)
    return false;
  bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && good;
}

/// Makes the directory and those above it; false where it cannot be.
static bool makeDirectory(const std::string &path) {
  if (path.empty() || mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
    return true;
  size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0)
    return false;
  return makeDirectory(path.substr(0, slash)) &&
         (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST);
}

/// Empty where nothing is to be kept.
static std::string getCacheDirectory() {
  if (const char *own = std::getenv("LAYOUT_OPENCL_CACHE"))
    return own;
  std::string base = opencl::getVariable("XDG_CACHE_HOME");
  if (base.empty() && !opencl::getVariable("HOME").empty())
    base = opencl::getVariable("HOME") + "/.cache";
  return base.empty() ? "" : base + "/mlir-layout/opencl";
}

/// FNV-1a, as 16 digits.
static std::string getHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : text)
    hash = (hash ^ byte) * 0x100000001b3;
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(hash));
  return digits;
}

/// Empty where nothing is kept. The hash only names the file; what the file was
/// made from is in it.
static std::string getPath(const char *suffix, std::string_view key) {
  std::string directory = getCacheDirectory();
  return directory.empty() ? "" : directory + "/" + getHash(key) + suffix;
}

/// A file is "<bytes of the key> <key><hash of the value><value>", by which one
/// that was cut off or changed is known.
static std::string getEntry(std::string_view key, const std::string &value) {
  return std::to_string(key.size()) + " " + std::string(key) + getHash(value) +
         value;
}

bool opencl::findInCache(const char *suffix, std::string_view key,
                         std::string &value) {
  std::string path = getPath(suffix, key), text;
  size_t head = getEntry(key, "").size();
  if (path.empty() || !readFile(path, text) || text.size() <= head)
    return false;
  value = text.substr(head);
  return text == getEntry(key, value);
}

void opencl::keepInCache(const char *suffix, std::string_view key,
                         const std::string &value) {
  std::string path = getPath(suffix, key);
  if (path.empty() || !makeDirectory(path.substr(0, path.rfind('/'))))
    return;
  std::string partial = path + ".XXXXXX";
  if (!writeNewFile(partial, getEntry(key, value)) ||
      std::rename(partial.c_str(), path.c_str()) != 0)
    std::remove(partial.c_str());
}
