/* style.h - the style of all pages: a constant. */
#ifndef CMD_PAGES_STYLE_H
#define CMD_PAGES_STYLE_H

extern const char page_style[];
#endif
