/* inject.c - runs a program again and again, each time with another fault, and looks at what it
 * leaves.
 *
 *     inject [-n MOST | -u] [-brt] [-o FILE]... [-i INPUT] [-c CHECKPOINT] PRELOAD PROGRAM
 *         ARGUMENT...
 *     inject -k TIMES [-s SIGNAL] -o FILE PRELOAD PROGRAM ARGUMENT...
 *
 * The program runs in a folder `run` below the one where inject was started, in which there is
 * nothing but an older version of each FILE. It goes well once, to have something to compare with.
 * After that, in each run one call fails: of each kind of fault at most MOST, at places that are
 * spread evenly; 0, or without -n, all there are. With -u, of all calls that the same functions
 * lead to, the first and the last. Whatever happens, the program must end with
 *
 *     0, and then the output is that of the run that went well; or with
 *     3, a sentence on stderr, the beginning of that output on stdout, each FILE as it was before
 *        or as it should be, and nothing beside it, but for the checkpoint of a training: the same
 *        command with --resume then gives the model that it should (-r).
 *
 * With -c a copy of that checkpoint is in the folder, too; when the program fails, there is one.
 * With -b it may end with 1, too, and a sentence: input that cannot be read is a bad document then,
 * which the output lacks or says so of. With -t the file system knows no files without a name.
 *
 * With -k the program, a training, is killed at moments drawn by chance and goes on by --resume,
 * and is killed again, TIMES in all. A checkpoint that is there stays there, whole, until the model
 * is, and the model is always the same. With -s the signal is another one, which the program knows:
 * it ends with 128 + its number and leaves a checkpoint. A file that was killed between getting its
 * temporary name and its own is whole and does no harm; there may be one now and then.
 *
 * Prints what went wrong, then a line of figures; the status is 1 if anything did. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"

enum { MOST_FILES = 4, MOST_SHOWN = 20, SECONDS = 120 };
static const char previous[] = "what was here before\n";

struct bytes {
        char *data; /* NULL: there is none; else with a NUL behind */
        size_t size;
};

/* What a run left. */
struct outcome {
        int status; /* of waitpid */
        bool late;  /* it had to be ended */
        struct bytes out, err, file[MOST_FILES];
        char *other; /* a file that nobody expects, or NULL */
        double seconds;
};

/* What is run. */
static struct {
        char **command;
        char *preload, *input, *counts_file, *checkpoint;
        char *file[MOST_FILES];
        size_t files;
        bool resumes, named, forgiving, unlike;
        volatile struct faults *counts;
} job;

static bool killing;
static unsigned long between_names;
static unsigned long shown, tried, refused, survived, unused;

/* ---- small things --------------------------------------------------------------------------- */

static _Noreturn void die(const char *what)
{
        fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
        exit(2);
}

static double now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct bytes read_fd(int fd)
{
        off_t size = lseek(fd, 0, SEEK_END);
        struct bytes b = {malloc((size_t)size + 1), 0};

        if (size < 0 || b.data == NULL)
                die("reading what was left");
        while (b.size < (size_t)size) {
                ssize_t n = pread(fd, b.data + b.size, (size_t)size - b.size, (off_t)b.size);
                if (n <= 0)
                        die("reading what was left");
                b.size += (size_t)n;
        }
        b.data[b.size] = '\0';
        return b;
}

static struct bytes read_file(const char *path)
{
        int fd = open(path, O_RDONLY);

        if (fd < 0)
                return (struct bytes){NULL, 0};
        struct bytes b = read_fd(fd);
        close(fd);
        return b;
}

static bool same(struct bytes a, struct bytes b)
{
        return (a.data == NULL) == (b.data == NULL) && a.size == b.size &&
               (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool begins(struct bytes whole, struct bytes part)
{
        return part.size <= whole.size && memcmp(whole.data, part.data, part.size) == 0;
}

static bool exists(const char *path)
{
        return access(path, F_OK) == 0;
}

/* ---- the folder ----------------------------------------------------------------------------- */

/* Calls fn for each file in the folder `run`, where we are. */
static void each_file(void (*fn)(const char *name, void *arg), void *arg)
{
        DIR *dir = opendir(".");

        if (dir == NULL)
                die("the folder run");
        for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        fn(e->d_name, arg);
        closedir(dir);
}

static void remove_file(const char *name, void *arg)
{
        (void)arg;
        if (unlink(name) != 0)
                die(name);
}

static void checkpoint_name(char name[256])
{
        snprintf(name, 256, "%s.ckpt", job.files > 0 ? job.file[0] : "");
}

static void put(const char *path, const void *bytes, size_t n)
{
        FILE *f = fopen(path, "w");

        if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
                die(path);
}

static void prepare_checkpoint(void)
{
        struct bytes b = read_file(job.checkpoint);
        char name[256];

        if (b.data == NULL)
                die(job.checkpoint);
        checkpoint_name(name);
        put(name, b.data, b.size);
        free(b.data);
}

static void prepare_folder(void)
{
        each_file(remove_file, NULL);
        for (size_t i = 0; i < job.files; i++)
                put(job.file[i], previous, sizeof previous - 1);
        if (job.checkpoint != NULL)
                prepare_checkpoint();
}

static void note_file(const char *name, void *arg)
{
        struct outcome *o = arg;
        char checkpoint[256];
        bool known = false;

        checkpoint_name(checkpoint);
        for (size_t i = 0; i < job.files; i++)
                known = known || strcmp(name, job.file[i]) == 0;
        if (killing && strstr(name, ".tmp.") != NULL) {
                between_names++;
                unlink(name);
                return;
        }
        if (!known && !(job.resumes && strcmp(name, checkpoint) == 0) && o->other == NULL)
                o->other = strdup(name);
}

/* ---- a run ---------------------------------------------------------------------------------- */

struct fault {
        const char *call;
        int error; /* 0: short */
        bool on;   /* and from then on */
        enum { MAY_END, MUST_GO_ON, MAY_BE_PIPE } effect;
};

static void set_number(const char *name, unsigned long n)
{
        char text[32];

        snprintf(text, sizeof text, "%lu", n);
        setenv(name, text, 1);
}

static _Noreturn void become(const struct fault *f, unsigned long at, int in, int out, int err,
                             bool resume)
{
        size_t n = 0;

        while (job.command[n] != NULL) {
                resume = resume && strcmp(job.command[n], "--resume") != 0;
                n++;
        }
        char **command = calloc(n + 2, sizeof *command);
        memcpy(command, job.command, n * sizeof *command);
        if (resume)
                command[n] = "--resume";
        if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
                _exit(126);
        if (f != NULL) {
                setenv("LD_PRELOAD", job.preload, 1);
                setenv("ASAN_OPTIONS", "allocator_may_return_null=1:verify_asan_link_order=0", 1);
                setenv("FAULTS_COUNTS", job.counts_file, 1);
                setenv("FAULTS_CALL", f->call, 1);
                set_number("FAULTS_AT", at);
                set_number("FAULTS_ERRNO", (unsigned long)f->error);
                set_number("FAULTS_ON", f->on);
                set_number("FAULTS_NAMED", job.named);
                set_number("FAULTS_PLACES", job.unlike && at == 0);
        }
        execvp(command[0], command);
        _exit(127);
}

/* Waits for the child; after so many seconds it gets the signal, and what does not obey is killed
 * in the end. Returns whether it was sent one. */
static bool await(pid_t child, int *status, double seconds, int signal)
{
        double until = now() + seconds, end = now() + SECONDS;
        bool sent = false;

        for (;;) {
                pid_t done = waitpid(child, status, WNOHANG);

                if (done == child)
                        return sent;
                if (!sent && now() > until) {
                        kill(child, signal);
                        sent = true;
                } else if (now() > end) {
                        kill(child, SIGKILL);
                }
                nanosleep(&(struct timespec){0, sent ? 1000000 : 200000}, NULL);
        }
}

static struct outcome run(const struct fault *f, unsigned long at, bool resume, double seconds,
                          int signal)
{
        int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
        int in = open(job.input != NULL ? job.input : "/dev/null", O_RDONLY | O_CLOEXEC);
        struct outcome o = {0};
        double started = now();

        if (out < 0 || err < 0 || in < 0)
                die("files for a run");
        memset((void *)job.counts, 0, sizeof *job.counts);
        pid_t child = fork();
        if (child < 0)
                die("fork");
        if (child == 0)
                become(f, at, in, out, err, resume);
        bool sent = await(child, &o.status, seconds, signal);
        o.seconds = now() - started;
        o.late = sent && seconds == SECONDS;
        o.out = read_fd(out);
        o.err = read_fd(err);
        close(in);
        close(out);
        close(err);
        for (size_t i = 0; i < job.files; i++)
                o.file[i] = read_file(job.file[i]);
        each_file(note_file, &o);
        return o;
}

static void release(struct outcome *o)
{
        free(o->out.data);
        free(o->err.data);
        for (size_t i = 0; i < job.files; i++)
                free(o->file[i].data);
        free(o->other);
}

/* ---- judging -------------------------------------------------------------------------------- */

/* Whether all is as after the run that went well. */
static const char *complete(const struct outcome *o, const struct outcome *good)
{
        if (!same(o->out, good->out))
                return "status 0, but another output";
        for (size_t i = 0; i < job.files; i++)
                if (!same(o->file[i], good->file[i]))
                        return "status 0, but another output file";
        return o->other != NULL ? "status 0, but a file is left" : NULL;
}

/* name: of the program, as it says itself. */
static bool says(const struct outcome *o)
{
        const char *slash = strrchr(job.command[0], '/'), *at = o->err.data;
        const char *name = slash != NULL ? slash + 1 : job.command[0];
        size_t n = strlen(name);

        for (; at != NULL && *at != '\0'; at = strchr(at, '\n'), at += at != NULL) {
                if (strncmp(at, name, n) == 0 && at[n] == ':' && at[n + 1] == ' ' &&
                    strchr(at, '\n') > at + n + 2)
                        return true;
        }
        return false;
}

/* What was there before, or all that should be. */
static const char *nothing_lost(const struct outcome *o, const struct outcome *good)
{
        const struct bytes before = {(char *)previous, sizeof previous - 1};

        if (!begins(good->out, o->out))
                return "what it wrote is not the beginning of the output";
        for (size_t i = 0; i < job.files; i++)
                if (!same(o->file[i], before) && !same(o->file[i], good->file[i]))
                        return "an output file is neither as it was nor as it should be";
        return o->other != NULL ? "a file is left" : NULL;
}

static const char *judge(const struct fault *f, const struct outcome *o, const struct outcome *good)
{
        int status = WIFEXITED(o->status) ? WEXITSTATUS(o->status) : -1;

        if (o->late)
                return "it hangs";
        if (WIFSIGNALED(o->status) && !(f->effect == MAY_BE_PIPE && WTERMSIG(o->status) == SIGPIPE))
                return "it ended by a signal";
        if (status == 0)
                return complete(o, good);
        if (status == 1 && job.forgiving)
                return !says(o)           ? "it does not say what and where"
                       : o->other != NULL ? "a file is left"
                                          : NULL;
        if (status != 3 && status != -1)
                return "a status that says something else";
        if (f->effect == MUST_GO_ON)
                return "that is no reason to end";
        if (status == 3 && !says(o))
                return "it does not say what and where";
        return nothing_lost(o, good);
}

static void show(const char *what, const char *how, const struct outcome *o)
{
        if (shown++ >= MOST_SHOWN)
                return;
        printf("WRONG: %s\n  ", what);
        for (char **word = job.command; *word != NULL; word++)
                printf(" %s", *word);
        printf("\n   %s: status %d, signal %d%s%s\n", how,
               WIFEXITED(o->status) ? WEXITSTATUS(o->status) : 0,
               WIFSIGNALED(o->status) ? WTERMSIG(o->status) : 0, o->other != NULL ? ", left " : "",
               o->other != NULL ? o->other : "");
        for (const char *s = o->err.data; *s != '\0';) {
                int n = (int)strcspn(s, "\n");

                printf("     %.*s\n", n, s);
                s += n + (s[n] == '\n');
        }
}

/* ---- faults --------------------------------------------------------------------------------- */

static const struct fault faults[] = {
        {"memory", ENOMEM, false, MAY_END},
        {"memory", ENOMEM, true, MAY_END},
        {"read", EIO, false, MAY_END},
        {"read", EINTR, false, MUST_GO_ON},
        {"read", 0, true, MUST_GO_ON},
        {"pread", EIO, false, MAY_END},
        {"pread", EINTR, false, MUST_GO_ON},
        {"pread", 0, true, MUST_GO_ON},
        {"write", ENOSPC, false, MAY_END},
        {"write", EIO, true, MAY_END},
        {"write", EPIPE, false, MAY_BE_PIPE},
        {"write", EINTR, false, MUST_GO_ON},
        {"write", 0, true, MUST_GO_ON},
        {"open", EMFILE, false, MAY_END},
        {"open", EACCES, true, MAY_END},
        {"fopen", EMFILE, false, MAY_END},
        {"close", EIO, false, MAY_END},
        {"rename", EIO, false, MAY_END},
        {"linkat", EACCES, true, MUST_GO_ON},
        {"fsync", EIO, false, MAY_END},
        {"fstat", EIO, false, MAY_END},
        {"fchmod", EPERM, false, MAY_END},
        {"mmap", ENOMEM, false, MAY_END},
        {"ftruncate", EIO, false, MAY_END},
        {"posix_fallocate", ENOSPC, false, MAY_END},
        {"mkostemp", EACCES, false, MAY_END},
        {"pthread_create", EAGAIN, false, MAY_END},
        {"pthread_create", EAGAIN, true, MAY_END},
};

static enum faults_call call_of(const char *name)
{
        static const char *const names[] = {
#define X(call) #call,
                FAULTS_CALLS(X)
#undef X
                        "memory"};

        for (size_t i = 0; i < FAULTS_COUNTED; i++)
                if (strcmp(names[i], name) == 0)
                        return (enum faults_call)i;
        die(name);
}

/* What a training that failed has left is gone on with. */
static const char *resume(const struct outcome *failed, const struct outcome *good)
{
        char checkpoint[256];
        const char *wrong = NULL;

        checkpoint_name(checkpoint);
        if (!job.resumes || !exists(checkpoint))
                return job.checkpoint != NULL && !same(failed->file[0], good->file[0])
                               ? "the checkpoint is gone"
                               : NULL;
        struct outcome o = run(NULL, 0, true, SECONDS, SIGKILL);
        if (!WIFEXITED(o.status) || WEXITSTATUS(o.status) != 0 || complete(&o, good) != NULL)
                wrong = "the checkpoint does not lead to the same model";
        if (wrong != NULL)
                show(wrong, "resumed", &o);
        release(&o);
        return wrong;
}

static void try(const struct fault *f, unsigned long at, const struct outcome *good)
{
        char how[200];

        prepare_folder();
        struct outcome o = run(f, at, false, SECONDS, SIGKILL);
        const char *wrong = judge(f, &o, good);
        snprintf(how, sizeof how, "FAULTS_CALL=%s FAULTS_AT=%lu FAULTS_ERRNO=%d FAULTS_ON=%d",
                 f->call, at, f->error, f->on);
        tried++;
        if (job.counts->done == 0)
                unused++;
        else if (o.status == 0)
                survived++;
        else
                refused++;
        if (wrong == NULL && o.status != 0)
                wrong = resume(&o, good);
        if (wrong != NULL)
                show(wrong, how, &o);
        release(&o);
}

/* Which of the calls there are fail: written to `at`, which has room for all; returns how many. */
static unsigned long choose(unsigned long *at, unsigned long most, enum faults_call call,
                            const struct faults *counts)
{
        unsigned long all = counts->count[call], n = most > 0 && all > most ? most : all;

        if (!job.unlike) {
                for (unsigned long k = 0; k < n; k++)
                        at[k] = 1 + (n > 1 ? k * (all - 1) / (n - 1) : 0);
                return n;
        }
        n = 0;
        for (unsigned long i = 0; i < counts->places; i++) {
                const struct faults_place *p = &counts->place[i];

                if (p->call != call)
                        continue;
                at[n++] = p->first;
                if (p->last != p->first)
                        at[n++] = p->last;
        }
        return n;
}

static struct outcome run_well(struct faults *counts)
{
        const struct fault none = {"", 0, false, MUST_GO_ON};

        prepare_folder();
        struct outcome good = run(&none, 0, false, SECONDS, SIGKILL);
        *counts = *(struct faults *)job.counts;
        if (good.status != 0 || good.other != NULL) {
                show("it does not run, or leaves a file", "without a fault", &good);
                exit(1);
        }
        if (counts->places == FAULTS_PLACES)
                die("more places than there is room for");
        return good;
}

static void try_all(unsigned long most)
{
        static struct faults counts;
        struct outcome good = run_well(&counts);

        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
                enum faults_call call = call_of(faults[i].call);
                unsigned long *at = calloc(counts.count[call] + 1, sizeof *at);
                unsigned long n = choose(at, most, call, &counts);

                for (unsigned long k = 0; k < n; k++)
                        try(&faults[i], at[k], &good);
                free(at);
        }
        release(&good);
        printf("%lu faults tried: %lu refused, %lu survived, %lu not met; %lu wrong\n", tried,
               refused, survived, unused, shown);
}

/* ---- kills ---------------------------------------------------------------------------------- */

/* A run that is killed, or ends before that. had: whether there was a checkpoint. */
static const char *judge_killed(const struct outcome *o, const struct outcome *good, int signal,
                                bool had)
{
        char checkpoint[256];
        bool ended = WIFEXITED(o->status) && WEXITSTATUS(o->status) == 0;

        checkpoint_name(checkpoint);
        if (o->late)
                return "it hangs";
        if (ended)
                return exists(checkpoint) ? "a checkpoint is left" : complete(o, good);
        if (signal == SIGKILL ? !WIFSIGNALED(o->status)
                              : !(WIFEXITED(o->status) && WEXITSTATUS(o->status) == 128 + signal) &&
                                        !(WIFSIGNALED(o->status) && WTERMSIG(o->status) == signal))
                return "a status that says something else";
        if (had && !exists(checkpoint) && !same(o->file[0], good->file[0]))
                return "the checkpoint is gone, and there is no model";
        return nothing_lost(o, good);
}

/* One more run, with or without an end; returns whether it ended by itself. */
static bool run_on(const struct outcome *good, double seconds, int signal)
{
        char checkpoint[256];

        checkpoint_name(checkpoint);
        bool had = exists(checkpoint);
        struct outcome o = run(NULL, 0, true, seconds, signal);
        const char *wrong = judge_killed(&o, good, signal, had);
        if (wrong == NULL && between_names > 1 + tried / 10)
                wrong = "too many files with a temporary name are left";
        if (wrong != NULL)
                show(wrong, had ? "resumed and killed" : "killed", &o);
        refused += o.status != 0 && exists(checkpoint);
        release(&o);
        return o.status == 0;
}

static void kill_again_and_again(unsigned long times, int signal)
{
        static struct faults counts;
        struct outcome good = run_well(&counts);
        double most = good.seconds;
        unsigned long ends = 0;

        killing = signal == SIGKILL;
        srandom((unsigned)time(NULL));
        prepare_folder();
        while (tried < times && shown == 0)
                if (run_on(&good, most * (double)random() / RAND_MAX, signal)) {
                        ends++;
                        most *= 0.8; /* the machine is less busy than it was */
                        prepare_folder();
                } else {
                        tried++;
                        most *= 1.1;
                }
        if (shown == 0 && !run_on(&good, SECONDS, SIGKILL))
                shown++;
        release(&good);
        printf("%lu times ended by signal %d, %lu times with a checkpoint left; %lu times gone on "
               "to the end, with the same model; %lu wrong\n",
               tried, signal, refused, ends + 1, shown);
}

/* ---- command line --------------------------------------------------------------------------- */

static void share_counts(void)
{
        char path[64];
        int fd = memfd_create("counts", 0);

        if (fd < 0 || ftruncate(fd, sizeof *job.counts) != 0)
                die("counts");
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), fd);
        job.counts_file = strdup(path);
        job.counts = mmap(NULL, sizeof *job.counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (job.counts == MAP_FAILED)
                die("counts");
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int main(int argc, char **argv)
{
        unsigned long most = 0, kills = 0;
        int option, signal = SIGKILL;

        while ((option = getopt(argc, argv, "+n:ubrto:i:c:k:s:")) != -1)
                switch (option) {
                case 'n':
                        most = strtoul(optarg, NULL, 10);
                        break;
                case 'u':
                        job.unlike = true;
                        break;
                case 'b':
                        job.forgiving = true;
                        break;
                case 'r':
                        job.resumes = true;
                        break;
                case 't':
                        job.named = true;
                        break;
                case 'o':
                        if (job.files < MOST_FILES)
                                job.file[job.files++] = optarg;
                        break;
                case 'i':
                        job.input = optarg;
                        break;
                case 'c':
                        job.checkpoint = optarg;
                        job.resumes = true;
                        break;
                case 'k':
                        kills = strtoul(optarg, NULL, 10);
                        job.resumes = true;
                        break;
                case 's':
                        signal = (int)strtoul(optarg, NULL, 10);
                        break;
                default:
                        return 2;
                }
        if (argc - optind < 2) {
                fputs("inject [-n MOST | -u] [-brt] [-o FILE]... [-i INPUT] [-c CHECKPOINT] "
                      "[-k TIMES [-s SIGNAL]] PRELOAD PROGRAM ARGUMENT...\n",
                      stderr);
                return 2;
        }
        job.preload = argv[optind];
        job.command = argv + optind + 1;
        if ((mkdir("run", 0777) != 0 && errno != EEXIST) || chdir("run") != 0)
                die("run");
        share_counts();
        setvbuf(stdout, NULL, _IOLBF, 0);
        if (kills > 0)
                kill_again_and_again(kills, signal);
        else
                try_all(most);
        return shown > 0;
}
