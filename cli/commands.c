#include "commands.h"

#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define VALUE(member) offsetof(WadiCliArgs, member)

#define FLAG(name_, short_, member_, help_)                                                                  \
    {                                                                                                        \
        .name = name_, .short_name = short_, .kind = WADI_CLI_FLAG, .offset = VALUE(member_), .help = help_  \
    }
#define NUMBER(name_, minimum_, maximum_, member_, help_)                                                    \
    {                                                                                                        \
        .name = name_, .argument = "N", .kind = WADI_CLI_NUMBER, .offset = VALUE(member_),                   \
        .minimum = minimum_, .maximum = maximum_, .help = help_                                              \
    }

/* Options shared by several commands, so that their texts are equal. */
#define HELP FLAG("help", 'h', help, "Show this help and do nothing else.")
#define JSON(help_) FLAG("json", 0, json, help_)
#define FRAMES NUMBER("frames", 1, 9999999, frames, "Number of frames, instead of the scene's.")
#define SOLVER                                                                                               \
    {                                                                                                        \
        .name = "solver", .argument = "S", .kind = WADI_CLI_TEXT, .offset = VALUE(solver),                   \
        .choices = "points flip sph",                                                                        \
        .help = "Simulate with this solver, whatever the scene says. Short for --set solver=S."              \
    }
#define SET                                                                                                  \
    {                                                                                                        \
        .name = "set", .argument = "KEY=VALUE", .kind = WADI_CLI_SET,                                        \
        .help =                                                                                              \
            "Override a value of the scene, such as resolution=64 or 'bodies[0].velocity=[0,0,1]'. May be "  \
            "given several times; later ones win."                                                           \
    }

#define OUTPUT                                                                                               \
    {                                                                                                        \
        .name = "output", .short_name = 'o', .argument = "RUN", .kind = WADI_CLI_TEXT,                       \
        .offset = VALUE(output), .files = WADI_CLI_FILES_FOLDER,                                             \
        .help = "Folder the frames go to. Without it: the scene's name with .run, in the current folder."    \
    }
#define THREADS                                                                                              \
    NUMBER("threads", 0, 1024, threads,                                                                      \
           "Threads to use; 0 means all cores. The result does not depend on it.")
#define RESUME                                                                                               \
    FLAG("resume", 0, resume, "Continue an earlier run from its newest checkpoint; start if there is none.")
#define OVERWRITE                                                                                            \
    FLAG("overwrite", 0, overwrite, "Remove the frames an earlier run left in the folder, then start.")
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
    FRAMES, SOLVER, SET, JSON("Write the same numbers as one JSON object, in SI units."), HELP,
};

#define TEXT(name_, argument_, member_, help_)                                                               \
    {                                                                                                        \
        .name = name_, .argument = argument_, .kind = WADI_CLI_TEXT, .offset = VALUE(member_), .help = help_ \
    }
#define CHOICE(name_, argument_, member_, choices_, help_)                                                   \
    {                                                                                                        \
        .name = name_, .argument = argument_, .kind = WADI_CLI_TEXT, .offset = VALUE(member_),               \
        .choices = choices_, .help = help_                                                                   \
    }
#define UP                                                                                                   \
    CHOICE("up", "AXIS", up, "z y",                                                                          \
           "z, as wadi has it, or y: (x, y, z) becomes (x, z, -y). Without it: z. Not for vdb.")
static const WadiCliOption surface_options[] = {
    TEXT("frames", "A-B", frame_range, "These frames, or one frame A. Without it: all that are finished."),
    CHOICE("method", "M", method, "zhu_bridson anisotropic blobby color_field",
           "zhu_bridson, anisotropic, blobby or color_field, whatever the scene says. Short for --set "
           "surface.method=M."),
    { .name = "set",
      .argument = "KEY=VALUE",
      .kind = WADI_CLI_SET,
      .help =
          "Override a setting of the scene's surface, such as surface.cell_size=0.004. May be given several "
          "times; later ones win." },
    TEXT("material", "NAME", material, "This material only."),
    TEXT("subframe", "F", subframe,
         "Move particles along their velocities for this part of a frame, 0 to 1: a sample of motion blur. "
         "The files are then MATERIAL.s500.0001.ply for 0.5."),
    CHOICE("format", "LIST", format, "ply obj vdb",
           "ply, obj, vdb, or several with commas between. Without it: ply, which carries velocities and all "
           "other attributes. vdb is the level set, where wadi was built with OpenVDB."),
    UP,
    { .name = "output",
      .short_name = 'o',
      .argument = "FOLDER",
      .kind = WADI_CLI_TEXT,
      .offset = VALUE(output),
      .files = WADI_CLI_FILES_FOLDER,
      .help = "Folder the meshes go to. Without it: surface in the run folder." },
    FLAG("force", 0, force,
         "Make meshes again that are there already, from the same particles and settings."),
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
    CHOICE(
        "color", "ATTRIBUTE", color, "speed pressure rigid material",
        "False colours for a number that particles carry, such as speed, pressure or wetness, with a scale "
        "beside the picture. The files are then NAME.ATTRIBUTE.0001.png."),
    TEXT("range", "LOW,HIGH", range, "Ends of that scale. Without it: those of the run."),
    CHOICE("map", "NAME", map, "dune lagoon split grey kinds",
           "Colours of that scale. Without it: those that fit the attribute."),
    TEXT("cut", "PLANE", cut,
         "Leave out what lies on the camera's side of a plane, to look inside: x=0.5, y=0.5 or z=0.5; or a "
         "point "
         "and the direction of what is left out, PX,PY,PZ,NX,NY,NZ."),
    FLAG("layout", 0, layout,
         "Of a scene: draw bodies, colliders, emitters and the camera where they are placed, without "
         "simulating: NAME.layout.png as the camera sees it and, of a scene with a camera, NAME.overview.png "
         "from outside. Seconds."),
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
      .help = "Folder the pictures, the video and the sheet go to. Without it: pictures to images in the run "
              "folder, the others to the run folder itself." },
    FLAG("force", 0, force, "Draw pictures again that are there already, from the same frame and settings."),
    FLAG("overwrite", 0, overwrite, "Of a scene: remove the frames of an earlier run and simulate again."),
    THREADS,
    EVENTS,
    QUIET,
    HELP,
};

static const WadiCliOption export_options[] = {
    CHOICE(
        "to", "PROGRAM", to, "pov pbrt blender ply obj vdb",
        "pov: scenes that povray draws as they are. pbrt: scenes for pbrt-v4. blender: a script that loads "
        "the "
        "run into Blender. ply, obj, vdb: meshes as wadi surface makes them; ply has the particles too."),
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
    FLAG("force", 0, force, "Write files again that are there already, from the same frame and settings."),
    THREADS,
    EVENTS,
    QUIET,
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

const WadiCliCommand wadi_cli_commands[] = {
    {
        .name = "run",
        .operand = "SCENE",
        .files = WADI_CLI_FILES_SCENE,
        .summary = "Simulate a scene into a run folder",
        .description =
            "Simulates the scene and writes every frame to the run folder. Ctrl-C stops at the end of the "
            "step, "
            "writes a checkpoint and says how to continue; a second Ctrl-C ends at once. Finished frames "
            "stay "
            "whatever happens, and a run that was stopped and continued gives the bytes of an unbroken one.",
        .options = run_options,
        .option_count = COUNT(run_options),
        .examples = { { "wadi run column.yaml", "writes to column.run" },
                      { "wadi run column.yaml -o test.run --frames 24 --set resolution=50", "a quick look" },
                      { "wadi run column.yaml --resume --frames 200",
                        "continues, and makes the shot longer" },
                      { "wadi run column.yaml --from-frame 40", "redoes frames 41 on after a change" } },
        .run = wadi_cli_run,
    },
    {
        .name = "check",
        .operand = "SCENE",
        .files = WADI_CLI_FILES_SCENE,
        .summary = "Check a scene and estimate what a run needs",
        .description =
            "Reads the scene and reports every problem with its file, line and column. When there is "
            "none, prints how many particles, how much memory, disk and time and which step size a run "
            "would take; for the time it tries a few steps, and the run on a coarse grid, for about three "
            "seconds. "
            "Nothing is written. Warns of what is allowed and hardly meant, as a run does when "
            "it "
            "starts: bodies, emitters and colliders outside the domain, bodies that are cut off, buried or "
            "smaller than a particle, densities, angles, rates and meshes in other units. What cannot fit "
            "into "
            "the memory that is left is refused.",
        .options = check_options,
        .option_count = COUNT(check_options),
        .examples = { { "wadi check column.yaml", "" },
                      { "wadi check column.yaml --set resolution=400", "before the final run" } },
        .run = wadi_cli_check,
    },
    {
        .name = "surface",
        .operand = "RUN",
        .files = WADI_CLI_FILES_FOLDER,
        .summary = "Wrap particles into meshes",
        .description =
            "Makes a triangle mesh of every material in every frame of a run, in "
            "RUN/surface/MATERIAL.0001.ply "
            "and so on. Settings are those of the scene's surface, then those given here. Meshes that are "
            "there "
            "already and were made from the same particles with the same settings are kept, so that the "
            "command "
            "goes on where it was stopped. Several processes or machines may share a run by --frames.",
        .options = surface_options,
        .option_count = COUNT(surface_options),
        .examples = { { "wadi surface column.run", "" },
                      { "wadi surface splash.run --method anisotropic --frames 10-20", "smooth water" },
                      { "wadi surface splash.run --set surface.cell_size=0.01 -o quick", "a quick look" },
                      { "wadi surface splash.run --subframe 0.5", "in the middle between two frames" },
                      { "wadi surface splash.run --format obj --up y", "stands upright in Blender" } },
        .run = wadi_cli_surface,
    },
    {
        .name = "render",
        .operand = "RUN|SCENE",
        .files = WADI_CLI_FILES_ANY,
        .summary = "Draw pictures and a video of a run",
        .description =
            "Draws every frame of a run as RUN/images/NAME.0001.png and so on, and makes the video "
            "RUN/NAME.mp4 "
            "of "
            "them with ffmpeg. A scene file is simulated first, into NAME.run. Camera, light and looks are "
            "those "
            "of the scene's render and look, then those given here; what the scene does not say is chosen, "
            "the "
            "same for the whole run. Pictures that are there already and were made from the same frame with "
            "the "
            "same settings are kept, so that the command goes on where it was stopped. Several processes or "
            "machines may share a run by --frames.",
        .options = render_options,
        .option_count = COUNT(render_options),
        .examples = { { "wadi render column.run", "" },
                      { "wadi render column.yaml --quality draft --every 4 --sheet 12",
                        "simulates, a quick look" },
                      { "wadi render splash.run --quality final --size 1920x1080", "" },
                      { "wadi render column.run --color pressure --cut y=0.5", "what is inside" },
                      { "wadi render column.yaml --layout", "how it is placed, without a run" } },
        .run = wadi_cli_render,
    },
    {
        .name = "export",
        .operand = "RUN",
        .files = WADI_CLI_FILES_FOLDER,
        .summary = "Hand a run over to other programs",
        .description = "Writes every frame of a run for another program: what wadi render would draw, seen "
                       "from the same "
                       "place in the same light, as scenes of POV-Ray or pbrt-v4 or as files and a script "
                       "for Blender; or "
                       "meshes and particles alone. Frames that are there already and were made of the same "
                       "particles with "
                       "the same settings are kept, so that the command goes on where it was stopped. "
                       "docs/export.md tells "
                       "what is in the files.",
        .options = export_options,
        .option_count = COUNT(export_options),
        .examples = { { "wadi export column.run --to pov --frames 48", "then: povray column.0048.pov" },
                      { "wadi export column.run --to blender",
                        "then: blender -P column.run/export/blender/load.py" },
                      { "wadi export splash.run --to pbrt --set render.walls=glass -o scenes", "" },
                      { "wadi export splash.run --to obj --up y", "meshes for programs in which y is up" } },
        .run = wadi_cli_export,
    },
    {
        .name = "info",
        .operand = "RUN|FILE",
        .files = WADI_CLI_FILES_ANY,
        .summary = "Tell what is in a run folder or a file",
        .description = "Describes a run folder, a frame, a checkpoint, a mesh or a scene file.",
        .options = info_options,
        .option_count = COUNT(info_options),
        .examples = { { "wadi info column.run", "" },
                      { "wadi info column.run/particles/column.0001.h5 --json", "" } },
        .run = wadi_cli_info,
    },
    {
        .name = "schema",
        .summary = "Print the JSON Schema of scene files",
        .description =
            "Writes the JSON Schema of scene files, with which editors complete and check them, or the "
            "reference page of every key.",
        .options = schema_options,
        .option_count = COUNT(schema_options),
        .examples = { { "wadi schema > wadi-scene.schema.json", "" },
                      { "wadi schema --markdown > scene-reference.md", "" } },
        .run = wadi_cli_schema,
    },
    {
        .name = "gallery",
        .operand = "NAME",
        .is_operand_optional = true,
        .files = WADI_CLI_FILES_GALLERY,
        .summary = "Run the published scenes",
        .description =
            "Without a name, lists the entries: scenes of the papers that wadi implements. With one, "
            "simulates it "
            "into the run folder and draws frames of it side by side in RUN/contact.png. Entries that "
            "compare "
            "methods make several runs, each in a folder of its own inside RUN. The bunny comes from the npm "
            "package bunny when an entry first asks for it, and is kept in the cache folder.",
        .options = gallery_options,
        .option_count = COUNT(gallery_options),
        .examples = { { "wadi gallery", "what there is" },
                      { "wadi gallery sand-column -o column.run", "432,000 particles" },
                      { "wadi gallery sand-column --set resolution=40", "a quick look" },
                      { "wadi gallery sand-column --print > my.yaml", "a scene to start from" } },
        .run = wadi_cli_gallery,
    },
    {
        .name = "bench",
        .operand = "NAME",
        .is_operand_optional = true,
        .files = WADI_CLI_FILES_BENCH,
        .summary = "Time the standard workloads stage by stage",
        .description =
            "Without a name, lists the benches and their cases. With one, runs its cases in memory and "
            "prints for "
            "each the milliseconds a step and the share of every stage, seconds a frame, particles a second "
            "to "
            "the grid and back, iterations of pressure and friction, bytes a second of the stages that "
            "stream "
            "through memory beside a triad in the same process, and bytes a particle and a cell. Of surface: "
            "the milliseconds of every stage from frame file to mesh file, the best of several rounds.",
        .options = bench_options,
        .option_count = COUNT(bench_options),
        .examples = { { "wadi bench flip", "all cases at their standard size" },
                      { "wadi bench flip --case water-ball --scale 2000000 --frames 4", "" },
                      { "wadi bench flip --threads 1 --json > bench.json", "" },
                      { "wadi bench surface --case zhu-bridson", "" } },
        .run = wadi_cli_bench,
    },
    {
        .name = "help",
        .operand = "COMMAND",
        .is_operand_optional = true,
        .files = WADI_CLI_FILES_COMMAND,
        .summary = "Show help on a command",
        .description = "Shows the help of a command, or without one the overview.",
        .options = help_options,
        .option_count = COUNT(help_options),
        .examples = { { "wadi help run", "" } },
        .run = wadi_cli_help,
    },
};
const int wadi_cli_command_count = COUNT(wadi_cli_commands);

const WadiCliCommand wadi_cli_top = {
    .name = "",
    .summary = "sand and water simulation for computer animation",
    .description = "Simulates a scene that a text file describes and keeps every frame in a run folder, from "
                   "which other "
                   "programs take it.",
    .options = top_options,
    .option_count = COUNT(top_options),
    .examples = { { "wadi check column.yaml", "what a run would need" },
                  { "wadi run column.yaml", "simulates into column.run" },
                  { "wadi render column.run", "pictures and a video of it" },
                  { "wadi info column.run", "what is in it" } },
};

const char *const wadi_cli_planned[] = { "view", NULL };
const char *const wadi_cli_scene_suffixes[] = { "yaml", "yml", "json", NULL };

const WadiCliExitText wadi_cli_exits[WADI_CLI_EXIT_COUNT] = {
    { WADI_CLI_EXIT_GOOD, "It went well." },
    { WADI_CLI_EXIT_FAILED,
      "It failed: files or folders, memory, a busy run folder, or the simulation itself." },
    { WADI_CLI_EXIT_USAGE, "The command line or the scene is wrong; nothing was run." },
    { WADI_CLI_EXIT_STOPPED,
      "It was stopped by Ctrl-C, a hang-up or a request to end (SIGINT, SIGHUP, SIGTERM)." },
};

const WadiCliCommand *wadi_cli_find_command(const char *name)
{
    for (int i = 0; i < wadi_cli_command_count; ++i) {
        if (strcmp(wadi_cli_commands[i].name, name) == 0) {
            return &wadi_cli_commands[i];
        }
    }
    return NULL;
}

bool wadi_cli_is_planned(const char *name)
{
    for (int i = 0; wadi_cli_planned[i] != NULL; ++i) {
        if (strcmp(wadi_cli_planned[i], name) == 0) {
            return true;
        }
    }
    return false;
}
