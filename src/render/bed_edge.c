#include "render/bed_edge.h"

#include <math.h>
#include <string.h>

#include "surface/cloud/cloud_append.h"

/* Spacings: images lie this far beyond the rim, and this far below the plain: what is deeper is not seen. */
static const double BEYOND = 7.0, DEEPEST = 8.0;
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

WadiStatus wadi_bed_extend(WadiCloud *to, const WadiCloud *cloud, const WadiBed *bed, WadiArena *arena,
                           WadiError *error)
{
    Image images[8];
    size_t size = 0;
    for (int32_t i = 0; i < cloud->count; ++i) {
        const double spacing = (double)cloud->spacing[i];
        size += 1 + (size_t)images_of(cloud->position[i], spacing, bed->domain, bed->height, images);
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
    return WADI_OK;
}
