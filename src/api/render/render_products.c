/* The video, the animation and the contact sheet of a run's pictures. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/render/render_job.h"
#include "core/alloc.h"
#include "core/hash.h"
#include "io/files/files.h"
#include "render/image/picture_sheet.h"
#include "render/image/video.h"

static const char VIDEO[] = "mp4", GIF[] = "gif", SHEET[] = "sheet.png";

/* Name of a video or sheet; its length. */
static int product_path(const WadiRenderJob *job, const char *ending, char path[WADI_PATH_SIZE])
{
    return snprintf(path, WADI_PATH_SIZE, "%.4070s.%s", job->plan.base, ending);
}

static bool has_product(const WadiRenderJob *job, const char *ending)
{
    const WadiRenderDef *def = job->plan.def;
    bool is_moving = wadi_render_plan_count(&job->plan) > 1;
    return ending == SHEET ? def->sheet > 0 : is_moving && (ending == GIF ? def->has_gif : def->has_video);
}

/* The run folder has none of others. */
WadiStatus wadi_render_products_claim(const WadiRenderJob *job, WadiError *error)
{
    const char *const endings[] = { VIDEO, GIF, SHEET };
    for (int i = 0; i < 3 && job->plan.def->folder != NULL; ++i) {
        char path[WADI_PATH_SIZE];
        product_path(job, endings[i], path);
        if (has_product(job, endings[i])) {
            WADI_TRY(wadi_output_index_claim(&job->outputs, path, error));
        }
    }
    return WADI_OK;
}

static WadiStatus make_video(WadiRenderJob *job, const char *const *paths, bool is_gif, char made[4096],
                             WadiError *error)
{
    const WadiRenderDef *def = job->plan.def;
    WadiError inner = { 0 };
    char path[WADI_PATH_SIZE];
    int length = product_path(job, is_gif ? GIF : VIDEO, path);
    WadiVideoDef video = { .pictures = paths,
                           .picture_count = wadi_render_plan_count(&job->plan),
                           .fps = job->plan.view.summary.fps /
                                  def->every, /* the video lasts as long as the simulated time */
                           .is_gif = is_gif,
                           .stop = def->stop };
    WadiStatus status = wadi_video_write(path, &video, &inner);
    if (status == WADI_ERR_UNSUPPORTED) {
        wadi_log(&def->log, WADI_LOG_WARNING, "%s", inner.text);
        job->report->warning_count += 1;
        return WADI_OK;
    }
    if (status != WADI_OK) {
        return wadi_fail(error, status, "%s", inner.text);
    }
    memcpy(made, path, (size_t)length + 1);
    return WADI_OK;
}

static WadiStatus make_sheet(WadiRenderJob *job, const char *const *paths, WadiError *error)
{
    int count = wadi_render_plan_count(&job->plan), shown = job->plan.def->sheet;
    shown = shown < count ? shown : count;
    WadiSheetPicture *pictures = NULL;
    char path[WADI_PATH_SIZE];
    WADI_TRY(WADI_NEW(&pictures, (size_t)shown, "contact sheet", error));
    for (int i = 0; i < shown; ++i) {
        int index = shown > 1 ? (int)((int64_t)i * (count - 1) / (shown - 1)) : count - 1;
        int frame = wadi_render_plan_frame(&job->plan, index);
        pictures[i].path = paths[index];
        snprintf(pictures[i].label, sizeof pictures[i].label, "frame %d, %.2f s", frame,
                 (frame - 1) / job->plan.view.summary.fps);
    }
    int length = product_path(job, SHEET, path);
    WadiStatus status = wadi_picture_sheet_write(path, pictures, shown, 0, error);
    WADI_DELETE(pictures, (size_t)shown);
    if (status == WADI_OK) {
        memcpy(job->report->sheet, path, (size_t)length + 1);
    }
    return status;
}

bool wadi_render_products_wanted(const WadiRenderJob *job)
{
    return has_product(job, SHEET) || has_product(job, VIDEO) || has_product(job, GIF);
}

WadiStatus wadi_render_products_make(WadiRenderJob *job, WadiError *error)
{
    size_t count = (size_t)wadi_render_plan_count(&job->plan);
    if (!wadi_render_products_wanted(job)) {
        return WADI_OK;
    }
    char(*names)[WADI_PATH_SIZE] = NULL;
    const char **paths = NULL;
    WadiStatus status = WADI_NEW(&names, count, "names of pictures", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&paths, count, "names of pictures", error);
    }
    for (size_t i = 0; i < count && status == WADI_OK; ++i) {
        wadi_render_plan_path(&job->plan, wadi_render_plan_frame(&job->plan, (int)i), names[i],
                              WADI_PATH_SIZE);
        paths[i] = names[i];
    }
    if (status == WADI_OK && has_product(job, SHEET)) {
        status = make_sheet(job, paths, error);
    }
    if (status == WADI_OK && has_product(job, VIDEO)) {
        status = make_video(job, paths, false, job->report->video, error);
    }
    if (status == WADI_OK && has_product(job, GIF)) {
        status = make_video(job, paths, true, job->report->gif, error);
    }
    WADI_DELETE(paths, count);
    WADI_DELETE(names, count);
    return status;
}

/* FOLDER/.wadi-products-NAME: the key of the pictures that they were made of, and a digest of each. */
static void mark_path(const WadiRenderJob *job, char path[WADI_PATH_SIZE])
{
    const char *slash = strrchr(job->plan.base, '/');
    snprintf(path, WADI_PATH_SIZE, "%.3400s/.wadi-products-%.600s", job->plan.folder,
             slash != NULL ? slash + 1 : job->plan.base);
}

static uint64_t products_key(const WadiRenderJob *job, uint64_t key)
{
    return wadi_hash_combine(key, (uint64_t)job->plan.def->sheet);
}

bool wadi_render_products_are_made(const WadiRenderJob *job, uint64_t key)
{
    const char *const endings[] = { VIDEO, GIF, SHEET };
    char path[WADI_PATH_SIZE], *text = NULL;
    size_t size = 0;
    uint64_t found = 0;
    mark_path(job, path);
    if (!wadi_file_exists(path) || wadi_file_read(path, 4096, &text, &size, NULL) != WADI_OK) {
        return false;
    }
    const char *at = text;
    bool is_made = wadi_scan_digits(&at, 16, &found) && found == products_key(job, key);
    for (int i = 0; i < 3 && is_made; ++i) {
        WadiFileDigest digest;
        char product[WADI_PATH_SIZE];
        product_path(job, endings[i], product);
        const char *end = strchr(at, '\n'), *digits = end != NULL ? end + 1 : at;
        at = digits;
        is_made = end != NULL && wadi_scan_digest(&digits, &digest);
        if (is_made && has_product(job, endings[i])) {
            char *const names[] = { job->report->video, job->report->gif, job->report->sheet };
            is_made = wadi_file_has_digest(product, digest);
            memcpy(names[i], product, is_made ? strlen(product) + 1 : 0);
        }
    }
    wadi_free(text, size + 1, 1);
    return is_made;
}

WadiStatus wadi_render_products_mark(const WadiRenderJob *job, uint64_t key, WadiError *error)
{
    const char *const names[] = { job->report->video, job->report->gif, job->report->sheet };
    char path[WADI_PATH_SIZE], text[256];
    mark_path(job, path);
    int length = snprintf(text, sizeof text, "%016" PRIx64 "\n", products_key(job, key));
    for (int i = 0; i < 3; ++i) {
        WadiFileDigest digest = { 0 };
        if (names[i][0] != '\0') {
            WADI_TRY(wadi_file_digest(names[i], &digest, error));
        }
        length += snprintf(text + length, sizeof text - (size_t)length, "%016" PRIx64 " %" PRIu64 "\n",
                           digest.hash, digest.size);
    }
    return wadi_file_write(path, text, (size_t)length, error);
}
