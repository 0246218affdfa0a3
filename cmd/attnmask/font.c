/* font.c - letters for pictures that are made of pixels.
 *
 * A letter is a few strokes between points of a grid, a pixel wide and smooth at their edges, so
 * that it can be drawn at any size:
 *
 *      y 0  top of capitals        x 0 to 6
 *        3  top of small letters
 *        8  base line
 *       10  bottom of g and p
 */
#include "cmd/attnmask/font.h"

#include <math.h>
#include <string.h>

#include "ran.h"

/* A point is two digits, x and y (hexadecimal); points up to a space are one stroke. */
static const char *const glyphs[] = {
        "",                                    /* space */
        "0005 08",                             /* ! */
        "0002 2022",                           /* " */
        "1018 3038 0242 0646",                 /* # */
        "413010010314344547381807 2029",       /* $ */
        "0010120200 3646483836 4008",          /* % */
        "4813112031320507182845",              /* & */
        "0002",                                /* ' */
        "201103061829",                        /* ( */
        "001123261809",                        /* ) */
        "2125 0224 0422",                      /* * */
        "2327 0545",                           /* + */
        "180a",                                /* , */
        "0535",                                /* - */
        "08",                                  /* . */
        "3008",                                /* / */
        "103041473818070110 1632",             /* 0 */
        "022028",                              /* 1 */
        "01103041430848",                      /* 2 */
        "0110304143344547381807 1434",         /* 3 */
        "38300646",                            /* 4 */
        "400003334447381807",                  /* 5 */
        "413010010718384745341405",            /* 6 */
        "004018",                              /* 7 */
        "140301103041433414050718384745 3445", /* 8 */
        "071838474130100103143443",            /* 9 */
        "04 08",                               /* : */
        "14 180a",                             /* ; */
        "430547",                              /* < */
        "0444 0646",                           /* = */
        "034507",                              /* > */
        "01103041432425 28",                   /* ? */
        "48180701104051563633232636",          /* @ */
        "082048 1535",                         /* A */
        "08003041433404 3445473808",           /* B */
        "4130100107183847",                    /* C */
        "00204246280800",                      /* D */
        "40000848 0434",                       /* E */
        "400008 0434",                         /* F */
        "41301001071838474424",                /* G */
        "0008 4048 0444",                      /* H */
        "0020 0828 1018",                      /* I */
        "3037281807",                          /* J */
        "0008 400448",                         /* K */
        "000848",                              /* L */
        "0800346068",                          /* M */
        "08004840",                            /* N */
        "103041473818070110",                  /* O */
        "08003041433404",                      /* P */
        "103041473818070110 2649",             /* Q */
        "08003041433404 2448",                 /* R */
        "413010010314344547381807",            /* S */
        "0040 2028",                           /* T */
        "000718384740",                        /* U */
        "002840",                              /* V */
        "0018335860",                          /* W */
        "0048 4008",                           /* X */
        "002440 2428",                         /* Y */
        "00400848",                            /* Z */
        "20000929",                            /* [ */
        "0038",                                /* \ */
        "00202909",                            /* ] */
        "022042",                              /* ^ */
        "0949",                                /* _ */
        "0011",                                /* ` */
        "0413334448 45150607183847",           /* a */
        "0008 0413334447381807",               /* b */
        "4433130407183847",                    /* c */
        "4048 4433130407183847",               /* d */
        "06464433130407183847",                /* e */
        "30201118 0333",                       /* f */
        "43493a1a09 4433130407183847",         /* g */
        "0008 0413334448",                     /* h */
        "0308 01",                             /* i */
        "13190a 11",                           /* j */
        "0008 330638",                         /* k */
        "000718",                              /* l */
        "0308 0413233438 3443536468",          /* m */
        "0308 0413334448",                     /* n */
        "133344473818070413",                  /* o */
        "030a 0413334447381807",               /* p */
        "434a 4433130407183847",               /* q */
        "0308 051333",                         /* r */
        "44331304153647381807",                /* s */
        "11172838 0333",                       /* t */
        "0307183847 4348",                     /* u */
        "032843",                              /* v */
        "0318345863",                          /* w */
        "0348 4308",                           /* x */
        "0328 431a0a",                         /* y */
        "03430848",                            /* z */
        "302011130415182939",                  /* { */
        "0009",                                /* | */
        "001021233425281909",                  /* } */
        "05143645",                            /* ~ */
};
static const char box[] = "0040480800", sharp_s[] = "0801103041432445473828";

/* U+00C0 to U+00FF: the letter below the mark, and the mark; a space: no such letter. */
static const char base_of[] = "AAAAAA CEEEEIIII NOOOOO OUUUUY  aaaaaa ceeeeiiii nooooo ouuuuy y";
static const char mark_of[] = "`'^~:o ,`'^:`'^: ~`'^~: /`'^:'  `'^~:o ,`'^:`'^: ~`'^~: /`'^:' :";

/* Above a small letter, or at it; three higher above a capital. */
static const struct {
        char mark;
        const char *strokes;
} marks[] = {{'`', "1021"},  {'\'', "3021"},  {'^', "112031"},     {'~', "01103140"},
             {':', "10 30"}, {',', "282a1a"}, {'o', "1020211110"}, {'/', "4208"}};

struct glyph {
        const char *strokes, *mark; /* mark NULL: none */
        double lift;                /* of the mark */
};

/* ---- letters -------------------------------------------------------------------------------- */

static struct glyph glyph_of(unsigned c)
{
        if (c >= ' ' && c <= '~')
                return (struct glyph){.strokes = glyphs[c - ' ']};
        if (c == 0xdf)
                return (struct glyph){.strokes = sharp_s};
        if (c < 0xc0 || c > 0xff || base_of[c - 0xc0] == ' ')
                return (struct glyph){.strokes = box};
        char base = base_of[c - 0xc0];
        struct glyph g = {.strokes = glyphs[base - ' ']};
        for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
                if (marks[i].mark == mark_of[c - 0xc0])
                        g.mark = marks[i].strokes;
        bool below = mark_of[c - 0xc0] == ',' || mark_of[c - 0xc0] == '/';
        g.lift = base <= 'Z' && !below ? 3 : 0;
        /* The mark is where the dot was. */
        g.strokes = base == 'i' ? "0308" : g.strokes;
        return g;
}

/* The character at s, and its bytes; U+FFFD for what is none. */
static unsigned decode(const char *s, size_t n, size_t *bytes)
{
        const unsigned char first = (unsigned char)s[0];
        const bool two = first >= 0xc2 && first < 0xe0;

        *bytes = ran_utf8_character(s, n);
        if (first < 0x80)
                return first;
        return two && *bytes == 2 ? (first & 0x1fu) << 6 | ((unsigned char)s[1] & 0x3f) : 0xfffd;
}

static int digit(char c)
{
        return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Up to the next letter. */
static double advance(const struct glyph *g)
{
        int widest = g->strokes[0] == '\0' ? 2 : 0;

        for (const char *p = g->strokes; *p != '\0'; p += *p == ' ' ? 1 : 2)
                if (*p != ' ' && digit(*p) > widest)
                        widest = digit(*p);
        return widest + 3;
}

double font_width(const char *s, size_t n, double scale)
{
        double width = 0;
        size_t bytes;

        for (; n > 0; s += bytes, n -= bytes) {
                struct glyph g = glyph_of(decode(s, n, &bytes));
                width += advance(&g);
        }
        return scale * width;
}

/* ---- strokes -------------------------------------------------------------------------------- */

struct point {
        double x, y;
};

static double distance(struct point p, struct point a, struct point b)
{
        double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
        double t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;

        t = fmin(fmax(t, 0), 1);
        dx = a.x + t * dx - p.x;
        dy = a.y + t * dy - p.y;
        return sqrt(dx * dx + dy * dy);
}

/* From a point to the nearest stroke; a dot is a stroke of one point. */
static double nearest(struct point p, const char *strokes, double lift)
{
        double least = INFINITY;
        struct point last = {0};
        bool begins = true;

        for (const char *c = strokes; *c != '\0'; c += *c == ' ' ? 1 : 2) {
                if (*c == ' ') {
                        begins = true;
                        continue;
                }
                struct point at = {digit(c[0]), digit(c[1]) - lift};
                least = fmin(least, distance(p, begins ? at : last, at));
                last = at;
                begins = false;
        }
        return least;
}

/* Returns how much white a letter leaves at a point of its grid: 0 to 1. */
static double white_at(const struct glyph *g, struct point p, double scale)
{
        const double half = 0.55; /* of a stroke's breadth */
        double d = nearest(p, g->strokes, 0);

        if (g->mark != NULL)
                d = fmin(d, nearest(p, g->mark, g->lift));
        return fmin(fmax((d - half) * scale + 0.5, 0), 1);
}

/* ---- rows of pixels ------------------------------------------------------------------------- */

/* Rows of the grid, with marks above capitals and what hangs below the base line. */
static const double highest = -4, lowest = 11, base_line = 8;

static void darken(unsigned char *pixel, double white)
{
        unsigned char shade = (unsigned char)lrint(255 * white);

        *pixel = *pixel < shade ? *pixel : shade;
}

/* A letter whose grid begins at x. */
static void draw_upright(const struct font_text *t, const struct glyph *g, double x, double v,
                         unsigned char *row, size_t width)
{
        double from = floor(fmax(x - t->scale, 0)), to = x + advance(g) * t->scale;

        for (size_t i = (size_t)from; i < width && (double)i <= to; i++)
                darken(&row[i],
                       white_at(g, (struct point){((double)i + 0.5 - x) / t->scale - 0.5, v},
                                t->scale));
}

/* A letter that lies on its back: u is the column of its grid that the row shows. */
static void draw_turned(const struct font_text *t, const struct glyph *g, double u,
                        unsigned char *row, size_t width)
{
        double left = t->x + (highest - base_line) * t->scale,
               right = t->x + (lowest - base_line) * t->scale;

        for (size_t i = (size_t)fmax(left, 0); i < width && (double)i <= right; i++) {
                double v = ((double)i + 0.5 - t->x) / t->scale - 0.5 + base_line;
                darken(&row[i], white_at(g, (struct point){u, v}, t->scale));
        }
}

void font_draw(const struct font_text *t, size_t y, unsigned char *row, size_t width)
{
        const char *s = t->s;
        double at = 0, up = (t->y - (double)y - 0.5) / t->scale - 0.5;
        double v = ((double)y + 0.5 - t->y) / t->scale - 0.5 + base_line;
        size_t bytes;

        /* no letter is wider than 9 */
        if (t->turned ? up < -2 || up > 9.0 * (double)t->n + 2 : v < highest || v > lowest)
                return;
        for (size_t n = t->n; n > 0; s += bytes, n -= bytes) {
                struct glyph g = glyph_of(decode(s, n, &bytes));
                double next = at + advance(&g);
                if (!t->turned)
                        draw_upright(t, &g, t->x + at * t->scale, v, row, width);
                else if (up > at - 1.5 && up < next)
                        draw_turned(t, &g, up - at, row, width);
                at = next;
        }
}
