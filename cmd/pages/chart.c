/* chart.c - small charts as SVG inside a page. */
#include "cmd/pages/chart.h"

#include <float.h>
#include <math.h>

#include "cmd/pages/page.h"

enum { WIDTH = 440, HEIGHT = 300, LEFT = 70, RIGHT = 14, TOP = 12, BOTTOM = 44, TICKS = 6 };

/* Told apart in light and dark, on paper, and by most of those who see few colours. */
static const char *const colours[CHART_LINES] = {"#3b7ddd", "#d9822b", "#2e9e5b",
                                                 "#c23b70", "#7a5cc2", "#8a8d91"};

struct axis {
        double from, to, step;
        double origin, length; /* where it begins in the picture, and how long it is */
};

/* The largest power of ten that is not above x. */
static double power_of_ten(double x)
{
        double power = 1;

        for (; power > x; power /= 10)
                ;
        for (; power < DBL_MAX / 10 && power * 10 <= x; power *= 10)
                ;
        return power;
}

/* A step of 1, 2 or 5 times a power of ten, for a handful of ticks. */
static double step_of(double range)
{
        double rough = range / TICKS, power = power_of_ten(rough);
        double share = rough / power;

        return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static struct axis axis_of(const struct chart *c, bool is_y)
{
        struct axis a = {is_y ? c->y_from : c->x_from, is_y ? c->y_to : c->x_to, 0,
                         is_y ? HEIGHT - BOTTOM : LEFT,
                         is_y ? -(HEIGHT - TOP - BOTTOM) : WIDTH - LEFT - RIGHT};

        if (!(a.from < a.to)) {
                a.from = INFINITY;
                a.to = -INFINITY;
                for (size_t l = 0; l < c->n; l++)
                        for (size_t i = 0; i < c->lines[l].n; i++) {
                                double v = (is_y ? c->lines[l].y : c->lines[l].x)[i];

                                if (isfinite(v)) {
                                        a.from = fmin(a.from, v);
                                        a.to = fmax(a.to, v);
                                }
                        }
                if (!(a.from < a.to)) { /* one value */
                        const double value = isfinite(a.from) ? a.from : 0.5;
                        const double around = value != 0 ? fabs(value) / 10 : 0.5;
                        a.from = value - around;
                        a.to = value + around;
                }
                a.step = step_of(a.to - a.from);
                a.from = is_y ? floor(a.from / a.step) * a.step : a.from;
                a.to = is_y ? ceil(a.to / a.step) * a.step : a.to;
        }
        a.step = step_of(a.to - a.from);
        if (!is_y && c->whole && a.step < 1)
                a.step = 1;
        return a;
}

static double place(const struct axis *a, double x)
{
        return a->origin + (x - a->from) / (a->to - a->from) * a->length;
}

static void add_number(struct ran_buf *out, double x, double step)
{
        int decimals = 0;

        for (; step < 1 - 1e-9 && decimals < DBL_DIG; step *= 10)
                decimals++;

        if (fabs(x) >= 1e5)
                ran_buf_printf(out, "%.3g", x);
        else
                ran_buf_printf(out, "%.*f", decimals < 6 ? decimals : 6, fabs(x) < 1e-12 ? 0 : x);
}

/* A line across the chart, and its number, for each step of an axis. */
static void add_ticks(struct ran_buf *out, const struct axis *a, bool is_y)
{
        for (double v = ceil(a->from / a->step - 1e-9) * a->step; v <= a->to + 1e-9 * a->step;
             v += a->step) {
                const double at = place(a, v);

                if (is_y)
                        ran_buf_printf(out,
                                       "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" "
                                       "y=\"%.1f\" text-anchor=\"end\">",
                                       LEFT, at, WIDTH - RIGHT, LEFT - 5, at + 4);
                else
                        ran_buf_printf(out,
                                       "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" "
                                       "y=\"%d\" text-anchor=\"middle\">",
                                       at, TOP, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 16);
                add_number(out, v, a->step);
                ran_buf_str(out, "</text>\n");
        }
}

static void add_line(struct ran_buf *out, const struct chart_line *l, const char *colour,
                     const struct axis *x, const struct axis *y)
{
        bool pen = false;

        ran_buf_printf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s d=\"", colour,
                       l->dashed ? " stroke-dasharray=\"6 4\"" : "");
        for (size_t i = 0; i < l->n; i++) {
                bool there = isfinite(l->x[i]) && isfinite(l->y[i]);

                if (there)
                        ran_buf_printf(out, "%c%.1f %.1f", pen ? 'L' : 'M', place(x, l->x[i]),
                                       place(y, fmin(fmax(l->y[i], y->from), y->to)));
                pen = pen || there;
        }
        ran_buf_str(out, "\"/>\n");
        for (size_t i = 0; l->points && i < l->n; i++)
                if (isfinite(l->x[i]) && isfinite(l->y[i]))
                        ran_buf_printf(out,
                                       "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" "
                                       "fill=\"%s\"><title>%.4g, %.4g</title></circle>\n",
                                       place(x, l->x[i]), place(y, l->y[i]), colour, l->x[i],
                                       l->y[i]);
}

static size_t points_of(const struct chart_line *l)
{
        size_t n = 0;

        for (size_t i = 0; i < l->n; i++)
                n += isfinite(l->x[i]) && isfinite(l->y[i]);
        return n;
}

static void add_legend(struct ran_buf *out, const struct chart *c)
{
        ran_buf_str(out, "<figcaption><strong>");
        page_string(out, c->title);
        ran_buf_str(out, "</strong><br/>\n<span class=\"legend\">");
        for (size_t i = 0; i < c->n; i++) {
                if (points_of(&c->lines[i]) == 0)
                        continue;
                ran_buf_printf(out, "<span><i style=\"background:%s\"></i>", colours[i]);
                page_string(out, c->lines[i].name);
                ran_buf_str(out, "</span>");
        }
        ran_buf_str(out, "</span>");
        if (c->note != NULL) {
                ran_buf_str(out, "<br/>\n");
                page_string(out, c->note);
        }
        ran_buf_str(out, "</figcaption>\n");
}

void chart_add(struct ran_buf *out, const struct chart *c)
{
        const struct axis x = axis_of(c, false), y = axis_of(c, true);
        bool any = false;

        for (size_t i = 0; i < c->n; i++)
                any = any || points_of(&c->lines[i]) >= (c->lines[i].points ? 1 : 2);
        if (!any)
                return;
        ran_buf_printf(out,
                       "<figure style=\"width:%dpx\">\n<svg viewBox=\"0 0 %d %d\" "
                       "width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"",
                       WIDTH, WIDTH, HEIGHT, WIDTH, HEIGHT);
        page_string(out, c->title);
        ran_buf_str(out, "\">\n");
        add_ticks(out, &x, false);
        add_ticks(out, &y, true);
        if (c->diagonal)
                ran_buf_printf(out,
                               "<path class=\"axis\" stroke-dasharray=\"3 4\" d=\"M%.1f "
                               "%.1fL%.1f %.1f\"/>\n",
                               place(&x, x.from), place(&y, y.from), place(&x, x.to),
                               place(&y, y.to));
        ran_buf_printf(out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP,
                       HEIGHT - BOTTOM, WIDTH - RIGHT);
        for (size_t i = 0; i < c->n && i < CHART_LINES; i++)
                add_line(out, &c->lines[i], colours[i], &x, &y);
        ran_buf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                       (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
        page_string(out, c->x_name);
        ran_buf_printf(out,
                       "</text>\n<text transform=\"translate(13 %d) rotate(-90)\" "
                       "text-anchor=\"middle\">",
                       (TOP + HEIGHT - BOTTOM) / 2);
        page_string(out, c->y_name);
        ran_buf_str(out, "</text>\n");
        ran_buf_str(out, "</svg>\n");
        add_legend(out, c);
        ran_buf_str(out, "</figure>\n");
}
