/* vocab.c - opening vocabularies, and reading the words that one is learned from. */
#include "cmd/records/vocab.h"

#include "cmd/options/message.h"
#include "cmd/formats/foreign.h"

struct ran_tokenizer *cmd_vocab_open(const char *path)
{
        struct ran_bytes file;
        struct ran_error err;

        if (ran_bytes_open(&file, path, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        struct ran_tokenizer *t = ran_tokenizer_load((const char *)file.data, file.size, &err);
        ran_bytes_release(&file);
        if (t == NULL)
                cmd_die(CMD_FAILED, "%s: %s", path, err.text);
        if (ran_tokenizer_notice(t) != NULL)
                cmd_note("%s: %s", path, ran_tokenizer_notice(t));
        return t;
}

void cmd_words_release(struct cmd_words *w)
{
        ran_encoding_release(&w->encoding);
        ran_buf_release(&w->text);
}

/* behind: another one comes before it, with a space between, as where ran_tokenizer_encode_word
 * makes pieces of them. */
static int read_string(struct cmd_words *w, const char *line, struct ran_span value, bool behind,
                       const struct ran_counter *counter, struct ran_buf *words,
                       struct ran_error *err)
{
        w->text.len = 0;
        if (behind)
                ran_buf_char(&w->text, ' ');
        int code = ran_json_decode(line, value, &w->text, err);
        if (code != RAN_OK)
                return code;
        return ran_counter_words(counter, w->text.data, w->text.len, &w->encoding, words, err);
}

/* A string, or an array of strings. */
static int read_member(struct cmd_words *w, const char *name, const char *line,
                       const struct ran_member *m, const struct ran_counter *counter,
                       struct ran_buf *words, struct ran_error *err)
{
        struct ran_span item;
        size_t pos = 0;
        bool behind = false;
        char type;
        int code = RAN_OK;

        if (m->type == 's')
                return read_string(w, line, m->value, false, counter, words, err);
        if (m->type != 'a')
                return ran_fail(err, RAN_EFORMAT, "\"%s\" must be a string or an array of strings",
                                name);
        while (code == RAN_OK && ran_json_next(line, m->value, &pos, NULL, &item, &type)) {
                if (type != 's')
                        return ran_fail(err, RAN_EFORMAT, "\"%s\" must hold strings only", name);
                code = read_string(w, line, item, behind, counter, words, err);
                behind = true;
        }
        return code;
}

int cmd_words_read(struct cmd_words *w, const struct ran_record *record,
                   const struct ran_counter *counter, struct ran_buf *words, struct ran_error *err)
{
        static const char *const names[] = {"tokens", "text", "source", "target"};
        const struct ran_member *members[] = {
                foreign_tokens(record),
                foreign_text(record),
                ran_record_find(record, "source", NULL),
                ran_record_find(record, "target", NULL),
        };
        bool found = false;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                const struct ran_member *m = members[i];
                bool pair = i >= 2; /* source goes with target; the others stand alone */
                if (m == NULL || m->type == '0' || (w->pairs && !pair))
                        continue;
                int code = read_member(w, names[i], record->line, m, counter, words, err);
                if (code != RAN_OK)
                        return code;
                found = true;
                if (!pair)
                        break;
        }
        return found ? RAN_OK
                     : ran_fail(err, RAN_EFORMAT,
                                "no words: one of tokens, text, source and target is needed");
}
