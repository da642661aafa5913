/* Simulates half a second of water in memory, goes on from a checkpoint in memory, and writes the water's
 * surface as a Wavefront OBJ file; no run folder anywhere: surface_in_memory FILE.obj Build: cc
 * surface_in_memory.c $(pkg-config --cflags --libs wadi) -o surface_in_memory */
#include <stdio.h>
#include <wadi/wadi.h>

static const char scene_text[] =
    "{wadi: 1, solver: flip, cell_size: 0.04, fps: 24, domain: {min: [0, 0, 0], max: [1, 0.5, 0.6]},\n"
    " materials: {water: {kind: water}},\n"
    " bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.4, 0.5, 0.4]}}}]}\n";

static WadiStatus step_frames(WadiSim *sim, int frames, WadiError *error)
{
    WadiStatus status = WADI_OK;
    for (int i = 0; i < frames && status == WADI_OK; ++i) {
        status = wadi_sim_step_frame(sim, error);
    }
    return status;
}

/* Six frames, a checkpoint, and six more of another simulation that goes on from it. */
static WadiStatus simulate(WadiSim **sim, const WadiScene *scene, WadiError *error)
{
    const WadiSimDef def = wadi_default_sim_def();
    WadiBuffer checkpoint = { 0 };
    WadiStatus status = wadi_sim_create(sim, scene, &def, error);
    if (status == WADI_OK) {
        status = step_frames(*sim, 6, error);
    }
    if (status == WADI_OK) {
        status = wadi_sim_save(*sim, &checkpoint, error);
    }
    wadi_sim_destroy(*sim);
    *sim = NULL;
    if (status == WADI_OK) {
        status = wadi_sim_load(sim, scene, &def, checkpoint.bytes, checkpoint.size, error);
    }
    wadi_buffer_release(&checkpoint);
    return status == WADI_OK ? step_frames(*sim, 6, error) : status;
}

static int write_obj(const char *path, const WadiMeshData *mesh)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        const double *x = mesh->position + 3 * v;
        const float *n = mesh->normal + 3 * v;
        fprintf(file, "v %.7g %.7g %.7g\nvn %.4f %.4f %.4f\n", x[0], x[1], x[2], (double)n[0], (double)n[1],
                (double)n[2]);
    }
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangle + 3 * t;
        fprintf(file, "f %u//%u %u//%u %u//%u\n", v[0] + 1, v[0] + 1, v[1] + 1, v[1] + 1, v[2] + 1, v[2] + 1);
    }
    printf("%zu triangles in %s\n", mesh->triangle_count, path);
    return fclose(file) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE.obj\n", argv[0]);
        return 2;
    }
    WadiError error;
    WadiScene *scene = NULL;
    WadiSim *sim = NULL;
    WadiMeshData mesh = { 0 };
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.text = scene_text;
    WadiStatus status = wadi_scene_load(&scene, &scene_def, &error);
    if (status == WADI_OK) {
        status = simulate(&sim, scene, &error);
    }
    if (status == WADI_OK) {
        WadiMeshDef def = wadi_default_mesh_def();
        def.material = "water";
        status = wadi_sim_surface(sim, &def, &mesh, &error);
    }
    int failed = status != WADI_OK;
    if (failed) {
        fprintf(stderr, "%s: %s\n", wadi_status_name(status), error.text);
    } else {
        failed = write_obj(argv[1], &mesh);
    }
    wadi_mesh_release(&mesh);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return failed;
}
