/* style.h - the style of all pages, and their scripts: constants. */
#ifndef CMD_PAGES_STYLE_H
#define CMD_PAGES_STYLE_H

extern const char page_style[];
/* Shows the attention of a token to which the reader points. */
extern const char page_attention_script[];

#endif
