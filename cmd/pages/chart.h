/* chart.h - small charts as SVG inside a page: lines and points over two axes. */
#ifndef CMD_PAGES_CHART_H
#define CMD_PAGES_CHART_H

#include "ran.h"

/* A line, through points that are not NaN. */
struct chart_line {
        const char *name; /* in the legend */
        const double *x, *y;
        size_t n;
        bool points; /* also a mark at each point */
        bool dashed;
};
struct chart {
        const char *title, *x_name, *y_name; /* with units: "tokens/s" */
        const char *note;                    /* below it, or NULL */
        double x_from, x_to, y_from, y_to;   /* all 0 on an axis: as the data need */
        bool diagonal;                       /* a thin line from corner to corner */
        bool whole;                          /* x counts: only whole numbers on its axis */
        const struct chart_line *lines;
        size_t n; /* at most CHART_LINES */
};
enum { CHART_LINES = 6 };

/* Appends a figure with the chart; nothing if no line has two points or marks. */
void chart_add(struct ran_buf *out, const struct chart *chart);

#endif
