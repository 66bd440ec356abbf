//===- Translate.cpp - SPIR-V to SPIR, by a tool, once --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace mlir::layout::opencl;

static std::string getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static bool readFile(const std::string &path, std::string &text) {
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

/// Makes a file that nobody else has made; X in `path` become what names it.
static bool writeNewFile(std::string &path, std::string_view text) {
  int descriptor = mkstemp(path.data());
  FILE *file = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  if (!file)
    return false;
  bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && good;
}

//===----------------------------------------------------------------------===//
// The cache on disk
//===----------------------------------------------------------------------===//

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
  std::string base = getVariable("XDG_CACHE_HOME");
  if (base.empty() && !getVariable("HOME").empty())
    base = getVariable("HOME") + "/.cache";
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

/// The hash only names the file; what the file was made from is in it.
static std::string getCachePath(const std::string &directory,
                                std::string_view key) {
  return directory + "/" + getHash(key) + ".spir";
}

/// A file is "<bytes of the key> <key><hash of the SPIR><SPIR>", by which one
/// that was cut off or changed is known.
static std::string getEntry(std::string_view key, const std::string &spir) {
  return std::to_string(key.size()) + " " + std::string(key) + getHash(spir) +
         spir;
}

static bool readCache(const std::string &path, std::string_view key,
                      std::string &spir) {
  std::string text;
  size_t head = getEntry(key, "").size();
  if (!readFile(path, text) || text.size() <= head)
    return false;
  spir = text.substr(head);
  return text == getEntry(key, spir);
}

/// Whole or not at all. That nothing could be kept is no error.
static void writeCache(const std::string &directory, const std::string &path,
                       std::string_view key, const std::string &spir) {
  if (!makeDirectory(directory))
    return;
  std::string partial = path + ".XXXXXX";
  if (!writeNewFile(partial, getEntry(key, spir)) ||
      std::rename(partial.c_str(), path.c_str()) != 0)
    std::remove(partial.c_str());
}

//===----------------------------------------------------------------------===//
// The tool
//===----------------------------------------------------------------------===//

/// Runs a command with its output in a file; the reason when it fails.
static std::string run(const std::vector<std::string> &command,
                       const std::string &outputPath) {
  std::vector<char *> arguments;
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, outputPath.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int code = posix_spawnp(&child, arguments[0], &actions, nullptr,
                          arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code == ENOENT)
    return "the tool '" + command[0] +
           "' was not found; install it (Debian: the package of that name), or "
           "name another in LAYOUT_OPENCL_TRANSLATOR";
  if (code != 0)
    return "the tool '" + command[0] +
           "' could not be started: " + std::strerror(code);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return "";
  std::string output;
  readFile(outputPath, output);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && output.empty())
    return "the tool '" + command[0] + "' could not be started";
  return "the tool '" + command[0] + "' failed" +
         (output.empty() ? "" : ":\n" + output.substr(0, 2000));
}

bool mlir::layout::opencl::translateToSpir(std::string_view spirv,
                                           const std::string &kernel,
                                           std::string &spir) {
  std::string tool = getVariable("LAYOUT_OPENCL_TRANSLATOR");
  if (tool.empty())
    tool = "llvm-spirv-15";
  std::string directory = getCacheDirectory();
  std::string key = tool + "\n" + std::string(spirv);
  std::string cached = getCachePath(directory, key);
  if (!directory.empty() && readCache(cached, key, spir))
    return true;

  std::string what = "building the kernel '" + kernel +
                     "' failed: the device takes no SPIR-V, and ";
  std::string base = getVariable("TMPDIR");
  if (base.empty())
    base = P_tmpdir; // what POSIX says where nobody says otherwise
  std::string work = base + "/layout-opencl-XXXXXX"; // mkdtemp fills the X in
  if (!mkdtemp(work.data())) {
    report(what + "no temporary directory could be made in '" + base +
           "': " + std::strerror(errno));
    return false;
  }
  std::string in = work + "/kernels-XXXXXX", out = work + "/kernels.bc",
              log = work + "/log";
  std::string reason;
  if (!writeNewFile(in, spirv))
    reason = "'" + in + "' could not be written";
  else
    reason = run({tool, "-r", "--spirv-target-env=CL1.2", in, "-o", out}, log);
  if (reason.empty() && !readFile(out, spir))
    reason = "the tool '" + tool + "' wrote nothing";
  for (const std::string &path : {in, out, log})
    std::remove(path.c_str());
  rmdir(work.c_str());
  if (!reason.empty()) {
    report(what + reason);
    return false;
  }
  if (!directory.empty())
    writeCache(directory, cached, key, spir);
  return true;
}
