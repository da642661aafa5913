#include "render/image/image.h"

#include <errno.h>
#include <limits.h>
#include <png.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/text.h"
#include "io/files/files.h"

WadiStatus wadi_image_init(WadiImage *image, int width, int height, WadiError *error)
{
    *image = (WadiImage){ 0 };
    if (width < 1 || height < 1 || width > WADI_IMAGE_SIDE_MAX || height > WADI_IMAGE_SIDE_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a picture of %d x %d pixels: expected 1 to %d a side",
                         width, height, WADI_IMAGE_SIDE_MAX);
    }
    WADI_TRY(WADI_NEW(&image->rgb, (size_t)width * (size_t)height * 3, "picture", error));
    image->width = width;
    image->height = height;
    return WADI_OK;
}

void wadi_image_free(WadiImage *image)
{
    WADI_DELETE(image->rgb, (size_t)image->width * (size_t)image->height * 3);
    *image = (WadiImage){ 0 };
}

/* State used across libpng's longjmp: kept outside the frame it jumps back into. */
typedef struct Encoder {
    WadiText bytes;
    char reason[160];
    png_structp png;
    png_infop info;
    const WadiImageText *texts;
    int text_count;
} Encoder;

static void on_error(png_structp png, png_const_charp text)
{
    Encoder *encoder = png_get_error_ptr(png);
    snprintf(encoder->reason, sizeof encoder->reason, "%s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_write(png_structp png, png_bytep bytes, size_t length)
{
    Encoder *encoder = png_get_io_ptr(png);
    wadi_text_append_bytes(&encoder->bytes, (const char *)bytes, length);
}

static void on_flush(png_structp png)
{
    (void)png;
}

static bool encode(Encoder *encoder, const WadiImage *image)
{
    if (setjmp(png_jmpbuf(encoder->png)) != 0) {
        return false;
    }
    png_set_write_fn(encoder->png, encoder, on_write, on_flush);
    png_set_IHDR(encoder->png, encoder->info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    for (int i = 0; i < encoder->text_count; ++i) {
        /* libpng copies both; its struct has no const. */
        png_text text = { .compression = PNG_TEXT_COMPRESSION_NONE,
                          .key = (png_charp)(uintptr_t)encoder->texts[i].keyword,
                          .text = (png_charp)(uintptr_t)encoder->texts[i].text,
                          .text_length = strlen(encoder->texts[i].text) };
        png_set_text(encoder->png, encoder->info, &text, 1);
    }
    png_write_info(encoder->png, encoder->info);
    for (int y = 0; y < image->height; ++y) {
        png_write_row(encoder->png, image->rgb + (size_t)y * (size_t)image->width * 3);
    }
    png_write_end(encoder->png, NULL);
    return true;
}

/* `user`: the name of a file whose temporary files go, where the process that began them has ended. */
static WadiStatus remove_stale(void *user, const char *folder, const char *name, WadiError *error)
{
    const char *wanted = user;
    const size_t stem = wadi_file_temporary_stem(name);
    char path[WADI_PATH_SIZE];
    const char *digits = strrchr(name, '-');
    if (stem == 0 || strlen(wanted) != stem || memcmp(name, wanted, stem) != 0 || digits == NULL ||
        snprintf(path, sizeof path, "%s/%s", folder, name) >= WADI_PATH_SIZE) {
        return WADI_OK;
    }
    const long process = strtol(digits + 1, NULL, 10);
    const bool has_ended =
        process > 0 && process <= INT_MAX && kill((pid_t)process, 0) != 0 && errno == ESRCH;
    return has_ended ? wadi_file_remove(path, error) : WADI_OK;
}

WadiStatus wadi_image_write_png(const WadiImage *image, const char *path, WadiError *error)
{
    const WadiImageText software = { "Software", "wadi" };
    char folder[WADI_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    WADI_TRY(wadi_folder_visit(folder, remove_stale, (void *)(uintptr_t)(slash != NULL ? slash + 1 : path),
                               error));
    return wadi_image_write_png_with(image, path, &software, 1, error);
}

WadiStatus wadi_image_write_png_with(const WadiImage *image, const char *path, const WadiImageText *texts,
                                     int text_count, WadiError *error)
{
    Encoder encoder = { .texts = texts, .text_count = text_count };
    encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, on_error, on_warning);
    encoder.info = encoder.png != NULL ? png_create_info_struct(encoder.png) : NULL;
    WadiStatus status = WADI_OK;
    if (encoder.info == NULL) {
        status = wadi_fail_memory(error, 0, "PNG writer");
    } else if (!encode(&encoder, image)) {
        status = wadi_fail(error, WADI_ERR_IO, "%s: %s", path, encoder.reason);
    } else {
        status = wadi_text_status(&encoder.bytes, error);
    }
    if (status == WADI_OK) {
        status = wadi_file_write(path, encoder.bytes.data, encoder.bytes.length, error);
    }
    png_destroy_write_struct(&encoder.png, &encoder.info);
    wadi_text_free(&encoder.bytes);
    return status;
}
