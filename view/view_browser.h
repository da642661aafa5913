/* Opens the page in the browser of the desktop. The address has the token, and all users of the machine can
 * read the arguments of programs: the browser is given the path of a file that leads it to the address, and
 * that only its owner can read. */
#ifndef WADI_VIEW_BROWSER_H
#define WADI_VIEW_BROWSER_H

#include <stdbool.h>
#include <sys/types.h>

enum { WADI_VIEW_BROWSER_SECONDS = 60 }; /* that a browser may take to start */

typedef struct WadiViewBrowser {
    char folder[1024]; /* of the file; "": there is none */
    pid_t program;     /* that opens it; 0: none */
} WadiViewBrowser;

/* Whether there is a desktop: over ssh there is none. */
bool wadi_view_browser_is_there(void);
/* Removes files that a server left when it was killed. */
void wadi_view_browser_clean(void);
/* False: there is no place for the file, or no program to open it; the person opens the printed address. */
bool wadi_view_browser_open(WadiViewBrowser *browser, const char *address);
/* Removes the file. May be called again. */
void wadi_view_browser_forget(WadiViewBrowser *browser);

#endif
