#include "view_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A unit vector as two bytes: the octahedron unfolded to a square. */
static uint16_t pack_normal(const float n[3])
{
    const float sum = fabsf(n[0]) + fabsf(n[1]) + fabsf(n[2]);
    float u = sum > 0.0f ? n[0] / sum : 0.0f, v = sum > 0.0f ? n[1] / sum : 0.0f;
    if (n[2] < 0.0f) {
        const float a = (1.0f - fabsf(v)) * (u < 0.0f ? -1.0f : 1.0f);
        v = (1.0f - fabsf(u)) * (v < 0.0f ? -1.0f : 1.0f);
        u = a;
    }
    const int x = (int)lrintf((u + 1.0f) * 127.5f), y = (int)lrintf((v + 1.0f) * 127.5f);
    return (uint16_t)(x | y << 8);
}

typedef struct Head {
    uint32_t kind, index, vertices, triangles;
    double low[3], size[3];
} Head;

static Head measure(const WadiMeshData *mesh, int kind, int index)
{
    Head head = { .kind = (uint32_t)kind,
                  .index = (uint32_t)index,
                  .vertices = (uint32_t)mesh->vertex_count,
                  .triangles = (uint32_t)mesh->triangle_count };
    for (int c = 0; c < 3; ++c) {
        double low = INFINITY, high = -INFINITY;
        for (size_t v = 0; v < mesh->vertex_count; ++v) {
            low = fmin(low, mesh->position[3 * v + (size_t)c]);
            high = fmax(high, mesh->position[3 * v + (size_t)c]);
        }
        head.low[c] = mesh->vertex_count > 0 ? low : 0.0;
        head.size[c] = mesh->vertex_count > 0 ? high - low : 0.0;
    }
    return head;
}

unsigned char *wadi_view_mesh_message(const WadiMeshData *mesh, int kind, int index, size_t *size)
{
    const bool is_packed = kind == 2;
    const size_t each = is_packed ? 8 : 12;
    if (mesh->vertex_count > 10000000 || mesh->triangle_count > 20000000) {
        return NULL;
    }
    const Head head = measure(mesh, kind, index);
    *size = sizeof head + each * mesh->vertex_count + 12 * mesh->triangle_count;
    unsigned char *data = malloc(*size);
    if (data == NULL) {
        return NULL;
    }
    memcpy(data, &head, sizeof head);
    unsigned char *at = data + sizeof head;
    for (size_t v = 0; v < mesh->vertex_count; ++v, at += each) {
        float exact[3];
        uint16_t packed[4] = { 0 };
        for (size_t c = 0; c < 3; ++c) {
            const double x = mesh->position[3 * v + c] - head.low[c];
            exact[c] = (float)x;
            packed[c] = (uint16_t)(head.size[c] > 0.0 ? x / head.size[c] * 65535.0 + 0.5 : 0.0);
        }
        packed[3] = mesh->normal != NULL ? pack_normal(mesh->normal + 3 * v) : 0;
        memcpy(at, is_packed ? (const void *)packed : (const void *)exact, each);
    }
    if (mesh->triangle_count > 0) {
        memcpy(at, mesh->triangle, 12 * mesh->triangle_count);
    }
    return data;
}

static void make_surface(WadiViewSurface *surface)
{
    WadiParticleData particles = wadi_default_particle_data();
    particles.count = surface->count;
    particles.position = surface->position;
    particles.spacing = surface->spacing;
    WadiMeshDef def = wadi_default_mesh_def();
    def.threads = 1;
    WadiMeshData mesh = { 0 };
    WadiError error;
    const double start = wadi_view_now();
    if (wadi_particles_surface(surface->scene, &particles, &def, &mesh, &error) == WADI_OK) {
        size_t size = 0;
        unsigned char *data = wadi_view_mesh_message(&mesh, 2, 0, &size);
        wadi_view_hub_send(surface->hub, data, size, true, 0);
    }
    wadi_mesh_release(&mesh);
    surface->seconds = wadi_view_now() - start;
}

static void *work(void *user)
{
    WadiViewSurface *surface = user;
    pthread_mutex_lock(&surface->lock);
    while (!surface->quit) {
        if (!surface->has_work) {
            pthread_cond_wait(&surface->changed, &surface->lock);
            continue;
        }
        surface->has_work = false;
        pthread_mutex_unlock(&surface->lock);
        make_surface(surface);
        atomic_store(&surface->is_busy, false);
        pthread_mutex_lock(&surface->lock);
    }
    pthread_mutex_unlock(&surface->lock);
    return NULL;
}

static bool copy_water(WadiViewSurface *surface, const WadiView *x, const WadiView *material,
                       const bool *is_water)
{
    surface->count = 0;
    if (x->count > surface->capacity) {
        double *grown = realloc(surface->position, (x->count + x->count / 4) * 3 * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        surface->position = grown;
        surface->capacity = x->count + x->count / 4;
    }
    for (size_t i = 0; i < x->count; ++i) {
        const uint8_t m = *((const uint8_t *)material->data[0] + i * material->stride);
        for (int c = 0; c < 3 && is_water[m]; ++c) {
            const void *at = (const char *)x->data[c] + i * x->stride;
            surface->position[3 * surface->count + (size_t)c] = *(const double *)at;
        }
        surface->count += is_water[m];
    }
    return surface->count > 0;
}

void wadi_view_surface_offer(WadiViewSurface *surface, WadiViewHub *hub, const WadiScene *scene,
                             const WadiView *position, const WadiView *material, const bool *is_water,
                             double spacing)
{
    if (!surface->has_thread) {
        pthread_mutex_init(&surface->lock, NULL);
        pthread_cond_init(&surface->changed, NULL);
        surface->quit = false;
        surface->has_thread = pthread_create(&surface->thread, NULL, work, surface) == 0;
    }
    if (atomic_load(&surface->is_busy) || !copy_water(surface, position, material, is_water)) {
        return;
    }
    surface->hub = hub;
    surface->scene = scene;
    surface->spacing = spacing;
    if (!surface->has_thread) {
        make_surface(surface); /* a page without threads */
        return;
    }
    atomic_store(&surface->is_busy, true);
    pthread_mutex_lock(&surface->lock);
    surface->has_work = true;
    pthread_cond_signal(&surface->changed);
    pthread_mutex_unlock(&surface->lock);
}

void wadi_view_surface_stop(WadiViewSurface *surface)
{
    if (surface->has_thread) {
        pthread_mutex_lock(&surface->lock);
        surface->quit = true;
        pthread_cond_signal(&surface->changed);
        pthread_mutex_unlock(&surface->lock);
        pthread_join(surface->thread, NULL);
        pthread_mutex_destroy(&surface->lock);
        pthread_cond_destroy(&surface->changed);
    }
    free(surface->position);
    *surface = (WadiViewSurface){ 0 };
}
