#include "commands.h"

#include <string.h>

#include "option_tables.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

const WadiCliCommand wadi_cli_commands[] = {
    {
        .name = "run",
        .operand = "SCENE",
        .files = WADI_CLI_FILES_SCENE,
        .summary = "Simulate a scene into a run folder",
        .description = "Simulates the scene and writes every frame to the run folder. Ctrl-C stops after the "
                       "step, writes a checkpoint and says how to continue; a second Ctrl-C ends at once. A "
                       "run that was stopped and continued gives the bytes of an unbroken one.",
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
        .description = "Reports every problem of the scene with its file, line and column, and estimates "
                       "particles, memory, disk, time and step size of a run; for the time it simulates for "
                       "about three seconds. Warns of what is valid but probably a mistake: bodies outside "
                       "the domain, buried or smaller than a particle, values in other units. Refuses what "
                       "does not fit into memory. Nothing is written.",
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
            "Makes a triangle mesh of every material in every frame of a run, RUN/surface/MATERIAL.0001.ply "
            "and so on. Settings given here override those of the scene's surface. Meshes made from the same "
            "particles with the same settings are kept.",
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
        .name = "secondary",
        .operand = "RUN",
        .files = WADI_CLI_FILES_FOLDER,
        .summary = "Make foam, spray, bubbles and dust",
        .description =
            "Makes foam, spray and bubbles where the water of a run is wild, and dust where dry sand hits "
            "hard, as particles in RUN/secondary/NAME.0001.h5 and so on, and NAME.xdmf for ParaView. wadi "
            "render and wadi export then show them. With secondary.grains, sand has fine grains that it "
            "carries, in NAME.grains.0001.h5. Settings given here override those of the scene's secondary. "
            "Files of the same frames and settings are kept.",
        .options = secondary_options,
        .option_count = COUNT(secondary_options),
        .examples = { { "wadi secondary tide.run", "" },
                      { "wadi secondary tide.run --set secondary.amount=3 --set secondary.life=6",
                        "more foam, for longer" },
                      { "wadi secondary column.run --set secondary.grains=10",
                        "sand that flows in grains" } },
        .run = wadi_cli_secondary,
    },
    {
        .name = "render",
        .operand = "RUN|SCENE",
        .files = WADI_CLI_FILES_ANY,
        .summary = "Draw pictures and a video of a run",
        .description =
            "Draws every frame of a run as RUN/images/NAME.0001.png and so on, and makes the video "
            "RUN/NAME.mp4 with ffmpeg. A scene file is simulated first, into NAME.run. Settings given here "
            "override those of the scene's render and look; what the scene does not say is chosen, the same "
            "for the whole run. Pictures of the same frame and settings are kept.",
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
        .name = "view",
        .operand = "SCENE|RUN",
        .is_operand_optional = true,
        .files = WADI_CLI_FILES_ANY,
        .summary = "Watch and play with a simulation in a browser",
        .description =
            "Simulates a scene while you watch and play with it on a page in a browser, or plays a finished "
            "run. The address that is printed lets one page in: on this machine, or through ssh -L. Without "
            "an operand a scene of the gallery is shown. docs/view.md explains the page.",
        .options = view_options,
        .option_count = COUNT(view_options),
        .examples = { { "wadi view column.yaml", "simulates while you watch and play" },
                      { "wadi view column.run", "plays a finished run" },
                      { "wadi view rough.run --beside smooth.run", "to compare two" },
                      { "wadi view", "a scene of the gallery" } },
        .run = wadi_cli_view,
    },
    {
        .name = "export",
        .operand = "RUN",
        .files = WADI_CLI_FILES_FOLDER,
        .summary = "Hand a run over to other programs",
        .description = "Writes every frame of a run for another program: what wadi render would draw, as "
                       "scenes of POV-Ray or pbrt-v4, as a USD stage, or as files and a script for Blender; "
                       "or meshes and particles alone. Frames of the same particles and settings are kept. "
                       "docs/export.md describes the files.",
        .options = export_options,
        .option_count = COUNT(export_options),
        .examples = { { "wadi export column.run --to pov --frames 48", "then: povray column.0048.pov" },
                      { "wadi export column.run --to blender",
                        "then: blender -P column.run/export/blender/load.py -- --scene" },
                      { "wadi export splash.run --to pbrt --set render.walls=glass -o scenes", "" },
                      { "wadi export splash.run --to usd", "then open splash.run/export/usd/splash.usda" },
                      { "wadi export splash.run --to obj --up y", "meshes for programs in which y is up" } },
        .run = wadi_cli_export,
    },
    {
        .name = "farm",
        .operand = "RUN",
        .files = WADI_CLI_FILES_FOLDER,
        .rest = "OPTIONS",
        .summary = "Write the frames of a run as a job for many machines",
        .description =
            "Writes a job that draws the frames of a run, or makes meshes of them, on the machines of a "
            "farm: tasks of several frames each, and one for the video. Nothing is submitted. Options after "
            "-- go to wadi render or wadi surface. docs/farm.md has a how-to for each system.",
        .options = farm_options,
        .option_count = COUNT(farm_options),
        .examples = { { "wadi farm splash.run --to slurm --chunk 8 --cpus 16 -- --quality final",
                        "then the sbatch command that it prints" },
                      { "wadi farm splash.run --to openjd -- --size 1920x1080", "" },
                      { "wadi farm splash.run --to sh", "then: sh splash.run/farm/splash.sh 4" },
                      { "wadi farm splash.run --to slurm --work surface", "meshes" } },
        .run = wadi_cli_farm,
    },
    {
        .name = "wedge",
        .operand = "SCENE",
        .files = WADI_CLI_FILES_SCENE,
        .summary = "Run a scene with varied settings side by side",
        .description = "Runs a scene once for each combination of values, into FOLDER/0001-KEY=VALUE.run and "
                       "so on, writes a table of all runs, FOLDER/wedge.csv, and draws their last frames "
                       "from one camera into FOLDER/mosaic.png. A run that fails does not stop the others; "
                       "the exit code is then 1, and --resume runs it again.",
        .options = wedge_options,
        .option_count = COUNT(wedge_options),
        .examples = { { "wadi wedge column.yaml --vary materials.sand.friction_angle=20,30,40",
                        "three runs" },
                      { "wadi wedge column.yaml --vary resolution=48,64 --vary solver=flip,sph",
                        "four runs" },
                      { "wadi wedge column.yaml --vary resolution=48,64 --vary seed=1,2 --zip", "two runs" },
                      { "wadi wedge column.yaml --vary seed=1,2,3 --index 2 --resume", "one of three" } },
        .run = wadi_cli_wedge,
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
        .description = "Without a name, lists the entries: scenes of the papers that wadi implements. With "
                       "one, simulates it and draws frames of it side by side in RUN/contact.png. Entries "
                       "that compare methods make several runs inside RUN. The bunny and the dragon come "
                       "from npm packages when an entry first needs them.",
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
            "prints the milliseconds of a step and of every stage, seconds a frame, iterations of pressure "
            "and friction, memory bandwidth beside a triad, and bytes a particle and a cell.",
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

const char *const wadi_cli_planned[] = { NULL };
const char *const wadi_cli_scene_suffixes[] = { "yaml", "yml", "json", NULL };

const WadiCliExitText wadi_cli_exits[WADI_CLI_EXIT_COUNT] = {
    { WADI_CLI_EXIT_GOOD, "It went well." },
    { WADI_CLI_EXIT_FAILED, "It failed: files or folders, memory, or the simulation itself." },
    { WADI_CLI_EXIT_USAGE, "The command line or the scene is wrong; nothing was run." },
    { WADI_CLI_EXIT_BUSY, "Not now: another process uses the folder or makes what is left, or a frame is not "
                          "there yet. The same command goes on later." },
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
