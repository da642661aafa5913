/* Work in a thread of its own, beside the caller's: reading and writing of files while something is computed.
 * It must not fail without saying so in its context, and its loops are serial. */
#ifndef WADI_CORE_BACKGROUND_H
#define WADI_CORE_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>

/* A zeroed one is valid and idle. It must not move while it works. */
typedef struct WadiBackground {
    void (*work)(void *context);
    void *context;
    pthread_t thread;
    bool is_running;
} WadiBackground;

/* Waits for earlier work first. Where no thread can be started the work is done before this returns. */
void wadi_background_start(WadiBackground *background, void (*work)(void *context), void *context);
/* Waits until the work is done. */
void wadi_background_join(WadiBackground *background);

#endif
