// Memory functions that replace those of a compiled program, and count the
// current and the maximum number of allocated bytes.

#include <stdlib.h>

enum { MOST = 1 << 20 };
static struct {
  void *place;
  size_t bytes;
} known[MOST];
size_t counted_bytes, counted_most;

static size_t find(void *place) {
  size_t at = ((size_t)place >> 4) % MOST;
  while (known[at].place && known[at].place != place)
    at = (at + 1) % MOST;
  return at;
}

static void *count(void *place, size_t bytes) {
  size_t at = find(place);
  known[at].place = place;
  known[at].bytes = bytes;
  counted_bytes += bytes;
  if (counted_bytes > counted_most)
    counted_most = counted_bytes;
  return place;
}

void *counted_malloc(size_t bytes) { return count(malloc(bytes), bytes); }

void *counted_aligned_alloc(size_t alignment, size_t bytes) {
  return count(aligned_alloc(alignment, bytes), bytes);
}

void counted_free(void *place) {
  size_t at = find(place);
  counted_bytes -= known[at].bytes;
  known[at].bytes = 0;
  free(place);
}
