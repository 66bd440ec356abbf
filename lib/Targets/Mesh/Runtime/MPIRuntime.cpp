//===- MPIRuntime.cpp - Runtime of programs on a mesh ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of convert-layout-to-mpi mark the begin and end of conversions.
// Between them, this library intercepts MPI_Send and MPI_Recv by the profiling
// interface of MPI and prevents deadlocks:
//
//  * a message whose length differs from the plan, an error of MPI, and a
//    message that exceeds LAYOUT_MPI_TIMEOUT seconds (600; 0: no limit) end all
//    ranks;
//  * so does a program that calls another MPI_Send or MPI_Recv than these;
//  * a rank that is ended by a signal or a failed exit reports its conversion,
//    and so do the ranks that are ended with it.
//
// If LAYOUT_MPI_COUNTS is set, a rank that exits normally writes the messages
// that it sent to the file LAYOUT_MPI_COUNTS.<rank>: `{"messages": 3, "bytes":
// 96}`.
//
// Conversions use a separate communicator, so that their messages cannot match
// others of the program.
//
//===----------------------------------------------------------------------===//

// Skip the deprecated C++ bindings of old versions.
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
  bool beganMPI = false; // by this library, not the program
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 0;
  double limit = 600;
  /// The description of the last conversion, or of the last part of the program
  /// that asked for the rank, and whether that runs. The text is a copy because
  /// the program may be unloaded.
  char conversion[1024] = "";
  volatile bool isConverting = false;
  int64_t numMessages = 0; // sent and received in it
  /// The messages and bytes that this rank sent in all conversions.
  int64_t messagesSent = 0, bytesSent = 0;
  /// Describes the running send or receive: its kind, the other rank, and the
  /// bytes. Outside of messages, `action` is null.
  const char *volatile action = nullptr;
  volatile int peer = 0, bytes = 0;
};

State state;

constexpr int kSignals[] = {SIGABRT, SIGBUS,  SIGFPE, SIGHUP,
                            SIGILL,  SIGSEGV, SIGTERM};
struct sigaction former[sizeof(kSignals) / sizeof(int)];

} // namespace

/// Writes a line to `text`: the rank, `what` happens to it, `number` unless it
/// is 0, the running or last conversion, and the running message.
/// Async-signal-safe.
static void describe(char *text, size_t size, const char *what, int number) {
  // printf may hold a lock.
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
  // A failed write cannot be reported.
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
  // mpirun ends the other ranks. If several ranks call MPI_Abort, OpenMPI's
  // mpirun sometimes hangs.
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

/// Returns at once after MPI was finalized. At exit status 0, writes the counts
/// of messages if LAYOUT_MPI_COUNTS is set, and finalizes MPI if this library
/// has initialized it. At another status, or during a conversion, ends all
/// ranks.
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
      fail("has LAYOUT_MPI_TIMEOUT=%s, which is not a number of seconds",
           limit);
  }
  struct sigaction action = {};
  action.sa_handler = handleSignal;
  for (size_t i = 0; i < sizeof(kSignals) / sizeof(int); ++i) {
    sigaction(kSignals[i], &action, &former[i]);
    // Keep ignored signals ignored, e.g. SIGHUP under nohup.
    if (former[i].sa_handler == SIG_IGN)
      sigaction(kSignals[i], &former[i], nullptr);
  }
  state.isReady = true;
}

/// Returns the rank, and initializes MPI if that has not been done. `place`
/// describes the part of the program for errors. Ends all ranks if the number
/// of ranks is not `devices`.
extern "C" int64_t layoutMPIRank(const char *place, int64_t devices) {
  strncpy(state.conversion, place, sizeof(state.conversion) - 1);
  state.isConverting = true;
  if (!state.isReady)
    start();
  if (devices != state.size)
    fail("is one of %d processes; mpirun -np %lld starts one for each device "
         "of the mesh,",
         state.size, (long long)devices);
  state.isConverting = false;
  return state.rank;
}

/// Starts a conversion, which `place` describes for errors, and returns the
/// rank. Ends all ranks if their number is not `devices`.
extern "C" int64_t layoutMPIEnter(const char *place, int64_t devices) {
  int64_t rank = layoutMPIRank(place, devices);
  state.isConverting = true;
  state.numMessages = 0;
  return rank;
}

/// Ends a conversion. Ends all ranks if this rank has not sent and received
/// `numMessages` messages by this library.
extern "C" void layoutMPILeave(int64_t numMessages) {
  if (numMessages != state.numMessages)
    fail("has sent or received messages without libLayoutMPIRuntime, which "
         "must be linked before MPI,");
  state.isConverting = false;
}

/// Waits until `request` is done and returns its number of bytes. Ends all
/// ranks if `code` or MPI reports an error, or after `state.limit` seconds
/// unless that is 0.
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
