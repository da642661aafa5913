#include "geom/mesh/heightmap.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"

enum { SIDE_MAX = 16384, PIXELS_MAX = 1 << 24 };

/* All data of the reader is here, outside the stack frame that libpng's longjmp returns to. */
typedef struct Picture {
    const char *name;
    FILE *file; /* NULL: read from `bytes` */
    const unsigned char *bytes;
    size_t size, position;
    char reason[160];
    png_structp png;
    png_infop info;
    unsigned char *pixels;
    unsigned char **rows;
    size_t pixel_bytes;
    uint32_t width, height;
    int channels, depth;
    double *value; /* 0..1, width * height */
    WadiStatus status;
    WadiError *error;
} Picture;

static void on_error(png_structp png, png_const_charp text)
{
    Picture *picture = png_get_error_ptr(png);
    snprintf(picture->reason, sizeof picture->reason, "%s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep out, size_t length)
{
    Picture *picture = png_get_io_ptr(png);
    if (picture->file != NULL) {
        if (fread(out, 1, length, picture->file) != length) {
            png_error(png, "the file ends too early");
        }
        return;
    }
    if (length > picture->size - picture->position) {
        png_error(png, "the file ends too early");
    }
    memcpy(out, picture->bytes + picture->position, length);
    picture->position += length;
}

static WadiStatus allocate(Picture *picture)
{
    size_t row_bytes = png_get_rowbytes(picture->png, picture->info);
    picture->pixel_bytes = row_bytes * picture->height;
    WADI_TRY(WADI_NEW(&picture->pixels, picture->pixel_bytes, "height map picture", picture->error));
    WADI_TRY(WADI_NEW(&picture->rows, picture->height, "height map picture", picture->error));
    for (uint32_t y = 0; y < picture->height; ++y) {
        picture->rows[y] = picture->pixels + y * row_bytes;
    }
    return WADI_NEW(&picture->value, (size_t)picture->width * picture->height, "height map", picture->error);
}

/* false: libpng failed (`reason`), or `status` is the error. */
static bool decode(Picture *picture)
{
    if (setjmp(png_jmpbuf(picture->png)) != 0) {
        return false;
    }
    png_set_read_fn(picture->png, picture, on_read);
    png_set_user_limits(picture->png, SIDE_MAX, SIDE_MAX);
    png_set_chunk_malloc_max(picture->png, 1 << 23);
    png_read_info(picture->png, picture->info);
    picture->width = png_get_image_width(picture->png, picture->info);
    picture->height = png_get_image_height(picture->png, picture->info);
    if (picture->width < 2 || picture->height < 2 ||
        (uint64_t)picture->width * picture->height > PIXELS_MAX) {
        png_error(picture->png, "a height map needs 2 by 2 to 16 million pixels");
    }
    png_set_palette_to_rgb(picture->png);
    png_set_expand_gray_1_2_4_to_8(picture->png);
    png_set_strip_alpha(picture->png);
    png_set_interlace_handling(picture->png);
    png_read_update_info(picture->png, picture->info);
    picture->channels = png_get_channels(picture->png, picture->info);
    picture->depth = png_get_bit_depth(picture->png, picture->info);
    if ((picture->channels != 1 && picture->channels != 3) || (picture->depth != 8 && picture->depth != 16)) {
        png_error(picture->png, "unexpected pixel layout");
    }
    picture->status = allocate(picture);
    if (picture->status != WADI_OK) {
        return false;
    }
    png_read_image(picture->png, picture->rows);
    return true;
}

static void to_values(Picture *picture)
{
    static const double luminance[3] = { 0.2126, 0.7152, 0.0722 };
    size_t step = (size_t)picture->depth / 8;
    for (uint32_t y = 0; y < picture->height; ++y) {
        const unsigned char *at = picture->rows[y];
        for (uint32_t x = 0; x < picture->width; ++x) {
            double sum = 0.0;
            for (int c = 0; c < picture->channels; ++c, at += step) {
                double v = step == 2 ? (at[0] * 256.0 + at[1]) / 65535.0 : at[0] / 255.0;
                sum += picture->channels == 3 ? luminance[c] * v : v;
            }
            picture->value[(size_t)y * picture->width + x] = sum;
        }
    }
}

static void release(Picture *picture)
{
    png_destroy_read_struct(&picture->png, &picture->info, NULL);
    WADI_DELETE(picture->pixels, picture->pixel_bytes);
    WADI_DELETE(picture->rows, picture->height);
    WADI_DELETE(picture->value, (size_t)picture->width * picture->height);
}

/* The rim of the grid, once around, anticlockwise from above; k in [0, 2 (w + h) - 4). */
static uint32_t rim_vertex(uint32_t w, uint32_t h, uint32_t k)
{
    uint32_t x, row; /* row counts from min.y */
    if (k < w - 1) {
        x = k, row = 0;
    } else if (k < w - 1 + h - 1) {
        x = w - 1, row = k - (w - 1);
    } else if (k < 2 * (w - 1) + h - 1) {
        x = 2 * (w - 1) + (h - 1) - k, row = h - 1;
    } else {
        x = 0, row = 2 * (w - 1) + 2 * (h - 1) - k;
    }
    return (h - 1 - row) * w + x;
}

/* Top: two triangles a cell. Sides: from the rim to a copy of it on the base. Base: a fan around its
 * middle. */
static WadiStatus make_mesh(WadiMesh *mesh, const Picture *picture, WadiBox box)
{
    uint32_t w = picture->width, h = picture->height, rim = 2 * (w + h) - 4, top = w * h;
    WadiMesh made = { .vertex_count = (size_t)top + rim + 1,
                      .triangle_count = 2 * (size_t)(w - 1) * (h - 1) + 3 * (size_t)rim };
    WadiStatus status = WADI_NEW(&made.vertices, made.vertex_count, "height map", picture->error);
    if (status == WADI_OK) {
        status = WADI_NEW(&made.triangles, made.triangle_count, "height map", picture->error);
    }
    if (status != WADI_OK) {
        wadi_mesh_free(&made);
        return status;
    }
    WadiVec3 size = wadi_box_size(box);
    double base = box.min.z - fmax(size.x, fmax(size.y, size.z));
    for (uint32_t y = 0; y < h; ++y) {
        for (uint32_t x = 0; x < w; ++x) {
            made.vertices[y * w + x] =
                wadi_vec3(box.min.x + size.x * x / (w - 1), box.max.y - size.y * y / (h - 1),
                          box.min.z + size.z * picture->value[y * w + x]);
        }
    }
    uint32_t(*triangle)[3] = made.triangles;
    size_t t = 0;
    for (uint32_t y = 0; y + 1 < h; ++y) {
        for (uint32_t x = 0; x + 1 < w; ++x) {
            uint32_t a = y * w + x, b = a + 1, c = a + w, d = c + 1; /* c and d at lower y */
            memcpy(triangle[t++], (uint32_t[3]){ a, c, d }, sizeof *triangle);
            memcpy(triangle[t++], (uint32_t[3]){ a, d, b }, sizeof *triangle);
        }
    }
    uint32_t middle = top + rim;
    made.vertices[middle] = wadi_vec3(0.5 * (box.min.x + box.max.x), 0.5 * (box.min.y + box.max.y), base);
    for (uint32_t k = 0; k < rim; ++k) {
        uint32_t next = (k + 1) % rim, a = rim_vertex(w, h, k), b = rim_vertex(w, h, next);
        made.vertices[top + k] = wadi_vec3(made.vertices[a].x, made.vertices[a].y, base);
        memcpy(triangle[t++], (uint32_t[3]){ a, top + k, top + next }, sizeof *triangle);
        memcpy(triangle[t++], (uint32_t[3]){ a, top + next, b }, sizeof *triangle);
        memcpy(triangle[t++], (uint32_t[3]){ middle, top + next, top + k }, sizeof *triangle);
    }
    *mesh = made;
    return WADI_OK;
}

static WadiStatus read_picture(WadiMesh *mesh, Picture *picture, WadiBox box)
{
    *mesh = (WadiMesh){ 0 };
    picture->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, picture, on_error, on_warning);
    picture->info = picture->png != NULL ? png_create_info_struct(picture->png) : NULL;
    if (picture->info == NULL) {
        release(picture);
        return wadi_fail_memory(picture->error, 4096, "PNG reader");
    }
    WadiStatus status = WADI_OK;
    if (decode(picture)) {
        to_values(picture);
        status = make_mesh(mesh, picture, box);
    } else if (picture->status != WADI_OK) {
        status = picture->status;
    } else {
        status = wadi_fail(picture->error, WADI_ERR_FORMAT, "%s: cannot be read as a PNG picture: %s",
                           picture->name, picture->reason);
    }
    release(picture);
    return status;
}

WadiStatus wadi_heightmap_read_memory(WadiMesh *mesh, const void *bytes, size_t size, const char *name,
                                      WadiBox box, WadiError *error)
{
    Picture picture = { .name = name, .bytes = bytes, .size = size, .error = error };
    return read_picture(mesh, &picture, box);
}

WadiStatus wadi_heightmap_read(WadiMesh *mesh, const char *path, WadiBox box, WadiError *error)
{
    *mesh = (WadiMesh){ 0 };
    Picture picture = { .name = path, .file = fopen(path, "rb"), .error = error };
    if (picture.file == NULL) {
        return wadi_fail_errno(error, errno, "%s: cannot open the height map", path);
    }
    struct stat info;
    WadiStatus status;
    if (fstat(fileno(picture.file), &info) == 0 && S_ISDIR(info.st_mode)) {
        status = wadi_fail(error, WADI_ERR_IO, "%s: is a folder, not a PNG picture", path);
    } else {
        status = read_picture(mesh, &picture, box);
    }
    fclose(picture.file);
    return status;
}
