//===- KernelSource.h - Print kernels on images as OpenCL C -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints kernels after legalizeForOpenCL as OpenCL C 1.2:
//
//   %x = gpu.global_id x
//   %v = memref.load %in[%c0, %x] : memref<1x6xvector<4xf32>, "image2d">
//   %s = arith.addf %v, %v : vector<4xf32>
//   memref.store %s, %out[%c0, %x] : memref<1x6xvector<4xf32>, "image2d">
// becomes
//   const ulong v0 = get_global_id(0);
//   const float4 v1 = read_imagef(a0, kPixels, (int2)((int)v0, 0));
//   write_imagef(a1, (int2)((int)v0, 0), v1 + v1);
//
// Laws:
//   - A value has one C type: iN is the N-bit unsigned integer, so that
//     arithmetic wraps, and signed ops cast; index is like i64; i1 is bool. A
//     vector of i1 is a vector of int with 0 and -1. A vector of one element is
//     a scalar. Without half arithmetic an f16 is a float.
//   - The text of a value has the type of the value, also as a subexpression: C
//     computes types below 32 bits in int, and each op casts back.
//   - A pure op with one reader in its block is inlined into the reader's text;
//     any other value is a named constant, in the order of the ops.
//   - Numbers are printed so that they read back exactly.
//   - The printer chooses all names. Text of the module occurs only in
//     comments, and after kKernelPrefix in the names of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_SOURCE_KERNELSOURCE_H
#define LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_SOURCE_KERNELSOURCE_H

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

/// The prefix of a kernel's function in OpenCL C, because the name of a kernel
/// may be a keyword of OpenCL C.
constexpr llvm::StringLiteral kKernelPrefix = LAYOUT_CL_SOURCE_PREFIX;

//===----------------------------------------------------------------------===//
// Types and numbers
//===----------------------------------------------------------------------===//

/// Returns the number of elements that a value has in C; 1 is a scalar.
unsigned getCLanes(Type type);
std::string getCType(Type type);
/// Returns the C name of the signed integer type with the size and the number
/// of elements of `type`.
std::string getSignedCType(Type type);
std::string getCNumber(Attribute number, Type type);

/// Returns true if the op casts i32 to index, as signed or unsigned. An image
/// accepts its operand as a coordinate; a buffer accepts that of an unsigned
/// cast as an index.
bool isWideningCast(Operation *op);

//===----------------------------------------------------------------------===//
// Comments
//===----------------------------------------------------------------------===//

/// Returns the name of the network node that a location names, or "" if it
/// names none.
std::string getNodeName(Location loc);
/// Returns the memref that `value` views by casts and reshapes, or `value`.
Value getMemoryBase(Value value);

/// Returns the comment above each kernel with a launch, by kernel name: the
/// first network nodes that it computes, and the contents of its arguments in
/// the first launch.
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
    bool isAtom; // needs no parentheses and may be repeated
  };

  // The C text of a value. `get` returns it as it is, for use inside of
  // parentheses; `atom` returns it in parentheses if it has operators outside
  // of any, for operands of operators; `name` makes it a named constant, for
  // text that is repeated.
  StringRef get(Value value);
  std::string atom(Value value);
  std::string name(Value value);
  std::string asSigned(Value value);
  /// Casts `text`, which has the signed type of `type`, to the unsigned type.
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

  // Return the C expression of an op with one result, or "" if it has none.
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
  /// Convert the text of a scalar to that of a vector element, and back. They
  /// differ for i1: a bool, or 0 and -1 in a vector.
  std::string toLane(Value scalar);
  std::string fromLane(Type element, const std::string &text);
  std::string join(Type type, ArrayRef<std::string> lanes);

  raw_ostream &os;
  bool hasHalves; // false: f16 is a float after it is loaded
  unsigned depth = 0;
  unsigned numValues = 0, numLoops = 0;
  struct HashValue {
    size_t operator()(Value value) const {
      return DenseMapInfo<Value>::getHashValue(value);
    }
  };
  /// The C text of each value. The map is node-based, so that a text can be
  /// read while another one is added.
  std::unordered_map<Value, Text, HashValue> texts;
};

/// Prints the kernels of a module as OpenCL C, after legalizeForOpenCL has
/// replaced the ops without a form in SPIR-V. `comments` has the comment above
/// each kernel, by kernel name. Emits an error and fails if an op has no form
/// in OpenCL C.
FailureOr<std::string>
printOpenCLSource(gpu::GPUModuleOp module,
                  const llvm::StringMap<std::string> &comments);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_SOURCE_KERNELSOURCE_H
