/* Between the thread that serves the page and the one that simulates: messages in, bytes out. All of it is
 * bounded: a page that sends too much or reads too little loses messages or its connection, never memory. */
#ifndef WADI_VIEW_HUB_H
#define WADI_VIEW_HUB_H

#include <pthread.h>
#include <stdatomic.h>

#include "view_message.h"
#include "view_picture.h"

enum { WADI_VIEW_INBOX = 128, WADI_VIEW_OUTBOX = 256 };

/* One message to the page. */
typedef struct WadiViewOut {
    unsigned char *data; /* owned; malloc */
    size_t size;
    bool is_binary;
    uint32_t picture; /* its number; 0: none */
} WadiViewOut;

typedef struct WadiViewHub {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    WadiViewMessage inbox[WADI_VIEW_INBOX];
    int inbox_count;
    WadiViewOut outbox[WADI_VIEW_OUTBOX];
    int outbox_first, outbox_count;
    atomic_bool has_page;        /* one is connected and let in */
    unsigned generation;         /* of pages: a new one has nothing yet */
    int unseen;                  /* pictures sent and not acknowledged */
    int waiting;                 /* of these in the outbox */
    uint32_t last;               /* number of the newest picture */
    double sent_at;              /* s: when it was sent */
    double ack_seconds;          /* how long the last one took */
    _Atomic(const char *) doing; /* of the simulation's thread; static storage; NULL: it waits */
    _Atomic double doing_since;  /* s */
    atomic_bool quit;
    void (*wake)(void *user); /* the server has something to send */
    void *wake_user;
} WadiViewHub;

void wadi_view_hub_init(WadiViewHub *hub);
void wadi_view_hub_free(WadiViewHub *hub);
/* The simulation ends after its turn; the server is not woken any more. */
void wadi_view_hub_end(WadiViewHub *hub);
double wadi_view_now(void); /* s */

/* Of the server. A full inbox drops its oldest message of a drag or slider, which others follow. False: it
 * has none of these, the page sends too much. */
bool wadi_view_hub_receive(WadiViewHub *hub, const WadiViewMessage *message);
/* A page is let in. `greeting` (taken; NULL: none) is the first message that it gets. */
void wadi_view_hub_connect(WadiViewHub *hub, char *greeting);
void wadi_view_hub_disconnect(WadiViewHub *hub);
/* The next message for the page, which the caller frees; false: none. */
bool wadi_view_hub_next(WadiViewHub *hub, WadiViewOut *out);

/* Sends the page what the simulation has been doing for longer than a second: it cannot do so itself. Called
 * once a second. */
void wadi_view_hub_tell_busy(WadiViewHub *hub);

/* Of the simulation. What it does from now on, a literal; NULL: it waits for messages. */
void wadi_view_hub_do(WadiViewHub *hub, const char *what);
/* Takes `data`. `picture` is the number of a picture, which is under way until the page
 * acknowledges it or a later one; 0: another message. */
void wadi_view_hub_send(WadiViewHub *hub, unsigned char *data, size_t size, bool is_binary, uint32_t picture);
/* The page has room for a picture: at most `others` are under way. */
bool wadi_view_hub_has_room(WadiViewHub *hub, int others);
/* How long the page took for the last picture, s. */
double wadi_view_hub_ack_seconds(WadiViewHub *hub);
/* Moves the waiting messages to `messages` (WADI_VIEW_INBOX); waits up to `seconds` when there are none. */
int wadi_view_hub_take(WadiViewHub *hub, WadiViewMessage *messages, double seconds);

#endif
