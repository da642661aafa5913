/* wadi view: a scene or a run on a page in a browser. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "gallery.h"
#include "options.h"
#include "signals.h"
#ifdef WADI_HAS_VIEW
#include "view.h"
#endif

#ifdef WADI_HAS_VIEW

/* Of a gallery scene: about 15 steps a second on two cores. */
static const double LIVE_PARTICLES = 54000;

/* The scenes of the gallery, on grids that run live. Those that need the bunny are left out. */
static int find_scenes(WadiViewScene **scenes)
{
    char folder[3000], path[4096];
    int count = 0;
    *scenes = NULL;
    if (!wadi_gallery_folder(folder, sizeof folder)) {
        return 0;
    }
    WadiViewScene *list = calloc((size_t)wadi_gallery_entry_count, sizeof *list);
    for (int i = 0; list != NULL && i < wadi_gallery_entry_count; ++i) {
        const WadiGalleryEntry *entry = &wadi_gallery_entries[i];
        snprintf(path, sizeof path, "%s/%s/%s.yaml", folder, entry->name, entry->name);
        if (entry->mesh == NULL && entry->sheet_frames > 0) {
            const double share = (double)entry->particles / LIVE_PARTICLES;
            list[count++] = (WadiViewScene){ .name = entry->name,
                                             .summary = entry->summary,
                                             .path = strdup(path),
                                             .coarsen = cbrt(fmax(1.0, share)) };
        }
    }
    *scenes = list;
    return count;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Says which files of the run are not those it had. */
static void warn_of_assets(const WadiCliArgs *args)
{
    WadiRunReader *reader = NULL;
    if (wadi_run_reader_open(&reader, args->operand, NULL) == WADI_OK) {
        if (wadi_run_reader_warning(reader) != NULL && !args->quiet) {
            wadi_cli_print_message(WADI_LOG_WARNING, wadi_run_reader_warning(reader));
        }
        wadi_run_reader_close(reader);
    }
}

int wadi_cli_view(const WadiCliArgs *args)
{
    WadiViewScene *scenes = NULL;
    WadiError error = { 0 };
    WadiViewDef def = { .scene = wadi_default_scene_def(),
                        .solver = args->solver,
                        .output = args->output,
                        .threads = args->threads,
                        .port = args->port,
                        .listen = args->listen,
                        .is_json = args->json,
                        .opens_browser = !args->no_open && !args->json,
                        .is_paused = args->paused,
                        .has_surface = true,
                        .stop = wadi_cli_stop() };
    if (args->operand != NULL && is_folder(args->operand)) {
        def.run = args->operand;
        def.beside = args->beside;
        warn_of_assets(args);
    } else {
        def.scene.path = args->operand;
        def.scene.sets = args->sets;
        def.scene.set_count = args->set_count;
        def.scene_count = find_scenes(&scenes);
        def.scenes = scenes;
    }
    if (def.run == NULL && def.scene.path == NULL && def.scene_count == 0) {
        free(scenes);
        return WADI_CLI_EXIT_USAGE;
    }
    wadi_cli_catch_signals(NULL);
    const WadiStatus status = wadi_view(&def, &error);
    for (int i = 0; i < def.scene_count; ++i) {
        free(scenes[i].path);
    }
    free(scenes);
    if (status == WADI_ERR_SCENE) {
        return wadi_cli_scene_failure(args, &error, "; nothing is shown");
    }
    return status == WADI_OK ? WADI_CLI_EXIT_GOOD : wadi_cli_failure(args, &error);
}

#else

int wadi_cli_view(const WadiCliArgs *args)
{
    WadiError error = { .status = WADI_ERR_UNSUPPORTED };
    snprintf(error.text, sizeof error.text,
             "this wadi was built without libwebsockets, which the view needs: install libwebsockets-dev and "
             "npm and build again (in the source tree: make view)");
    return wadi_cli_failure(args, &error);
}

#endif
