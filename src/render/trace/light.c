/* The surround as a table over latitude and longitude, importance-sampled by luminance [V97 ch. 9]. The sun
 * is sampled separately: its disc of about 1e-4 steradian is too small for the table. */
#include "render/trace/light.h"

#include <string.h>

#include "core/alloc.h"

static const float pif = 3.14159265f;

/* A clear sky is smooth, and its table small enough to stay in the cache; clouds need a finer one. */
enum { SKY_WIDTH = 128, SKY_HEIGHT = 64, CLOUDS_WIDTH = 256, CLOUDS_HEIGHT = 128 };

/* Cell (i, j) has the longitude 2 pi (i + 1/2) / width - pi and the polar angle pi (j + 1/2) / height.
 * Invariant: row[j] and column[j][i] are the cumulated weights including that cell; the last is the total.
 * Every weight is above 0, so that every direction with light can be sampled. */
struct WadiLight {
    int width, height;
    WadiRgb *table;
    float *row;    /* height */
    float *column; /* height x width */
    float total;
    float turn; /* radians */
    bool is_uniform;
    WadiRgb uniform;
    WadiVec3f sun; /* direction to the sun */
    WadiVec3f sun_side[2];
    float sun_cos, sun_solid; /* cosine of the disc's half angle; solid angle 2 pi (1 - cosine) */
    WadiRgb sun_radiance;     /* 0: no sun */
    bool has_backdrop;
    WadiRgb backdrop;
    WadiLightDef def; /* without the map */
};

WadiLightDef wadi_default_light_def(void)
{
    return (WadiLightDef){ .sun = { -0.45, -0.60, 0.64 },
                           .sun_angle = 0.53,
                           .sun_light = { 1.0f, 1.0f, 1.0f },
                           .surround = WADI_SURROUND_SKY,
                           .colour = { 1.0f, 1.0f, 1.0f },
                           .turbidity = 2.2 };
}

static WadiVec3f direction_at(float longitude, float polar)
{
    float across = sinf(polar);
    return wadi_vec3f(across * cosf(longitude), across * sinf(longitude), cosf(polar));
}

static WadiRgb sky_towards(const WadiLightDef *def, WadiVec3 view)
{
    WadiRgb sky = wadi_sky_radiance(view, def->sun, def->turbidity);
    return wadi_mulf(wadi_sky_clouds(sky, view, def->sun, def->turbidity, def->clouds), def->colour);
}

static void fill_sky(WadiLight *light, const WadiLightDef *def)
{
    /* The ground reflects a third of the light on it. */
    WadiRgb on_ground = { 0 };
    for (int pass = 0; pass < 2; ++pass) {
        for (int j = 0; j < light->height; ++j) {
            float polar = pif * ((float)j + 0.5f) / (float)light->height;
            for (int i = 0; i < light->width; ++i) {
                float longitude = 2.0f * pif * ((float)i + 0.5f) / (float)light->width - pif;
                WadiVec3f d = direction_at(longitude, polar);
                WadiRgb *cell = &light->table[j * light->width + i];
                if (pass == 0 && d.z > 0.0f) {
                    WadiVec3 view = { (double)d.x, (double)d.y, (double)d.z };
                    *cell = sky_towards(def, view);
                    float solid = 2.0f * pif * pif / (float)(light->width * light->height) * sinf(polar);
                    on_ground = wadi_add_scaledf(on_ground, *cell, solid * d.z);
                } else if (pass == 1 && d.z <= 0.0f) {
                    *cell = wadi_scalef(on_ground, 0.33f / pif);
                }
            }
        }
        if (pass == 0) {
            WadiVec3 sun = wadi_normalized_or(def->sun, wadi_vec3(0, 0, 1));
            WadiRgb direct = wadi_mulf(wadi_sky_sun(def->sun, def->turbidity), def->sun_light);
            on_ground = wadi_add_scaledf(on_ground, direct, (float)fmax(sun.z, 0.0));
        }
    }
}

/* Radiance is interpolated between cells, so that a dark cell next to a bright one has some. */
static float cell_weight(const WadiLight *light, int i, int j)
{
    float around = 0.0f;
    for (int dj = -1; dj <= 1; ++dj) {
        int row = j + dj < 0 ? 0 : j + dj >= light->height ? light->height - 1 : j + dj;
        for (int di = -1; di <= 1; ++di) {
            int column = (i + di + light->width) % light->width;
            around += wadi_luminance(light->table[row * light->width + column]);
        }
    }
    return 0.5f * wadi_luminance(light->table[j * light->width + i]) + around / 18.0f;
}

static void cumulate(WadiLight *light)
{
    float mean = 0.0f;
    for (int j = 0; j < light->height; ++j) {
        float row = 0.0f;
        for (int i = 0; i < light->width; ++i) {
            row += wadi_luminance(light->table[j * light->width + i]);
        }
        mean += row / (float)(light->width * light->height);
    }
    double total = 0.0;
    for (int j = 0; j < light->height; ++j) {
        float across = sinf(pif * ((float)j + 0.5f) / (float)light->height);
        double sum = 0.0;
        for (int i = 0; i < light->width; ++i) {
            float weight = cell_weight(light, i, j) + 0.02f * mean;
            sum += (double)(across * wadi_maxf(weight, 1e-20f));
            light->column[j * light->width + i] = (float)sum;
        }
        total += sum;
        light->row[j] = (float)total;
    }
    light->total = (float)total;
}

static WadiStatus make_table(WadiLight *light, const WadiLightDef *def, WadiError *error)
{
    bool is_map = def->surround == WADI_SURROUND_MAP;
    if (is_map && (def->map == NULL || def->map->width < 1)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "light from a map without a map");
    }
    bool has_clouds = def->clouds > 0.0;
    light->width = is_map ? def->map->width : has_clouds ? CLOUDS_WIDTH : SKY_WIDTH;
    light->height = is_map ? def->map->height : has_clouds ? CLOUDS_HEIGHT : SKY_HEIGHT;
    size_t count = (size_t)light->width * (size_t)light->height;
    WADI_TRY(WADI_NEW(&light->table, count, "light", error));
    WADI_TRY(WADI_NEW(&light->row, (size_t)light->height, "light", error));
    WADI_TRY(WADI_NEW(&light->column, count, "light", error));
    if (is_map) {
        for (size_t i = 0; i < count; ++i) {
            /* Seen from inside, longitude increases to the left. */
            size_t j = i / (size_t)light->width, column = i % (size_t)light->width;
            size_t from = j * (size_t)light->width + ((size_t)light->width - 1 - column);
            light->table[i] = wadi_mulf(def->map->pixels[from], def->colour);
        }
    } else {
        fill_sky(light, def);
    }
    cumulate(light);
    return WADI_OK;
}

WadiStatus wadi_light_create(WadiLight **light, const WadiLightDef *def, WadiError *error)
{
    *light = NULL;
    if (!wadi_is_finite(def->sun) || !wadi_is_finitef(def->sun_light) || !wadi_is_finitef(def->colour) ||
        !(def->sun_angle >= 0.0 && def->sun_angle <= 90.0) || !isfinite(def->turn) ||
        wadi_minf(wadi_minf(def->colour.x, def->colour.y), def->colour.z) < 0.0f ||
        wadi_minf(wadi_minf(def->sun_light.x, def->sun_light.y), def->sun_light.z) < 0.0f) {
        return wadi_fail(
            error, WADI_ERR_ARGUMENT,
            "light: values must be finite, colours not negative, the sun's disc 0 to 90 degrees");
    }
    WadiLight *made;
    WADI_TRY(WADI_NEW(&made, 1, "light", error));
    made->is_uniform = def->surround == WADI_SURROUND_UNIFORM;
    made->uniform = def->colour;
    made->turn = (float)(def->turn / 180.0) * pif;
    made->sun = wadi_to_vec3f(wadi_normalized_or(def->sun, wadi_vec3(0, 0, 1)));
    wadi_framef(made->sun, &made->sun_side[0], &made->sun_side[1]);
    /* 1 - cos of a small angle, without cancellation. */
    double half = fmax(def->sun_angle, 0.01) * 0.5 * 3.14159265358979323846 / 180.0, sine = sin(0.5 * half);
    made->sun_cos = (float)(1.0 - 2.0 * sine * sine);
    made->sun_solid = (float)(4.0 * 3.14159265358979323846 * sine * sine);
    WadiRgb irradiance = def->sun_light;
    if (def->surround == WADI_SURROUND_SKY) {
        irradiance = wadi_mulf(irradiance, wadi_sky_sun(def->sun, def->turbidity));
    }
    made->sun_radiance = wadi_scalef(irradiance, 1.0f / made->sun_solid);
    made->def = *def;
    made->def.map = NULL;
    made->has_backdrop = def->has_backdrop;
    made->backdrop = def->backdrop;
    WadiStatus status = made->is_uniform ? WADI_OK : make_table(made, def, error);
    if (status != WADI_OK) {
        wadi_light_destroy(made);
        return status;
    }
    *light = made;
    return WADI_OK;
}

void wadi_light_destroy(WadiLight *light)
{
    if (light == NULL) {
        return;
    }
    size_t count = (size_t)light->width * (size_t)light->height;
    WADI_DELETE(light->table, count);
    WADI_DELETE(light->row, (size_t)light->height);
    WADI_DELETE(light->column, count);
    WADI_DELETE(light, 1);
}

/* Position in the table, in cells. */
static void locate(const WadiLight *light, WadiVec3f d, float *x, float *y)
{
    float longitude = atan2f(d.y, d.x) - light->turn;
    float around = longitude / (2.0f * pif) + 0.5f;
    around -= floorf(around);
    float polar = acosf(wadi_minf(wadi_maxf(d.z, -1.0f), 1.0f));
    *x = wadi_minf(around, 0x1.fffffep-1f) * (float)light->width;
    *y = wadi_minf(polar / pif, 0x1.fffffep-1f) * (float)light->height;
}

/* Bilinear, between the centres of four cells. */
static WadiRgb interpolated(const WadiLight *light, float x, float y)
{
    x -= 0.5f;
    y = wadi_minf(wadi_maxf(y - 0.5f, 0.0f), (float)(light->height - 1));
    int i = (int)floorf(x), j = (int)y;
    float a = x - (float)i, b = y - (float)j;
    int left = i < 0 ? light->width - 1 : i, right = i + 1 < light->width ? i + 1 : 0;
    int below = j + 1 < light->height ? j + 1 : j;
    const WadiRgb *upper = light->table + j * light->width, *lower = light->table + below * light->width;
    return wadi_lerpf(wadi_lerpf(upper[left], upper[right], a), wadi_lerpf(lower[left], lower[right], a), b);
}

WadiRgb wadi_light_surround(const WadiLight *light, WadiVec3f direction)
{
    if (light->is_uniform) {
        return light->uniform;
    }
    float x, y;
    locate(light, direction, &x, &y);
    return interpolated(light, x, y);
}

/* The first entry above `value`. */
static int find(const float *cumulated, int count, float value)
{
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (cumulated[middle] > value) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Position between the entries, 0..1. */
static float interpolate_index(const float *cumulated, int i, float value)
{
    float before = i > 0 ? cumulated[i - 1] : 0.0f, width = cumulated[i] - before;
    return width > 0.0f ? wadi_minf(wadi_maxf((value - before) / width, 0.0f), 0x1.fffffep-1f) : 0.5f;
}

static float cell_pdf(const WadiLight *light, int i, int j, float sine)
{
    const float *column = light->column + j * light->width;
    float weight = column[i] - (i > 0 ? column[i - 1] : 0.0f);
    float cells = (float)light->width * (float)light->height;
    return weight / light->total * cells / (2.0f * pif * pif * wadi_maxf(sine, 1e-6f));
}

WadiVec3f wadi_light_sample_surround(const WadiLight *light, const float u[2], WadiRgb *radiance, float *pdf)
{
    if (light->is_uniform) {
        *radiance = light->uniform;
        float z = 1.0f - 2.0f * u[0], across = sqrtf(wadi_maxf(1.0f - z * z, 0.0f)), turn = 2.0f * pif * u[1];
        *pdf = 1.0f / (4.0f * pif);
        return wadi_vec3f(across * cosf(turn), across * sinf(turn), z);
    }
    float row_value = u[0] * light->total;
    int j = find(light->row, light->height, row_value);
    const float *column = light->column + j * light->width;
    float value = u[1] * column[light->width - 1];
    int i = find(column, light->width, value);
    float x = (float)i + interpolate_index(column, i, value),
          y = (float)j + interpolate_index(light->row, j, row_value);
    float polar = pif * y / (float)light->height;
    *pdf = cell_pdf(light, i, j, sinf(polar));
    *radiance = interpolated(light, x, y);
    return direction_at(2.0f * pif * x / (float)light->width - pif + light->turn, polar);
}

float wadi_light_pdf_surround(const WadiLight *light, WadiVec3f direction)
{
    if (light->is_uniform) {
        return 1.0f / (4.0f * pif);
    }
    float x, y;
    locate(light, direction, &x, &y);
    return cell_pdf(light, (int)x, (int)y, sqrtf(wadi_maxf(1.0f - direction.z * direction.z, 0.0f)));
}

WadiVec3f wadi_light_sun_direction(const WadiLight *light, WadiRgb *irradiance)
{
    *irradiance = wadi_scalef(light->sun_radiance, light->sun_solid);
    return light->sun;
}

bool wadi_light_has_sun(const WadiLight *light)
{
    return wadi_largestf(light->sun_radiance) > 0.0f;
}

/* True inside the disc. By the distance from the axis, since the cosine of a quarter of a degree has only
 * three digits in float. */
static bool is_in_disc(const WadiLight *light, WadiVec3f d)
{
    WadiVec3f off = wadi_subf(d, light->sun);
    return wadi_dotf(off, off) <= light->sun_solid / pif; /* 2 - 2 cos */
}

WadiRgb wadi_light_sun(const WadiLight *light, WadiVec3f direction)
{
    return is_in_disc(light, direction) ? light->sun_radiance : wadi_grey(0.0f);
}

WadiVec3f wadi_light_sample_sun(const WadiLight *light, const float u[2], WadiRgb *radiance, float *pdf)
{
    float down = u[0] * light->sun_solid / (2.0f * pif); /* 1 - cos */
    float across = sqrtf(down * (2.0f - down)), turn = 2.0f * pif * u[1];
    *pdf = 1.0f / light->sun_solid;
    *radiance = light->sun_radiance;
    WadiVec3f d = wadi_scalef(light->sun, 1.0f - down);
    d = wadi_add_scaledf(d, light->sun_side[0], across * cosf(turn));
    return wadi_add_scaledf(d, light->sun_side[1], across * sinf(turn));
}

float wadi_light_pdf_sun(const WadiLight *light, WadiVec3f direction)
{
    return is_in_disc(light, direction) ? 1.0f / light->sun_solid : 0.0f;
}

WadiRgb wadi_light_backdrop(const WadiLight *light, WadiVec3f direction)
{
    if (light->has_backdrop) {
        return light->backdrop;
    }
    if (light->def.surround == WADI_SURROUND_SKY && direction.z > 0.0f) {
        return sky_towards(&light->def,
                           wadi_vec3((double)direction.x, (double)direction.y, (double)direction.z));
    }
    return wadi_light_surround(light, direction);
}

WadiRgb wadi_light_level(const WadiLight *light)
{
    enum { POLAR = 32, AROUND = 64 };
    WadiRgb sum = wadi_scalef(light->sun_radiance, light->sun_solid * wadi_maxf(light->sun.z, 0.0f) / pif);
    for (int n = 0; n < POLAR * AROUND; ++n) {
        const int row = n / AROUND, column = n % AROUND;
        float polar = 0.5f * pif * ((float)row + 0.5f) / (float)POLAR;
        WadiVec3f d = direction_at(2.0f * pif * ((float)column + 0.5f) / (float)AROUND, polar);
        float solid = sinf(polar) * (0.5f * pif / (float)POLAR) * (2.0f * pif / (float)AROUND);
        sum = wadi_add_scaledf(sum, wadi_light_surround(light, d), solid * d.z / pif);
    }
    return sum;
}
