//===- MessageLoops.cpp - Emit message loops ------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MessageLoops.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Support/BorrowedBuffers.h"
#include "layout/Support/BufferAlignment.h"
#include "layout/Support/Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MPI/IR/MPI.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the AtomicRMWKind of `reduction` on elements of this type. Integers
/// are signed.
static arith::AtomicRMWKind getKind(Reduction reduction, Type elementType) {
  bool isFloat = isa<FloatType>(elementType);
  switch (reduction) {
  case Reduction::Sum:
    return isFloat ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
  case Reduction::Max:
    return isFloat ? arith::AtomicRMWKind::maximumf
                   : arith::AtomicRMWKind::maxs;
  case Reduction::Min:
    return isFloat ? arith::AtomicRMWKind::minimumf
                   : arith::AtomicRMWKind::mins;
  }
  llvm_unreachable("a reduction that is not listed");
}

TypedAttr layout::getNeutralElement(OpBuilder &b, Location loc,
                                    Reduction reduction, Type elementType) {
  return arith::getIdentityValueAttr(getKind(reduction, elementType),
                                     elementType, b, loc);
}

static MemRefType getMemory(Type elementType) {
  return MemRefType::get({ShapedType::kDynamic}, elementType);
}

namespace {
/// Emits index arithmetic, loops, and loads from the table of a message plan.
struct Numbers {
  OpBuilder &b;
  Location loc;
  Value table;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value a, Value other) {
    return arith::AddIOp::create(b, loc, a, other);
  }
  Value multiply(Value a, Value other) {
    return arith::MulIOp::create(b, loc, a, other);
  }
  /// Loads the entry of the table at `position` + `offset`, as an index.
  Value load(Value position, int64_t offset = 0) {
    Value at = offset ? add(position, constant(offset)) : position;
    Value number = memref::LoadOp::create(b, loc, table, at);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
  }
  scf::ForOp loop(Value begin, Value end, Value step) {
    auto loop = scf::ForOp::create(b, loc, begin, end, step);
    b.setInsertionPointToStart(loop.getBody());
    return loop;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// Emits the body of `function`: a loop over rows of a message table
/// (MessageTables::numbers). A row describes a strided box of elements by
/// `numLoops` loops. The box is copied from the source to the target, or
/// combined by `reduction` with the elements of the target.
///
///   argument   type          what it is
///   0, 1       memref<?xT>   the buffers of source and target
///   2          memref<?xi64> the table; a row has `rowSize` numbers
///   3, 4       index         the positions in the table at which the rows
///                            begin and end
static void fillMove(func::FuncOp function, unsigned numLoops, int64_t rowSize,
                     Type elementType, std::optional<Reduction> reduction) {
  Location loc = function.getLoc();
  Block *entry = function.addEntryBlock();
  auto b = OpBuilder::atBlockBegin(entry);
  Value source = entry->getArgument(0), target = entry->getArgument(1);
  Numbers numbers{b, loc, entry->getArgument(2)};
  func::ReturnOp::create(b, loc);
  b.setInsertionPointToStart(entry);
  Value zero = numbers.constant(0), one = numbers.constant(1);
  Value row = numbers
                  .loop(entry->getArgument(3), entry->getArgument(4),
                        numbers.constant(rowSize))
                  .getInductionVar();
  Value from = numbers.load(row), to = numbers.load(row, 1);
  SmallVector<std::array<Value, 3>> loops;
  for (unsigned i = 0; i < numLoops; ++i)
    loops.push_back({numbers.load(row, 2 + 3 * i), numbers.load(row, 3 + 3 * i),
                     numbers.load(row, 4 + 3 * i)});
  for (auto [size, fromStride, toStride] : loops) {
    Value index = numbers.loop(zero, size, one).getInductionVar();
    from = numbers.add(from, numbers.multiply(index, fromStride));
    to = numbers.add(to, numbers.multiply(index, toStride));
  }
  Value element = memref::LoadOp::create(b, loc, source, from);
  if (reduction) {
    Value part = memref::LoadOp::create(b, loc, target, to);
    element = arith::getReductionOp(getKind(*reduction, elementType), b, loc,
                                    part, element);
  }
  memref::StoreOp::create(b, loc, element, target, to);
}

func::FuncOp MessageSymbols::getMove(const MessageTables &tables,
                                     Type elementType,
                                     std::optional<Reduction> reduction) {
  func::FuncOp &found =
      moves[{tables.numLoops, elementType, reduction ? int(*reduction) : -1}];
  if (found)
    return found;
  auto b = OpBuilder::atBlockEnd(module.getBody());
  Type index = b.getIndexType();
  MemRefType elements = getMemory(elementType);
  found = func::FuncOp::create(
      b, module.getLoc(),
      reduction ? "layout_combine_elements" : "layout_move_elements",
      b.getFunctionType(
          {elements, elements, getMemory(b.getI64Type()), index, index}, {}));
  found.setPrivate();
  symbols.insert(found);
  fillMove(found, tables.numLoops, tables.getRowSize(), elementType, reduction);
  return found;
}

/// Returns the function that sends the first bytes of a buffer to a rank, or
/// receives them. It is a function because mpi ops do not state their effects
/// on buffers, which deallocation requires.
func::FuncOp MessageSymbols::getTransfer(bool isSend) {
  func::FuncOp &found = transfers[isSend];
  if (found)
    return found;
  auto b = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  found = func::FuncOp::create(
      b, loc, isSend ? "layout_send_bytes" : "layout_receive_bytes",
      b.getFunctionType(
          {getMemory(b.getI8Type()), b.getIndexType(), b.getI32Type()}, {}));
  found.setPrivate();
  symbols.insert(found);
  Block *entry = found.addEntryBlock();
  b.setInsertionPointToStart(entry);
  // Messages are bytes because upstream's mpi dialect lacks some element types.
  Value message = memref::SubViewOp::create(
      b, loc, entry->getArgument(0), ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
      ArrayRef<OpFoldResult>{entry->getArgument(1)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  Value tag = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0);
  Value comm =
      mpi::CommWorldOp::create(b, loc, mpi::CommType::get(b.getContext()));
  if (isSend)
    mpi::SendOp::create(b, loc, Type(), message, tag, entry->getArgument(2),
                        comm);
  else
    mpi::RecvOp::create(b, loc, Type(), message, tag, entry->getArgument(2),
                        comm);
  func::ReturnOp::create(b, loc);
  return found;
}

func::FuncOp MessageSymbols::getExternal(StringRef name, TypeRange inputs,
                                         TypeRange results) {
  auto b = OpBuilder::atBlockEnd(module.getBody());
  FunctionType type = b.getFunctionType(inputs, results);
  if (Operation *known = symbols.lookup(name)) {
    auto function = dyn_cast<func::FuncOp>(known);
    if (function && function.getFunctionType() == type)
      return function;
    known->emitOpError()
        << "has the name of a function of libLayoutMPIRuntime: rename it";
    return {};
  }
  auto function = func::FuncOp::create(b, module.getLoc(), name, type);
  function.setPrivate();
  symbols.insert(function);
  return function;
}

memref::GlobalOp MessageSymbols::getNumbers(Location loc,
                                            const MessageTables &tables) {
  auto b = OpBuilder::atBlockEnd(module.getBody());
  auto type = MemRefType::get({int64_t(tables.numbers.size())}, b.getI64Type());
  auto values = DenseIntElementsAttr::get(
      RankedTensorType::get(type.getShape(), type.getElementType()),
      tables.numbers);
  memref::GlobalOp &found = numbers[values];
  if (found)
    return found;
  found = memref::GlobalOp::create(
      b, loc, "layout_messages", b.getStringAttr("private"), type, values,
      /*constant=*/true, /*alignment=*/IntegerAttr());
  symbols.insert(found);
  return found;
}

LLVM::GlobalOp MessageSymbols::addText(Location loc, std::string text) {
  auto b = OpBuilder::atBlockEnd(module.getBody());
  text.push_back('\0');
  auto global = LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
      /*isConstant=*/true, LLVM::Linkage::Private, "layout_place",
      b.getStringAttr(text));
  symbols.insert(global);
  return global;
}

LogicalResult MessageSymbols::add(Location loc, Type elementType,
                                  PlannedMessages &conversion) {
  const MessageTables &tables = conversion.tables;
  conversion.numbers = getNumbers(loc, tables);
  auto b = OpBuilder::atBlockEnd(module.getBody());
  conversion.place = addText(loc, "layout.convert at " + printPlace(loc));
  conversion.move = getMove(tables, elementType, std::nullopt);
  if (conversion.plan.reduction)
    conversion.combine =
        getMove(tables, elementType, conversion.plan.reduction);
  if (tables.mostElements) {
    conversion.send = getTransfer(/*isSend=*/true);
    conversion.receive = getTransfer(/*isSend=*/false);
  }
  Type number = b.getI64Type();
  conversion.enter =
      getExternal("layoutMPIEnter",
                  {LLVM::LLVMPointerType::get(b.getContext()), number}, number);
  conversion.leave = getExternal("layoutMPILeave", number, {});
  return success(conversion.enter && conversion.leave);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace {
class Emitter {
public:
  Emitter(OpBuilder &b, Location loc, const PlannedMessages &conversion,
          Value source, Value target)
      : b(b), loc(loc), conversion(conversion), numbers{b, loc, Value()} {
    elementType = cast<MemRefType>(source.getType()).getElementType();
    memref::GlobalOp table = conversion.numbers;
    numbers.table = makeDynamic(
        memref::GetGlobalOp::create(b, loc, table.getType(), table.getName()));
    this->source = makeDynamic(source);
    this->target = makeDynamic(target);
  }

  void emit();

private:
  Value makeDynamic(Value buffer) {
    Type type = cast<MemRefType>(buffer.getType()).getElementType();
    return memref::CastOp::create(b, loc, getMemory(type), buffer);
  }
  void call(func::FuncOp function, ValueRange operands) {
    auto call = func::CallOp::create(b, loc, function, operands);
    call->setAttr(kBorrowsAttrName, b.getUnitAttr());
  }
  void move(Value from, Value to, Value first, Value end, bool combines) {
    call(combines ? conversion.combine : conversion.move,
         {from, to, numbers.table, first, end});
  }
  void emitStep(Value step, bool isFirst);

  OpBuilder &b;
  Location loc;
  const PlannedMessages &conversion;
  Numbers numbers;
  Type elementType;
  Value source, target, bytes, packed;
};
} // namespace

void Emitter::emitStep(Value step, bool isFirst) {
  Value peer =
      arith::IndexCastOp::create(b, loc, b.getI32Type(), numbers.load(step));
  Value sends =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                            numbers.load(step, 1), numbers.constant(0));
  Value size = numbers.multiply(numbers.load(step, 2),
                                numbers.constant(conversion.plan.elementBytes));
  Value first = numbers.load(step, 3), end = numbers.load(step, 4);
  auto either = scf::IfOp::create(b, loc, sends, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  Value message[] = {bytes, size, peer};
  b.setInsertionPointToStart(either.thenBlock());
  move(isFirst ? source : target, packed, first, end, /*combines=*/false);
  call(conversion.send, message);
  b.setInsertionPointToStart(either.elseBlock());
  call(conversion.receive, message);
  move(packed, target, first, end,
       /*combines=*/isFirst && conversion.plan.reduction);
}

void Emitter::emit() {
  Type number = b.getI64Type();
  // The runtime returns the rank: MPI may not be initialized yet, and
  // mpi.comm_rank could be hoisted before that.
  LLVM::GlobalOp text = conversion.place;
  Value place = LLVM::AddressOfOp::create(b, loc, text);
  Value devices =
      arith::ConstantIntOp::create(b, loc, number, conversion.plan.numDevices);
  Value rank = arith::IndexCastOp::create(
      b, loc, b.getIndexType(),
      func::CallOp::create(b, loc, conversion.enter, ValueRange{place, devices})
          .getResult(0));
  const MessageTables &tables = conversion.tables;
  move(source, target, numbers.load(rank, tables.copies),
       numbers.load(rank, tables.copies + 1),
       conversion.plan.reduction.has_value());
  if (tables.mostElements) {
    auto bytesType = MemRefType::get(
        {tables.mostElements * conversion.plan.elementBytes}, b.getI8Type());
    Value buffer = memref::AllocOp::create(
        b, loc, bytesType, b.getI64IntegerAttr(kBufferAlignment));
    bytes = makeDynamic(buffer);
    packed = makeDynamic(memref::ViewOp::create(
        b, loc, MemRefType::get({tables.mostElements}, elementType), buffer,
        numbers.constant(0), ValueRange()));
  }
  Value stepSize = numbers.constant(MessageTables::kStepSize);
  Value size = numbers.constant(0); // of the steps of this rank
  for (auto [phase, starts] : llvm::enumerate(tables.phases)) {
    Value begin = numbers.load(rank, starts),
          end = numbers.load(rank, starts + 1);
    size = numbers.add(size, arith::SubIOp::create(b, loc, end, begin));
    OpBuilder::InsertionGuard guard(b);
    emitStep(numbers.loop(begin, end, stepSize).getInductionVar(), phase == 0);
  }
  Value count = arith::IndexCastOp::create(
      b, loc, number, arith::DivUIOp::create(b, loc, size, stepSize));
  func::CallOp::create(b, loc, conversion.leave, count);
}

void layout::emitMessages(OpBuilder &b, Location loc,
                          const PlannedMessages &conversion, Value source,
                          Value target) {
  Emitter(b, loc, conversion, source, target).emit();
}
