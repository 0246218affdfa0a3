/* Whole files in, and files out that nobody sees half of. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ran.h"
#include "test.h"

static void put(const char *path, const char *text)
{
        FILE *f = fopen(path, "w");

        if (CHECK(f != NULL)) {
                fputs(text, f);
                fclose(f);
        }
}

static void check_content(const char *path, const char *want)
{
        struct ran_error err = {0};
        struct ran_bytes b;

        if (CHECK_OK(ran_bytes_open(&b, path, &err), err)) {
                CHECK(b.size == strlen(want) && memcmp(b.data, want, b.size) == 0);
                ran_bytes_release(&b);
        }
}

/* No temporary file is left beside it. */
static void check_alone(const char *path)
{
        char *folder = strdup(path), *slash = strrchr(folder, '/');
        size_t n = 0;

        *slash = '\0';
        DIR *dir = opendir(folder);
        for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
                n += strncmp(e->d_name, slash + 1, strlen(slash + 1)) == 0;
        closedir(dir);
        free(folder);
        CHECK(n <= 1);
}

TEST(bytes_of_a_file)
{
        char *path = test_path("bytes");
        struct ran_bytes b;

        put(path, "some bytes");
        check_content(path, "some bytes");
        put(path, "");
        check_content(path, "");
        REQUIRE(ran_bytes_open(&b, path, NULL) == RAN_OK);
        ran_bytes_release(&b);
        ran_bytes_release(&b);
        free(path);
}

static void *feed(void *path)
{
        char block[1000];
        FILE *f = fopen(path, "w");

        memset(block, 'x', sizeof(block));
        for (int i = 0; f != NULL && i < 300; i++)
                fwrite(block, 1, sizeof(block), f);
        if (f != NULL)
                fclose(f);
        return NULL;
}

TEST(bytes_of_a_pipe)
{
        char *path = test_path("fifo");
        struct ran_error err = {0};
        struct ran_bytes b;
        pthread_t feeder;

        REQUIRE(mkfifo(path, 0600) == 0);
        REQUIRE(pthread_create(&feeder, NULL, feed, path) == 0);
        if (CHECK_OK(ran_bytes_open(&b, path, &err), err)) {
                CHECK_SIZE(b.size, 300000);
                CHECK(!b.mapped && b.data[0] == 'x' && b.data[b.size - 1] == 'x');
                ran_bytes_release(&b);
        }
        pthread_join(feeder, NULL);
        free(path);
}

TEST(bytes_of_a_file_without_a_size)
{
        struct ran_bytes b;

        REQUIRE(ran_bytes_open(&b, "/proc/self/status", NULL) == RAN_OK);
        CHECK(b.size > 0);
        ran_bytes_release(&b);
}

TEST(bytes_open_says_why_not)
{
        struct ran_error err = {0};
        struct ran_bytes b;

        CHECK(ran_bytes_open(&b, "/nowhere/at-all", &err) == RAN_EIO);
        CHECK_STR(err.text, "cannot open /nowhere/at-all: No such file or directory");
        CHECK(ran_bytes_open(&b, "/", &err) == RAN_EIO);
        CHECK_STR(err.text, "cannot read /: Is a directory");
        CHECK(b.data == NULL);
}

TEST(writer_replaces_at_commit_only)
{
        char *path = test_path("replaced");
        struct ran_error err = {0};

        put(path, "old");
        struct ran_writer *w = ran_writer_open(path, &err);
        REQUIRE(w != NULL);
        ran_writer_write(w, "ne", 2);
        ran_writer_write(w, NULL, 0);
        ran_writer_write(w, "w!", 2);
        check_content(path, "old");
        CHECK_OK(ran_writer_commit(w, &err), err);
        check_content(path, "new!");
        check_alone(path);
        free(path);
}

TEST(writer_abort_leaves_nothing)
{
        char *old = test_path("kept"), *fresh = test_path("never");
        struct ran_writer *w;

        put(old, "old");
        w = ran_writer_open(old, NULL);
        REQUIRE(w != NULL);
        ran_writer_write(w, "new", 3);
        ran_writer_abort(w);
        check_content(old, "old");
        check_alone(old);

        w = ran_writer_open(fresh, NULL);
        REQUIRE(w != NULL);
        ran_writer_abort(w);
        CHECK(access(fresh, F_OK) != 0);
        check_alone(fresh);
        ran_writer_abort(NULL);
        free(old);
        free(fresh);
}

TEST(writer_large_and_small_writes)
{
        enum { N = 300000 };
        char *path = test_path("pieces"), *bytes = malloc(N);
        struct ran_writer *w = ran_writer_open(path, NULL);
        struct ran_bytes b;
        size_t at = 0;

        REQUIRE(w != NULL && bytes != NULL);
        for (size_t i = 0; i < N; i++)
                bytes[i] = (char)ran_random_draw(1, i);
        for (size_t step = 1; at < N; step = step * 7 % 199999) {
                size_t n = N - at < step ? N - at : step;

                ran_writer_write(w, bytes + at, n);
                at += n;
        }
        CHECK(ran_writer_commit(w, NULL) == RAN_OK);
        REQUIRE(ran_bytes_open(&b, path, NULL) == RAN_OK);
        CHECK(b.size == N && memcmp(b.data, bytes, N) == 0);
        ran_bytes_release(&b);
        free(bytes);
        free(path);
}

static mode_t mode_of(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 ? st.st_mode & 0777 : 0;
}

TEST(writer_permissions)
{
        char *path = test_path("mode");
        mode_t before = umask(027);
        struct ran_writer *w = ran_writer_open(path, NULL);

        REQUIRE(w != NULL && ran_writer_commit(w, NULL) == RAN_OK);
        CHECK(mode_of(path) == 0640);
        chmod(path, 0604);
        w = ran_writer_open(path, NULL);
        REQUIRE(w != NULL && ran_writer_commit(w, NULL) == RAN_OK);
        CHECK(mode_of(path) == 0604);
        umask(before);
        free(path);
}

TEST(writer_keeps_a_symbolic_link)
{
        char *file = test_path("target"), *link = test_path("link");
        struct stat st;

        put(file, "old");
        REQUIRE(symlink("target", link) == 0);
        struct ran_writer *w = ran_writer_open(link, NULL);
        REQUIRE(w != NULL);
        ran_writer_write(w, "new", 3);
        CHECK(ran_writer_commit(w, NULL) == RAN_OK);
        CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
        check_content(file, "new");
        free(file);
        free(link);
}

TEST(writer_makes_the_file_that_a_symbolic_link_is_waiting_for)
{
        char *folder = test_path("later"), *file = test_path("later/file");
        char *link = test_path("waiting"), *first = test_path("first");
        struct ran_error err = {0};
        struct stat st;

        REQUIRE(symlink("later/file", link) == 0 && symlink(link, first) == 0);
        CHECK(ran_writer_open(first, &err) == NULL); /* not in the end, when the work is done */
        CHECK(err.code == RAN_EIO);
        REQUIRE(mkdir(folder, 0777) == 0);
        struct ran_writer *w = ran_writer_open(first, NULL);
        REQUIRE(w != NULL);
        ran_writer_write(w, "new", 3);
        CHECK(ran_writer_commit(w, NULL) == RAN_OK);
        CHECK(lstat(first, &st) == 0 && S_ISLNK(st.st_mode));
        CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
        check_content(file, "new");
        check_alone(file);
        free(folder);
        free(file);
        free(link);
        free(first);
}

TEST(writer_in_the_current_folder)
{
        char *path = test_path("relative"), *slash = strrchr(path, '/');
        int before = open(".", O_RDONLY | O_DIRECTORY);

        *slash = '\0';
        REQUIRE(before >= 0 && chdir(path) == 0);
        struct ran_writer *w = ran_writer_open("relative", NULL);
        CHECK(w != NULL && ran_writer_commit(w, NULL) == RAN_OK);
        CHECK(access("relative", F_OK) == 0);
        CHECK(fchdir(before) == 0);
        close(before);
        free(path);
}

TEST(writer_removes_what_a_killed_process_left)
{
        char *path = test_path("again"), temp[4200];

        snprintf(temp, sizeof(temp), "%s.tmp.%ld", path, (long)getpid());
        put(temp, "half");
        struct ran_writer *w = ran_writer_open(path, NULL);
        REQUIRE(w != NULL);
        ran_writer_write(w, "x", 1);
        CHECK(ran_writer_commit(w, NULL) == RAN_OK);
        check_content(path, "x");
        check_alone(path);
        free(path);
}

/* Of another process, on a file system that knows no files without a name, or between the two
 * names. One that is still written is locked. */
TEST(writer_removes_what_others_left_and_nothing_else)
{
        static const struct {
                const char *end;
                bool stays;
        } files[] = {{".tmp.1", false}, {".tmp.4194305", false}, {".tmp.77", true},
                     {".tmp.", true},   {".tmp.12a", true},      {".tmpx1", true},
                     {"s.tmp.12", true}};
        enum { FILES = sizeof files / sizeof *files, LOCKED = 2 };
        char *path = test_path("left"), name[FILES][4200];

        for (size_t i = 0; i < FILES; i++) {
                snprintf(name[i], sizeof name[i], "%s%s", path, files[i].end);
                put(name[i], "half");
        }
        int fd = open(name[LOCKED], O_WRONLY);
        REQUIRE(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
        struct ran_writer *w = ran_writer_open(path, NULL);
        REQUIRE(w != NULL && ran_writer_commit(w, NULL) == RAN_OK);
        for (size_t i = 0; i < FILES; i++) {
                if (!CHECK((access(name[i], F_OK) == 0) == files[i].stays))
                        printf("%s\n", files[i].end);
                unlink(name[i]);
        }
        close(fd);
        free(path);
}

TEST(bytes_of_more_than_a_limit_are_refused)
{
        char *path = test_path("limited"), want[4300];
        struct ran_error err = {0};
        struct ran_bytes b;

        put(path, "12345");
        CHECK_OK(ran_bytes_open_within(&b, path, 5, &err), err);
        ran_bytes_release(&b);
        CHECK(ran_bytes_open_within(&b, path, 4, &err) == RAN_EFORMAT);
        snprintf(want, sizeof want, "%s has more than 4 bytes, too many for such a file", path);
        CHECK_STR(err.text, want);
        CHECK(ran_bytes_open_within(&b, "/dev/zero", 4, &err) == RAN_EFORMAT);
        CHECK(ran_bytes_open(&b, "/dev/zero", &err) == RAN_EFORMAT);
        CHECK(ran_folder_open(&b, "/dev", "", "zero", SIZE_MAX, NULL, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, "zero is not a regular file");
        unlink(path);
        REQUIRE(mkfifo(path, 0600) == 0);
        CHECK(ran_folder_open(&b, "", "", path, SIZE_MAX, NULL, &err) == RAN_EFORMAT);
        unlink(path);
        free(path);
}

TEST(writer_goes_in_place_into_what_is_no_file)
{
        struct ran_error err = {0};
        struct ran_writer *w = ran_writer_open("/dev/null", &err);
        struct stat st;

        REQUIRE(w != NULL);
        ran_writer_write(w, "x", 1);
        CHECK_OK(ran_writer_commit(w, &err), err);
        CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

TEST(writer_reports_a_full_disk)
{
        static const char block[100000];
        struct ran_error err = {0};
        struct ran_writer *w = ran_writer_open("/dev/full", &err);

        REQUIRE(w != NULL);
        ran_writer_write(w, "x", 1);
        ran_writer_write(w, block, sizeof(block));
        ran_writer_write(w, "x", 1);
        CHECK(ran_writer_commit(w, &err) == RAN_EIO);
        CHECK_STR(err.text, "cannot write /dev/full: No space left on device");
}

TEST(writer_open_says_why_not)
{
        struct ran_error err = {0};

        CHECK(ran_writer_open("/nowhere/at-all", &err) == NULL);
        CHECK(err.code == RAN_EIO);
        CHECK_STR(err.text, "cannot write /nowhere/at-all: No such file or directory");
        CHECK(ran_writer_open("/", &err) == NULL);
        CHECK_STR(err.text, "cannot write /: Is a directory");
}

/* As of a variable that is not set. A night's work could be written, and get no name in the end. */
TEST(writer_open_refuses_an_empty_name)
{
        struct ran_error err = {0};

        CHECK(ran_writer_open("", &err) == NULL);
        CHECK_STR(err.text, "cannot write : No such file or directory");
}

/* Or a night's work is lost when it is to get its name in the end. */
TEST(writer_open_refuses_a_name_that_leaves_no_room_for_the_temporary_one)
{
        char name[251];
        struct ran_error err = {0};

        memset(name, 'x', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        char *path = test_path(name);
        CHECK(ran_writer_open(path, &err) == NULL);
        CHECK(err.code == RAN_EIO);
        CHECK(strstr(err.text, strerror(ENAMETOOLONG)) != NULL);
        free(path);
}
