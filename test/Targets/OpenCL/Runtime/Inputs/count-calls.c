/* Preloaded before libOpenCL: prints at exit how often a process created memory
 * objects, compiled, loaded and waited for a download. Objects created after
 * the first download also count as steady. */

#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>

static int images, buffers, steady, compiled, loaded, downloads, waits;

__attribute__((destructor)) static void print(void) {
  fprintf(stderr,
          "images %d buffers %d steady %d compiled %d loaded %d waits %d\n",
          images, buffers, steady, compiled, loaded, waits);
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags,
                     const cl_image_format *format, const cl_image_desc *desc,
                     void *host, cl_int *code) {
  cl_mem (*next)(cl_context, cl_mem_flags, const cl_image_format *,
                 const cl_image_desc *, void *, cl_int *) =
      dlsym(RTLD_NEXT, "clCreateImage");
  ++images;
  steady += downloads > 0;
  return next(context, flags, format, desc, host, code);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes,
                      void *host, cl_int *code) {
  cl_mem (*next)(cl_context, cl_mem_flags, size_t, void *, cl_int *) =
      dlsym(RTLD_NEXT, "clCreateBuffer");
  ++buffers;
  steady += downloads > 0;
  return next(context, flags, bytes, host, code);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                           cl_bool blocking, size_t offset, size_t bytes,
                           void *host, cl_uint count, const cl_event *events,
                           cl_event *event) {
  cl_int (*next)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *,
                 cl_uint, const cl_event *, cl_event *) =
      dlsym(RTLD_NEXT, "clEnqueueReadBuffer");
  ++downloads;
  waits += blocking;
  return next(queue, buffer, blocking, offset, bytes, host, count, events,
              event);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count,
                                     const char **texts, const size_t *sizes,
                                     cl_int *code) {
  cl_program (*next)(cl_context, cl_uint, const char **, const size_t *,
                     cl_int *) = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
  ++compiled;
  return next(context, count, texts, sizes, code);
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count,
                                     const cl_device_id *devices,
                                     const size_t *sizes,
                                     const unsigned char **binaries,
                                     cl_int *statuses, cl_int *code) {
  cl_program (*next)(cl_context, cl_uint, const cl_device_id *, const size_t *,
                     const unsigned char **, cl_int *, cl_int *) =
      dlsym(RTLD_NEXT, "clCreateProgramWithBinary");
  ++loaded;
  return next(context, count, devices, sizes, binaries, statuses, code);
}
