/* text-report.c - the scores of generated texts for machines (JSON) and for people. */
#include "ran/eval.h"

/* Signatures in the form of sacreBLEU, which say how a score was computed. */
static void signature(const struct ran_text_report *r, const char *how, struct ran_buf *out)
{
        ran_buf_str(out, "nrefs:1");
        if (r->n > 1)
                ran_buf_printf(out, "|bs:%d|seed:%llu", RAN_TEXT_SAMPLES,
                               (unsigned long long)r->seed);
        ran_buf_printf(out, "|case:%s|%s|version:ran-" RAN_VERSION, r->lowercase ? "lc" : "mixed",
                       how);
}

static void bleu_signature(const struct ran_text_report *r, struct ran_buf *out)
{
        signature(r, "eff:no|tok:13a|smooth:exp", out);
}

static void chrf_signature(const struct ran_text_report *r, struct ran_buf *out)
{
        signature(r, "eff:yes|nc:6|nw:0|space:no", out);
}

static const char *const rouge_name[RAN_ROUGES] = {"1", "2", "L"};

/* ---- JSON ----------------------------------------------------------------------------------- */

/* before: the name and what precedes it. */
static void json_number(struct ran_buf *out, const char *before, double x)
{
        ran_buf_str(out, before);
        ran_buf_double(out, x);
}

/* The members of an object whose first is the score. */
static void json_value(struct ran_buf *out, const struct ran_text_report *r,
                       const struct ran_text_value *v, const char *name)
{
        ran_buf_printf(out, "{\"%s\":", name);
        ran_buf_double(out, v->value);
        if (r->n < 2)
                return;
        json_number(out, ",\"low\":", v->low);
        json_number(out, ",\"high\":", v->high);
}

static void json_bleu(const struct ran_text_report *r, struct ran_buf *out)
{
        json_value(out, r, &r->bleu, "score");
        ran_buf_str(out, ",\"precisions\":[");
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++)
                json_number(out, k == 0 ? "" : ",", r->precision[k]);
        json_number(out, "],\"brevity_penalty\":", r->brevity);
        ran_buf_printf(out, ",\"length\":%llu,\"reference_length\":%llu,\"signature\":\"",
                       (unsigned long long)r->length, (unsigned long long)r->reference_length);
        bleu_signature(r, out);
        ran_buf_str(out, "\"}");
}

void ran_text_report_json(const struct ran_text_report *r, struct ran_buf *out)
{
        ran_buf_printf(out, "{\"records\":%zu,\"bleu\":", r->n);
        json_bleu(r, out);
        ran_buf_str(out, ",\"chrf\":");
        json_value(out, r, &r->chrf, "score");
        ran_buf_str(out, ",\"signature\":\"");
        chrf_signature(r, out);
        ran_buf_str(out, "\"}");
        for (size_t k = 0; k < RAN_ROUGES; k++) {
                ran_buf_printf(out, ",\"rouge_%s\":", k == 2 ? "l" : rouge_name[k]);
                json_value(out, r, &r->rouge[k], "f1");
                json_number(out, ",\"precision\":", r->rouge_precision[k]);
                json_number(out, ",\"recall\":", r->rouge_recall[k]);
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, '}');
}

/* ---- text ----------------------------------------------------------------------------------- */

static void text_value(struct ran_buf *out, const struct ran_text_report *r,
                       const struct ran_text_value *v, double scale)
{
        ran_buf_printf(out, " = %.2f", scale * v->value);
        if (r->n > 1)
                ran_buf_printf(out, " (95%% interval %.2f to %.2f)", scale * v->low,
                               scale * v->high);
}

void ran_text_report_text(const struct ran_text_report *r, struct ran_buf *out)
{
        double ratio =
                r->reference_length > 0 ? (double)r->length / (double)r->reference_length : 0;

        ran_buf_printf(out, "%zu records\nBLEU|", r->n);
        bleu_signature(r, out);
        text_value(out, r, &r->bleu, 1);
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++)
                ran_buf_printf(out, "%c%.1f", k == 0 ? ' ' : '/', r->precision[k]);
        ran_buf_printf(out, " (BP = %.3f ratio = %.3f hyp_len = %llu ref_len = %llu)\nchrF2|",
                       r->brevity, ratio, (unsigned long long)r->length,
                       (unsigned long long)r->reference_length);
        chrf_signature(r, out);
        text_value(out, r, &r->chrf, 1);
        ran_buf_char(out, '\n');
        for (size_t k = 0; k < RAN_ROUGES; k++) {
                ran_buf_printf(out, "ROUGE-%s", rouge_name[k]);
                text_value(out, r, &r->rouge[k], 100);
                ran_buf_printf(out, " (precision %.2f, recall %.2f)\n", 100 * r->rouge_precision[k],
                               100 * r->rouge_recall[k]);
        }
}
