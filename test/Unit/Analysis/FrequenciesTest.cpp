//===- FrequenciesTest.cpp - Op frequencies and copy placement ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

class Flow : public ::testing::Test {
protected:
  Flow() {
    context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                        func::FuncDialect, scf::SCFDialect>();
  }

  void parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text.str();
  }
  /// Finds the op with this attribute.
  Operation *find(StringRef tag) {
    Operation *found = nullptr;
    module->walk([&](Operation *op) {
      if (op->hasAttr(tag))
        found = op;
    });
    EXPECT_TRUE(found) << tag.str();
    return found;
  }
  /// Returns the frequency of a callee with the given visibility and body of
  /// main.
  int64_t getFrequency(StringRef visibility, StringRef main) {
    parse("func.func " + visibility.str() + R"( @callee(%x: i32) -> i32 {
      %0 = arith.addi %x, %x {here} : i32
      return %0 : i32
    }
    func.func @main(%x: i32, %n: index) -> i32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c10 = arith.constant 10 : index
    )" + main.str() +
          "\nreturn %r : i32\n}");
    return Frequencies(*module, /*assumedTrips=*/8)
        .get(find("here")->getBlock());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

std::string inLoop(StringRef bound, StringRef body) {
  return "%r = scf.for %i = %c0 to " + bound.str() +
         " step %c1 iter_args(%v = %x) -> (i32) {\n" + body.str() +
         "\nscf.yield %w : i32\n}";
}

constexpr const char *kOnce = "%r = func.call @callee(%x) : (i32) -> i32";
constexpr const char *kOnceInLoop = "%w = func.call @callee(%v) : (i32) -> i32";

TEST_F(Flow, CallsAddUp) {
  EXPECT_EQ(getFrequency("private", kOnce), 1);
  EXPECT_EQ(getFrequency("private",
                         "%a = func.call @callee(%x) : (i32) -> i32\n"
                         "%r = func.call @callee(%a) : (i32) -> i32"),
            2);
  // A function without callers is assumed to run once.
  EXPECT_EQ(getFrequency("private", "%r = arith.addi %x, %x : i32"), 1);
}

/// A public function has an additional external caller.
TEST_F(Flow, PublicFunctionsHaveAnUnknownCaller) {
  EXPECT_EQ(getFrequency("", kOnce), 2);
  EXPECT_EQ(getFrequency("", inLoop("%c10", kOnceInLoop)), 11);
}

TEST_F(Flow, LoopsMultiply) {
  EXPECT_EQ(getFrequency("private", inLoop("%c10", kOnceInLoop)), 10);
  EXPECT_EQ(getFrequency("private", inLoop("%n", kOnceInLoop)), 8);
  EXPECT_EQ(getFrequency("private", inLoop("%c10", R"(
      %w = scf.for %j = %c0 to %n step %c1 iter_args(%u = %v) -> (i32) {
        %t = func.call @callee(%u) : (i32) -> i32
        scf.yield %t : i32
      })")),
            80);
}

/// Nested loops of branches.
TEST_F(Flow, BlocksInLoopsOfBranches) {
  parse(R"(func.func @f(%c: i1, %x: i32) {
    %0 = arith.addi %x, %x {outside} : i32
    cf.br ^outer
  ^outer:
    %1 = arith.addi %x, %x {outer} : i32
    cf.br ^inner
  ^inner:
    %2 = arith.addi %x, %x {inner} : i32
    cf.cond_br %c, ^inner, ^latch
  ^latch:
    cf.cond_br %c, ^outer, ^end
  ^end:
    return
  })");
  Frequencies frequencies(*module, 8);
  EXPECT_EQ(frequencies.get(find("outside")->getBlock()), 1);
  EXPECT_EQ(frequencies.get(find("outer")->getBlock()), 8);
  EXPECT_EQ(frequencies.get(find("inner")->getBlock()), 64);
}

/// A copy is placed in the branch with its only uses, but not in a loop.
TEST_F(Flow, CopiesGoWhereTheyRunLeast) {
  parse(R"(func.func @f(%c: i1, %x: i32, %a: index) {
    %v = arith.addi %x, %x {value} : i32
    scf.if %c {
      %0 = arith.addi %v, %x {then} : i32
      scf.if %c {
        %1 = arith.addi %v, %x {deep} : i32
      }
    } else {
      %2 = arith.addi %v, %x {else} : i32
    }
    scf.for %i = %a to %a step %a {
      %3 = arith.addi %v, %x {loop} : i32
    }
    return
  })");
  Value value = find("value")->getResult(0);
  Block *here = find("value")->getBlock();
  auto place = [&](ArrayRef<StringRef> tags) {
    SmallVector<Operation *> users;
    for (StringRef tag : tags)
      users.push_back(find(tag));
    return CopyPlacement().find(value, users);
  };
  EXPECT_EQ(place({"then"}), find("then")->getBlock());
  EXPECT_EQ(place({"deep"}), find("deep")->getBlock());
  EXPECT_EQ(place({"then", "deep"}), find("then")->getBlock());
  EXPECT_EQ(place({"then", "else"}), here);
  EXPECT_EQ(place({"loop"}), here);
  EXPECT_EQ(place({"then", "loop"}), here);
}

} // namespace
