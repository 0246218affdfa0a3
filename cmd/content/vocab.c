/* vocab.c - opens vocabularies; reads words to learn one. */
#include "cmd/content/vocab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/options/message.h"
#include "cmd/formats/import.h"
#include "cmd/formats/json.h"

struct ran_tokenizer *cmd_vocab_open(const char *path)
{
        struct ran_bytes file;
        struct ran_error err;
        struct stat st;
        struct ran_tokenizer *t;
        const bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

        if (folder) {
                t = ran_tokenizer_open_folder(path, &err);
        } else {
                if (ran_bytes_open(&file, path, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "%s", err.text);
                t = ran_tokenizer_load((const char *)file.data, file.size, &err);
                ran_bytes_release(&file);
        }
        if (t == NULL && folder)
                cmd_die(CMD_FAILED, "%s", err.text);
        const struct kind *kind = t == NULL && err.code == RAN_EFORMAT ? kind_of_file(path) : NULL;
        if (kind != NULL && strcmp(kind->is, "a vocabulary") != 0 &&
            strcmp(kind->is, "a JSON file") != 0)
                cmd_die(CMD_FAILED,
                        "%s is %s, no vocabulary: a vocabulary is a file that ran-tokenize learn "
                        "wrote (-o VOCAB), or a tokenizer.json",
                        path, kind->is);
        if (t == NULL)
                cmd_die(CMD_FAILED, "%s: %s", path, err.text);
        if (ran_tokenizer_notice(t) != NULL)
                cmd_note("%s: %s", path, ran_tokenizer_notice(t));
        return t;
}

void cmd_vocab_words_release(struct cmd_vocab_words *w)
{
        ran_encoding_release(&w->encoding);
        ran_buf_release(&w->text);
}

void cmd_vocab_words_free(void *words)
{
        cmd_vocab_words_release(words);
        free(words);
}

/* A string, or an array of strings, of which a space separates the words, as in
 * ran_tokenizer_encode_word. */
static int read_member(struct cmd_vocab_words *w, const char *line, const struct ran_member *m,
                       const struct ran_counter *counter, struct ran_buf *words,
                       struct ran_error *err)
{
        struct ran_items i = ran_items(line, m->value);
        bool list = m->type == 'a', after = false;

        if (m->type != 's' && !list)
                return json_refuse(line, m, "must be a string or an array of strings", err);
        while (list ? ran_items_next(&i) : !after) {
                if (list && i.type != 's')
                        return json_refuse(line, m, "must hold strings only", err);
                w->text.len = 0;
                ran_buf_str(&w->text, after ? " " : "");
                RAN_TRY(ran_json_decode(line, list ? i.value : m->value, &w->text, err));
                RAN_TRY(ran_counter_words(counter, w->text.data, w->text.len, &w->encoding, words,
                                          err));
                after = true;
        }
        return RAN_OK;
}

int cmd_vocab_words_read(struct cmd_vocab_words *w, const struct record *record,
                         const struct ran_counter *counter, struct ran_buf *words,
                         struct ran_error *err)
{
        const struct ran_member *members[] = {
                record->is[FIELD_TOKENS],
                record->is[FIELD_TEXT],
                record->is[FIELD_SOURCE],
                record->is[FIELD_TARGET],
        };
        bool found = false;

        for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
                const struct ran_member *m = members[i];
                bool pair = i >= 2; /* source and target belong together */
                if (m == NULL || (w->pairs && !pair))
                        continue;
                RAN_TRY(read_member(w, record->json.line, m, counter, words, err));
                found = true;
                if (!pair)
                        break;
        }
        return found ? RAN_OK
                     : ran_fail(err, RAN_EFORMAT,
                                "no words: give one of tokens, text, source and target "
                                "(--text-member names another member)");
}
