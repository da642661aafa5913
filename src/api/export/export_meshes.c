/* Exports meshes with wadi_surface, and for PLY also the particles. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/export/export_job.h"
#include "core/alloc.h"
#include "core/hash.h"
#include "export/export_ply.h"
#include "io/files/files.h"
#include "wadi/surface.h"

typedef struct Meshes {
    WadiExportJob *job;
    WadiRunView view;
    WadiState frame;
    int64_t triangles; /* of the frame in wadi_surface's last progress call */
    bool is_kept;
} Meshes;

/* Writes the frame's particles of every material; *is_kept remains true when all files existed. */
static WadiStatus write_particles(Meshes *m, int number, bool *is_kept, int64_t *particles, WadiError *error)
{
    const WadiScene *scene = m->view.scene;
    char path[WADI_PATH_SIZE];
    WadiFrameLayout layout;
    WadiFileNames made = { 0 };
    bool is_read = false;
    WADI_TRY(wadi_run_view_read_layout(&m->view, number, &layout, error));
    WadiExportFrame frame = { .scene = scene,
                              .name = m->view.summary.name,
                              .frame = number,
                              .time = layout.header.time,
                              .fps = layout.header.fps,
                              .is_y_up = m->job->def->is_y_up,
                              .outputs = &m->job->outputs,
                              .made = &made };
    const char *version = wadi_version();
    frame.key = wadi_hash_combine(wadi_hash_bytes(frame.is_y_up, version, strlen(version)), (uint64_t)number);
    for (int a = 0; a < layout.array_count; ++a) {
        frame.key = wadi_hash_combine(frame.key, layout.array[a].checksum);
    }
    for (int material = 0; material < scene->material_count; ++material) {
        WadiCloud cloud;
        snprintf(path, sizeof path, "%s/%s.particles.%04d.ply", m->job->folder,
                 scene->materials[material].name, number);
        if (!m->job->def->is_forced && wadi_output_index_has(&m->job->outputs, path, frame.key, false) &&
            wadi_export_is_made(path, frame.key)) {
            continue;
        }
        *is_kept = false;
        if (!is_read) {
            WADI_TRY(wadi_run_view_read_frame(&m->view, number, &layout.header, &m->frame, error));
            is_read = true;
        }
        WADI_TRY(wadi_cloud_from_frame(&cloud, &m->frame, material, 0.0, error));
        WadiStatus status = wadi_export_ply_particles(&frame, path, &cloud, material, error);
        if (status == WADI_OK) {
            status = wadi_output_index_add(&m->job->outputs, &made, frame.key, error);
        }
        wadi_file_names_free(&made);
        *particles += cloud.count;
        wadi_cloud_free(&cloud);
        WADI_TRY(status);
    }
    return WADI_OK;
}

/* wadi_surface runs for one frame at a time, so that particles and progress of that frame follow its mesh. */
static void on_mesh(void *user, const WadiProgress *progress)
{
    Meshes *m = user;
    m->triangles += progress->triangles;
    m->is_kept = m->is_kept && progress->is_kept;
}

static WadiStatus export_frame(Meshes *m, int number, WadiError *error)
{
    static const WadiSurfaceFormat formats[] = { [WADI_EXPORT_PLY] = WADI_SURFACE_PLY,
                                                 [WADI_EXPORT_OBJ] = WADI_SURFACE_OBJ,
                                                 [WADI_EXPORT_VDB] = WADI_SURFACE_VDB };
    const WadiExportDef *def = m->job->def;
    int64_t particles = 0;
    WadiSurfaceDef surface = wadi_default_surface_def();
    surface.first_frame = surface.last_frame = number;
    surface.sets = def->sets;
    surface.set_count = def->set_count;
    surface.formats = formats[def->target];
    surface.folder = m->job->folder;
    surface.is_forced = def->is_forced;
    surface.is_y_up = def->is_y_up;
    surface.threads = def->threads;
    surface.stop = def->stop;
    surface.progress = on_mesh;
    surface.progress_user = m;
    m->triangles = 0;
    m->is_kept = true;
    WADI_TRY(wadi_surface(m->view.run, &surface, NULL, error));
    if (def->target == WADI_EXPORT_PLY) {
        WADI_TRY(write_particles(m, number, &m->is_kept, &particles, error));
    }
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.%04d.%s", m->job->folder, m->view.scene->materials[0].name, number,
             wadi_export_target_name(def->target));
    wadi_export_report_frame(m->job, number, number - m->view.first, m->view.last - m->view.first + 1, path,
                             m->is_kept, particles, m->triangles);
    return WADI_OK;
}

WadiStatus wadi_export_meshes(WadiExportJob *job, const char *run, WadiError *error)
{
    const WadiExportDef *def = job->def;
    if (def->target == WADI_EXPORT_VDB && def->is_y_up) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "a level set lies on its grid and is not turned: export vdb with z up");
    }
    static const char *const keys[] = { "surface", NULL };
    Meshes *m = NULL;
    WADI_TRY(WADI_NEW(&m, 1, "export", error));
    m->job = job;
    WadiRunViewDef view = { .sets = def->sets,
                            .set_count = def->set_count,
                            .keys = keys,
                            .example = "surface.radius=1",
                            .first = def->first_frame,
                            .last = def->last_frame,
                            .log = def->log };
    WadiStatus status = wadi_run_view_open(&m->view, run, &view, error);
    char problem[300];
    int clash = status == WADI_OK ? wadi_scene_name_clash(m->view.scene, problem, sizeof problem) : -1;
    if (clash >= 0 && def->target == WADI_EXPORT_PLY) {
        status = wadi_fail(error, WADI_ERR_ARGUMENT, "the material '%.100s' of %s: %s",
                           m->view.scene->materials[clash].name, run, problem);
        wadi_run_view_close(&m->view);
    }
    if (status == WADI_OK) {
        uint64_t settings = def->is_y_up;
        for (int i = 0; i < def->set_count; ++i) {
            settings = wadi_hash_bytes(settings, def->sets[i], strlen(def->sets[i]));
        }
        const WadiOutputWork work = { job->folder, "particles", wadi_run_view_work_key(&m->view, settings) };
        status = wadi_output_index_open(&job->outputs, &work, NULL, error);
        for (int number = m->view.first; number <= m->view.last && status == WADI_OK; ++number) {
            status = wadi_export_is_stopped(job)
                         ? wadi_fail(error, WADI_ERR_STOPPED, "stopped before frame %d", number)
                         : export_frame(m, number, error);
        }
        wadi_output_index_close(&job->outputs);
        wadi_state_free(&m->frame);
        wadi_run_view_close(&m->view);
    }
    WADI_DELETE(m, 1);
    return status;
}
