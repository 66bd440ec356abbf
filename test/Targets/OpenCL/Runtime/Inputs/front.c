/* Preloaded before libOpenCL: prints every launch and the source of programs,
 * and changes results as the environment requests:
 *   BEST="8 8 1"      launches in such work-groups take 1000 ns, others 2000,
 *                     and copies 500
 *   IL, EXTENSIONS, PROFILE
 *                     the device info with these values; if IL is set, no
 *                     program is created from IL
 *   BITS=32           the address bits of the device
 *   MOST_ITEMS=32     the largest work-group of any kernel
 *   READ_ONLY=FOLDER  the folder cannot be written */

#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  cl_event event;
  int is_best;
} launches[4096];
static int count;

static void *find_next(const char *name) { return dlsym(RTLD_NEXT, name); }

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                              cl_uint dims, const size_t *offset,
                              const size_t *global, const size_t *local,
                              cl_uint waits, const cl_event *list,
                              cl_event *event) {
  cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t *,
                 const size_t *, const size_t *, cl_uint, const cl_event *,
                 cl_event *) = find_next("clEnqueueNDRangeKernel");
  char name[256], groups[64];
  const char *best = getenv("BEST");
  cl_int code =
      next(queue, kernel, dims, offset, global, local, waits, list, event);
  clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL);
  snprintf(groups, sizeof(groups), "%zu %zu %zu", local[0], local[1], local[2]);
  fprintf(stderr, "launch %s %zu %zu %zu in %s: %d\n", name, global[0],
          global[1], global[2], groups, code);
  if (event && count < 4096) {
    launches[count].event = *event;
    launches[count++].is_best = best && strcmp(best, groups) == 0;
  }
  return code;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what,
                               size_t size, void *value, size_t *needed) {
  cl_int (*next)(cl_event, cl_profiling_info, size_t, void *, size_t *) =
      find_next("clGetEventProfilingInfo");
  cl_ulong *time = value;
  cl_command_type type = 0;
  int i;
  cl_int code = next(event, what, size, value, needed);
  if (!getenv("BEST") || code != CL_SUCCESS)
    return code;
  clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL);
  *time = what == CL_PROFILING_COMMAND_END ? 500 : 0;
  if (!*time || type != CL_COMMAND_NDRANGE_KERNEL)
    return code;
  for (i = count - 1; i >= 0 && launches[i].event != event;)
    --i;
  *time = i >= 0 && launches[i].is_best ? 1000 : 2000;
  return code;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size,
                       void *value, size_t *needed) {
  cl_int (*next)(cl_device_id, cl_device_info, size_t, void *, size_t *) =
      find_next("clGetDeviceInfo");
  const char *answer = what == CL_DEVICE_IL_VERSION   ? getenv("IL")
                       : what == CL_DEVICE_EXTENSIONS ? getenv("EXTENSIONS")
                       : what == CL_DEVICE_PROFILE    ? getenv("PROFILE")
                                                      : NULL;
  const char *bits = what == CL_DEVICE_ADDRESS_BITS ? getenv("BITS") : NULL;
  if (bits && value) {
    *(cl_uint *)value = (cl_uint)atoi(bits);
    return CL_SUCCESS;
  }
  if (!answer)
    return next(device, what, size, value, needed);
  if (value && size > strlen(answer))
    strcpy(value, answer);
  if (needed)
    *needed = strlen(answer) + 1;
  return CL_SUCCESS;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                cl_kernel_work_group_info what, size_t size,
                                void *value, size_t *needed) {
  cl_int (*next)(cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t,
                 void *, size_t *) = find_next("clGetKernelWorkGroupInfo");
  const char *most = getenv("MOST_ITEMS");
  cl_int code = next(kernel, device, what, size, value, needed);
  if (most && value && what == CL_KERNEL_WORK_GROUP_SIZE)
    *(size_t *)value = (size_t)atoi(most);
  return code;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint texts,
                                     const char **text, const size_t *sizes,
                                     cl_int *code) {
  cl_program (*next)(cl_context, cl_uint, const char **, const size_t *,
                     cl_int *) = find_next("clCreateProgramWithSource");
  fprintf(stderr, "program from source\n");
  return next(context, texts, text, sizes, code);
}

cl_program clCreateProgramWithIL(cl_context context, const void *il,
                                 size_t bytes, cl_int *code) {
  cl_program (*next)(cl_context, const void *, size_t, cl_int *) =
      find_next("clCreateProgramWithIL");
  fprintf(stderr, "program from %zu bytes of IL\n", bytes);
  if (!getenv("IL"))
    return next(context, il, bytes, code);
  *code = CL_INVALID_OPERATION;
  return NULL;
}

int mkstemp(char *path) {
  int (*next)(char *) = find_next("mkstemp");
  const char *folder = getenv("READ_ONLY");
  if (!folder || strncmp(folder, path, strlen(folder)) != 0)
    return next(path);
  errno = EROFS;
  return -1;
}
