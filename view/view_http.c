#include "view_http.h"

#include <string.h>

int wadi_view_http_begin(struct lws *wsi, WadiViewSending *sending, const WadiViewFile *file)
{
    static const char *const headers[][2] = {
        { "content-security-policy:",
          "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
          "connect-src 'self' ws: wss:; frame-ancestors 'none'" },
        { "x-content-type-options:", "nosniff" },
        { "referrer-policy:", "no-referrer" },
        { "cache-control:", "no-store" },
    };
    unsigned char buffer[LWS_PRE + 1024];
    unsigned char *start = buffer + LWS_PRE, *at = start, *end = buffer + sizeof buffer - 1;
    int failures = lws_add_http_common_headers(wsi, HTTP_STATUS_OK, file->type, file->size, &at, end);
    for (size_t i = 0; i < sizeof headers / sizeof *headers && failures == 0; ++i) {
        failures = lws_add_http_header_by_name(wsi, (const unsigned char *)headers[i][0],
                                               (const unsigned char *)headers[i][1],
                                               (int)strlen(headers[i][1]), &at, end);
    }
    if (failures != 0 || lws_finalize_write_http_header(wsi, start, &at, end) != 0) {
        return -1;
    }
    sending->file = file;
    sending->sent = 0;
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, WADI_VIEW_STALLED_SECONDS);
    lws_callback_on_writable(wsi);
    return 0;
}

int wadi_view_http_write(struct lws *wsi, WadiViewSending *sending, unsigned char *buffer)
{
    const WadiViewFile *file = sending->file;
    if (file == NULL) {
        return 0;
    }
    const size_t rest = file->size - sending->sent,
                 count = rest < WADI_VIEW_FRAGMENT ? rest : WADI_VIEW_FRAGMENT;
    memcpy(buffer + LWS_PRE, file->data + sending->sent, count);
    const bool is_last = count == rest;
    if (lws_write(wsi, buffer + LWS_PRE, count, is_last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) <
        (int)count) {
        return -1;
    }
    sending->sent += count;
    if (is_last) {
        sending->file = NULL;
        return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
    }
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, WADI_VIEW_STALLED_SECONDS);
    lws_callback_on_writable(wsi);
    return 0;
}
