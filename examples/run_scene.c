/* Simulates a scene file into a run folder and shows how far it is: run_scene SCENE [FOLDER]
 * Build: cc run_scene.c $(pkg-config --cflags --libs wadi) -o run_scene */
#include <stdio.h>
#include <wadi/wadi.h>

static void show(void *user, const WadiProgress *progress)
{
    (void)user;
    if (progress->is_frame_done) {
        printf("frame %d of %d, %lld particles, %.1f s\n", progress->frame, progress->frame_count,
               (long long)progress->particles, progress->seconds);
    }
}

static void warn(void *user, WadiLogLevel level, const char *text)
{
    (void)user;
    fprintf(stderr, "%s%s\n", level == WADI_LOG_WARNING ? "warning: " : "", text);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s SCENE [FOLDER]\n", argv[0]);
        return 2;
    }
    WadiError error;
    WadiScene *scene = NULL;
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.path = argv[1];
    WadiStatus status = wadi_scene_load(&scene, &scene_def, &error);

    if (status == WADI_OK) {
        WadiRunReport report;
        WadiRunDef run_def = wadi_default_run_def();
        run_def.folder = argc > 2 ? argv[2] : NULL;
        run_def.mode = WADI_RUN_RESUME; /* goes on where an earlier run was stopped */
        run_def.progress = show;
        run_def.log.function = warn;
        status = wadi_run(scene, &run_def, &report, &error);
        WadiRunInfo info = { 0 };
        if (status == WADI_OK) {
            status =
                wadi_run_info_read(&info, report.folder, &error); /* what run.json says, over all sessions */
        }
        if (status == WADI_OK) {
            printf("%d frames in %s\n", info.frames, report.folder);
            for (int m = 0; m < info.material_count; ++m) {
                printf("%lld particles of %s\n", (long long)info.materials[m].particles,
                       info.materials[m].name);
            }
        }
        wadi_run_info_release(&info);
    }
    if (status != WADI_OK) {
        fprintf(stderr, "%s: %s\n", wadi_status_name(status), error.text);
    }
    wadi_scene_destroy(scene);
    return status == WADI_OK ? 0 : 1;
}
