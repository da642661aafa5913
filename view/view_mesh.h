/* Meshes for the page: colliders, and the surface of water, made by a thread of its own. */
#ifndef WADI_VIEW_MESH_H
#define WADI_VIEW_MESH_H

#include <stdatomic.h>

#include "view_hub.h"

/* kind 2: a surface, quantised; kind 3: collider `index`, in single precision. Freed by the caller; NULL: no
 * memory, or nothing to show. */
unsigned char *wadi_view_mesh_message(const WadiMeshData *mesh, int kind, int index, size_t *size);

typedef struct WadiViewSurface {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_thread, quit;
    bool has_work; /* positions wait for the thread */
    atomic_bool is_busy;
    double *position; /* of the water, three a particle */
    size_t count, capacity;
    double spacing;         /* m */
    const WadiScene *scene; /* settings; owned by the session, not changed while busy */
    WadiViewHub *hub;
    _Atomic double seconds; /* of the last surface */
} WadiViewSurface;

/* Takes a copy of the particles of one material and makes their surface, unless it is still busy. */
void wadi_view_surface_offer(WadiViewSurface *surface, WadiViewHub *hub, const WadiScene *scene,
                             const WadiView *position, const WadiView *material, const bool *is_water,
                             double spacing);
/* Waits for the thread; nothing of the scene is used afterwards. */
void wadi_view_surface_stop(WadiViewSurface *surface);

#endif
