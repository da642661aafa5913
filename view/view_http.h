/* The files of the page over HTTP (libwebsockets). */
#ifndef WADI_VIEW_HTTP_H
#define WADI_VIEW_HTTP_H

#include <libwebsockets.h>

#include "view_files.h"

enum {
    WADI_VIEW_FRAGMENT = 64 << 10,  /* bytes written at once */
    WADI_VIEW_STALLED_SECONDS = 30, /* a connection that takes nothing for so long is dropped */
};

/* A file that is being sent; file NULL: none. */
typedef struct WadiViewSending {
    const WadiViewFile *file;
    size_t sent;
} WadiViewSending;

/* Sends the headers of a file; its bytes follow when the connection is writable. Not 0: close it. */
int wadi_view_http_begin(struct lws *wsi, WadiViewSending *sending, const WadiViewFile *file);
/* Sends the next piece by way of `buffer`, LWS_PRE and WADI_VIEW_FRAGMENT bytes. Not 0: close it. */
int wadi_view_http_write(struct lws *wsi, WadiViewSending *sending, unsigned char *buffer);

#endif
