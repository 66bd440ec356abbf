/* Runs a package in C: DIRECTORY TIMES INPUT.. -- OUTPUT.., files of bytes. New
 * inputs are set while the last run is in progress and must not affect it. */

#include "layout/Targets/OpenCL/Runtime/OpenCLPackage.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int transfer(const char *path, const char *mode, void *data,
                    size_t bytes) {
  FILE *file = fopen(path, mode);
  size_t count = 0;
  if (!file)
    return 0;
  count =
      *mode == 'r' ? fread(data, 1, bytes, file) : fwrite(data, 1, bytes, file);
  return fclose(file) == 0 && count == bytes;
}

int main(int argc, char **argv) {
  LayoutPackage *package = layoutClLoadPackage(argv[1]);
  int times = atoi(argv[2]), next = 3, i;
  for (i = 0; i < layoutPackageCountInputs(package); ++i) {
    const LayoutPackageTensor *input = layoutPackageGetInput(package, i);
    void *data = malloc(input->bytes + 1);
    if (next == argc || !transfer(argv[next++], "rb", data, input->bytes))
      return 2;
    layoutPackageSetInput(package, i, data, input->bytes);
    free(data);
  }
  for (i = 0; i < times; ++i)
    layoutPackageRun(package);
  for (i = 0; times && i < layoutPackageCountInputs(package); ++i) {
    const LayoutPackageTensor *input = layoutPackageGetInput(package, i);
    void *data = calloc(1, input->bytes + 1);
    layoutPackageSetInput(package, i, data, input->bytes);
    free(data);
  }
  if (times > 1)
    layoutPackageWait(package);
  ++next; /* -- */
  for (i = 0; i < layoutPackageCountOutputs(package); ++i) {
    const LayoutPackageTensor *output = layoutPackageGetOutput(package, i);
    void *data = malloc(output->bytes + 1);
    layoutPackageCopyOutput(package, i, data, output->bytes);
    if (next == argc || !transfer(argv[next++], "wb", data, output->bytes))
      return 2;
    free(data);
  }
  layoutPackageDestroy(package);
  /* The message went to stderr. */
  return layoutClTakeError() != NULL;
}
