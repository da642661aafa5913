#include "view_hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double wadi_view_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void wadi_view_hub_init(WadiViewHub *hub)
{
    memset(hub, 0, sizeof *hub);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&hub->lock, NULL);
    pthread_cond_init(&hub->changed, &clock);
    pthread_condattr_destroy(&clock);
}

static void clear_outbox(WadiViewHub *hub)
{
    while (hub->outbox_count > 0) {
        free(hub->outbox[hub->outbox_first].data);
        hub->outbox_first = (hub->outbox_first + 1) % WADI_VIEW_OUTBOX;
        hub->outbox_count -= 1;
    }
    hub->waiting = 0;
}

void wadi_view_hub_free(WadiViewHub *hub)
{
    clear_outbox(hub);
    pthread_cond_destroy(&hub->changed);
    pthread_mutex_destroy(&hub->lock);
}

void wadi_view_hub_end(WadiViewHub *hub)
{
    pthread_mutex_lock(&hub->lock);
    hub->wake = NULL;
    hub->quit = true;
    pthread_cond_signal(&hub->changed);
    pthread_mutex_unlock(&hub->lock);
}

/* Messages of a drag or a slider: the next one follows soon. */
static bool is_repeated(WadiViewKind kind)
{
    return kind == WADI_VIEW_POUR || kind == WADI_VIEW_DIG || kind == WADI_VIEW_PUSH ||
           kind == WADI_VIEW_SET || kind == WADI_VIEW_WET || kind == WADI_VIEW_SEEK;
}

static bool make_room(WadiViewHub *hub)
{
    int oldest = 0;
    while (oldest < hub->inbox_count && !is_repeated(hub->inbox[oldest].kind)) {
        oldest += 1;
    }
    if (oldest == hub->inbox_count) {
        return false;
    }
    hub->inbox_count -= 1;
    memmove(&hub->inbox[oldest], &hub->inbox[oldest + 1],
            (size_t)(hub->inbox_count - oldest) * sizeof hub->inbox[0]);
    return true;
}

bool wadi_view_hub_receive(WadiViewHub *hub, const WadiViewMessage *message)
{
    bool has_room = true;
    pthread_mutex_lock(&hub->lock);
    if (message->kind == WADI_VIEW_ACK) {
        /* Pages count to a million. The picture before the newest: that one is still under way. */
        const bool is_earlier = (message->number + 1) % 1000000 == (long)(hub->last % 1000000);
        hub->unseen = is_earlier && hub->unseen > 1 ? 1 : 0;
        hub->ack_seconds = wadi_view_now() - hub->sent_at;
    } else if (hub->inbox_count < WADI_VIEW_INBOX || make_room(hub)) {
        hub->inbox[hub->inbox_count++] = *message;
    } else {
        has_room = false;
    }
    pthread_cond_signal(&hub->changed);
    pthread_mutex_unlock(&hub->lock);
    return has_room;
}

void wadi_view_hub_connect(WadiViewHub *hub, char *greeting)
{
    pthread_mutex_lock(&hub->lock);
    clear_outbox(hub);
    if (greeting != NULL) {
        hub->outbox[hub->outbox_first] =
            (WadiViewOut){ (unsigned char *)greeting, strlen(greeting), false, 0 };
        hub->outbox_count = 1;
    }
    hub->inbox_count = 0;
    hub->has_page = true;
    hub->unseen = 0;
    hub->ack_seconds = 0.0;
    hub->generation += 1;
    pthread_cond_signal(&hub->changed);
    void (*wake)(void *user) = hub->wake;
    pthread_mutex_unlock(&hub->lock);
    if (wake != NULL) {
        wake(hub->wake_user);
    }
}

void wadi_view_hub_disconnect(WadiViewHub *hub)
{
    pthread_mutex_lock(&hub->lock);
    clear_outbox(hub);
    hub->has_page = false;
    pthread_cond_signal(&hub->changed);
    pthread_mutex_unlock(&hub->lock);
}

bool wadi_view_hub_next(WadiViewHub *hub, WadiViewOut *out)
{
    pthread_mutex_lock(&hub->lock);
    const bool has_one = hub->outbox_count > 0;
    if (has_one) {
        *out = hub->outbox[hub->outbox_first];
        hub->outbox_first = (hub->outbox_first + 1) % WADI_VIEW_OUTBOX;
        hub->outbox_count -= 1;
        hub->waiting -= out->picture > 0;
    }
    pthread_mutex_unlock(&hub->lock);
    return has_one;
}

void wadi_view_hub_send(WadiViewHub *hub, unsigned char *data, size_t size, bool is_binary, uint32_t picture)
{
    pthread_mutex_lock(&hub->lock);
    if (data == NULL || !hub->has_page || hub->outbox_count == WADI_VIEW_OUTBOX) {
        free(data);
    } else {
        const int last = (hub->outbox_first + hub->outbox_count) % WADI_VIEW_OUTBOX;
        hub->outbox[last] = (WadiViewOut){ data, size, is_binary, picture };
        hub->outbox_count += 1;
        if (picture > 0) {
            hub->unseen += 1;
            hub->waiting += 1;
            hub->last = picture;
            hub->sent_at = wadi_view_now();
        }
    }
    void (*wake)(void *user) = hub->wake;
    pthread_mutex_unlock(&hub->lock);
    if (wake != NULL) {
        wake(hub->wake_user);
    }
}

void wadi_view_hub_do(WadiViewHub *hub, const char *what)
{
    atomic_store(&hub->doing_since, wadi_view_now());
    atomic_store(&hub->doing, what);
}

void wadi_view_hub_tell_busy(WadiViewHub *hub)
{
    const char *doing = atomic_load(&hub->doing);
    const double seconds = wadi_view_now() - atomic_load(&hub->doing_since);
    char *text = NULL;
    if (doing != NULL && seconds > 1.0 &&
        asprintf(&text, "{\"type\":\"busy\",\"what\":\"%s\",\"seconds\":%.0f}", doing, seconds) >= 0) {
        wadi_view_hub_send(hub, (unsigned char *)text, strlen(text), false, 0);
    }
}

bool wadi_view_hub_has_room(WadiViewHub *hub, int others)
{
    pthread_mutex_lock(&hub->lock);
    const bool has_room = hub->has_page && hub->unseen <= others && hub->waiting <= others;
    pthread_mutex_unlock(&hub->lock);
    return has_room;
}

double wadi_view_hub_ack_seconds(WadiViewHub *hub)
{
    pthread_mutex_lock(&hub->lock);
    const double seconds = hub->ack_seconds;
    pthread_mutex_unlock(&hub->lock);
    return seconds;
}

int wadi_view_hub_take(WadiViewHub *hub, WadiViewMessage *messages, double seconds)
{
    pthread_mutex_lock(&hub->lock);
    if (hub->inbox_count == 0 && seconds > 0.0 && !hub->quit) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        const double at = (double)until.tv_nsec * 1e-9 + seconds;
        until.tv_sec += (time_t)at;
        until.tv_nsec = (long)((at - (double)(time_t)at) * 1e9);
        pthread_cond_timedwait(&hub->changed, &hub->lock, &until);
    }
    const int count = hub->inbox_count;
    memcpy(messages, hub->inbox, (size_t)count * sizeof *messages);
    hub->inbox_count = 0;
    pthread_mutex_unlock(&hub->lock);
    return count;
}
