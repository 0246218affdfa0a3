/* named.c - members that options name, and how many records have them. */
#include "cmd/records/run.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

void named_release(struct named *d)
{
        for (size_t i = 0; i < d->n; i++)
                free(d->member[i].name);
        ran_buf_release(&d->first);
        *d = (struct named){0};
}

void named_add(struct named *d, const char *option, const char *name, size_t n,
               enum named_if absent)
{
        if (n == 0 || d->n == NAMED_MOST)
                return;
        for (size_t i = 0; i < d->n; i++)
                if (d->member[i].option == option && d->member[i].n == n &&
                    memcmp(d->member[i].name, name, n) == 0)
                        return;
        d->member[d->n++] = (struct named_member){
                .option = option, .name = ran_copy(name, n), .n = n, .absent = absent};
}

void named_note_first(struct named *d, const struct ran_record *record)
{
        const size_t most = 200;

        for (size_t i = 0; d->records == 0 && i < record->count && d->first.len < most; i++) {
                const struct ran_member *m = &record->members[i];
                const size_t n = m->name.end - m->name.begin;

                ran_buf_str(&d->first, i > 0 ? ", \"" : "\"");
                ran_buf_shown(&d->first, n > 0 ? record->names.data + m->name.begin : "",
                              n < most ? n : most);
                ran_buf_char(&d->first, '"');
        }
}

uint64_t named_in(const struct named *d, const struct ran_record *record)
{
        uint64_t has = 0;

        for (size_t i = 0; i < record->count && d->n > 0; i++) {
                const struct ran_member *m = &record->members[i];
                const size_t n = m->name.end - m->name.begin;

                for (size_t k = 0; k < d->n && n > 0; k++)
                        if (d->member[k].n == n &&
                            memcmp(record->names.data + m->name.begin, d->member[k].name, n) == 0)
                                has |= UINT64_C(1) << k;
        }
        return has;
}

void named_count(struct named *d, uint64_t has)
{
        d->records++;
        for (size_t k = 0; k < d->n; k++)
                d->member[k].records += has >> k & 1;
}

void named_report(const struct named *d, bool part)
{
        struct ran_buf out = {0};

        for (size_t i = 0; i < d->n && d->records > 0; i++, out.len = 0) {
                const struct named_member *m = &d->member[i];
                const bool none = m->records == 0;

                if (none ? m->absent == NAMED_IS_LOOKED_FOR
                         : m->absent == NAMED_MAY_LACK || m->records >= (d->records + 9) / 10)
                        continue;
                if (none)
                        ran_buf_str(&out, "no record has a member \"");
                else
                        ran_buf_printf(&out, "only %zu of %zu records have a member \"", m->records,
                                       d->records);
                ran_buf_shown(&out, m->name, m->n);
                ran_buf_printf(&out, "\" (--%s)", m->option);
                if (!none)
                        ran_buf_printf(&out, ": %.2g %%",
                                       100 * (double)m->records / (double)d->records);
                ran_buf_str(&out, none && d->first.len > 0 ? "; the first one has " : "");
                ran_buf_add(&out, d->first.data, none ? d->first.len : 0);
                ran_buf_char(&out, '\0');
                if (none && m->absent == NAMED_IS_NEEDED && !part)
                        cmd_die(CMD_FAILED, "%s", out.data);
                cmd_caution("%s", out.data);
        }
        ran_buf_release(&out);
}
