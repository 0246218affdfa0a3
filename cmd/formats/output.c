/* output.c - the table of output formats. */
#include "cmd/formats/output.h"

const struct output_format output_label_studio = {.kind = OUTPUT_TASKS};
const struct output_format output_html = {.kind = OUTPUT_PAGE};

const char *output_name(const struct output_format *format)
{
#define X(symbol, kind, name, help)     \
        if (format == &output_##symbol) \
                return name;
        OUTPUT_FORMATS(X)
#undef X
        return "";
}

const struct output_format *output_format_of(const struct cmd_output *output)
{
        return output->format != NULL ? output->format : &output_jsonl;
}
