/* npy.c - vectors as a two-dimensional array of numpy, a file of version 1.0:
 *
 *   "\x93NUMPY" 1 0, two bytes with the length of the header, the header: a dictionary of Python
 *   with blanks up to its end, so that the numbers begin at a multiple of 64 bytes; then the rows,
 *   floats with the lowest byte first.
 *
 * The header says how many rows there are, and is written again once that is known. Behind the rows
 * is a second array, as numpy.save appends one: a string, the name of the model that made the
 * vectors. numpy.load reads the first; once more from the same open file, the other. */
#include <math.h>
#include <string.h>

#include "cmd/formats/output.h"

enum { NPY_HEAD = 128, NPY_PREFIX = 10 };

static void begin(struct ran_buf *out, const char *type, const char *shape)
{
        static const char magic[] = "\x93NUMPY\x01";
        const size_t from = out->len, header = NPY_HEAD - NPY_PREFIX;

        ran_buf_add(out, magic, sizeof magic); /* the version's second byte is 0 */
        ran_buf_char(out, (char)(header & 255));
        ran_buf_char(out, (char)(header >> 8));
        ran_buf_printf(out, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
        while (out->len < from + NPY_HEAD - 1)
                ran_buf_char(out, ' ');
        ran_buf_char(out, '\n');
}

static void head(struct ran_buf *out, size_t rows, size_t width)
{
        char shape[48];

        snprintf(shape, sizeof shape, "(%zu, %zu)", rows, width);
        begin(out, "<f4", shape);
}

static void tail(struct ran_buf *out, const char *vectors)
{
        begin(out, "|S16", "()");
        ran_buf_str(out, vectors);
}

static void vector(struct ran_buf *out, const float *v, size_t width)
{
        for (size_t i = 0; i < width; i++) {
                const float x = v != NULL ? v[i] : NAN;
                uint32_t bits;

                memcpy(&bits, &x, sizeof bits);
                for (int byte = 0; byte < 4; byte++)
                        ran_buf_char(out, (char)(bits >> 8 * byte & 255));
        }
}

const struct output_format output_npy = {
        .kind = OUTPUT_VECTORS, .head = head, .vector = vector, .tail = tail};
