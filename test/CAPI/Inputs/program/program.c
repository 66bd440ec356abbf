//===- program.c - A compiler in C ----------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes and queries layouts, assigns the layouts of a module, runs passes on
// it, and prints the results. usage: program MODULE.mlir
//
//===----------------------------------------------------------------------===//

#include "layout-c/Assignment.h"
#include "layout-c/Dialects.h"
#include "layout-c/Layout.h"
#include "layout-c/Solver.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Pass.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(MlirStringRef text, void *unused) {
  (void)unused;
  fwrite(text.data, 1, text.length, stdout);
}

static MlirLogicalResult report(MlirDiagnostic diagnostic, void *unused) {
  (void)unused;
  printf("error: ");
  mlirDiagnosticPrint(diagnostic, print, NULL);
  printf("\n");
  return mlirLogicalResultSuccess();
}

static MlirStringRef text(const char *string) {
  return mlirStringRefCreateFromCString(string);
}

static const char *name(LayoutAnswer answer) {
  return answer == LayoutAnswerYes  ? "yes"
         : answer == LayoutAnswerNo ? "no"
                                    : "unknown";
}

static void printNumbers(const char *what, const int64_t *numbers, int count) {
  int i;
  printf("%s", what);
  for (i = 0; i < count; ++i)
    printf(" %" PRId64, numbers[i]);
  printf("\n");
}

static void printAttribute(const char *what, MlirAttribute attr) {
  printf("%s ", what);
  if (mlirAttributeIsNull(attr))
    printf("null");
  else
    mlirAttributePrint(attr, print, NULL);
  printf("\n");
}

static void makeLayouts(MlirContext context) {
  MlirLocation here =
      mlirLocationFileLineColGet(context, text("program.c"), 1, 1);
  printAttribute("blocked", layoutBlockedAttrGetChecked(here, text("NCHW"),
                                                        text("NCHW16c")));
  printAttribute("wrong letters",
                 layoutBlockedAttrGetChecked(here, text("NCHW"), text("NCX")));
  printAttribute("xla", layoutImportAttrGetChecked(here, LayoutNotationXla,
                                                   text("{0,1:T(8,128)}")));
  printAttribute("onednn", layoutImportAttrGetChecked(
                               here, LayoutNotationOneDnn, text("aBcd16b")));
  printAttribute("cute", layoutImportAttrGetChecked(here, LayoutNotationCuTe,
                                                    text("(4,4):(4,1)")));
  printAttribute("triton",
                 layoutImportAttrGetChecked(
                     here, LayoutNotationTriton,
                     text("register=[[0,1]] lane=[[0,2],[1,0]] warp=[] "
                          "block=[] : [2,4]")));
  printAttribute("wrong text", layoutImportAttrGetChecked(
                                   here, LayoutNotationXla, text("{1,1}")));
}

static MlirType getType(MlirContext context, const char *layout, intptr_t rank,
                        const int64_t *shape) {
  MlirAttribute attr = mlirAttributeParseGet(context, text(layout));
  return mlirRankedTensorTypeGetChecked(mlirLocationUnknownGet(context), rank,
                                        shape, mlirF32TypeGet(context), attr);
}

static void askBlocked(MlirContext context) {
  const int64_t shape[] = {1, 17, 7, 7};
  const int64_t index[] = {0, 16, 6, 6}, outside[] = {0, 17, 0, 0};
  int64_t point, stored[5], back[4], extent, stride, padding = 1553;
  MlirType type =
      getType(context, "#layout.blocked<\"NCHW\" to \"NCHW16c\">", 4, shape);
  MlirType plain = mlirRankedTensorTypeGet(4, shape, mlirF32TypeGet(context),
                                           mlirAttributeGetNull());
  MlirAttribute map = layoutTypeGetMap(type);
  printAttribute("map", map);
  printf("layouts %d %d, maps %d %d\n", layoutAttributeIsALayout(map),
         layoutAttributeIsALayout(mlirUnitAttrGet(context)),
         layoutAttributeIsAMap(map),
         layoutAttributeIsAMap(mlirRankedTensorTypeGetEncoding(type)));
  printf("space ");
  print(layoutMapAttrGetSpace(map), NULL);
  printf(", coordinates %d, the first ",
         (int)layoutMapAttrGetNumCoordinates(map));
  print(layoutMapAttrGetCoordinateName(map, 0), NULL);
  printf("\nstorage ");
  mlirTypePrint(layoutTypeGetStorageType(type), print, NULL);
  printf(" of %" PRId64 " bytes\n", layoutTypeGetStorageBytes(type));
  if (layoutTypeGetStorageExtent(type, &extent))
    printNumbers("extent", &extent, 1);
  if (layoutTypeGetPoint(type, index, &point))
    printNumbers("offset", &point, 1);
  if (layoutTypeGetStoredIndex(type, index, stored))
    printNumbers("stored index", stored, 5);
  printf("outside: %d\n", layoutTypeGetPoint(type, outside, &point));
  layoutTypeGetPoint(type, index, &point);
  printf("there is an index: %s", name(layoutTypeGetIndex(type, &point, back)));
  printNumbers(",", back, 4);
  printf("there is padding: %s\n",
         name(layoutTypeGetIndex(type, &padding, back)));
  printf("one stride of c: %d\n", layoutTypeGetStride(type, 0, 1, &stride));
  if (layoutTypeGetStride(type, 0, 3, &stride))
    printNumbers("stride of w", &stride, 1);
  printf("padding %s, layouts %d %d, identical storage %s %s\n",
         name(layoutTypeHasPadding(type)), layoutTypeHasLayout(type),
         layoutTypeHasLayout(plain), name(layoutTypeStoresLike(type, type)),
         name(layoutTypeStoresLike(type, plain)));
}

static void askOthers(MlirContext context) {
  const int64_t small[] = {2, 3}, fits[] = {3, 4}, overlaps[] = {3, 5};
  const float elements[] = {1, 2, 3, 4, 5, 6};
  float storage[8] = {0}, back[6];
  int64_t numbers[8];
  int i;
  MlirAttribute strided = mlirAttributeParseGet(
      context, text("#layout.map<(i, j) -> buffer(offset = i * 4 + j)>"));
  MlirType image =
      getType(context, "#layout.map<(h, w) -> image2d(x = w, y = h, lane = 0)>",
              2, small);
  printf("injective: %s %s\n",
         name(layoutAttrIsInjective(strided, 2, fits, mlirF32TypeGet(context))),
         name(layoutAttrIsInjective(strided, 2, overlaps,
                                    mlirF32TypeGet(context))));
  printf("of no other rank: %d\n",
         mlirTypeIsNull(
             getType(context, "#layout.blocked<\"AB\" to \"BA\">", 1, small)));
  if (layoutTypeGetPoint(image, (const int64_t[]){1, 2}, numbers))
    printNumbers("pixel", numbers, 3);
  MlirType type =
      getType(context, "#layout.blocked<\"AB\" to \"AB4b\">", 2, small);
  printf("packed %d", layoutTypePack(type, elements, sizeof(elements), storage,
                                     sizeof(storage)));
  for (i = 0; i < 8; ++i)
    printf(" %g", storage[i]);
  printf("\n");
  if (layoutTypeGetStoredIndex(type, (const int64_t[]){1, 2}, numbers))
    printNumbers("tile", numbers, 3);
  printf("unpacked %d",
         layoutTypeUnpack(type, storage, sizeof(storage), back, sizeof(back)));
  printf(", alike %d, of another size %d\n",
         memcmp(elements, back, sizeof(back)) == 0,
         layoutTypePack(type, elements, sizeof(elements), storage, 4));
}

static void printConversion(LayoutConversion conversion, void *userData) {
  printf("conversion to ");
  mlirTypePrint(mlirValueGetType(mlirOperationGetResult(conversion.op, 0)),
                print, NULL);
  printf(": read %" PRId64 ", written %" PRId64 ", cost %s\n",
         conversion.bytesRead, conversion.bytesWritten,
         conversion.cost > 0 ? "more than 0" : "0");
  *(int64_t *)userData += conversion.cost;
}

static char *readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  char *content = calloc(1, 1 << 16);
  if (!file || !fread(content, 1, (1 << 16) - 1, file))
    abort();
  fclose(file);
  return content;
}

/// Assigns layouts for a target, and runs passes by name.
static void compile(MlirContext context, const char *module,
                    const char *pipeline) {
  int64_t sum = 0;
  LayoutAssignmentCost assignment;
  MlirPassManager passes = mlirPassManagerCreate(context);
  MlirModule parsed = mlirModuleCreateParse(context, text(module));
  MlirOperation op = mlirModuleGetOperation(parsed);
  MlirAttribute target =
      mlirAttributeParseGet(context, text("#layout.cpu<lanes = 16>"));
  printf("assigned before: %d\n", layoutGetAssignmentCost(op, &assignment));
  printf("without a target: %d\n",
         mlirLogicalResultIsSuccess(layoutAssign(op, mlirAttributeGetNull())));
  printf("targets: %d %d\n", layoutAttributeIsATarget(target),
         layoutAttributeIsATarget(mlirUnitAttrGet(context)));
  printf("assigned: %d\n",
         mlirLogicalResultIsSuccess(layoutAssign(op, target)));
  if (layoutGetAssignmentCost(op, &assignment))
    printf("cost %" PRId64 ", bound %s, conversions %" PRId64 "\n",
           assignment.cost,
           assignment.cost == assignment.lowerBound ? "reached" : "not reached",
           assignment.conversionCost);
  layoutForEachConversion(op, printConversion, &sum);
  printf("sum %" PRId64 "\n", sum);
  layoutPrintCost(op, /*asJSON=*/true, print, NULL);
  if (mlirLogicalResultIsFailure(
          mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(passes),
                                text(pipeline), print, NULL)) ||
      mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(passes, op)))
    exit(1);
  mlirOperationPrint(op, print, NULL);
  mlirPassManagerDestroy(passes);
  mlirModuleDestroy(parsed);
}

/// Registers only the dialects of this project, as an existing compiler would.
static void registerDialects(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  MlirContext context;
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__func__(), registry);
  layoutRegisterAllDialects(registry);
  context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/true);
  mlirContextLoadAllAvailableDialects(context);
  printf("dialects");
  printf(" %d", !mlirDialectIsNull(mlirContextGetOrLoadDialect(
                    context, mlirDialectHandleGetNamespace(
                                 mlirGetDialectHandle__layout__()))));
  printf(" %d", !mlirDialectIsNull(mlirContextGetOrLoadDialect(
                    context, mlirDialectHandleGetNamespace(
                                 mlirGetDialectHandle__npu__()))));
  printf(" %d\n", !mlirDialectIsNull(
                      mlirContextGetOrLoadDialect(context, text("linalg"))));
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
}

static void printText(const char *text, size_t length, void *unused) {
  (void)unused;
  fwrite(text, 1, length, stdout);
}

/// Solves a problem without a module, and an invalid one.
static void solve(void) {
  const char *right = "{\"ops\": {\"a\": {\"x\": 3, \"y\": 2}}}";
  const char *wrong = "{\"ops\": {\"a\": {}}}";
  LayoutSolveOptions options = LAYOUT_SOLVE_OPTIONS;
  options.maxSeconds = 1.5;
  int status = layoutSolve(right, strlen(right), &options, printText, NULL);
  printf("\nstatus %d\n", status);
  status = layoutSolve(wrong, strlen(wrong), &options, printText, NULL);
  printf("\nstatus %d\n", status);
}

int main(int argc, char **argv) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  MlirContext context;
  char *module;
  if (argc != 3)
    return 1;
  module = readFile(argv[1]);
  layoutRegisterWithUpstream(registry);
  layoutRegisterAllPasses(); // Can be called again.
  context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/true);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__layout__(), context);
  mlirContextAttachDiagnosticHandler(context, report, NULL, NULL);
  registerDialects();
  makeLayouts(context);
  askBlocked(context);
  askOthers(context);
  solve();
  compile(context, module, argv[2]);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  free(module);
  return 0;
}
