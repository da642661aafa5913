/* The server: the page from inside the program, and one connection to it (libwebsockets). */
#include <libwebsockets.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_access.h"
#include "view_browser.h"
#include "view_guests.h"
#include "view_http.h"
#include "view_session.h"

enum {
    GREETING_SECONDS = 5, /* for a request, the next one, or a greeting */
    DEFAULT_PORT = 8585,
    CLOSE_REPLACED = 4000, /* status of the connection of a page that another one replaced */
};

typedef struct Server {
    const WadiViewDef *def;
    WadiViewHub hub;
    WadiViewAccess access;
    struct lws_context *context;
    struct lws *page; /* the connection that was let in; NULL: none */
    int port;
    WadiViewGuests guests;
    WadiViewBrowser browser;
    double browser_until; /* s: when its file is removed at last */
    lws_sorted_usec_list_t tick;
    unsigned ticks;
    WadiViewOut out; /* being sent */
    size_t sent;
    unsigned char *fragment; /* LWS_PRE and WADI_VIEW_FRAGMENT bytes */
} Server;

/* Of each connection. */
typedef struct Connection {
    WadiViewSending sending; /* HTTP */
    bool is_page;            /* WebSocket: let in */
    bool is_replaced;        /* it was, until another page was */
    bool owes_answer;        /* the challenge is not sent yet */
    WadiViewChallenge challenge;
    char line[WADI_VIEW_MESSAGE_MAX];
    size_t length;
} Connection;

static void wake(void *user)
{
    Server *server = user;
    lws_cancel_service(server->context);
}

static bool header(struct lws *wsi, enum lws_token_indexes which, char *text, int size)
{
    const int length = lws_hdr_copy(wsi, text, size, which);
    return length > 0 && length < size;
}

static bool has_good_host(const Server *server, struct lws *wsi, char host[300])
{
    return header(wsi, WSI_TOKEN_HOST, host, 300) && wadi_view_access_host(&server->access, host);
}

static void address_of(const Server *server, const char *host, char address[400])
{
    snprintf(address, 400, "http://%s:%d/#%s", host != NULL ? host : "127.0.0.1", server->port,
             server->access.token);
}

static void print_address(const Server *server, bool is_first)
{
    char address[400];
    address_of(server, server->def->listen, address);
    if (server->def->is_json) {
        printf("{\"event\":\"%s\",\"address\":", is_first ? "listening" : "next");
        wadi_view_json(stdout, address);
        printf(",\"port\":%d}\n", server->port);
    } else if (is_first) {
        printf("open %s\n", address);
        printf(
            "from another machine: ssh -L %d:127.0.0.1:%d THIS_MACHINE, then the same address; Ctrl-C ends\n",
            server->port, server->port);
    } else {
        printf("for another window: %s\n", address);
    }
    fflush(stdout);
}

static int refuse(struct lws *wsi, unsigned status, const char *text)
{
    lws_return_http_status(wsi, status, text);
    return -1;
}

static int on_request(Server *server, struct lws *wsi, Connection *connection, const char *path)
{
    char host[300];
    if (!wadi_view_guests_set_busy(&server->guests, wsi, true)) {
        return -1;
    }
    if (!has_good_host(server, wsi, host)) {
        return refuse(wsi, HTTP_STATUS_FORBIDDEN, "wrong Host");
    }
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0) {
        return refuse(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, "GET only");
    }
    const WadiViewFile *file = wadi_view_file_find(path);
    return file != NULL ? wadi_view_http_begin(wsi, &connection->sending, file)
                        : refuse(wsi, HTTP_STATUS_NOT_FOUND, "no such page");
}

static int on_http_writable(Server *server, struct lws *wsi, Connection *connection)
{
    const WadiViewSending *sending = &connection->sending;
    const bool has_more = sending->file != NULL && sending->file->size - sending->sent > WADI_VIEW_FRAGMENT;
    wadi_view_guests_set_busy(&server->guests, wsi, has_more);
    return wadi_view_http_write(wsi, &connection->sending, server->fragment);
}

static void drop_message(Server *server)
{
    free(server->out.data);
    server->out = (WadiViewOut){ 0 };
    server->sent = 0;
}

static int refuse_page(struct lws *wsi)
{
    static const char reason[] = "wrong token";
    lws_close_reason(wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, (unsigned char *)reason, strlen(reason));
    return -1;
}

/* The page takes the place of the one before. Only the holder of a token is given the key: a page that comes
 * back has it. */
static int let_in(Server *server, struct lws *wsi, Connection *connection, bool has_token)
{
    if (server->page != NULL) {
        Connection *before = lws_wsi_user(server->page);
        before->is_page = false;
        before->is_replaced = true;
        lws_callback_on_writable(server->page);
        lws_set_timeout(server->page, PENDING_TIMEOUT_CLOSE_SEND, 2);
    }
    drop_message(server);
    wadi_view_guests_remove(&server->guests, wsi);
    connection->is_page = true;
    server->page = wsi;
    lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
    char *greeting = NULL;
    if (asprintf(&greeting, has_token ? "{\"type\":\"session\",\"key\":\"%s\"}" : "{\"type\":\"session\"}",
                 server->access.key) < 0) {
        return -1;
    }
    wadi_view_hub_connect(&server->hub, greeting);
    if (has_token && wadi_view_access_renew(&server->access)) {
        wadi_view_browser_forget(&server->browser);
        print_address(server, false);
    }
    return 0;
}

/* What a connection may say before it is let in. */
static int on_greeting(Server *server, struct lws *wsi, Connection *connection,
                       const WadiViewMessage *message)
{
    switch (message->kind) {
    case WADI_VIEW_HELLO:
        return wadi_view_access_token(&server->access, message->text) ? let_in(server, wsi, connection, true)
                                                                      : refuse_page(wsi);
    case WADI_VIEW_BACK:
        if (connection->challenge.question[0] != '\0' ||
            !wadi_view_access_challenge(&server->access, message->name, &connection->challenge)) {
            return -1;
        }
        connection->owes_answer = true;
        lws_callback_on_writable(wsi);
        return 0;
    case WADI_VIEW_PROVE:
        return wadi_view_access_proof(&server->access, &connection->challenge, message->text)
                   ? let_in(server, wsi, connection, false)
                   : refuse_page(wsi);
    default: return -1;
    }
}

static int on_message(Server *server, struct lws *wsi, Connection *connection, const char *bytes, size_t size)
{
    WadiViewMessage message;
    if (connection->length + size >= sizeof connection->line || lws_frame_is_binary(wsi)) {
        return -1;
    }
    memcpy(connection->line + connection->length, bytes, size);
    connection->length += size;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi) > 0) {
        return 0;
    }
    const size_t length = connection->length;
    connection->length = 0;
    if (!wadi_view_message_read(connection->line, length, &message)) {
        return -1;
    }
    if (!connection->is_page) {
        return connection->is_replaced ? 0 : on_greeting(server, wsi, connection, &message);
    }
    const bool is_greeting =
        message.kind == WADI_VIEW_HELLO || message.kind == WADI_VIEW_BACK || message.kind == WADI_VIEW_PROVE;
    return !is_greeting && wadi_view_hub_receive(&server->hub, &message) ? 0 : -1;
}

/* To a connection that is not, or not any more, the page. */
static int write_answer(struct lws *wsi, Connection *connection)
{
    static const char reason[] = "another window";
    unsigned char line[LWS_PRE + 256];
    char *text = (char *)line + LWS_PRE;
    if (connection->is_replaced) {
        lws_close_reason(wsi, (enum lws_close_status)CLOSE_REPLACED, (unsigned char *)reason, strlen(reason));
        return -1;
    }
    if (!connection->owes_answer) {
        return 0;
    }
    connection->owes_answer = false;
    const int length =
        snprintf(text, sizeof line - LWS_PRE, "{\"type\":\"challenge\",\"nonce\":\"%s\",\"proof\":\"%s\"}",
                 connection->challenge.nonce, connection->challenge.proof);
    return lws_write(wsi, line + LWS_PRE, (size_t)length, LWS_WRITE_TEXT) < length ? -1 : 0;
}

/* Writes a piece of the present message; a page that does not take it in time is dropped. */
static int write_message(Server *server, struct lws *wsi, Connection *connection)
{
    if (!connection->is_page) {
        return write_answer(wsi, connection);
    }
    if (server->page != wsi) {
        return 0;
    }
    if (server->out.data == NULL && !wadi_view_hub_next(&server->hub, &server->out)) {
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0); /* it has taken everything, however long the pause is */
        return 0;
    }
    const size_t rest = server->out.size - server->sent,
                 count = rest < WADI_VIEW_FRAGMENT ? rest : WADI_VIEW_FRAGMENT;
    const bool is_last = count == rest;
    int kind = server->sent > 0        ? LWS_WRITE_CONTINUATION
               : server->out.is_binary ? LWS_WRITE_BINARY
                                       : LWS_WRITE_TEXT;
    kind |= is_last ? 0 : LWS_WRITE_NO_FIN;
    memcpy(server->fragment + LWS_PRE, server->out.data + server->sent, count);
    if (lws_write(wsi, server->fragment + LWS_PRE, count, (enum lws_write_protocol)kind) < (int)count) {
        return -1;
    }
    server->sent += count;
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, WADI_VIEW_STALLED_SECONDS);
    if (is_last) {
        drop_message(server);
    }
    lws_callback_on_writable(wsi);
    return 0;
}

static void on_arrival(Server *server, struct lws *wsi)
{
    struct lws *dropped = (struct lws *)(uintptr_t)wadi_view_guests_add(&server->guests, wsi);
    if (dropped != NULL) {
        lws_set_timeout(dropped, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    }
}

/* HTTP/2 would put many requests into one connection. */
static int on_upgrade(struct lws *wsi, const char *protocol)
{
    return strcasecmp(protocol, "websocket") == 0
               ? 0
               : refuse(wsi, HTTP_STATUS_HTTP_VERSION_NOT_SUPPORTED, "HTTP/1.1 and WebSocket only");
}

static int on_connect(const Server *server, struct lws *wsi)
{
    char host[300], origin[310];
    return has_good_host(server, wsi, host) && header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) &&
                   wadi_view_access_origin(origin, host)
               ? 0
               : -1;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
    Server *server = lws_context_user(lws_get_context(wsi));
    Connection *connection = user;
    switch (reason) {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION: return wadi_view_guests_have_room(&server->guests) ? 0 : -1;
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED: on_arrival(server, wsi); return 0;
    case LWS_CALLBACK_WSI_DESTROY: wadi_view_guests_remove(&server->guests, wsi); return 0;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return on_upgrade(wsi, in);
    case LWS_CALLBACK_HTTP: return on_request(server, wsi, connection, in);
    case LWS_CALLBACK_HTTP_WRITEABLE: return on_http_writable(server, wsi, connection);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return on_connect(server, wsi);
    case LWS_CALLBACK_ESTABLISHED:
        memset(connection, 0, sizeof *connection);
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, GREETING_SECONDS);
        return wadi_view_guests_set_busy(&server->guests, wsi, true) ? 0 : -1;
    case LWS_CALLBACK_RECEIVE: return on_message(server, wsi, connection, in, size);
    case LWS_CALLBACK_SERVER_WRITEABLE: return write_message(server, wsi, connection);
    case LWS_CALLBACK_CLOSED:
        if (server->page == wsi) {
            server->page = NULL;
            drop_message(server);
            wadi_view_hub_disconnect(&server->hub);
        }
        return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        if (server->page != NULL) {
            lws_callback_on_writable(server->page);
        }
        return 0;
    default: return 0;
    }
}

static const struct lws_protocols protocols[] = {
    { "wadi-view", on_event, sizeof(Connection), 1024, 0, NULL, 0 },
    { NULL, NULL, 0, 0, 0, NULL, 0 },
};

static bool open_port(Server *server, int port)
{
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    info.port = port;
    info.iface = server->def->listen != NULL ? server->def->listen : "127.0.0.1";
    info.protocols = protocols;
    info.user = server;
    info.gid = (gid_t)-1;
    info.uid = (uid_t)-1;
    info.timeout_secs = GREETING_SECONDS;
    info.timeout_secs_ah_idle = GREETING_SECONDS;
    info.keepalive_timeout = GREETING_SECONDS;
    info.options = LWS_SERVER_OPTION_DISABLE_IPV6 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND;
    info.max_http_header_data = 2048;
    server->context = lws_create_context(&info);
    if (server->context == NULL) {
        return false;
    }
    server->port = lws_get_vhost_port(lws_get_vhost_by_name(server->context, "default"));
    server->port = server->port > 0 ? server->port : port;
    return true;
}

static WadiStatus WADI_PRINTF(3, 4) fail(WadiError *error, WadiStatus status, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        *error = (WadiError){ .status = status };
        vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return status;
}

static WadiStatus listen_on(Server *server, WadiError *error)
{
    lws_set_log_level(0, NULL);
    const int wanted = server->def->port;
    if (wanted > 0 && !open_port(server, wanted)) {
        return fail(error, WADI_ERR_IO,
                    "port %d cannot be used; another program has it, or the address is not "
                    "of this machine: choose another with --port",
                    wanted);
    }
    for (int port = DEFAULT_PORT; server->context == NULL && port < DEFAULT_PORT + 20; ++port) {
        open_port(server, port);
    }
    if (server->context == NULL) {
        return fail(error, WADI_ERR_IO, "no port from %d on can be used; choose one with --port",
                    DEFAULT_PORT);
    }
    if (!wadi_view_access_init(&server->access, server->def->listen)) {
        return fail(error, WADI_ERR_IO, "the system gives no random numbers for a token");
    }
    return WADI_OK;
}

static void open_browser(Server *server)
{
    char address[400];
    const char *host = server->def->listen;
    wadi_view_browser_clean();
    if (server->def->opens_browser && wadi_view_browser_is_there()) {
        address_of(server, host != NULL && strcmp(host, "0.0.0.0") == 0 ? NULL : host, address);
        wadi_view_browser_open(&server->browser, address);
        server->browser_until = wadi_view_now() + WADI_VIEW_BROWSER_SECONDS;
    }
}

/* Four times a second, whatever the simulation does. It wakes the server, which sees a stop then: a signal
 * may come to another thread, or before it waits. */
static void tick(lws_sorted_usec_list_t *timer)
{
    Server *server = (Server *)(void *)((char *)timer - offsetof(Server, tick));
    if (server->ticks++ % 4 == 0) {
        wadi_view_hub_tell_busy(&server->hub);
    }
    if (wadi_view_now() > server->browser_until) {
        wadi_view_browser_forget(&server->browser);
    }
    lws_sul_schedule(server->context, 0, timer, tick, LWS_US_PER_SEC / 4);
}

static void serve(Server *server, WadiViewSession *session)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wadi_view_session_run, session) != 0) {
        return;
    }
    print_address(server, true);
    open_browser(server);
    tick(&server->tick);
    const WadiStop stop = server->def->stop;
    while (stop.is_requested == NULL || !stop.is_requested(stop.user)) {
        if (lws_service(server->context, 0) < 0) {
            break;
        }
    }
    lws_sul_cancel(&server->tick);
    wadi_view_browser_forget(&server->browser);
    wadi_view_hub_end(&server->hub);
    pthread_join(thread, NULL);
}

WadiStatus wadi_view(const WadiViewDef *def, WadiError *error)
{
    static Server server;
    static WadiViewSession session;
    if (!wadi_view_files_are_there()) {
        return fail(error, WADI_ERR_UNSUPPORTED,
                    "this wadi was built without the page of the view: install npm and build again (in the "
                    "source tree: make view)");
    }
    memset(&server, 0, sizeof server);
    server.def = def;
    wadi_view_hub_init(&server.hub);
    wadi_view_session_init(&session, def, &server.hub);
    server.fragment = malloc(LWS_PRE + WADI_VIEW_FRAGMENT);
    WadiStatus status = server.fragment != NULL ? listen_on(&server, error)
                                                : fail(error, WADI_ERR_MEMORY, "no memory for a buffer");
    if (status == WADI_OK) {
        status = wadi_view_load(&session, error);
    }
    if (status == WADI_OK) {
        server.hub.wake_user = &server;
        server.hub.wake = wake;
        serve(&server, &session);
    }
    wadi_view_session_free(&session);
    if (server.context != NULL) {
        lws_context_destroy(server.context);
    }
    drop_message(&server);
    free(server.fragment);
    wadi_view_hub_free(&server.hub);
    return status;
}
