//===- MPIRuntime.cpp - What programs over a mesh run on ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of convert-layout-to-mpi say where a conversion begins and ends.
// Between the two this library takes their MPI_Send and MPI_Recv, by the
// profiling interface of MPI, and sees to it that no rank waits forever:
//
//  * a message of another length than the plan's, an error of MPI, and one that
//    takes longer than LAYOUT_MPI_TIMEOUT seconds (600; 0: no limit) end all
//    ranks;
//  * so does a program that finds another MPI_Send or MPI_Recv before these;
//  * a rank that a signal or a failed exit ends says in which conversion, and
//    so does each that is ended with it.
//
// A rank that ends well writes what it gave to MPI to send into the file
// LAYOUT_MPI_COUNTS.<rank>, where that is set: `{"messages": 3, "bytes": 96}`.
//
// Messages of conversions have a communicator of their own, so that they meet
// no others of the program.
//
//===----------------------------------------------------------------------===//

// The bindings to C++ of old versions, which nobody uses.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

namespace {

struct State {
  bool isReady = false;
  bool beganMPI = false; // this library, not the program
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 0;
  double limit = 600;
  /// The last conversion, and whether the program is at it: a copy, as programs
  /// are unloaded.
  char conversion[1024] = "";
  volatile bool isConverting = false;
  int64_t numMessages = 0; // that it has sent and received
  /// In all conversions.
  int64_t messagesSent = 0, bytesSent = 0;
  /// Set while a message is under way.
  const char *volatile action = nullptr;
  volatile int peer = 0, bytes = 0;
};

State state;

constexpr int kSignals[] = {SIGABRT, SIGBUS,  SIGFPE, SIGHUP,
                            SIGILL,  SIGSEGV, SIGTERM};
struct sigaction former[sizeof(kSignals) / sizeof(int)];

} // namespace

/// Where this rank is, as the end of a line. What it calls may be called in a
/// handler of signals.
static void describe(char *text, size_t size, const char *what, int number) {
  // Without printf, which may hold a lock.
  size_t used = 0;
  auto put = [&](const char *part) {
    while (*part && used + 1 < size)
      text[used++] = *part++;
  };
  auto putNumber = [&](int value) {
    char digits[12];
    int count = 0;
    unsigned rest = value < 0 ? 0u - unsigned(value) : unsigned(value);
    do
      digits[count++] = char('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
      digits[count++] = '-';
    while (count-- && used + 1 < size)
      text[used++] = digits[count];
  };
  put("rank ");
  putNumber(state.rank);
  put(" ");
  put(what);
  if (number) {
    put(" ");
    putNumber(number);
  }
  put(state.isConverting ? " in " : " after ");
  put(state.conversion);
  if (const char *action = state.action) {
    put(", ");
    put(action);
    put(" ");
    putNumber(state.peer);
    put(" (");
    putNumber(state.bytes);
    put(" bytes)");
  }
  put("\n");
  text[used] = 0;
}

static void report(const char *what, int number = 0) {
  char text[2048];
  describe(text, sizeof(text), what, number);
  // There is nobody to tell that this failed.
  if (write(STDERR_FILENO, text, strlen(text)) < 0)
    return;
}

[[noreturn]] static void fail(const char *format, ...) {
  char what[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof(what), format, arguments);
  va_end(arguments);
  report(what);
  // What started the ranks ends the others. MPI_Abort of several ranks at once
  // leaves OpenMPI's mpirun waiting now and then.
  _exit(1);
}

static void handleSignal(int number) {
  report(number == SIGTERM || number == SIGHUP ? "is ended by signal"
                                               : "dies of signal",
         number);
  for (size_t i = 0; i < sizeof(kSignals) / sizeof(int); ++i)
    if (kSignals[i] == number)
      sigaction(number, &former[i], nullptr);
  raise(number);
}

static void writeCounts() {
  const char *prefix = getenv("LAYOUT_MPI_COUNTS");
  if (!prefix || !*prefix)
    return;
  char path[4096];
  snprintf(path, sizeof(path), "%s.%d", prefix, state.rank);
  FILE *file = fopen(path, "w");
  bool isWritten =
      file &&
      fprintf(file, "{\"messages\": %lld, \"bytes\": %lld}\n",
              (long long)state.messagesSent, (long long)state.bytesSent) > 0;
  if (file)
    isWritten &= fclose(file) == 0;
  if (!isWritten)
    fail("cannot write %s (LAYOUT_MPI_COUNTS)", path);
}

/// A rank that ends well waits for the others; any other one ends them.
static void handleExit(int status, void *) {
  int isFinalized = 0;
  PMPI_Finalized(&isFinalized);
  if (isFinalized)
    return;
  if (status || state.isConverting)
    fail("exits with status %d", status);
  writeCounts();
  if (state.beganMPI)
    PMPI_Finalize();
}

static void start() {
  int isInitialized = 0;
  PMPI_Initialized(&isInitialized);
  if (!isInitialized) {
    MPI_Init(nullptr, nullptr);
    state.beganMPI = true;
  }
#if defined(__GLIBC__)
  on_exit(handleExit, nullptr);
#else
  atexit([] { handleExit(0, nullptr); });
#endif
  PMPI_Comm_rank(MPI_COMM_WORLD, &state.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &state.size);
  PMPI_Comm_dup(MPI_COMM_WORLD, &state.comm);
  PMPI_Comm_set_errhandler(state.comm, MPI_ERRORS_RETURN);
  if (const char *limit = getenv("LAYOUT_MPI_TIMEOUT")) {
    char *end = nullptr;
    state.limit = strtod(limit, &end);
    if (end == limit || *end || !(state.limit >= 0))
      fail("has LAYOUT_MPI_TIMEOUT=%s, which is no number of seconds", limit);
  }
  struct sigaction action = {};
  action.sa_handler = handleSignal;
  for (size_t i = 0; i < sizeof(kSignals) / sizeof(int); ++i) {
    sigaction(kSignals[i], &action, &former[i]);
    // What is ignored stays so, as SIGHUP under nohup.
    if (former[i].sa_handler == SIG_IGN)
      sigaction(kSignals[i], &former[i], nullptr);
  }
  state.isReady = true;
}

/// The rank, for the part of a program that `place` describes, on a mesh of as
/// many devices.
extern "C" int64_t layoutMPIRank(const char *place, int64_t devices) {
  strncpy(state.conversion, place, sizeof(state.conversion) - 1);
  state.isConverting = true;
  if (!state.isReady)
    start();
  if (devices != state.size)
    fail(
        "is one of %d, where mpirun -np %lld starts one for each device of the "
        "mesh,",
        state.size, (long long)devices);
  state.isConverting = false;
  return state.rank;
}

/// Begins a conversion; gives the rank.
extern "C" int64_t layoutMPIEnter(const char *place, int64_t devices) {
  int64_t rank = layoutMPIRank(place, devices);
  state.isConverting = true;
  state.numMessages = 0;
  return rank;
}

/// Ends a conversion, in which this rank sent and received so many messages.
extern "C" void layoutMPILeave(int64_t numMessages) {
  if (numMessages != state.numMessages)
    fail("has sent or received messages past libLayoutMPIRuntime, which has to "
         "be linked before MPI,");
  state.isConverting = false;
}

/// Waits for what was begun, and gives the bytes that it moved.
static int wait(int code, MPI_Request request, const char *operation) {
  double begin = PMPI_Wtime();
  MPI_Status status;
  for (int isDone = 0; code == MPI_SUCCESS;) {
    code = PMPI_Test(&request, &isDone, &status);
    if (isDone)
      break;
    if (state.limit > 0 && PMPI_Wtime() - begin > state.limit)
      fail("gives up %s after %g s (LAYOUT_MPI_TIMEOUT)", operation,
           state.limit);
    sched_yield();
  }
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    PMPI_Error_string(code, text, &length);
    fail("fails at %s: %.*s", operation, length, text);
  }
  int bytes = 0;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  return bytes;
}

static int countBytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return count * size;
}

extern "C" int MPI_Send(const void *data, int count, MPI_Datatype type,
                        int target, int tag, MPI_Comm comm) {
  if (!state.isConverting)
    return PMPI_Send(data, count, type, target, tag, comm);
  state.peer = target;
  state.bytes = countBytes(count, type);
  state.action = "sending to rank";
  MPI_Request request;
  int code = MPI_Isend(data, count, type, target, tag, state.comm, &request);
  wait(code, request, "MPI_Send");
  state.action = nullptr;
  ++state.numMessages;
  ++state.messagesSent;
  state.bytesSent += state.bytes;
  return MPI_SUCCESS;
}

extern "C" int MPI_Recv(void *data, int count, MPI_Datatype type, int source,
                        int tag, MPI_Comm comm, MPI_Status *status) {
  if (!state.isConverting)
    return PMPI_Recv(data, count, type, source, tag, comm, status);
  state.peer = source;
  state.bytes = countBytes(count, type);
  state.action = "receiving from rank";
  MPI_Request request;
  int code = MPI_Irecv(data, count, type, source, tag, state.comm, &request);
  int bytes = wait(code, request, "MPI_Recv");
  if (bytes != state.bytes)
    fail("fails at MPI_Recv: the message was truncated to %d bytes", bytes);
  state.action = nullptr;
  ++state.numMessages;
  return MPI_SUCCESS;
}
