//===- layout-solve.cpp - Minimize a sum of tables ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves a problem in wcsp format or JSON with the layout solver, and prints
// the answer, one property per line:
//
//     cost 1
//     lower-bound 1
//     proven yes
//     assignment 0 1
//
// The exit status tells whether the answer is proven (ExitStatus).
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/NamedProblem.h"
#include "layout/Solver/Wcsp.h"
#include "layout/Support/WholeFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include <chrono>

using namespace mlir::layout;
namespace cl = llvm::cl;

/// The exit codes of the tool, by what is known about the answer. 1 is also
/// that of command line errors.
enum ExitStatus {
  kProvenOptimal = 0,
  kError = 1,
  kNotProven = 2,  // an assignment, but possibly a better one
  kInfeasible = 3, // no assignment is allowed
  kNoneFound = 4,  // none was found, but there may be one
};

static cl::OptionCategory category("layout-solve options");
static cl::opt<std::string> inputPath(cl::Positional, cl::init("-"),
                                      cl::cat(category),
                                      cl::desc("<problem.wcsp>"));
static cl::opt<std::string> outputPath("o", cl::init("-"), cl::cat(category),
                                       cl::value_desc("file"),
                                       cl::desc("Output file"));
static cl::opt<std::string>
    solutionPath("solution", cl::cat(category), cl::value_desc("file"),
                 cl::desc("Write the values of the assignment, if there is "
                          "one, on a line of this file"));
static cl::opt<std::string> certificatePath(
    "certificate", cl::cat(category), cl::value_desc("file"),
    cl::desc("Write the problem, the solution and a proof of the lower bound, "
             "for python -m layout_mlir.certify"));
static cl::opt<std::string>
    problemPath("write-wcsp", cl::cat(category), cl::value_desc("file"),
                cl::desc("Write the problem as read, without solving it"));
static cl::opt<std::string>
    initialPath("initial", cl::cat(category), cl::value_desc("file"),
                cl::desc("A known assignment, the values of all variables: the "
                         "solution is at least as good"));
static cl::opt<int64_t> maxTableSize(
    "max-table", cl::cat(category), cl::value_desc("entries"),
    cl::init(SolveOptions().maxTableSize),
    cl::desc("Limit of the entries of one table of the elimination"));
static cl::opt<int64_t> maxTotalSize(
    "max-total", cl::cat(category), cl::value_desc("entries"),
    cl::init(SolveOptions().maxTotalSize),
    cl::desc("Limit of the entries of all tables of the elimination"));
static cl::opt<int64_t>
    maxNodes("max-nodes", cl::cat(category), cl::value_desc("nodes"),
             cl::init(SolveOptions().maxNodes),
             cl::desc("Limit of the nodes of the search, which runs if tables "
                      "are too large"));
static cl::opt<int64_t> maxWork(
    "max-work", cl::cat(category), cl::value_desc("entries"),
    cl::init(SolveOptions().maxWork),
    cl::desc("Limit of the table entries that the bounds of the search read"));
static cl::opt<double>
    maxSeconds("max-seconds", cl::cat(category), cl::value_desc("seconds"),
               cl::init(SolveOptions().maxSeconds),
               cl::desc("Time limit of the search, which then returns the best "
                        "assignment found"));
static cl::opt<int64_t> maxEntries(
    "max-entries", cl::cat(category), cl::value_desc("entries"),
    cl::init(kMaxWcspEntries),
    cl::desc("Limit of the entries of domains and tables of the problem"));
static cl::opt<bool>
    statistics("statistics", cl::cat(category),
               cl::desc("Print the size of the problem, the work of the solver "
                        "and its seconds after the solution"));

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "layout-solve") << message << "\n";
  return kError;
}

/// Reads a file, or the standard input if the path is "-". Reports an error and
/// returns nullptr if that fails.
static std::unique_ptr<llvm::MemoryBuffer> open(llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (file)
    return std::move(*file);
  fail("cannot read '" + path + "': " + file.getError().message());
  return nullptr;
}

/// Returns the value that was parsed from the file `path`. If parsing has
/// failed, reports the error and returns std::nullopt.
template <typename T>
static std::optional<T> check(llvm::StringRef path, llvm::Expected<T> read) {
  if (read)
    return std::move(*read);
  llvm::errs() << (path == "-" ? "<stdin>" : path) << ":"
               << llvm::toString(read.takeError()) << "\n";
  return std::nullopt;
}

/// Finishes writing a file. Reports an error and returns false if that fails.
static bool commit(WholeFile &file, llvm::StringRef path) {
  if (std::error_code code = file.commit()) {
    fail("cannot write '" + path + "': " + code.message());
    return false;
  }
  return true;
}

static void printCost(llvm::raw_ostream &os, llvm::StringRef name, Cost cost) {
  os << name << " ";
  if (cost == kInfiniteCost)
    os << "infinite\n";
  else
    os << cost << "\n";
}

static void printSolution(llvm::raw_ostream &os, const Solution &solution) {
  printCost(os, "cost", solution.cost);
  printCost(os, "lower-bound", solution.lowerBound);
  os << "proven " << (solution.exact ? "yes" : "no") << "\nassignment";
  if (solution.cost == kInfiniteCost)
    os << " none";
  for (unsigned value : solution.assignment)
    os << " " << value;
  os << "\n";
  if (solution.openVariables.empty())
    return;
  os << "open";
  for (unsigned variable : solution.openVariables)
    os << " " << variable;
  os << "\n";
}

static void printStatistics(llvm::raw_ostream &os, const FactorGraph &graph,
                            const Solution &solution, double seconds) {
  unsigned maxDomain = 0;
  size_t maxArity = 0, numEntries = 0;
  for (unsigned domain : graph.getDomains())
    maxDomain = std::max(maxDomain, domain);
  for (FactorGraph::Factor factor : graph.getFactors())
    maxArity = std::max(maxArity, factor.variables.size());
  for (unsigned table = 0; table < graph.getNumTables(); ++table)
    numEntries += graph.getTable(TableId(table)).size();
  os << "variables " << graph.getNumVariables() << "\n"
     << "largest-domain " << maxDomain << "\n"
     << "functions " << graph.getNumFactors() << "\n"
     << "largest-arity " << maxArity << "\n"
     << "tables " << graph.getNumTables() << "\n"
     << "entries " << numEntries << "\n"
     << "core-variables " << solution.statistics.numCoreVariables << "\n"
     << "wide-components " << solution.statistics.numWideComponents << "\n"
     << "nodes " << solution.statistics.numNodes << "\n"
     << "seconds " << llvm::format("%.6f", seconds) << "\n";
}

static int getExitStatus(const Solution &solution) {
  if (solution.cost == kInfiniteCost)
    return solution.exact ? kInfeasible : kNoneFound;
  return solution.exact ? kProvenOptimal : kNotProven;
}

static SolveOptions getOptions() {
  SolveOptions options;
  options.maxTableSize = maxTableSize;
  options.maxTotalSize = maxTotalSize;
  options.maxNodes = maxNodes;
  options.maxWork = maxWork;
  options.maxSeconds = maxSeconds;
  options.certify = !certificatePath.empty();
  return options;
}

/// Writes the file --certificate. Reports an error and returns false if that
/// fails; returns true if the option is not set.
static bool
commitCertificate(llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  if (certificatePath.empty())
    return true;
  WholeFile file(certificatePath);
  if (llvm::Error error = write(file.os())) {
    fail(llvm::toString(std::move(error)));
    return false;
  }
  return commit(file, certificatePath);
}

static int solve(const WcspProblem &problem) {
  SolveOptions options = getOptions();
  std::optional<std::vector<unsigned>> initial;
  if (!initialPath.empty()) {
    auto text = open(initialPath);
    if (!text)
      return kError;
    initial =
        check(initialPath, readAssignment(text->getBuffer(), problem.graph));
    if (!initial)
      return kError;
    options.initial = *initial;
  }
  auto start = std::chrono::steady_clock::now();
  Solution solution = problem.solve(options);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;

  if (!solutionPath.empty() && solution.cost != kInfiniteCost) {
    WholeFile file(solutionPath);
    llvm::interleave(solution.assignment, file.os(), " ");
    file.os() << "\n";
    if (!commit(file, solutionPath))
      return kError;
  }
  if (!commitCertificate([&](llvm::raw_ostream &os) {
        return writeCertificate(os, problem, solution);
      }))
    return kError;
  WholeFile output(outputPath);
  printSolution(output.os(), solution);
  if (statistics)
    printStatistics(output.os(), problem.graph, solution, time.count());
  return commit(output, outputPath) ? getExitStatus(solution) : kError;
}

static int writeProblem(const WcspProblem &problem) {
  WholeFile file(problemPath);
  if (llvm::Error error = writeWcsp(file.os(), problem))
    return fail(llvm::toString(std::move(error)));
  return commit(file, problemPath) ? 0 : kError;
}

/// Solves the problem in `text`, ops with candidate layouts and costs in JSON
/// (docs/solver.md), and writes the answer in JSON. With --write-wcsp, writes
/// the problem in wcsp format instead. Options that are only for wcsp problems
/// are errors. Returns the exit status, kError after an error was reported.
static int solveNamed(llvm::StringRef text) {
  for (llvm::StringRef given : {initialPath.empty() ? "" : "initial",
                                solutionPath.empty() ? "" : "solution"})
    if (!given.empty())
      return fail("--" + given + " is for problems in wcsp format, and '" +
                  inputPath + "' is in JSON");
  auto problem = readNamedProblem(text, maxEntries);
  if (!problem)
    return fail("'" + inputPath + "': " + llvm::toString(problem.takeError()));
  if (!problemPath.empty()) {
    if (problem->problem.hasBudget())
      return fail("--write-wcsp cannot write the budget of '" + inputPath +
                  "', which the wcsp format does not have");
    return writeProblem(problem->problem.getWcsp());
  }
  auto found = problem->solve(getOptions());
  if (!found)
    return fail("'" + inputPath + "': " + llvm::toString(found.takeError()));
  if (!commitCertificate([&](llvm::raw_ostream &os) -> llvm::Error {
        os << found->certificate;
        if (found->certificate.empty())
          return llvm::createStringError(
              "there is no certificate under a budget without an assignment");
        return llvm::Error::success();
      }))
    return kError;
  WholeFile output(outputPath);
  output.os() << llvm::formatv("{0:2}\n",
                               problem->makeAnswer(*found, statistics));
  return commit(output, outputPath) ? getExitStatus(found->solution) : kError;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Solves a weighted constraint satisfaction problem in wcsp format: finds "
      "values\nof all variables for which the sum of the tables is least. A "
      "file in JSON is a\nproblem of ops with configurations and tensors with "
      "conversions.\n\n"
      "Exit status: 0 the assignment is proven optimal, 1 an error in options "
      "or files,\n2 an assignment that is not proven optimal, 3 proven that no "
      "assignment is\nallowed, 4 none was found and there may be one.\n");
  for (const auto *limit : {&maxTableSize, &maxTotalSize, &maxEntries})
    if (*limit < 1)
      return fail("--" + limit->ArgStr + " must be at least 1");
  if (maxNodes < 0)
    return fail("--max-nodes must be at least 0");
  if (maxWork < 0)
    return fail("--max-work must be at least 0");
  if (!(maxSeconds >= 0))
    return fail("--max-seconds must be at least 0");

  auto buffer = open(inputPath);
  if (!buffer)
    return kError;
  llvm::StringRef text = buffer->getBuffer();
  text.consume_front("\xEF\xBB\xBF"); // the UTF-8 byte order mark
  if (text.ltrim().starts_with("{"))
    return solveNamed(text);
  auto problem = check(inputPath, readWcsp(text, maxEntries));
  if (!problem)
    return kError;
  return problemPath.empty() ? solve(*problem) : writeProblem(*problem);
}
