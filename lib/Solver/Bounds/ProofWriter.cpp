//===- ProofWriter.cpp - Proofs of lower bounds as text -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds/ProofWriter.h"
#include "GraphReduction.h"
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;

ProofWriter::ProofWriter(const FactorGraph &graph) {
  for (auto [v, domain] : llvm::enumerate(graph.getDomains())) {
    names.variables.push_back(v);
    names.values.emplace_back(domain);
    std::iota(names.values.back().begin(), names.values.back().end(), 0);
  }
}

ProofWriter::Names ProofWriter::enter(ArrayRef<unsigned> variables) {
  Names inner;
  for (unsigned variable : variables) {
    inner.variables.push_back(getName(variable));
    inner.values.push_back(names.values[variable]);
  }
  return std::exchange(names, std::move(inner));
}

ProofWriter::Names
ProofWriter::enter(ArrayRef<llvm::SmallVector<unsigned, 6>> values) {
  Names inner;
  inner.variables = names.variables;
  for (auto [variable, left] : llvm::enumerate(values)) {
    inner.values.emplace_back();
    for (unsigned value : left)
      inner.values.back().push_back(names.values[variable][value]);
  }
  return std::exchange(names, std::move(inner));
}

void ProofWriter::writeNames(ArrayRef<unsigned> variables) {
  for (unsigned variable : variables)
    write(getName(variable));
  text += '\n';
}

void ProofWriter::writeValues(unsigned variable, ArrayRef<unsigned> values) {
  for (unsigned value : values)
    write(names.values[variable][value]);
  text += '\n';
}

void ProofWriter::writeAmounts(unsigned variable, ArrayRef<Cost> amounts) {
  for (auto [value, amount] : llvm::enumerate(amounts))
    if (amount != 0) {
      write(names.values[variable][value]);
      write(amount);
    }
  text += '\n';
}

void ProofWriter::eliminate(ArrayRef<unsigned> variables) {
  if (variables.empty())
    return;
  text += 'e';
  writeNames(variables);
}

void ProofWriter::reduce(const GraphReduction &reduction) {
  size_t done = 0;
  ArrayRef<unsigned> order = reduction.getOrder();
  for (const GraphReduction::Move &step : reduction.getMoves()) {
    eliminate(order.slice(done, step.numEliminated - done));
    done = step.numEliminated;
    text += 'x';
    write(getName(step.ends[0]));
    write(getName(step.ends[1]));
    write(step.place);
    text += '\n';
  }
  eliminate(order.drop_front(done));
}

void ProofWriter::move(ArrayRef<unsigned> scope, unsigned place,
                       ArrayRef<Cost> amounts) {
  if (llvm::all_of(amounts, [](Cost amount) { return amount == 0; }))
    return;
  text += 'm';
  write(scope.size());
  for (unsigned variable : scope)
    write(getName(variable));
  write(place);
  writeAmounts(scope[place], amounts);
}

void ProofWriter::charge(unsigned variable, unsigned on, unsigned consumer,
                         unsigned producer, ArrayRef<Cost> amounts) {
  if (llvm::all_of(amounts, [](Cost amount) { return amount == 0; }))
    return;
  text += 's';
  write(getName(variable));
  write(names.values[variable][on]);
  write(getName(consumer));
  write(getName(producer));
  writeAmounts(producer, amounts);
}

void ProofWriter::drop(unsigned variable, ArrayRef<unsigned> values) {
  text += 'd';
  write(getName(variable));
  writeValues(variable, values);
}

void ProofWriter::branch(unsigned variable, ArrayRef<unsigned> values) {
  text += 'b';
  write(getName(variable));
  writeValues(variable, values);
}

void ProofWriter::beginComponent(ArrayRef<unsigned> variables) {
  text += 'c';
  writeNames(variables);
}

void ProofWriter::insertWitness(size_t start, ArrayRef<unsigned> assignment) {
  if (assignment.empty())
    return;
  std::string steps = text.substr(start);
  text.resize(start);
  text += 'w';
  for (auto [variable, value] : llvm::enumerate(assignment))
    write(names.values[variable][value]);
  text += '\n';
  text += steps;
}
