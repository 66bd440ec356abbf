//===- Programs.cpp - Build kernels for the device ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <cstring>

using namespace mlir::layout;
using namespace mlir::layout::opencl;

/// Returns the build log without trailing blank lines.
static std::string getBuildLog(cl_program program, cl_device_id device) {
  size_t size = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr,
                            &size) != CL_SUCCESS ||
      !size)
    return "";
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                        nullptr);
  size_t end = log.find_last_not_of(std::string("\0 \n", 3));
  log.resize(end == std::string::npos ? 0 : end + 1);
  return log;
}

/// Returns true if the device accepts SPIR-V by the core API of OpenCL 2.1.
static bool takesSpirvInCore(cl_device_id device) {
  return getDeviceText(device, CL_DEVICE_IL_VERSION).find("SPIR-V") !=
         std::string::npos;
}

static cl_program createFromSpirv(Session &session, std::string_view spirv,
                                  cl_int &code) {
  if (takesSpirvInCore(session.device))
    return clCreateProgramWithIL(session.context, spirv.data(), spirv.size(),
                                 &code);
  auto create = reinterpret_cast<clCreateProgramWithILKHR_fn>(
      clGetExtensionFunctionAddressForPlatform(session.platform,
                                               "clCreateProgramWithILKHR"));
  if (!create) {
    code = CL_INVALID_OPERATION;
    return nullptr;
  }
  return create(session.context, spirv.data(), spirv.size(), &code);
}

static bool takesSpirv(const Session &session) {
  return takesSpirvInCore(session.device) ||
         getDeviceText(session.device, CL_DEVICE_EXTENSIONS)
                 .find("cl_khr_il_program") != std::string::npos;
}

/// Creates a program from OpenCL C if `source` is not null, else from SPIR-V,
/// which is translated to SPIR if the device does not accept it. Sets the
/// `options` with which the program must be built. Reports an error and returns
/// null on failure.
static cl_program create(Session &session, std::string_view spirv,
                         const char *source, const std::string &kernel,
                         const std::string &what, std::string &options) {
  cl_int code = CL_SUCCESS;
  cl_program program;
  const char *call;
  if (source) {
    program =
        clCreateProgramWithSource(session.context, 1, &source, nullptr, &code);
    call = "clCreateProgramWithSource";
    options = "-cl-std=CL1.2";
  } else if (takesSpirv(session)) {
    program = createFromSpirv(session, spirv, code);
    call = "clCreateProgramWithIL";
  } else {
    std::string spir;
    if (!translateToSpir(spirv, kernel, spir))
      return nullptr;
    const auto *bytes = reinterpret_cast<const unsigned char *>(spir.data());
    size_t size = spir.size();
    program = clCreateProgramWithBinary(session.context, 1, &session.device,
                                        &size, &bytes, nullptr, &code);
    call = "clCreateProgramWithBinary";
    options = "-x spir -spir-std=1.2";
  }
  return check(code, call, what) ? program : nullptr;
}

//===----------------------------------------------------------------------===//
// Device binaries
//===----------------------------------------------------------------------===//

/// Returns the cache key of a binary: the device, its driver, and the OpenCL C
/// `source` or, if that is null, the SPIR-V.
static std::string getBinaryKey(const Session &session, std::string_view spirv,
                                const char *source) {
  return session.getKey() + (source ? std::string("source\n") + source
                                    : "il\n" + std::string(spirv));
}

/// Returns the program of a cached binary that the driver accepts, or null.
static cl_program loadBinary(Session &session, const std::string &key) {
  std::string binary;
  if (!getCache().find(".bin", key, binary))
    return nullptr;
  const auto *bytes = reinterpret_cast<const unsigned char *>(binary.data());
  size_t size = binary.size();
  cl_int status = CL_SUCCESS, code = CL_SUCCESS;
  cl_program program = clCreateProgramWithBinary(
      session.context, 1, &session.device, &size, &bytes, &status, &code);
  if (code != CL_SUCCESS)
    return nullptr;
  if (status == CL_SUCCESS && clBuildProgram(program, 1, &session.device, "",
                                             nullptr, nullptr) == CL_SUCCESS)
    return program;
  clReleaseProgram(program);
  return nullptr;
}

/// Stores the device binary of a built program in the disk cache, if that is
/// on. Requesting the binary can be expensive: PoCL compiles every kernel a
/// second time, for any work-group size.
static void keepBinary(cl_program program, const std::string &key) {
  size_t size = 0;
  if (!getCache().isOn() ||
      clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size,
                       nullptr) != CL_SUCCESS ||
      !size)
    return;
  std::string binary(size, '\0');
  auto *bytes = reinterpret_cast<unsigned char *>(binary.data());
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes,
                       nullptr) == CL_SUCCESS)
    getCache().keep(".bin", key, binary);
}

/// Returns a built program: from a cached binary, or else from `source` or
/// SPIR-V. Reports an error and returns null on failure.
static cl_program build(Session &session, std::string_view spirv,
                        const char *source, const std::string &kernel) {
  std::string key = getBinaryKey(session, spirv, source);
  if (cl_program program = loadBinary(session, key))
    return program;
  std::string what = "building the kernel '" + kernel + "' for " + session.name;
  std::string options;
  cl_program program = create(session, spirv, source, kernel, what, options);
  if (!program)
    return nullptr;
  cl_int code = clBuildProgram(program, 1, &session.device, options.c_str(),
                               nullptr, nullptr);
  if (code == CL_SUCCESS) {
    keepBinary(program, key);
    return program;
  }
  std::string log = getBuildLog(program, session.device);
  report(what + " failed: clBuildProgram returned " + getCodeName(code) +
         (log.empty() ? std::string(", without a build log")
                      : "; its log says:\n" + log));
  clReleaseProgram(program);
  return nullptr;
}

namespace {
/// The requirements on a device that a SPIR-V module states: f16 arithmetic,
/// 64-bit integers and the width of addresses. The OpenCL C of the same program
/// has them, too, except `addressBits`.
struct Needs {
  bool halves = false, int64 = false;
  cl_uint addressBits = 0; // of SPIR-V only; 0: any

  explicit Needs(std::string_view spirv) {
    // Visits capabilities, extensions and imports up to the memory model.
    for (size_t at = 5, length = 1; length && 4 * (at + 2) <= spirv.size();
         at += length) {
      uint32_t words[2]; // the length and opcode of an instruction, an operand
      std::memcpy(words, spirv.data() + 4 * at, sizeof(words));
      length = words[0] >> 16;
      uint32_t op = words[0] & 0xffff;
      constexpr uint32_t memoryModel = 14, capability = 17;
      if (op == memoryModel) {
        addressBits = 32 * words[1]; // Physical32 is 1, Physical64 is 2
        return;
      }
      halves |= op == capability && words[1] == /*Float16=*/9;
      int64 |= op == capability && words[1] == /*Int64=*/11;
    }
  }
};
} // namespace

/// Describes the first requirement that the device does not meet, with a
/// remedy; "" if there is none.
static std::string findMissing(const Session &session, const Needs &needs) {
  auto has = [&](cl_device_info what, const char *word) {
    return getDeviceText(session.device, what).find(word) != std::string::npos;
  };
  if (needs.addressBits > session.addressBits)
    return "64-bit addresses, its own have " +
           std::to_string(session.addressBits) +
           " bits; compile for a target with address_bits = 32";
  if (needs.int64 && has(CL_DEVICE_PROFILE, "EMBEDDED") &&
      !has(CL_DEVICE_EXTENSIONS, "cles_khr_int64"))
    return "64-bit integers, an extension (cles_khr_int64) of its embedded "
           "profile; compile for a target with address_bits = 32";
  if (needs.halves && !has(CL_DEVICE_EXTENSIONS, "cl_khr_fp16"))
    return "f16 arithmetic (cl_khr_fp16); compile for a target without "
           "half_arithmetic";
  return "";
}

/// Sets `isChosen` to true if the kernel is to be built from OpenCL C, to false
/// if from SPIR-V. Reports an error and returns false if the device lacks a
/// requirement of the kernel, or cannot take the requested form, or if the
/// requested source is missing.
static bool chooseSource(const Session &session, std::string_view spirv,
                         const char *source, const char *name, bool &isChosen) {
  Needs needs(spirv);
  std::string what = std::string("building the kernel '") + name + "' failed: ";
  std::string missing = findMissing(session, needs);
  if (!missing.empty()) {
    report(what + session.name + " has no " + missing +
           ", or name another device in LAYOUT_OPENCL_DEVICE");
    return false;
  }
  const char *wanted = std::getenv("LAYOUT_OPENCL_SOURCE");
  bool isStated = wanted && *wanted;
  bool takesWords =
      !needs.addressBits || needs.addressBits == session.addressBits;
  isChosen = isStated ? std::string_view(wanted) != "0"
                      : source && !(takesWords && takesSpirv(session));
  if (!isChosen && !takesWords) {
    report(what + "its SPIR-V has addresses of " +
           std::to_string(needs.addressBits) + " bits, but " + session.name +
           " has " + std::to_string(session.addressBits) +
           "; unset LAYOUT_OPENCL_SOURCE if the program has OpenCL C, or "
           "compile for a target with address_bits = 64");
    return false;
  }
  if (source || !isChosen)
    return true;
  report(what + "LAYOUT_OPENCL_SOURCE selects OpenCL C, which the program does "
                "not have; unset it, or compile the program again");
  return false;
}

void *layoutClGetKernel(void **slot, const void *spirv, int64_t bytes,
                        const char *source, const char *name,
                        const LayoutClKernelMetadata *facts) {
  std::lock_guard<std::recursive_mutex> lock(getMutex());
  if (*slot)
    return *slot;
  Session *session = Session::get();
  bool isSource = false;
  std::string_view words(static_cast<const char *>(spirv), bytes);
  if (!session || !chooseSource(*session, words, source, name, isSource))
    return nullptr;
  static auto *programs = new std::map<std::string, cl_program, std::less<>>;
  std::string_view key = isSource ? std::string_view(source) : words;
  auto place = programs->find(key);
  if (place == programs->end()) {
    cl_program program =
        build(*session, words, isSource ? source : nullptr, name);
    if (!program)
      return nullptr;
    place = programs->emplace(std::string(key), program).first;
  }
  std::string function = isSource ? LAYOUT_CL_SOURCE_PREFIX : "";
  function += name;
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(place->second, function.c_str(), &code);
  if (!check(code, "clCreateKernel",
             std::string("getting the kernel '") + name + "'"))
    return nullptr;
  *slot = new Kernel{name,
                     kernel,
                     getHash(key),
                     facts ? *facts
                           : LayoutClKernelMetadata LAYOUT_CL_UNKNOWN_FACTS,
                     {}};
  return *slot;
}

void mlir::layout::opencl::releaseKernel(Kernel *kernel) {
  if (!kernel)
    return;
  clReleaseKernel(kernel->kernel);
  delete kernel;
}
