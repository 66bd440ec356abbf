//===- KernelSource.cpp - Print kernels and control flow ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source/KernelSource.h"
#include "KernelPatterns.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::layout;

/// The length in characters above which the C text of a value becomes a named
/// constant instead of a part of its reader's text.
constexpr size_t kMostInlined = 60;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

raw_ostream &KernelPrinter::line() { return os.indent(2 * depth); }

StringRef KernelPrinter::get(Value value) {
  auto place = texts.find(value);
  assert(place != texts.end() && "a value comes before its readers");
  return place->second.text;
}

/// Returns true if all operators of the text are inside of parentheses or
/// brackets.
static bool isClosed(StringRef text) {
  int depth = 0;
  for (char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (depth == 0 && (c == ' ' || c == '-' || c == '!'))
      return false;
  }
  return true;
}

std::string KernelPrinter::atom(Value value) {
  std::string text = get(value).str();
  return isClosed(text) ? text : "(" + text + ")";
}

std::string KernelPrinter::declare(Value value, StringRef text,
                                   bool isConstant) {
  std::string made = "v" + std::to_string(numValues++);
  Type type = value.getType();
  if (Type wide = widenHalf(type); wide && !hasHalves)
    type = wide;
  line() << (isConstant ? "const " : "") << getCType(type) << " " << made;
  if (!text.empty())
    os << " = " << text;
  os << ";\n";
  texts[value] = {made, true};
  return made;
}

std::string KernelPrinter::name(Value value) {
  if (texts.find(value)->second.isAtom)
    return get(value).str();
  std::string text = get(value).str();
  return declare(value, text);
}

std::string KernelPrinter::asSigned(Value value) {
  std::string type = getSignedCType(value.getType());
  return getCLanes(value.getType()) == 1
             ? "(" + type + ")" + atom(value)
             : "as_" + type + "(" + get(value).str() + ")";
}

std::string KernelPrinter::asUnsigned(Type type, const std::string &text) {
  std::string to = getCType(type);
  return getCLanes(type) == 1 ? "(" + to + ")(" + text + ")"
                              : "as_" + to + "(" + text + ")";
}

/// Returns true if `value` can be inlined: it is pure and has one reader, which
/// is in its block. A reader in a loop would recompute it in each iteration.
static bool isPartOfReader(Value value) {
  Operation *op = value.getDefiningOp();
  return value.hasOneUse() && isMemoryEffectFree(op) &&
         (*value.user_begin())->getBlock() == op->getBlock();
}

void KernelPrinter::define(Value value, const std::string &text) {
  if (isPartOfReader(value) && text.size() <= kMostInlined)
    texts[value] = {text, false};
  else
    declare(value, text);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void KernelPrinter::declareVariables(ValueRange variables, ValueRange values) {
  for (auto [i, variable] : llvm::enumerate(variables))
    declare(variable, values.empty() ? "" : get(values[i]),
            /*isConstant=*/false);
}

/// Assigns all variables in parallel: `values` may use their old values.
void KernelPrinter::assign(ValueRange variables, ValueRange values) {
  SmallVector<std::string> copies;
  for (auto [i, value] : llvm::enumerate(values)) {
    copies.push_back(get(value).str());
    bool isVariable = llvm::any_of(
        variables, [&](Value each) { return get(each) == get(value); });
    if (values.size() == 1 || get(variables[i]) == get(value) ||
        (texts.find(value)->second.isAtom && !isVariable))
      continue;
    copies.back() = "v" + std::to_string(numValues++);
    line() << "const " << getCType(value.getType()) << " " << copies.back()
           << " = " << get(value) << ";\n";
  }
  for (auto [variable, copy] : llvm::zip_equal(variables, copies))
    if (get(variable) != copy)
      line() << get(variable) << " = " << copy << ";\n";
}

LogicalResult KernelPrinter::printNested(Block &block) {
  ++depth;
  LogicalResult printed = printBlock(block);
  --depth;
  return printed;
}

LogicalResult KernelPrinter::printFor(scf::ForOp op) {
  declareVariables(op.getResults(), op.getInitArgs());
  for (auto [argument, result] :
       llvm::zip_equal(op.getRegionIterArgs(), op.getResults()))
    texts[argument] = texts[result];
  std::string at = "i" + std::to_string(numLoops++);
  Value i = op.getInductionVar();
  texts[i] = {at, true};
  auto isBit63Clear = [](Value value) {
    APInt number;
    return matchPattern(value, m_ConstantInt(&number)) && !number.isNegative();
  };
  bool isUnsigned = op.getUnsignedCmp() || (isBit63Clear(op.getLowerBound()) &&
                                            isBit63Clear(op.getUpperBound()));
  std::string end = name(op.getUpperBound()), step = name(op.getStep());
  line() << "for (" << getCType(i.getType()) << " " << at << " = "
         << get(op.getLowerBound()) << "; "
         << (isUnsigned ? at + " < " + end
                        : asSigned(i) + " < " + asSigned(op.getUpperBound()))
         << "; " << at << " += " << step << ") {\n";
  if (failed(printNested(*op.getBody())))
    return failure();
  ++depth;
  assign(op.getResults(), op.getBody()->getTerminator()->getOperands());
  --depth;
  line() << "}\n";
  return success();
}

LogicalResult KernelPrinter::printIf(scf::IfOp op) {
  declareVariables(op.getResults(), {});
  auto printBranch = [&](Block &block) {
    if (failed(printNested(block)))
      return failure();
    ++depth;
    assign(op.getResults(), block.getTerminator()->getOperands());
    --depth;
    return success();
  };
  line() << "if (" << get(op.getCondition()) << ") {\n";
  if (failed(printBranch(*op.thenBlock())))
    return failure();
  if (Block *other = op.elseBlock()) {
    line() << "} else {\n";
    if (failed(printBranch(*other)))
      return failure();
  }
  line() << "}\n";
  return success();
}

LogicalResult KernelPrinter::printWhile(scf::WhileOp op) {
  ValueRange before = op.getBeforeArguments();
  declareVariables(before, op.getInits());
  declareVariables(op.getResults(), {});
  for (auto [argument, result] :
       llvm::zip_equal(op.getAfterArguments(), op.getResults()))
    texts[argument] = texts[result];
  line() << "for (;;) {\n";
  if (failed(printNested(*op.getBeforeBody())))
    return failure();
  ++depth;
  scf::ConditionOp condition = op.getConditionOp();
  std::string isGoingOn = name(condition.getCondition());
  assign(op.getResults(), condition.getArgs());
  line() << "if (!" << isGoingOn << ")\n";
  line() << "  break;\n";
  --depth;
  if (failed(printNested(*op.getAfterBody())))
    return failure();
  ++depth;
  assign(before, op.getYieldOp().getOperands());
  --depth;
  line() << "}\n";
  return success();
}

LogicalResult KernelPrinter::printOp(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return printIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return printWhile(loop);
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    printStore(store);
    return success();
  }
  if (isa<gpu::BarrierOp>(op)) {
    line() << "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n";
    return success();
  }
  // The owner of the block prints the yielded values.
  if (isa<scf::YieldOp, scf::ConditionOp, gpu::ReturnOp>(op) ||
      isOpTriviallyDead(&op))
    return success();
  if (auto elements = dyn_cast<vector::ToElementsOp>(op)) {
    for (auto [i, element] : llvm::enumerate(elements.getElements()))
      texts[element] = {
          fromLane(element.getType(), lane(elements.getSource(), i)), true};
    return success();
  }
  if (op.getNumResults() == 1 && op.getNumRegions() == 0) {
    Value result = op.getResult(0);
    Attribute number;
    if (isa<ub::PoisonOp>(op))
      number = OpBuilder(&op).getZeroAttr(result.getType());
    if (number || matchPattern(&op, m_Constant(&number))) {
      texts[result] = {getCNumber(number, result.getType()), true};
      return success();
    }
    // An f16 is a float here, so its casts matter at loads and stores only.
    if (!hasHalves && isa<arith::ExtFOp, arith::TruncFOp>(op) &&
        (getElementTypeOrSelf(op.getOperand(0)).isF16() ||
         getElementTypeOrSelf(result).isF16())) {
      if (!isPartOfReader(result))
        name(op.getOperand(0));
      texts[result] = Text(texts[op.getOperand(0)]);
      return success();
    }
    // Most readers, which index memory, use the i32 operand of the cast.
    if (isWideningCast(&op) && !isPartOfReader(result)) {
      name(op.getOperand(0));
      texts[result] = {getForm(&op), false};
      return success();
    }
    std::string text = getForm(&op);
    if (!text.empty()) {
      define(result, text);
      return success();
    }
  }
  return op.emitError() << "'" << op.getName()
                        << "' is not supported in OpenCL C" << kNoForm;
}

LogicalResult KernelPrinter::printBlock(Block &block) {
  for (Operation &op : block)
    if (failed(printOp(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static bool isStored(BlockArgument memory) {
  return llvm::any_of(memory.getUsers(), [](Operation *user) {
    return isa<memref::StoreOp>(user);
  });
}

static std::string getParameter(BlockArgument argument) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type)
    return "const " + getCType(argument.getType()) + " ";
  DeviceStorage storage =
      *getDeviceStorage(type, [&] { return emitError(argument.getLoc()); });
  if (!storage.isImage()) {
    return std::string("__global ") + (isStored(argument) ? "" : "const ") +
           getCType(storage.element) + " *";
  }
  return std::string(isStored(argument) ? "__write_only " : "__read_only ") +
         cast<StringAttr>(type.getMemorySpace()).getValue().str() + "_t ";
}

LogicalResult KernelPrinter::print(gpu::GPUFuncOp kernel) {
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitError()
           << "has branches between blocks; write it with scf.if and loops";
  os << "__kernel ";
  if (DenseI32ArrayAttr block = kernel.getKnownBlockSizeAttr())
    os << "__attribute__((reqd_work_group_size(" << block[0] << ", " << block[1]
       << ", " << block[2] << ")))\n";
  os << "void " << kKernelPrefix << kernel.getName() << "(";
  Block &body = kernel.getBody().front();
  for (BlockArgument argument :
       body.getArguments().take_front(kernel.getNumArguments())) {
    unsigned number = argument.getArgNumber();
    std::string text = "a" + std::to_string(number);
    texts[argument] = {text, true};
    os << (number ? ",\n    " : "\n    ") << getParameter(argument) << text;
  }
  os << ") {\n";
  for (BlockArgument memory : kernel.getWorkgroupAttributions()) {
    std::string text = "g" + std::to_string(memory.getArgNumber());
    texts[memory] = {text, true};
    auto type = cast<MemRefType>(memory.getType());
    os << "  __local " << getCType(type.getElementType()) << " " << text << "["
       << type.getNumElements() << "];\n";
  }
  if (failed(printNested(body)))
    return failure();
  os << "}\n";
  return success();
}

FailureOr<std::string>
layout::printOpenCLSource(gpu::GPUModuleOp module,
                          const llvm::StringMap<std::string> &comments) {
  bool hasDoubles = false, usesHalves = false, storesVolumes = false;
  bool hasHalves = module->hasAttr(kHalfArithmeticAttrName);
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      hasDoubles |= getElementTypeOrSelf(type).isF64();
      usesHalves |= hasHalves && getElementTypeOrSelf(type).isF16();
    }
    auto store = dyn_cast<memref::StoreOp>(op);
    if (store && isOnDevice(store.getMemRefType()))
      storesVolumes |= getDeviceStorage(store.getMemRefType(), [&] {
                         return op->emitError();
                       })->kind == StorageKind::Image3D;
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  if (hasDoubles)
    os << "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  if (usesHalves)
    os << "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  if (storesVolumes)
    os << "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n";
  os << "#pragma OPENCL FP_CONTRACT OFF\n\n"
        "__constant sampler_t kPixels =\n"
        "    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | "
        "CLK_FILTER_NEAREST;\n";
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    os << "\n" << comments.lookup(kernel.getName());
    if (failed(KernelPrinter(os, hasHalves).print(kernel)))
      return failure();
  }
  return text;
}
