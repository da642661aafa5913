/* The options of each command. Included by commands.c, whose table they belong to, and by nothing else. */
#ifndef WADI_CLI_OPTION_TABLES_H
#define WADI_CLI_OPTION_TABLES_H

#include "commands.h"

#define VALUE(member) offsetof(WadiCliArgs, member)

/* Versions of clang-format disagree on lists in a macro. */
/* clang-format off */
#define FLAG(name_, short_, member_, help_)                                                                  \
    { .name = name_, .short_name = short_, .kind = WADI_CLI_FLAG, .offset = VALUE(member_), .help = help_ }
#define NUMBER(name_, minimum_, maximum_, member_, help_)                                                    \
    { .name = name_, .argument = "N", .kind = WADI_CLI_NUMBER, .offset = VALUE(member_),                     \
      .minimum = minimum_, .maximum = maximum_, .help = help_ }

/* Options shared by several commands, so that their texts are equal. */
#define HELP FLAG("help", 'h', help, "Show this help and do nothing else.")
#define JSON(help_) FLAG("json", 0, json, help_)
#define FRAMES NUMBER("frames", 1, 9999999, frames, "Number of frames, instead of the scene's.")
#define SOLVER                                                                                               \
    { .name = "solver", .argument = "S", .kind = WADI_CLI_TEXT, .offset = VALUE(solver),                     \
      .choices = "points flip sph dem",                                                                      \
      .help = "points, flip, sph or dem. Short for --set solver=S." }
#define SET                                                                                                  \
    { .name = "set", .argument = "KEY=VALUE", .kind = WADI_CLI_SET,                                          \
      .help = "Override a value of the scene, such as resolution=64 or 'bodies[0].velocity=[0,0,1]'. May be "\
      "given several times; later ones win." }

#define OUTPUT                                                                                               \
    { .name = "output", .short_name = 'o', .argument = "RUN", .kind = WADI_CLI_TEXT,                         \
      .offset = VALUE(output), .files = WADI_CLI_FILES_FOLDER,                                               \
      .help = "Folder the frames go to. Without it: the scene's name with .run, in the current folder." }
/* clang-format on */
#define THREADS                                                                                              \
    NUMBER("threads", 0, 1024, threads,                                                                      \
           "Threads to use; 0 means all cores. The result does not depend on it.")
#define RESUME                                                                                               \
    FLAG("resume", 0, resume, "Continue an earlier run from its newest checkpoint; start if there is none.")
#define OVERWRITE                                                                                            \
    FLAG("overwrite", 0, overwrite, "Remove the frames an earlier run left in the folder, then start.")
#define SHARE                                                                                                \
    FLAG("share", 0, share,                                                                                  \
         "Share the frames with all processes that run the same command, on any machine that sees the "      \
         "folder."),                                                                                         \
        FLAG("wait", 0, wait,                                                                                \
             "With --share: wait for the simulation and the other processes until all is done. Without it: " \
             "exit code 75 when nothing is left to make now."),                                              \
        NUMBER(                                                                                              \
            "stale", 1, 86400, stale,                                                                        \
            "With --share: a process that gave no sign of life for N seconds has ended. Without it: 120.")
#define EVENTS JSON("Write one line of JSON an event to standard output, and nothing else there.")
#define QUIET FLAG("quiet", 'q', quiet, "Print errors only.")

static const WadiCliOption run_options[] = {
    OUTPUT,
    FRAMES,
    SOLVER,
    SET,
    THREADS,
    RESUME,
    NUMBER("from-frame", 1, 9999999, from_frame,
           "Keep the frames up to this one and simulate the later ones again, with the scene as it is now."),
    OVERWRITE,
    { .name = "changes",
      .argument = "FILE",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(changes),
      .files = WADI_CLI_FILES_ANY,
      .help = "Repeat the changes of this file, as `wadi view` saves them, each at its step." },
    EVENTS,
    QUIET,
    HELP,
};

static const WadiCliOption gallery_options[] = {
    OUTPUT,
    FLAG("print", 0, print, "Write the scene file of the entry to standard output, to start from it."),
    FRAMES,
    SET,
    THREADS,
    RESUME,
    OVERWRITE,
    JSON("List as one JSON object an entry; run with one line of JSON an event."),
    QUIET,
    HELP,
};

static const WadiCliOption bench_options[] = {
    { .name = "case",
      .argument = "CASE",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(bench_case),
      .files = WADI_CLI_FILES_CASE,
      .help = "Run this case only." },
    NUMBER("frames", 1, 9999999, frames,
           "Number of frames, instead of 24; of surface: rounds, instead of 7."),
    NUMBER("scale", 100, 100000000, scale,
           "About so many particles in each case: the same scene on a finer or coarser grid."),
    THREADS,
    JSON("Write one JSON object a case, in SI units."),
    HELP,
};

static const WadiCliOption check_options[] = {
    FRAMES,
    SOLVER,
    SET,
    FLAG("no-time", 0, no_time, "Do not estimate the time, which takes up to three seconds."),
    JSON("Write the same numbers as one JSON object, in SI units."),
    HELP,
};

/* clang-format off */
#define TEXT(name_, argument_, member_, help_)                                                               \
    { .name = name_, .argument = argument_, .kind = WADI_CLI_TEXT, .offset = VALUE(member_), .help = help_ }
#define CHOICE(name_, argument_, member_, choices_, help_)                                                   \
    { .name = name_, .argument = argument_, .kind = WADI_CLI_TEXT, .offset = VALUE(member_),                 \
      .choices = choices_, .help = help_ }
/* clang-format on */
#define UP                                                                                                   \
    CHOICE("up", "AXIS", up, "z y",                                                                          \
           "z, as wadi has it, or y: (x, y, z) becomes (x, z, -y). Without it: z. Not for vdb.")
static const WadiCliOption surface_options[] = {
    TEXT("frames", "A-B", frame_range, "These frames, or one frame A. Without it: all that are finished."),
    CHOICE("method", "M", method, "zhu_bridson anisotropic blobby color_field mls",
           "zhu_bridson, anisotropic, mls, blobby or color_field. Short for --set surface.method=M."),
    { .name = "set",
      .argument = "KEY=VALUE",
      .kind = WADI_CLI_SET,
      .help = "Override a setting of the scene's surface, such as surface.cell_size=0.004." },
    TEXT("material", "NAME", material, "This material only."),
    TEXT("subframe", "F", subframe,
         "Move particles along their velocities for this part of a frame, 0 to 1, into "
         "MATERIAL.s500.0001.ply for 0.5."),
    CHOICE("format", "LIST", format, "ply obj vdb",
           "ply, obj, vdb, or several with commas between. Without it: ply, which carries all attributes. "
           "vdb is the level set (needs OpenVDB)."),
    UP,
    { .name = "output",
      .short_name = 'o',
      .argument = "FOLDER",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(output),
      .files = WADI_CLI_FILES_FOLDER,
      .help = "Folder the meshes go to. Without it: surface in the run folder." },
    FLAG("force", 0, force, "Make existing meshes again, also those of the same particles and settings."),
    SHARE,
    THREADS,
    EVENTS,
    QUIET,
    HELP,
};

static const WadiCliOption secondary_options[] = {
    NUMBER("frames", 1, 9999999, frames, "Up to this frame. Without it: all that are finished."),
    { .name = "set",
      .argument = "KEY=VALUE",
      .kind = WADI_CLI_SET,
      .help = "Override a setting of the scene's secondary, such as secondary.amount=2." },
    FLAG("force", 0, force, "Make existing files again, also those of the same frames and settings."),
    THREADS,
    EVENTS,
    QUIET,
    HELP,
};

static const WadiCliOption render_options[] = {
    TEXT("frames", "A-B", frame_range, "These frames, or one frame A. Without it: all that are finished."),
    NUMBER("every", 1, 9999999, every, "Every N-th frame only. The video lasts as long as with all."),
    CHOICE("quality", "Q", quality, "draft preview final",
           "draft, preview or final: a few seconds, some more, or minutes a picture. Without it: preview."),
    NUMBER("samples", 1, 65536, samples, "Paths of light a pixel, whatever the quality says."),
    TEXT("size", "WxH", size,
         "Pixels of a picture, such as 1280x720. Short for --set render.width=W and render.height=H."),
    { .name = "set",
      .argument = "KEY=VALUE",
      .kind = WADI_CLI_SET,
      .help = "Override a setting of how the scene is drawn: render.KEY, materials.NAME.look.KEY, "
              "'colliders[0].look.KEY' or surface.KEY. Of a scene file also what is simulated. May be given "
              "several times; later ones win." },
    CHOICE("color", "ATTRIBUTE", color, "speed pressure rigid material",
           "False colours for an attribute, such as speed, pressure or wetness, with a scale, as "
           "NAME.ATTRIBUTE.0001.png."),
    TEXT("range", "LOW,HIGH", range, "Ends of that scale. Without it: those of the run."),
    CHOICE("map", "NAME", map, "dune lagoon split grey kinds",
           "Colours of that scale. Without it: those that fit the attribute."),
    TEXT("cut", "PLANE", cut,
         "Leave out the camera's side of a plane: x=0.5, y=0.5 or z=0.5; or a point and the direction of "
         "what is left out, PX,PY,PZ,NX,NY,NZ."),
    FLAG("layout", 0, layout,
         "Of a scene: draw what is placed, without simulating: NAME.layout.png as the camera sees it and, of "
         "a scene with a camera, NAME.overview.png from outside."),
    TEXT("time", "S", time, "Of a layout: at this time, in seconds. Without it: 0."),
    FLAG("no-video", 0, no_video, "Pictures only."),
    FLAG("gif", 0, gif, "Make an animated GIF too."),
    NUMBER("sheet", 1, 100, sheet, "Make a contact sheet of N pictures spread over those that are drawn."),
    { .name = "output",
      .short_name = 'o',
      .argument = "FOLDER",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(output),
      .files = WADI_CLI_FILES_FOLDER,
      .help = "Folder the pictures, the video and the sheet go to. Without it: the run folder, pictures in "
              "images." },
    FLAG("force", 0, force, "Draw existing pictures again, also those of the same frame and settings."),
    FLAG("overwrite", 0, overwrite, "Of a scene: remove the frames of an earlier run and simulate again."),
    SHARE,
    FLAG("video", 0, video,
         "With --share: draw nothing; make the video and the sheet when all pictures exist, else exit "
         "with code 75."),
    THREADS,
    EVENTS,
    QUIET,
    HELP,
};

static const WadiCliOption export_options[] = {
    CHOICE(
        "to", "PROGRAM", to, "pov pbrt blender usd ply obj vdb",
        "pov: scenes that povray draws as they are. pbrt: scenes for pbrt-v4. blender: a script that loads "
        "the run into Blender. usd: a stage for Houdini, Omniverse, Maya, Unreal and others. ply, obj, vdb: "
        "meshes as wadi surface makes them; ply has the particles too."),
    TEXT("frames", "A-B", frame_range, "These frames, or one frame A. Without it: all that are finished."),
    { .name = "set",
      .argument = "KEY=VALUE",
      .kind = WADI_CLI_SET,
      .help = "Override a setting of how the scene is drawn: render.KEY, materials.NAME.look.KEY, "
              "'colliders[0].look.KEY' or surface.KEY; for "
              "ply, obj and vdb surface.KEY only. May be given several times; later ones win." },
    UP,
    { .name = "output",
      .short_name = 'o',
      .argument = "FOLDER",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(output),
      .files = WADI_CLI_FILES_FOLDER,
      .help = "Folder the files go to. Without it: export/PROGRAM in the run folder." },
    FLAG("one-file", 0, one_file,
         "Of usd: all frames in one file, for programs that do not read value clips (Blender), instead of "
         "one file a frame."),
    FLAG("force", 0, force, "Write existing files again, also those of the same frame and settings."),
    THREADS,
    EVENTS,
    QUIET,
    HELP,
};

static const WadiCliOption farm_options[] = {
    CHOICE("to", "SYSTEM", to, "sh slurm openjd flamenco opencue",
           "sh: a script for this machine. slurm: batch scripts. openjd: a template of Open Job Description, "
           "for Deadline Cloud and others. flamenco: a job type. opencue: a job specification."),
    CHOICE("work", "COMMAND", work, "render surface",
           "What the tasks run: render or surface. Without it: render."),
    TEXT("frames", "A-B", frame_range, "These frames. Without it: all that the run will have."),
    NUMBER("chunk", 1, 9999999, chunk, "Frames of a task. Without it: for about 64 tasks."),
    NUMBER("cpus", 1, 1024, cpus,
           "Cores of a task. Without it: what the system gives, and all that wadi sees."),
    NUMBER("memory", 1, 99999999, memory, "Memory of a task, in MiB."),
    NUMBER("minutes", 1, 9999999, minutes, "Most time of a task, in minutes."),
    TEXT("wadi", "PROGRAM", wadi,
         "The program on the machines of the farm. Without it: wadi, as their PATH finds it."),
    { .name = "output",
      .short_name = 'o',
      .argument = "FOLDER",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(output),
      .files = WADI_CLI_FILES_FOLDER,
      .help = "Folder the job goes to. Without it: farm in the run folder." },
    JSON("Write one line of JSON with the files and the command that submits them."),
    QUIET,
    HELP,
};

static const WadiCliOption wedge_options[] = {
    { .name = "vary",
      .argument = "KEY=A,B,C",
      .kind = WADI_CLI_VARY,
      .help =
          "A key of the scene and its values, such as materials.sand.friction_angle=20,30,40. May be given "
          "several times." },
    FLAG("grid", 0, grid, "All combinations of the values; the default."),
    FLAG("zip", 0, zip, "The first values of all keys together, then the second, and so on."),
    NUMBER("index", 1, 1000, index, "This run only, from 1: for a task of an array."),
    FLAG("resume", 0, resume, "Keep runs that are finished, continue others, run failed ones again."),
    FRAMES,
    SET,
    { .name = "output",
      .short_name = 'o',
      .argument = "FOLDER",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(output),
      .files = WADI_CLI_FILES_FOLDER,
      .help = "Folder of the runs, the table and the mosaic. Without it: the scene's name with .wedge." },
    CHOICE("quality", "Q", quality, "draft preview final", "Of the mosaic's pictures. Without it: draft."),
    TEXT("size", "WxH", size, "Pixels of each of them. Without it: 480x270."),
    FLAG("no-mosaic", 0, no_mosaic, "Runs and table only."),
    THREADS,
    EVENTS,
    QUIET,
    HELP,
};

static const WadiCliOption view_options[] = {
    SOLVER,
    SET,
    { .name = "output",
      .short_name = 'o',
      .argument = "RUN",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(output),
      .files = WADI_CLI_FILES_FOLDER,
      .help = "Folder that recordings go to. Without it: the scene's name with .play.run, in the current "
              "folder." },
    NUMBER("port", 1, 65535, port, "Port of the address. Without it: 8585, or the next one that is free."),
    TEXT("listen", "ADDRESS", listen,
         "Listen on this address instead of 127.0.0.1. Others on the network then need the token; nothing is "
         "encrypted."),
    { .name = "beside",
      .argument = "RUN",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(beside),
      .files = WADI_CLI_FILES_FOLDER,
      .help = "With a run: another one, to show both side by side." },
    FLAG("paused", 0, paused, "Begin paused."),
    FLAG("no-open", 0, no_open, "Print the address only; do not open a browser."),
    THREADS,
    JSON("Print the address as a line of JSON."),
    HELP,
};

static const WadiCliOption info_options[] = {
    JSON("Write the description as JSON."),
    HELP,
};

static const WadiCliOption schema_options[] = {
    FLAG("markdown", 0, markdown, "Write the reference page of scene files instead of the schema."),
    HELP,
};

static const WadiCliOption help_options[] = { HELP };

static const WadiCliOption top_options[] = {
    HELP,
    FLAG("version", 'V', version, "Show the version and do nothing else."),
};

#endif
