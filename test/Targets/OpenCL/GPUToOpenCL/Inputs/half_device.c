/* The OpenCL C functions that kernels with half arithmetic call, under their
 * clang-mangled names. Work-items run one after the other on the host. */

#include <math.h>
#include <stddef.h>

typedef _Float16 half;
typedef half half4 __attribute__((ext_vector_type(4)));
typedef short short4 __attribute__((ext_vector_type(4)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef float float4 __attribute__((ext_vector_type(4)));

struct image {
  half *pixels;
  long width, height;
};

static size_t global_id[3];
void set_global_id(size_t x, size_t y, size_t z) {
  global_id[0] = x, global_id[1] = y, global_id[2] = z;
}

size_t get_global_id(unsigned) __asm__("_Z13get_global_idj");
size_t get_global_id(unsigned d) { return global_id[d]; }

void *__translate_sampler_initializer(unsigned bits) {
  (void)bits;
  return NULL;
}

static half *find(struct image *image, int2 at) {
  if (at.x < 0 || at.y < 0 || at.x >= image->width || at.y >= image->height)
    __builtin_trap();
  return image->pixels + 4 * (at.y * image->width + at.x);
}

half4 read_imageh(struct image *, void *, int2) __asm__(
    "_Z11read_imageh14ocl_image2d_ro11ocl_samplerDv2_i");
half4 read_imageh(struct image *image, void *sampler, int2 at) {
  (void)sampler;
  if (at.x < 0 || at.x >= image->width || at.y < 0 || at.y >= image->height)
    return (half4){0, 0, 0, 0};
  half *p = find(image, at);
  return (half4){p[0], p[1], p[2], p[3]};
}

void write_imageh(struct image *, int2,
                  half4) __asm__("_Z12write_imageh14ocl_image2d_woDv2_iDv4_Dh");
void write_imageh(struct image *image, int2 at, half4 v) {
  half *p = find(image, at);
  p[0] = v.x, p[1] = v.y, p[2] = v.z, p[3] = v.w;
}

half4 select4(half4, half4, short4) __asm__("_Z6selectDv4_DhS_Dv4_s");
half4 select4(half4 no, half4 yes, short4 c) { return c < 0 ? yes : no; }
float4 select4f(float4, float4, int4) __asm__("_Z6selectDv4_fS_Dv4_i");
float4 select4f(float4 no, float4 yes, int4 c) { return c < 0 ? yes : no; }

int min2(int, int) __asm__("_Z3minii");
int min2(int a, int b) { return a < b ? a : b; }
int max2(int, int) __asm__("_Z3maxii");
int max2(int a, int b) { return a > b ? a : b; }
int ge1(half, half) __asm__("_Z14isgreaterequalDhDh");
int ge1(half a, half b) { return a >= b; }
short4 ge4(half4, half4) __asm__("_Z14isgreaterequalDv4_DhS_");
short4 ge4(half4 a, half4 b) { return a >= b; }

#define EACH(f)                                                                \
  (half4) { f(x.x), f(x.y), f(x.z), f(x.w) }
half4 exp4(half4) __asm__("_Z3expDv4_Dh");
half4 exp4(half4 x) { return EACH(expf); }
half exp1(half) __asm__("_Z3expDh");
half exp1(half x) { return expf(x); }
half4 fabs4(half4) __asm__("_Z4fabsDv4_Dh");
half4 fabs4(half4 x) { return EACH(fabsf); }
half fabs1(half) __asm__("_Z4fabsDh");
half fabs1(half x) { return fabsf(x); }
#define CONVERT(TO, FROM, NAME)                                                \
  TO convert_##TO##_##FROM(FROM) __asm__(NAME);                                \
  TO convert_##TO##_##FROM(FROM x) { return __builtin_convertvector(x, TO); }
CONVERT(half4, float4, "_Z13convert_half4Dv4_f")
CONVERT(float4, half4, "_Z14convert_float4Dv4_Dh")
CONVERT(int4, short4, "_Z12convert_int4Dv4_s")
CONVERT(short4, int4, "_Z14convert_short4Dv4_i")
