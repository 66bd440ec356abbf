/* Interleaved timing of calls, and oneDNN reorders, for conversions.py. */

#include <oneapi/dnnl/dnnl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A compiled conversion, which allocates its result. */
typedef void (*kernel_t)(void **result, void *source);

/* A handwritten matrix transpose: transpose_avx512.cpp. */
typedef int (*transpose_t)(int variant, int element_bytes, char *result,
                           const char *source, size_t rows, size_t columns);

/* Tasks write to line-aligned memory that is allocated for the call and freed
   after it, so that none has an advantage in cache sets or pages. */
struct task {
  kernel_t kernel;            /* or */
  dnnl_primitive_t primitive; /* or */
  transpose_t transpose;      /* or a copy */
  dnnl_exec_arg_t arguments[2];
  void *source;
  size_t bytes; /* of the result, unless the kernel allocates it */
  int by_lines; /* a vectorized copy instead of memcpy */
  int variant, element_bytes;
  size_t rows, columns; /* of the transposed source */
};

static dnnl_engine_t engine;
static dnnl_stream_t stream;

typedef char line_t __attribute__((vector_size(64), aligned(1), may_alias));

/* Copies by vector loads and stores. A memcpy in microcode can also write whole
   lines without reading them first. */
static void copy_lines(char *result, const char *source, size_t bytes) {
  for (size_t i = 0; i + 64 <= bytes; i += 64) {
    *(line_t *)(result + i) = *(const line_t *)(source + i);
    /* Keeps the compiler from emitting memcpy. */
    __asm__ volatile("" ::: "memory");
  }
  memcpy(result + bytes / 64 * 64, source + bytes / 64 * 64, bytes % 64);
}

static void copy_at_once(char *result, const char *source, size_t bytes) {
  memcpy(result, source, bytes);
}

static void copy(char *result, const char *source, size_t bytes, int by_lines) {
#ifdef _OPENMP
  size_t part = (bytes / THREADS + 63) / 64 * 64;
#pragma omp parallel for num_threads(THREADS)
#else
  size_t part = bytes;
#endif
  for (int i = 0; i < THREADS; ++i) {
    size_t start = i * part, rest = start < bytes ? bytes - start : 0;
    (by_lines ? copy_lines : copy_at_once)(result + start, source + start,
                                           rest < part ? rest : part);
  }
}

static void run_to(struct task *task, void *result) {
  if (task->primitive) {
    dnnl_memory_set_data_handle(task->arguments[1].memory, result);
    dnnl_primitive_execute(task->primitive, stream, 2, task->arguments);
    dnnl_stream_wait(stream);
  } else if (task->transpose) {
    task->transpose(task->variant, task->element_bytes, result, task->source,
                    task->rows, task->columns);
  } else {
    copy(result, task->source, task->bytes, task->by_lines);
  }
}

static void run(struct task *task) {
  void *result[3 + 2 * DNNL_MAX_NDIMS];
  if (task->kernel) {
    task->kernel(result, task->source);
  } else {
    result[0] = malloc(task->bytes + 64);
    run_to(task, (char *)result[0] + (-(uintptr_t)result[0] & 63));
  }
  free(result[0]);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* The number of calls after which a victim cache holds the data of a task, if
   it fits. */
enum { UNTIMED_CALLS = 5 };

/* Measures the seconds of one call of each task: the minimum over rounds of the
   average in a round, of at least `shortest` seconds per task, for `seconds` in
   total. Each round of a task starts with untimed calls, because previous tasks
   have evicted its data from the caches. After five rounds a task that has used
   its share of the time is skipped, so that a slow task leaves time to others.
   Untimed calls keep the caches equal for a task that is then alone. */
void time_alternately(struct task *tasks, int count, double shortest,
                      double seconds, double *least) {
  int repeats[8];
  double used[8] = {0};
  for (int i = 0; i < count; ++i) {
    run(&tasks[i]);
    double start = now();
    run(&tasks[i]);
    least[i] = now() - start;
    repeats[i] = 1 + (int)(shortest / least[i]);
  }
  double start = now();
  for (int round = 0; round < 5 || now() - start < seconds; ++round)
    for (int i = 0; i < count; ++i) {
      if (round >= 5 && used[i] > seconds / count)
        continue;
      double first = now();
      for (int call = 0; call < UNTIMED_CALLS; ++call)
        run(&tasks[i]);
      double begin = now();
      for (int r = 0; r < repeats[i]; ++r)
        run(&tasks[i]);
      double end = now(), each = (end - begin) / repeats[i];
      used[i] += end - first;
      least[i] = each < least[i] ? each : least[i];
    }
}

/* Runs a task once into memory of the caller. */
void run_once(struct task *task, void *result) { run_to(task, result); }

static const struct {
  const char *name;
  dnnl_format_tag_t tag;
} tags[] = {{"abcd", dnnl_abcd},
            {"acdb", dnnl_acdb},
            {"aBcd8b", dnnl_aBcd8b},
            {"aBcd16b", dnnl_aBcd16b},
            {"ABcd16b16a", dnnl_ABcd16b16a},
            {"ab", dnnl_ab},
            {"ba", dnnl_ba},
            {"BA16a16b", dnnl_BA16a16b}};

static int describe(dnnl_memory_desc_t *result, int rank, const int64_t *shape,
                    int bytes, const char *name) {
  /* Reorders copy two-byte elements bitwise, whatever their type. */
  dnnl_data_type_t type = bytes == 4   ? dnnl_f32
                          : bytes == 2 ? dnnl_bf16
                                       : dnnl_s8;
  for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); ++i)
    if (strcmp(tags[i].name, name) == 0)
      return dnnl_memory_desc_init_by_tag(result, rank, shape, type,
                                          tags[i].tag);
  return -1;
}

/* Sets up `task` as a oneDNN reorder. Returns 0 if oneDNN supports it. */
int make_reorder(struct task *task, int rank, const int64_t *shape, int bytes,
                 const char *from, const char *to) {
  dnnl_memory_desc_t source, result;
  dnnl_primitive_desc_t description;
  task->arguments[0].arg = DNNL_ARG_FROM;
  task->arguments[1].arg = DNNL_ARG_TO;
  return (!engine &&
          (dnnl_engine_create(&engine, dnnl_cpu, 0) ||
           dnnl_stream_create(&stream, engine, dnnl_stream_default_flags))) ||
         describe(&source, rank, shape, bytes, from) ||
         describe(&result, rank, shape, bytes, to) ||
         dnnl_reorder_primitive_desc_create(&description, &source, engine,
                                            &result, engine, NULL) ||
         dnnl_primitive_create(&task->primitive, description) ||
         dnnl_memory_create(&task->arguments[0].memory, &source, engine,
                            task->source) ||
         dnnl_memory_create(&task->arguments[1].memory, &result, engine, NULL);
}
