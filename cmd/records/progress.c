/* progress.c - a live line on the terminal while files are read. */
#include "cmd/records/run.h"

#include <unistd.h>

#include "cmd/options/options.h"
#include "cmd/options/message.h"

/* A run that ends within the first is not worth a line. */
static const double first_seconds = 1, seconds = 0.2;

void progress_begin(struct progress *p, const struct files *files, bool results)
{
        uint64_t size;

        *p = (struct progress){.begin = ran_clock()};
        p->next = p->begin + first_seconds;
        p->on = !cmd_common.quiet && cmd_can_redraw() && !(results && isatty(STDOUT_FILENO));
        for (size_t i = 0; p->on && i < files->n; i++) {
                p->on = shard_size(files->name[i], &size);
                p->total += (double)size;
        }
        p->on = p->on && p->total > 0;
}

void progress_line(struct ran_buf *out, double share, double elapsed, size_t records)
{
        enum { BAR = 12 };
        const double left = share > 0 ? elapsed / share - elapsed : 0;
        const size_t s = left < 360000 ? (size_t)(left + 0.5) : 360000;
        size_t filled = (size_t)(share * BAR);

        ran_buf_char(out, '[');
        for (size_t i = 0; i < BAR; i++)
                ran_buf_char(out, i < filled ? '#' : ' ');
        ran_buf_printf(out, "] %3.0f %%  %zu records, %.0f/s", 100 * share, records,
                       elapsed > 0 ? (double)records / elapsed : 0);
        if (share > 0)
                ran_buf_printf(out, ", %zu:%02zu:%02zu left", s / 3600, s / 60 % 60, s % 60);
}

void progress_tell(struct progress *p, const struct lines *lines, uint64_t before, size_t records)
{
        const double now = p->on ? ran_clock() : 0;
        struct ran_buf line = {0};

        if (!p->on || now < p->next)
                return;
        p->next = now + seconds;
        /* A packed file counts, too, by its bytes before they are unpacked. */
        const off_t at = lines->fd >= 0 ? lseek(lines->fd, 0, SEEK_CUR) : (off_t)lines->offset;
        const double share = ((double)before + (double)(at > 0 ? at : 0)) / p->total;

        progress_line(&line, share < 1 ? share : 1, now - p->begin, records);
        ran_buf_char(&line, '\0');
        cmd_live(line.data);
        ran_buf_release(&line);
}
