//===- Translate.cpp - Translate SPIR-V to SPIR by a tool -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Files.h"
#include "Programs.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace mlir::layout;
using namespace mlir::layout::opencl;

//===----------------------------------------------------------------------===//
// The tool
//===----------------------------------------------------------------------===//

/// Runs `command` with its standard output and error in the file `outputPath`.
/// Returns a description of the error, or "" on success.
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
  std::string key = tool + "\n" + std::string(spirv);
  if (getCache().find(".spir", key, spir))
    return true;

  std::string what = "building the kernel '" + kernel +
                     "' failed: the device does not support SPIR-V, and ";
  std::string base = getVariable("TMPDIR");
  if (base.empty())
    base = P_tmpdir; // the default directory of POSIX
  std::string work = base + "/layout-opencl-XXXXXX"; // mkdtemp replaces the Xs
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
  getCache().keep(".spir", key, spir);
  return true;
}
