/* The states and surfaces of scenes as hashes, a line for each: states SCENE.yaml... Scenes that this build
 * has no library for are left out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wadi/wadi.h>

#include "core/hash.h"

static const int thread_counts[] = { 1, 2, 5 };

static uint64_t mesh_hash(const WadiMeshData *mesh)
{
    const uint64_t hash = wadi_hash_bytes(0, mesh->position, 3 * mesh->vertex_count * sizeof *mesh->position);
    return wadi_hash_bytes(hash, mesh->triangle, 3 * mesh->triangle_count * sizeof *mesh->triangle);
}

/* The state after the first and the last frame, and the surface then. */
static WadiStatus print_states(const WadiScene *scene, const char *name, int threads, WadiError *error)
{
    WadiSim *sim = NULL;
    WadiMeshData mesh = { 0 };
    WadiSimDef def = wadi_default_sim_def();
    WadiMeshDef mesh_def = wadi_default_mesh_def();
    def.threads = mesh_def.threads = threads;
    WadiStatus status = wadi_sim_create(&sim, scene, &def, error);
    const uint64_t first = status == WADI_OK ? wadi_sim_state_hash(sim) : 0;
    for (int frame = 1; frame < wadi_scene_frames(scene) && status == WADI_OK; ++frame) {
        status = wadi_sim_step_frame(sim, error);
    }
    if (status == WADI_OK) {
        status = wadi_sim_surface(sim, &mesh_def, &mesh, error);
    }
    if (status == WADI_OK) {
        printf("%s %016" PRIx64 " %016" PRIx64 " surface %016" PRIx64 "\n", name, first,
               wadi_sim_state_hash(sim), mesh_hash(&mesh));
    }
    wadi_mesh_release(&mesh);
    wadi_sim_destroy(sim);
    return status;
}

int main(int count, char **paths)
{
    int failed = count < 2;
    for (int i = 1; i < count; ++i) {
        WadiError error = { 0 };
        WadiScene *scene = NULL;
        WadiSceneDef def = wadi_default_scene_def();
        def.path = paths[i];
        const char *slash = strrchr(paths[i], '/');
        const char *name = slash != NULL ? slash + 1 : paths[i];
        WadiStatus status = wadi_scene_load(&scene, &def, &error);
        if (status == WADI_OK) {
            status = print_states(scene, name, thread_counts[i % 3], &error);
        }
        wadi_scene_destroy(scene);
        if (status != WADI_OK && status != WADI_ERR_UNSUPPORTED) {
            fprintf(stderr, "%s: %s: %s\n", name, wadi_status_name(status), error.text);
            failed = 1;
        }
    }
    return failed;
}
