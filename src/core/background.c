#include "core/background.h"

#include <signal.h>

#include "core/parallel.h"

static void *run(void *context)
{
    const WadiBackground *background = context;
    wadi_parallel_set_threads(1);
    background->work(background->context);
    return NULL;
}

void wadi_background_start(WadiBackground *background, void (*work)(void *context), void *context)
{
    wadi_background_join(background);
    background->work = work;
    background->context = context;
    /* The caller's handlers must not run in the thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    background->is_running = pthread_create(&background->thread, NULL, run, background) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!background->is_running) {
        work(context);
    }
}

void wadi_background_join(WadiBackground *background)
{
    if (background->is_running) {
        pthread_join(background->thread, NULL);
        background->is_running = false;
    }
}
