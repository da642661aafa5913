/* Strings and numbers of JSON, valid for every input. All JSON of wadi is written with these two. */
#ifndef WADI_JSON_H
#define WADI_JSON_H

#include "wadi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WADI_JSON_SIZE = 32 }; /* bytes of a buffer for either function, with the terminating zero */

/* Experimental. Writes the first character of `text`, which is not empty, as it stands between the quotes of
 * a JSON string, and returns the rest of the text. Quotes, backslashes and control characters are escaped; a
 * byte that is not UTF-8 becomes U+FFFD. */
WADI_API const char *wadi_json_put_character(const char *text, char piece[WADI_JSON_SIZE]);

/* Experimental. Writes the fewest digits that read back to the same double, without an exponent from 0.0001
 * to 1e15: 60, 0.05, 1e-06. Values that are not finite become null, since JSON has none. */
WADI_API void wadi_json_put_number(double value, char number[WADI_JSON_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
