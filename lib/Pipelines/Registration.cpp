//===- Registration.cpp - One call to register everything -----------------===//

#include "layout/Pipelines/Registration.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void layout::registerAllDialects(DialectRegistry &registry) {}

void layout::registerAllPasses() {}
