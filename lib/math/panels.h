/* panels.h - a thread's memory for the packed panels of a matrix product.
 *
 * It is allocated when a thread first multiplies: as thread-local arrays it would be zeroed at the
 * start of each thread, which takes longer than many programs run.
 */
#ifndef RAN_MATH_PANELS_H
#define RAN_MATH_PANELS_H

/* For any instruction set: floats of A, then of B. */
enum { RAN_PANEL_A = 112 * 320, RAN_PANEL_B = 512 * 320 };

/* RAN_PANEL_A + RAN_PANEL_B floats of the calling thread, aligned to 64 bytes. */
float *ran_panels(void);

#endif
