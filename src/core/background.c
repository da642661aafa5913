#include "core/background.h"

#include "core/os/os_thread.h"
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
    background->is_running = wadi_os_thread_start(&background->thread, run, background) == 0;
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
