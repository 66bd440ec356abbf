// Counts the messages that this rank sends and receives through MPI. The rank
// MESH_FAULTY applies MESH_FAULT to its first message.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long long mesh_sent, mesh_received;

static long long bytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return (long long)count * size;
}

static int is(const char *fault) {
  const char *wanted = getenv("MESH_FAULT"), *faulty = getenv("MESH_FAULTY");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return wanted && faulty && atoi(faulty) == rank && !strcmp(wanted, fault);
}

static void mayFail(void) {
  if (is("kill"))
    raise(SIGKILL);
  if (is("crash"))
    raise(SIGSEGV);
  if (is("exit"))
    exit(3);
  if (is("leave"))
    exit(0);
  while (is("hang"))
    sleep(1);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request) {
  mesh_sent += bytes(count, type);
  mayFail();
  if (is("truncate"))
    count /= 2;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag,
              MPI_Comm comm, MPI_Request *request) {
  mesh_received += bytes(count, type);
  mayFail();
  if (is("short"))
    count /= 2;
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}
