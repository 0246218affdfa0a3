/* mpi.c - ranks that mpirun started, or the error for them in a build without MPI.
 *
 * MPI is used only if a launcher's variables are in the environment: a single process behaves the
 * same with and without it. Waiting polls and sleeps, because ranks often run on the same
 * processor; it sleeps a sixteenth of the time waited so far, at most a millisecond. Only the
 * training thread calls MPI.
 */
#include "ranks/ranks.h"

#include <stdlib.h>

#ifdef RAN_MPI

#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* Variables of Open MPI, of MPICH and its relatives, and of PMIx launchers. */
static bool was_launched(void)
{
        static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK",
                                            "PMIX_RANK"};

        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
                if (getenv(marks[i]) != NULL)
                        return true;
        return false;
}

static int failed(int code, const char *what, struct ran_error *err)
{
        char text[MPI_MAX_ERROR_STRING] = "";
        int n = 0;

        MPI_Error_string(code, text, &n);
        return ran_fail(err, RAN_EIO, "ranks cannot %s: %s", what, text);
}

/* Sleeps longer the longer it has waited. */
static void rest(double waited)
{
        const double spin = 50e-6, longest = 1e-3;
        double seconds = waited / 16 < longest ? waited / 16 : longest;

        if (waited < spin)
                sched_yield();
        else
                nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

/* A launcher that ends all ranks because one died sends SIGTERM first and kills a second later. */
static const double patience = 0.3;

static int finish(struct ran_ranks *r, MPI_Request *request, const char *what,
                  struct ran_error *err)
{
        double began = ran_clock(), asked = 0;

        for (;;) {
                int done = 0, code = MPI_Test(request, &done, MPI_STATUS_IGNORE);

                if (code != MPI_SUCCESS)
                        return failed(code, what, err);
                if (done)
                        return RAN_OK;
                double time = ran_clock();
                if (r->interruptible && r->rank == 0 && r->stopped != NULL && r->stopped() != 0) {
                        asked = asked > 0 ? asked : time;
                        if (time - asked > patience)
                                return ran_fail(err, RAN_EINTR,
                                                "stopped while waiting for other ranks");
                }
                rest(time - began);
        }
}

/* What a rank does, as sentences say it. */
static const char send_it[] = "send", receive_it[] = "receive", broadcast_it[] = "broadcast";

/* Of n bytes, in messages: MPI counts in int. */
static int transfer(struct ran_ranks *r, const char *what, int peer, char *at, size_t n,
                    struct ran_error *err)
{
        enum { MESSAGE = 1 << 28, TAG = 1 };

        for (int part; n > 0; n -= (size_t)part, at += part) {
                MPI_Request request;

                part = n < MESSAGE ? (int)n : MESSAGE;
                const int code =
                        what == send_it
                                ? MPI_Isend(at, part, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request)
                        : what == receive_it
                                ? MPI_Irecv(at, part, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request)
                                : MPI_Ibcast(at, part, MPI_BYTE, peer, MPI_COMM_WORLD, &request);
                if (code != MPI_SUCCESS)
                        return failed(code, what, err);
                RAN_TRY(finish(r, &request, what, err));
        }
        return RAN_OK;
}

static int send(struct ran_ranks *r, size_t to, const void *bytes, size_t n, struct ran_error *err)
{
        return transfer(r, send_it, (int)to, (char *)bytes, n, err);
}

static int receive(struct ran_ranks *r, size_t from, void *bytes, size_t n, struct ran_error *err)
{
        return transfer(r, receive_it, (int)from, bytes, n, err);
}

static int broadcast(struct ran_ranks *r, void *bytes, size_t n, struct ran_error *err)
{
        return transfer(r, broadcast_it, 0, bytes, n, err);
}

static void close_ranks(struct ran_ranks *r, int status)
{
        bool broken = r->broken;

        free(r);
        if (broken)
                MPI_Abort(MPI_COMM_WORLD, status != 0 ? status : 1);
        MPI_Finalize();
}

static const struct ran_links links = {send, receive, broadcast, close_ranks};

int ran_ranks_open(struct ran_ranks **ranks, int (*stopped)(void), struct ran_error *err)
{
        int rank = 0, n = 1, threads;

        err = ran_error_or_spare(err);
        *ranks = NULL;
        if (!was_launched())
                return RAN_OK;
        if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &threads) != MPI_SUCCESS)
                return ran_fail(err, RAN_EIO, "MPI does not start");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &n);
        struct ran_ranks *r = ran_new(1, sizeof *r);
        *r = (struct ran_ranks){
                .links = &links, .rank = (size_t)rank, .n = (size_t)n, .stopped = stopped};
        if (ran_ranks_handshake(r, err) == RAN_OK) {
                *ranks = r;
                return RAN_OK;
        }
        if (rank > 0)
                err->text[0] = '\0';
        close_ranks(r, 3);
        return err->code;
}

#else

/* The number of ranks and this rank's number, from the launcher's variables. */
static size_t number(const char *open_mpi, const char *pmi)
{
        const char *text = getenv(open_mpi) != NULL ? getenv(open_mpi) : getenv(pmi);

        return text != NULL ? strtoul(text, NULL, 10) : 0;
}

int ran_ranks_open(struct ran_ranks **ranks, int (*stopped)(void), struct ran_error *err)
{
        size_t n = number("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");

        (void)stopped;
        err = ran_error_or_spare(err);
        *ranks = NULL;
        if (n <= 1)
                return RAN_OK;
        ran_fail(err, RAN_EINVAL,
                 "this is one of %zu processes that mpirun started, but the program was built "
                 "without MPI: each would train the whole model (make MPI=1 builds one that shares "
                 "the work)",
                 n);
        if (number("OMPI_COMM_WORLD_RANK", "PMI_RANK") > 0)
                err->text[0] = '\0';
        return RAN_EINVAL;
}

#endif
