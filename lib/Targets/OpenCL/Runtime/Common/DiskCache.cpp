//===- DiskCache.cpp - A cache of kernels on disk -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiskCache.h"
#include "Files.h"
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <vector>

using namespace mlir::layout;

/// Creates the directory and its parents if they do not exist. Returns false on
/// failure.
static bool makeDirectory(const std::string &path) {
  if (path.empty() || mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
    return true;
  size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0)
    return false;
  return makeDirectory(path.substr(0, slash)) &&
         (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST);
}

/// The cache is off without a directory, and with a size limit of 0.
std::string DiskCache::getDirectory() const {
  if (const char *own = std::getenv(variable.c_str()))
    return own;
  std::string base = getVariable("XDG_CACHE_HOME");
  if (base.empty() && !getVariable("HOME").empty())
    base = getVariable("HOME") + "/.cache";
  return base.empty() ? "" : base + "/mlir-layout/" + folder;
}

/// If the limit is not a number of 64 bits, reports an error and returns what
/// strtoull reads from it. One network needs about 1 MB.
uint64_t DiskCache::getMostBytes() const {
  std::string text = getVariable(variable + "_BYTES");
  char *end = nullptr;
  errno = 0;
  uint64_t bytes = std::strtoull(text.c_str(), &end, 10);
  if (text.empty())
    return uint64_t(256) << 20;
  if (text.find_first_not_of("0123456789") != std::string::npos || errno)
    error.report(variable + "_BYTES is '" + text +
                 "', which is not a number of bytes");
  return bytes;
}

/// Returns the FNV-1a hash of `text` as 16 hexadecimal digits.
std::string mlir::layout::getHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : text)
    hash = (hash ^ byte) * 0x100000001b3;
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(hash));
  return digits;
}

/// The hash of the key only names the file, which contains the whole key.
std::string DiskCache::getPath(const char *suffix, std::string_view key) const {
  std::string directory = getDirectory();
  return directory.empty() ? "" : directory + "/" + getHash(key) + suffix;
}

/// Returns the contents of a file, "<bytes of key> <key><hash of
/// value><value>". By comparing a file with it, a lookup detects truncated and
/// modified files.
static std::string getEntry(std::string_view key, const std::string &value) {
  return std::to_string(key.size()) + " " + std::string(key) + getHash(value) +
         value;
}

bool DiskCache::isOn() const {
  return !getDirectory().empty() && getMostBytes();
}

bool DiskCache::find(const char *suffix, std::string_view key,
                     std::string &value) const {
  std::string path = getPath(suffix, key), text;
  size_t head = getEntry(key, "").size();
  if (!isOn() || !readFile(path, text) || text.size() <= head)
    return false;
  value = text.substr(head);
  if (text != getEntry(key, value))
    return false;
  // The modification time is the time of the last use.
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return true;
}

/// Returns true if the name has the form of the cache's files, also of partly
/// written ones: "<16 hexadecimal digits>.<any suffix>".
static bool isOwnName(const std::string &name) {
  return name.size() > 16 && name[16] == '.' &&
         name.find_first_not_of("0123456789abcdef") == 16;
}

/// Removes the least recently used files of the cache until its others have at
/// most `mostBytes` bytes. Files that other processes remove count as removed.
static void prune(const std::string &directory, uint64_t mostBytes) {
  namespace fs = std::filesystem;
  struct File {
    fs::file_time_type time;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  uint64_t sum = 0;
  std::error_code ignored;
  for (const fs::directory_entry &each :
       fs::directory_iterator(directory, ignored)) {
    std::error_code lost;
    File file{each.last_write_time(lost), each.file_size(lost), each.path()};
    if (lost || !isOwnName(file.path.filename().string()))
      continue;
    sum += file.bytes;
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const File &a, const File &b) { return a.time < b.time; });
  for (const File &file : files) {
    if (sum <= mostBytes)
      return;
    fs::remove(file.path, ignored);
    sum -= file.bytes;
  }
}

void DiskCache::keep(const char *suffix, std::string_view key,
                     const std::string &value) const {
  std::string path = getPath(suffix, key), entry = getEntry(key, value);
  uint64_t mostBytes = getMostBytes();
  if (path.empty() || entry.size() > mostBytes ||
      !makeDirectory(getDirectory()))
    return;
  std::string partial = path + ".XXXXXX";
  if (!writeNewFile(partial, entry) ||
      std::rename(partial.c_str(), path.c_str()) != 0)
    std::remove(partial.c_str());
  else
    prune(getDirectory(), mostBytes);
}
