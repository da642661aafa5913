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

#define AT(member) offsetof(WadiCliArgs, member)

const WadiCliOption wadi_cli_view_options[WADI_CLI_VIEW_OPTIONS] = {
    { .name = "solver",
      .argument = "S",
      .kind = WADI_CLI_TEXT,
      .offset = AT(solver),
      .help = "Simulate with this solver, whatever the scene says. Short for --set solver=S." },
    { .name = "set",
      .argument = "KEY=VALUE",
      .kind = WADI_CLI_SET,
      .help = "Override a value of the scene, such as resolution=40. May be given several times." },
    { .name = "output",
      .short_name = 'o',
      .argument = "RUN",
      .kind = WADI_CLI_TEXT,
      .offset = AT(output),
      .files = WADI_CLI_FILES_FOLDER,
      .help = "Folder that recordings go to. Without it: the scene's name with .play.run, in the current "
              "folder." },
    { .name = "port",
      .argument = "N",
      .kind = WADI_CLI_NUMBER,
      .offset = AT(port),
      .minimum = 1,
      .maximum = 65535,
      .help = "Port of the address. Without it: 8585, or the next one that is free." },
    { .name = "listen",
      .argument = "ADDRESS",
      .kind = WADI_CLI_TEXT,
      .offset = AT(listen),
      .help = "Listen on this address of the machine instead of 127.0.0.1. Others on the network can then "
              "reach the page, and need the token still; nothing is encrypted." },
    { .name = "paused", .kind = WADI_CLI_FLAG, .offset = AT(paused), .help = "Begin paused." },
    { .name = "no-open",
      .kind = WADI_CLI_FLAG,
      .offset = AT(no_open),
      .help = "Print the address only; do not open a browser." },
    { .name = "threads",
      .argument = "N",
      .kind = WADI_CLI_NUMBER,
      .offset = AT(threads),
      .maximum = 1024,
      .help = "Threads to use; 0 means all cores. The result does not depend on it." },
    { .name = "json",
      .kind = WADI_CLI_FLAG,
      .offset = AT(json),
      .help = "Print the address as a line of JSON." },
    { .name = "help",
      .short_name = 'h',
      .kind = WADI_CLI_FLAG,
      .offset = AT(help),
      .help = "Show this help and do nothing else." },
};

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
                        .stop = wadi_cli_stop_flag() };
    if (args->operand != NULL && is_folder(args->operand)) {
        def.run = args->operand;
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
