/* The live line of programs that read files. */
#include "cmd/records/run.h"
#include "test.h"

#include <string.h>

static const char *line_of(double share, double seconds, size_t records)
{
        static struct ran_buf out;

        out.len = 0;
        progress_line(&out, share, seconds, records);
        ran_buf_char(&out, '\0');
        return out.data;
}

TEST(the_line_says_what_is_done_and_left)
{
        CHECK_STR(line_of(0.5, 10, 1200),
                  "[######      ]  50 %  1200 records, 120/s, 0:00:10 left");
        CHECK_STR(line_of(1, 100, 7), "[############] 100 %  7 records, 0/s, 0:00:00 left");
        CHECK_STR(line_of(0, 0, 0), "[            ]   0 %  0 records, 0/s");
}

TEST(the_line_fits_the_terminal)
{
        CHECK(strlen(line_of(1e-9, 1e9, 99999999)) + strlen("ran-classify: ") < 80);
        CHECK(strlen(line_of(0.3333333, 123, 99999999)) + strlen("ran-classify: ") <= 80);
}
