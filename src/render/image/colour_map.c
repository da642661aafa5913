/* Colour maps as piecewise linear curves in OKLab [Ott20], where distances match perception: a few colours of
 * evenly changing lightness. */
#include "render/image/colour_map.h"

#include <math.h>
#include <string.h>

#include "render/image/look.h"

enum { STOPS_MAX = 6 };

/* Lightness, chroma and hue in degrees. */
typedef struct Stop {
    double light, chroma, hue;
} Stop;

typedef struct Map {
    const char *name;
    int stops;
    Stop stop[STOPS_MAX];
} Map;

/* Stops are equally spaced. */
static const Map maps[WADI_MAP_COUNT] = {
    [WADI_MAP_DUNE] = { "dune",
                        6,
                        { { 0.20, 0.08, 290 },
                          { 0.345, 0.13, 325 },
                          { 0.49, 0.16, 10 },
                          { 0.635, 0.15, 42 },
                          { 0.78, 0.13, 72 },
                          { 0.925, 0.08, 98 } } },
    [WADI_MAP_LAGOON] = { "lagoon",
                          5,
                          { { 0.22, 0.09, 275 },
                            { 0.395, 0.10, 245 },
                            { 0.57, 0.10, 205 },
                            { 0.745, 0.12, 165 },
                            { 0.92, 0.12, 115 } } },
    [WADI_MAP_SPLIT] = { "split",
                         5,
                         { { 0.40, 0.14, 262 },
                           { 0.68, 0.09, 245 },
                           { 0.96, 0.00, 90 },
                           { 0.68, 0.10, 40 },
                           { 0.40, 0.14, 25 } } },
    [WADI_MAP_GREY] = { "grey", 2, { { 0.15, 0, 0 }, { 0.95, 0, 0 } } },
    [WADI_MAP_KINDS] = { "kinds", 0, { { 0 } } },
};

const char *wadi_colour_map_name(WadiColourMap map)
{
    return maps[map].name;
}

int wadi_colour_map_find(const char *name)
{
    for (int m = 0; m < WADI_MAP_COUNT; ++m) {
        if (strcmp(maps[m].name, name) == 0) {
            return m;
        }
    }
    return -1;
}

static uint8_t to_byte(double linear)
{
    return (uint8_t)(wadi_srgb_encode((float)fmin(fmax(linear, 0.0), 1.0)) * 255.0f + 0.5f);
}

/* OKLab to sRGB: the inverse of two matrices with a cube root between them. */
static void encode(double light, double a, double b, uint8_t rgb[3])
{
    double l = light + 0.3963377774 * a + 0.2158037573 * b;
    double m = light - 0.1055613458 * a - 0.0638541728 * b;
    double s = light - 0.0894841775 * a - 1.2914855480 * b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    rgb[0] = to_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    rgb[1] = to_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    rgb[2] = to_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

static void kind_colour(double number, uint8_t rgb[3])
{
    /* Hues a golden angle apart, lightness in three steps. */
    double n = fmax(floor(number + 0.5), 0.0), hue = fmod(40.0 + 137.508 * n, 360.0) * 0.0174532925199433;
    encode(0.62 + 0.12 * (fmod(n, 3.0) - 1.0), 0.12 * cos(hue), 0.12 * sin(hue), rgb);
}

void wadi_colour_map_at(WadiColourMap map, double t, uint8_t rgb[3])
{
    const Map *of = &maps[map];
    if (of->stops == 0) {
        kind_colour(t, rgb);
        return;
    }
    double position = fmin(fmax(isnan(t) ? 0.0 : t, 0.0), 1.0) * (of->stops - 1);
    int first = (int)fmin(floor(position), of->stops - 2);
    double fraction = position - first, mixed[3] = { 0.0, 0.0, 0.0 };
    for (int n = 0; n < 2; ++n) {
        const Stop *stop = &of->stop[first + n];
        double weight = n == 0 ? 1.0 - fraction : fraction, hue = stop->hue * 0.0174532925199433;
        mixed[0] += weight * stop->light;
        mixed[1] += weight * stop->chroma * cos(hue);
        mixed[2] += weight * stop->chroma * sin(hue);
    }
    encode(mixed[0], mixed[1], mixed[2], rgb);
}
