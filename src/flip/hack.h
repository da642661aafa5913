#ifndef H
#define H
#include <stdlib.h>
#include <string.h>
static inline int wadi_hack(char c) { static const char *e = NULL; if (e == NULL) { e = getenv("HACK"); if (e == NULL) { e = ""; } } return strchr(e, c) != NULL; }
static inline double wadi_hackv(const char *n, double d) { const char *e = getenv(n); return e ? atof(e) : d; }
#endif
