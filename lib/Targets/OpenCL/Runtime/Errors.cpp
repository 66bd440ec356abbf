//===- Errors.cpp - The pending error and the names of codes --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"

using namespace mlir::layout;
using namespace mlir::layout::opencl;

PendingError &mlir::layout::opencl::getErrors() {
  static auto *error = new PendingError([](const char *message) {
    std::fprintf(stderr, "layout-opencl: error: %s\n", message);
  });
  return *error;
}

std::recursive_mutex &mlir::layout::opencl::getMutex() {
  return getErrors().mutex;
}

const DiskCache &mlir::layout::opencl::getCache() {
  static const auto *cache =
      new DiskCache("LAYOUT_OPENCL_CACHE", "opencl", getErrors());
  return *cache;
}

void mlir::layout::opencl::report(const std::string &message) {
  getErrors().report(message);
}

bool mlir::layout::opencl::hasError() { return getErrors().isPending(); }

const char *layoutClTakeError() { return getErrors().take(); }

void layoutClSetErrorHandler(void (*handler)(const char *)) {
  getErrors().setHandler(handler);
}

bool mlir::layout::opencl::check(cl_int code, const char *call,
                                 const std::string &what) {
  if (code == CL_SUCCESS)
    return true;
  report(what + " failed: " + call + " returned " + getCodeName(code));
  return false;
}

std::string mlir::layout::opencl::getCodeName(cl_int code) {
  switch (code) {
#define CODE(name)                                                             \
  case name:                                                                   \
    return #name;
    CODE(CL_SUCCESS)
    CODE(CL_DEVICE_NOT_FOUND)
    CODE(CL_DEVICE_NOT_AVAILABLE)
    CODE(CL_COMPILER_NOT_AVAILABLE)
    CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    CODE(CL_OUT_OF_RESOURCES)
    CODE(CL_OUT_OF_HOST_MEMORY)
    CODE(CL_PROFILING_INFO_NOT_AVAILABLE)
    CODE(CL_MEM_COPY_OVERLAP)
    CODE(CL_IMAGE_FORMAT_MISMATCH)
    CODE(CL_IMAGE_FORMAT_NOT_SUPPORTED)
    CODE(CL_BUILD_PROGRAM_FAILURE)
    CODE(CL_MAP_FAILURE)
    CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    CODE(CL_COMPILE_PROGRAM_FAILURE)
    CODE(CL_LINKER_NOT_AVAILABLE)
    CODE(CL_LINK_PROGRAM_FAILURE)
    CODE(CL_DEVICE_PARTITION_FAILED)
    CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
    CODE(CL_INVALID_VALUE)
    CODE(CL_INVALID_DEVICE_TYPE)
    CODE(CL_INVALID_PLATFORM)
    CODE(CL_INVALID_DEVICE)
    CODE(CL_INVALID_CONTEXT)
    CODE(CL_INVALID_QUEUE_PROPERTIES)
    CODE(CL_INVALID_COMMAND_QUEUE)
    CODE(CL_INVALID_HOST_PTR)
    CODE(CL_INVALID_MEM_OBJECT)
    CODE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
    CODE(CL_INVALID_IMAGE_SIZE)
    CODE(CL_INVALID_SAMPLER)
    CODE(CL_INVALID_BINARY)
    CODE(CL_INVALID_BUILD_OPTIONS)
    CODE(CL_INVALID_PROGRAM)
    CODE(CL_INVALID_PROGRAM_EXECUTABLE)
    CODE(CL_INVALID_KERNEL_NAME)
    CODE(CL_INVALID_KERNEL_DEFINITION)
    CODE(CL_INVALID_KERNEL)
    CODE(CL_INVALID_ARG_INDEX)
    CODE(CL_INVALID_ARG_VALUE)
    CODE(CL_INVALID_ARG_SIZE)
    CODE(CL_INVALID_KERNEL_ARGS)
    CODE(CL_INVALID_WORK_DIMENSION)
    CODE(CL_INVALID_WORK_GROUP_SIZE)
    CODE(CL_INVALID_WORK_ITEM_SIZE)
    CODE(CL_INVALID_GLOBAL_OFFSET)
    CODE(CL_INVALID_EVENT_WAIT_LIST)
    CODE(CL_INVALID_EVENT)
    CODE(CL_INVALID_OPERATION)
    CODE(CL_INVALID_GL_OBJECT)
    CODE(CL_INVALID_BUFFER_SIZE)
    CODE(CL_INVALID_MIP_LEVEL)
    CODE(CL_INVALID_GLOBAL_WORK_SIZE)
    CODE(CL_INVALID_PROPERTY)
    CODE(CL_INVALID_IMAGE_DESCRIPTOR)
    CODE(CL_INVALID_COMPILER_OPTIONS)
    CODE(CL_INVALID_LINKER_OPTIONS)
    CODE(CL_INVALID_DEVICE_PARTITION_COUNT)
    CODE(CL_PLATFORM_NOT_FOUND_KHR)
#undef CODE
  default:
    return "OpenCL error " + std::to_string(code);
  }
}
