#include "render/bed_edge.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "surface/cloud/cloud_append.h"

/* Spacings: images lie this far beyond the rim, and this far below the plain: what is deeper is not seen. */
static const double BEYOND = 7.0, DEEPEST = 8.0;
enum { COLUMNS_MAX = 4096 };
/* Of the particles that the plain has beyond sides without sand: the ids of particles are smaller. */
static const uint32_t PLAIN_ID = UINT32_C(1) << 31;
/* Beyond the rim the sand falls with this slope, into the plain. */
static const double FALL = 0.25;

typedef struct Image {
    WadiVec3 x;
    double kept; /* of the height over the plain, and of the wetness beside its own */
} Image;

/* Mirrors a coordinate in the side at `wall`, `sign` 1 for the lower one; false: it is too far away. */
static bool mirror(double *x, double wall, double sign, double spacing, Image *image)
{
    const double inside = sign * (*x - wall), rim = WADI_BED_RIM * spacing;
    if (!(inside < rim + BEYOND * spacing)) {
        return false;
    }
    *x = wall - sign * inside;
    image->kept *= fmax(1.0 - fmax(inside, 0.0) / rim, 0.0);
    image->x.z -= FALL * fmax(inside - rim, 0.0);
    return true;
}

/* The images of a particle, at most 8: in the sides along x, along y, and in both. */
static int images_of(WadiVec3 at, double spacing, WadiBox domain, double height, Image images[8])
{
    int count = 0;
    for (int n = 1; n < 9 && at.z > height - DEEPEST * spacing; ++n) {
        const int along_x = n % 3, along_y = n / 3; /* 0: not mirrored, 1: in the lower side, 2: the upper */
        Image *image = &images[count];
        *image = (Image){ .x = { at.x, at.y, 0.0 }, .kept = 1.0 };
        if ((along_x == 1 && !mirror(&image->x.x, domain.min.x, 1.0, spacing, image)) ||
            (along_x == 2 && !mirror(&image->x.x, domain.max.x, -1.0, spacing, image)) ||
            (along_y == 1 && !mirror(&image->x.y, domain.min.y, 1.0, spacing, image)) ||
            (along_y == 2 && !mirror(&image->x.y, domain.max.y, -1.0, spacing, image))) {
            continue;
        }
        image->x.z += height + image->kept * (at.z - height);
        ++count;
    }
    return count;
}

/* The values of an attribute of one number, or NULL. */
static float *values_of(const WadiCloud *cloud, const char *name)
{
    for (int a = 0; a < cloud->attribute_count; ++a) {
        if (strcmp(cloud->attribute[a].name, name) == 0 && cloud->attribute[a].components == 1) {
            return cloud->attribute[a].values;
        }
    }
    return NULL;
}

/* Columns of a spacing around and in the domain, and those with sand in them. */
typedef struct Columns {
    WadiVec3 low; /* m: corner of the first one */
    double spacing;
    int width, depth;
    uint8_t *is_covered;
} Columns;

static WadiStatus find_columns(Columns *columns, const WadiBed *bed, double spacing, WadiArena *arena,
                               WadiError *error)
{
    const WadiBox around = wadi_box_grown(bed->domain, (WADI_BED_RIM + BEYOND) * spacing);
    const WadiVec3 size = wadi_box_size(around);
    *columns = (Columns){ .low = around.min,
                          .spacing = spacing,
                          .width = (int)fmin(ceil(size.x / spacing), COLUMNS_MAX),
                          .depth = (int)fmin(ceil(size.y / spacing), COLUMNS_MAX) };
    const size_t count = (size_t)columns->width * (size_t)columns->depth;
    WADI_TRY(WADI_ARENA_NEW(arena, &columns->is_covered, count, "bed of sand", error));
    memset(columns->is_covered, 0, count);
    return WADI_OK;
}

static void cover(const Columns *columns, WadiVec3 x)
{
    const double i = floor((x.x - columns->low.x) / columns->spacing),
                 j = floor((x.y - columns->low.y) / columns->spacing);
    if (i >= 0.0 && j >= 0.0 && i < columns->width && j < columns->depth) {
        columns->is_covered[(size_t)j * (size_t)columns->width + (size_t)i] = 1;
    }
}

/* The n-th particle of sand that the plain has beyond sides without sand; false: none is there. */
static bool fill(const Columns *columns, const WadiBed *bed, int64_t n, WadiVec3 *x)
{
    const int64_t i = n % columns->width, j = n / columns->width;
    *x = wadi_vec3(columns->low.x + ((double)i + 0.5) * columns->spacing,
                   columns->low.y + ((double)j + 0.5) * columns->spacing, bed->height);
    const double outside = fmax(fmax(bed->domain.min.x - x->x, x->x - bed->domain.max.x),
                                fmax(bed->domain.min.y - x->y, x->y - bed->domain.max.y));
    x->z -= FALL * fmax(outside - WADI_BED_RIM * columns->spacing, 0.0);
    return outside > 0.0 && columns->is_covered[n] == 0;
}

/* Appends them, in two layers. Particle 0 stands for their attributes but wetness. */
static void append_plain(WadiCloud *to, const WadiCloud *from, const Columns *columns, const WadiBed *bed)
{
    WadiVec3 x;
    for (int64_t n = 0; n < (int64_t)columns->width * columns->depth; ++n) {
        for (int layer = 0; layer < 2 && fill(columns, bed, n, &x); ++layer) {
            x.z -= layer * columns->spacing;
            wadi_cloud_append(to, from, 0, x);
            to->id[to->count - 1] = PLAIN_ID + (uint32_t)(2 * n + layer);
            to->spacing[to->count - 1] = (float)columns->spacing;
            for (int a = 0; a < to->attribute_count; ++a) {
                const size_t c = (size_t)to->attribute[a].components;
                const bool is_wetness = strcmp(to->attribute[a].name, "wetness") == 0;
                for (size_t k = 0; k < c; ++k) {
                    to->attribute[a].values[(size_t)(to->count - 1) * c + k] =
                        is_wetness ? (float)bed->wetness : 0.0f;
                }
            }
        }
    }
}

WadiStatus wadi_bed_extend(WadiCloud *to, const WadiCloud *cloud, const WadiBed *bed, WadiArena *arena,
                           WadiError *error)
{
    Image images[8];
    Columns columns;
    WadiVec3 x;
    *to = *cloud;
    if (cloud->count == 0) {
        return WADI_OK;
    }
    WADI_TRY(find_columns(&columns, bed, cloud->spacing_max, arena, error));
    size_t size = 0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        const double spacing = (double)cloud->spacing[i];
        const int count = images_of(cloud->position[i], spacing, bed->domain, bed->height, images);
        for (int n = 0; n < count; ++n) {
            cover(&columns, images[n].x);
        }
        size += 1 + (size_t)count;
    }
    for (int64_t n = 0; n < (int64_t)columns.width * columns.depth; ++n) {
        size += fill(&columns, bed, n, &x) ? 2 : 0;
    }
    WADI_TRY(wadi_cloud_like(to, cloud, size, arena, error));
    float *wetness = values_of(to, "wetness");
    for (int32_t i = 0; i < cloud->count; ++i) {
        const double spacing = (double)cloud->spacing[i];
        const int count = images_of(cloud->position[i], spacing, bed->domain, bed->height, images);
        wadi_cloud_append(to, cloud, i, cloud->position[i]);
        for (int n = 0; n < count; ++n) {
            wadi_cloud_append(to, cloud, i, images[n].x);
            if (wetness != NULL) {
                float *wet = &wetness[to->count - 1];
                *wet = (float)(bed->wetness + images[n].kept * ((double)*wet - bed->wetness));
            }
        }
    }
    append_plain(to, cloud, &columns, bed);
    return WADI_OK;
}
