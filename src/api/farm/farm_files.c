/* Jobs as files of render managers: Open Job Description (JSON), Flamenco (JavaScript), OpenCue (XML). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/farm/farm_job.h"

static const char *const item_break = ",\n          ";

/* `, "WORD"` of JSON and JavaScript. */
static void json_item(WadiText *text, const char *word)
{
    wadi_text_append(text, item_break);
    wadi_text_append_json(text, word);
}

/* Expressions of JavaScript among the words, known by their address. */
static const char js_run[] = "job.settings.run", js_range[] = "range";

static void js_item(WadiText *text, const char *word)
{
    if (word == js_run || word == js_range) {
        wadi_text_append(text, item_break);
        wadi_text_append(text, word);
    } else {
        json_item(text, word);
    }
}

/* A list of words; `last` is one more. */
static void append_list(const WadiFarmJob *job, WadiFarmCommand command, const char *last, WadiFarmWord *item,
                        WadiText *text)
{
    WadiText items = { 0 };
    wadi_farm_words(job, command, &items, item);
    wadi_text_append(text, "[\n          ");
    wadi_farm_append_part(text, &items, strlen(item_break));
    wadi_text_free(&items);
    if (command == WADI_FARM_VIDEO) {
        item(text, "--frames");
    }
    item(text, last);
    wadi_text_append(text, "\n        ]");
}

static void task_range(const WadiFarmJob *job, int task, char range[32])
{
    const int first = job->first + task * job->chunk, last = first + job->chunk - 1;
    snprintf(range, 32, "%d-%d", first, last < job->last ? last : job->last);
}

/* The frames of each task, as JSON strings with commas between. */
static void append_ranges(const WadiFarmJob *job, WadiText *text)
{
    for (int i = 0; i < job->tasks; ++i) {
        char range[32];
        task_range(job, i, range);
        wadi_text_printf(text, "%s\"%s\"", i > 0 ? ", " : "", range);
    }
}

static void all_range(const WadiFarmJob *job, char range[32])
{
    snprintf(range, 32, "%d-%d", job->first, job->last);
}

/* An action of a step. The run folder is a parameter, so that managers can map it for each machine. */
static void append_action(const WadiFarmJob *job, WadiFarmCommand command, const char *last, WadiText *text)
{
    WadiFarmJob mapped = *job;
    mapped.run = "{{Param.Run}}";
    wadi_text_append(text, "      \"script\": {\"actions\": {\"onRun\": {\n"
                           "        \"command\": \"{{Param.Wadi}}\",\n        \"args\": ");
    append_list(&mapped, command, last, json_item, text);
    if (job->def->minutes > 0) {
        wadi_text_printf(text, ",\n        \"timeout\": %d", 60 * job->def->minutes);
    }
    wadi_text_append(text, "\n      }}}\n    }");
}

void wadi_farm_write_openjd(const WadiFarmJob *job, WadiText *frames, WadiText *video)
{
    (void)video;
    const WadiFarmDef *def = job->def;
    char all[32];
    all_range(job, all);
    wadi_text_printf(
        frames,
        "{\n"
        "  \"specificationVersion\": \"jobtemplate-2023-09\",\n"
        "  \"name\": \"%.100s %s\",\n"
        "  \"description\": \"Written by wadi %s: frames %s\",\n"
        "  \"parameterDefinitions\": [\n"
        "    {\"name\": \"Run\", \"type\": \"PATH\", \"objectType\": \"DIRECTORY\", \"dataFlow\": "
        "\"INOUT\", \"description\": \"The run folder\"},\n"
        "    {\"name\": \"Wadi\", \"type\": \"STRING\", \"description\": \"The program\", "
        "\"default\": ",
        job->name, job->verb, wadi_version(), all);
    wadi_text_append_json(frames, job->program);
    wadi_text_printf(frames, "}\n  ],\n  \"steps\": [\n    {\n      \"name\": \"%s\",\n", job->verb);
    if (def->cpus > 0 || def->memory > 0) {
        wadi_text_append(frames, "      \"hostRequirements\": {\"amounts\": [");
        if (def->cpus > 0) {
            wadi_text_printf(frames, "{\"name\": \"amount.worker.vcpu\", \"min\": %d}%s", def->cpus,
                             def->memory > 0 ? ", " : "");
        }
        if (def->memory > 0) {
            wadi_text_printf(frames, "{\"name\": \"amount.worker.memory\", \"min\": %d}", def->memory);
        }
        wadi_text_append(frames, "]},\n");
    }
    wadi_text_append(frames, "      \"parameterSpace\": {\"taskParameterDefinitions\": [\n"
                             "        {\"name\": \"Frames\", \"type\": \"STRING\", \"range\": [");
    append_ranges(job, frames);
    wadi_text_append(frames, "]}\n      ]},\n");
    append_action(job, WADI_FARM_TASK, "{{Task.Param.Frames}}", frames);
    if (job->has_video) {
        wadi_text_printf(frames,
                         ",\n    {\n      \"name\": \"video\",\n"
                         "      \"dependencies\": [{\"dependsOn\": \"%s\"}],\n",
                         job->verb);
        append_action(job, WADI_FARM_VIDEO, all, frames);
    }
    wadi_text_append(frames, "\n  ]\n}\n");
}

/* The program, the run folder and the frames of a task can be changed where the job is submitted. */
void wadi_farm_write_flamenco(const WadiFarmJob *job, WadiText *frames, WadiText *video)
{
    (void)video;
    char all[32];
    all_range(job, all);
    wadi_text_printf(frames,
                     "// Written by wadi %s: frames %s of '%s'. For the folder scripts of Flamenco Manager.\n"
                     "const JOB_TYPE = {\n"
                     "    label: \"wadi %s %s\",\n"
                     "    settings: [\n"
                     "        { key: \"wadi\", type: \"string\", required: true, default: ",
                     wadi_version(), all, job->name, job->verb, job->name);
    wadi_text_append_json(frames, job->program);
    wadi_text_append(frames,
                     ", description: \"The program\" },\n"
                     "        { key: \"run\", type: \"string\", subtype: \"dir_path\", required: true, "
                     "default: ");
    wadi_text_append_json(frames, job->run);
    wadi_text_append(frames, ", description: \"The run folder\" },\n"
                             "    ],\n};\n\nconst RANGES = [");
    append_ranges(job, frames);
    wadi_text_append(frames,
                     "];\n\nfunction compileJob(job) {\n"
                     "    const task = (name, args) => {\n"
                     "        const made = author.Task(name, \"misc\");\n"
                     "        made.addCommand(author.Command(\"exec\", { exe: job.settings.wadi, args: args "
                     "}));\n"
                     "        return made;\n"
                     "    };\n"
                     "    const frames = RANGES.map((range) => task(\"frames-\" + range, ");
    WadiFarmJob set = *job;
    set.run = js_run;
    append_list(&set, WADI_FARM_TASK, js_range, js_item, frames);
    wadi_text_append(frames, "));\n    frames.forEach((made) => job.addTask(made));\n");
    if (job->has_video) {
        wadi_text_append(frames, "    const video = task(\"video\", ");
        append_list(&set, WADI_FARM_VIDEO, all, js_item, frames);
        wadi_text_append(frames, ");\n"
                                 "    frames.forEach((made) => video.addDependency(made));\n"
                                 "    job.addTask(video);\n");
    }
    wadi_text_append(frames, "}\n");
}

static void append_xml(WadiText *text, const char *plain)
{
    for (const char *c = plain; *c != '\0'; ++c) {
        switch (*c) {
        case '&': wadi_text_append(text, "&amp;"); break;
        case '<': wadi_text_append(text, "&lt;"); break;
        case '>': wadi_text_append(text, "&gt;"); break;
        default: wadi_text_append_bytes(text, c, 1);
        }
    }
}

static void append_layer(const WadiFarmJob *job, WadiFarmCommand command, WadiText *text)
{
    const WadiFarmDef *def = job->def;
    const bool is_video = command == WADI_FARM_VIDEO;
    WadiText line = { 0 };
    wadi_farm_shell_word(&line, job->program);
    wadi_farm_words(job, command, &line, wadi_farm_shell_word);
    wadi_text_printf(text, "      <layer name=\"%s\" type=\"%s\">\n        <cmd>",
                     is_video ? "video" : job->verb, is_video ? "Post" : "Render");
    append_xml(text, wadi_farm_skip(&line, 1));
    text->has_failed = text->has_failed || line.has_failed;
    wadi_text_free(&line);
    if (is_video) {
        wadi_text_printf(text, " --frames %d-%d</cmd>\n        <range>1</range>\n        <chunk>1</chunk>\n",
                         job->first, job->last);
    } else {
        wadi_text_printf(text,
                         " #FRAME_START#-#FRAME_END#</cmd>\n"
                         "        <range>%d-%d</range>\n        <chunk>%d</chunk>\n",
                         job->first, job->last, job->chunk);
    }
    if (def->cpus > 0 && !is_video) {
        wadi_text_printf(text, "        <cores>%d</cores>\n        <threadable>True</threadable>\n",
                         def->cpus);
    }
    if (def->memory > 0) {
        wadi_text_printf(text, "        <memory>%dm</memory>\n", def->memory);
    }
    if (def->minutes > 0) {
        wadi_text_printf(text, "        <timeout>%d</timeout>\n", def->minutes);
    }
    wadi_text_append(text, "        <services><service>shell</service></services>\n      </layer>\n");
}

void wadi_farm_write_opencue(const WadiFarmJob *job, WadiText *frames, WadiText *video)
{
    (void)video;
    wadi_text_printf(frames,
                     "<?xml version=\"1.0\"?>\n"
                     "<!DOCTYPE spec PUBLIC \"SPI Cue  Specification Language\" "
                     "\"http://localhost:8080/spcue/dtd/cjsl-1.12.dtd\">\n"
                     "<!-- Written by wadi %s. Set show and user to yours. -->\n"
                     "<spec>\n"
                     "  <facility>local</facility>\n"
                     "  <show>testing</show>\n"
                     "  <shot>%s</shot>\n"
                     "  <user>wadi</user>\n"
                     "  <uid>%ld</uid>\n"
                     "  <job name=\"%s-%s\">\n"
                     "    <paused>False</paused>\n"
                     "    <maxretries>2</maxretries>\n"
                     "    <layers>\n",
                     wadi_version(), job->name, (long)getuid(), job->name, job->verb);
    append_layer(job, WADI_FARM_TASK, frames);
    if (job->has_video) {
        append_layer(job, WADI_FARM_VIDEO, frames);
    }
    wadi_text_append(frames, "    </layers>\n  </job>\n");
    if (job->has_video) {
        wadi_text_printf(frames,
                         "  <depends>\n"
                         "    <depend type=\"LAYER_ON_LAYER\" anyframe=\"False\">\n"
                         "      <depjob>%s-%s</depjob>\n      <deplayer>video</deplayer>\n"
                         "      <onjob>%s-%s</onjob>\n      <onlayer>%s</onlayer>\n"
                         "    </depend>\n  </depends>\n",
                         job->name, job->verb, job->name, job->verb, job->verb);
    }
    wadi_text_append(frames, "</spec>\n");
}
