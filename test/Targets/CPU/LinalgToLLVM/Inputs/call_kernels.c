// Calls the CALL(name, left, right, result) that run-aarch64.py defines, on inputs read from standard input.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  void *base, *data;
  int64_t offset, extents[16]; // sizes, then strides
} Tensor;

typedef struct {
  int rank;
  int64_t sizes[8], bytes;
} Shape;

static int64_t count(Shape shape) {
  int64_t elements = 1;
  for (int i = 0; i < shape.rank; ++i)
    elements *= shape.sizes[i];
  return elements;
}

static Tensor take(Shape shape) {
  Tensor tensor = {0};
  tensor.base = tensor.data = malloc(count(shape) * shape.bytes);
  int64_t stride = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    tensor.extents[i] = shape.sizes[i];
    tensor.extents[shape.rank + i] = stride;
    stride *= shape.sizes[i];
  }
  if (fread(tensor.data, shape.bytes, stride, stdin) != (size_t)stride)
    exit(1);
  return tensor;
}

#define CALL(name, left, right, result)                                        \
  {                                                                            \
    void _mlir_ciface_##name(Tensor *, Tensor *, Tensor *);                    \
    Tensor a = take((Shape)left), b = take((Shape)right), r;                   \
    Shape shape = result;                                                      \
    _mlir_ciface_##name(&r, &a, &b);                                           \
    fwrite(r.data, shape.bytes, count(shape), stdout);                         \
  }
#define SHAPE(...) __VA_ARGS__

int main(void) {
  CALLS
  return 0;
}
