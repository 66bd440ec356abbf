//===- KernelSource.h - Kernels on images as OpenCL C -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints kernels that were legalized for OpenCL as OpenCL C 1.2:
//
//   %x = gpu.global_id x
//   %v = memref.load %in[%c0, %x] : memref<1x6xvector<4xf32>, "image2d">
//   %s = arith.addf %v, %v : vector<4xf32>
//   memref.store %s, %out[%c0, %x] : memref<1x6xvector<4xf32>, "image2d">
// is
//   const ulong v0 = get_global_id(0);
//   const float4 v1 = read_imagef(a0, kPixels, (int2)((int)v0, 0));
//   write_imagef(a1, (int2)((int)v0, 0), v1 + v1);
//
// Laws:
//   - A value has one C type: iN is the unsigned integer of N bits, so that
//     arithmetic wraps, and what is signed casts; index is as i64; i1 is bool.
//     A vector of bits holds 0 and -1 in its lanes, of type int. A vector of
//     one element is a scalar. An f16 is a float without half arithmetic.
//   - The text of a value has the type of the value, also inside of another
//     one: below 32 bits, where C computes with int, each op casts back.
//   - A pure op with one reader in its block is part of the reader's text;
//     everything else is a constant with a name, in the order of the ops.
//   - A number is written so that it reads back as it was.
//   - Names are the printer's own, the module's words only stand in comments,
//     and behind kKernelPrefix in the names of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELSOURCE_H
#define LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELSOURCE_H

#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <unordered_map>

namespace mlir::layout {

/// Before the names of kernels, which may be words of OpenCL C.
constexpr llvm::StringLiteral kKernelPrefix = LAYOUT_CL_SOURCE_PREFIX;

//===----------------------------------------------------------------------===//
// Types and numbers
//===----------------------------------------------------------------------===//

/// How many elements a value has in C: 1 is a scalar.
unsigned getCLanes(Type type);
std::string getCType(Type type);
/// The signed integer type of the same size.
std::string getSignedCType(Type type);
std::string getCNumber(Attribute number, Type type);

/// Whether an op makes an index of 32 bits. Images and buffers take these as
/// they are.
bool isWideningCast(Operation *op);

//===----------------------------------------------------------------------===//
// Comments
//===----------------------------------------------------------------------===//

/// The name of a node of a network that a location gives, empty where it gives
/// none.
std::string getNodeName(Location loc);
/// What memory is, seen through casts and reshapes.
Value getMemoryBase(Value value);

/// The comment above each kernel, by its name: the nodes of the network that
/// launch it, and what its arguments hold.
llvm::StringMap<std::string> describeKernels(gpu::GPUModuleOp module);

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class KernelPrinter {
public:
  KernelPrinter(raw_ostream &os, bool hasHalves)
      : os(os), hasHalves(hasHalves) {}

  LogicalResult print(gpu::GPUFuncOp kernel);

private:
  struct Text {
    std::string text;
    bool isAtom; // needs no parentheses, and is cheap to repeat
  };

  // Values. `get` is for the inside of parentheses, `atom` for operands of
  // operators, `name` where the text is repeated.
  StringRef get(Value value);
  std::string atom(Value value);
  std::string name(Value value);
  std::string asSigned(Value value);
  /// `text` has the signed type of `type`.
  std::string asUnsigned(Type type, const std::string &text);
  void define(Value value, const std::string &text);
  std::string declare(Value value, StringRef text, bool isConstant = true);
  raw_ostream &line();

  // Control flow.
  LogicalResult printBlock(Block &block);
  LogicalResult printOp(Operation &op);
  LogicalResult printFor(scf::ForOp op);
  LogicalResult printIf(scf::IfOp op);
  LogicalResult printWhile(scf::WhileOp op);
  LogicalResult printNested(Block &block);
  void declareVariables(ValueRange variables, ValueRange values);
  void assign(ValueRange variables, ValueRange values);

  // The text of an op with one result; empty where it has none.
  std::string getForm(Operation *op);
  std::string getIntegerForm(Operation *op);
  std::string getCompareForm(arith::CmpIOp op);
  std::string getCompareForm(arith::CmpFOp op);
  std::string getSelectForm(arith::SelectOp op);
  std::string getCastForm(Operation *op);
  std::string getIntegerCast(Value from, Type type, bool isSigned);
  std::string getFloatForm(Operation *op);
  std::string getPositionForm(Operation *op);
  std::string getVectorForm(Operation *op);
  std::string getElementForm(Operation *op);
  std::string getShuffleForm(Operation *op);
  std::string reduce(vector::ReductionOp op);
  std::string getLoadForm(memref::LoadOp op);
  void printStore(memref::StoreOp op);
  std::string getCoordinates(ValueRange indices);
  StringRef getOffset(Value index);
  char getImageSuffix(Type channel) const;

  // Lanes of vectors.
  std::string lane(Value vector, unsigned number);
  SmallVector<std::string> lanes(Value vector);
  /// A scalar as an element of a vector, and back.
  std::string toLane(Value scalar);
  std::string fromLane(Type element, const std::string &text);
  std::string join(Type type, ArrayRef<std::string> lanes);

  raw_ostream &os;
  bool hasHalves; // else an f16 is a float from where it is loaded
  unsigned depth = 0;
  unsigned numValues = 0, numLoops = 0;
  struct HashValue {
    size_t operator()(Value value) const {
      return DenseMapInfo<Value>::getHashValue(value);
    }
  };
  /// They stay where they are: one is read while another one is added.
  std::unordered_map<Value, Text, HashValue> texts;
};

/// The OpenCL C of a module after legalizeForOpenCL, comments by the kernels'
/// names. Errors are emitted at ops that have no form.
FailureOr<std::string>
printOpenCLSource(gpu::GPUModuleOp module,
                  const llvm::StringMap<std::string> &comments);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELSOURCE_H
