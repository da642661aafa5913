#include "export/export_sky.h"

#include "export/export_out.h"

enum { HDR_WIDTH = 512, HDR_HEIGHT = 256, SQUARE = 256 };
static const double pi = 3.14159265358979323846;

static WadiVec3f direction_at(int column, int row)
{
    double angle = pi - 2.0 * pi * (column + 0.5) / HDR_WIDTH, height = pi * (0.5 - (row + 0.5) / HDR_HEIGHT);
    return wadi_to_vec3f(wadi_vec3(cos(height) * cos(angle), cos(height) * sin(angle), sin(height)));
}

/* Three mantissas with a common exponent: the largest has its highest bit set. */
static void put_rgbe(WadiExportOut *out, WadiRgb light)
{
    unsigned char bytes[4] = { 0 };
    float largest = wadi_largestf(light);
    int exponent;
    if (largest > 1e-32f) {
        float scale = frexpf(largest, &exponent) * 256.0f / largest;
        bytes[0] = (unsigned char)(light.x * scale);
        bytes[1] = (unsigned char)(light.y * scale);
        bytes[2] = (unsigned char)(light.z * scale);
        bytes[3] = (unsigned char)(exponent + 128);
    }
    wadi_out_bytes(out, bytes, sizeof bytes);
}

WadiStatus wadi_export_sky_hdr(const char *path, const WadiLightDef *def, double gain, WadiError *error)
{
    WadiLight *light = NULL;
    WADI_TRY(wadi_light_create(&light, def, error));
    WadiExportOut out;
    wadi_out_open(&out, path, error);
    wadi_out_printf(&out, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n", HDR_HEIGHT, HDR_WIDTH);
    for (int row = 0; row < HDR_HEIGHT; ++row) {
        for (int column = 0; column < HDR_WIDTH; ++column) {
            put_rgbe(&out, wadi_scalef(wadi_light_surround(light, direction_at(column, row)), (float)gain));
        }
    }
    wadi_light_destroy(light);
    return wadi_out_close(&out);
}

/* Clarberg's map [C08]: the square's inner diamond is the upper hemisphere, a ring of the diamond a ring of
 * constant height. */
WadiVec3 wadi_equal_area_direction(double u, double v)
{
    double x = 2.0 * u - 1.0, y = 2.0 * v - 1.0, signed_height = 1.0 - (fabs(x) + fabs(y)),
           r = 1.0 - fabs(signed_height);
    double angle = r == 0.0 ? 0.25 * pi : 0.25 * pi * ((fabs(y) - fabs(x)) / r + 1.0);
    double z = copysign(1.0 - r * r, signed_height), side = r * sqrt(2.0 - r * r);
    return wadi_vec3(copysign(cos(angle) * side, x), copysign(sin(angle) * side, y), z);
}

WadiStatus wadi_export_sky_pfm(const char *path, const WadiLightDef *def, double gain, WadiError *error)
{
    WadiLight *light = NULL;
    WADI_TRY(wadi_light_create(&light, def, error));
    WadiExportOut out;
    wadi_out_open(&out, path, error);
    wadi_out_printf(&out, "PF\n%d %d\n-1.0\n", SQUARE, SQUARE);
    for (int row = SQUARE - 1; row >= 0; --row) { /* rows from the bottom */
        for (int column = 0; column < SQUARE; ++column) {
            WadiVec3 direction = wadi_equal_area_direction((column + 0.5) / SQUARE, (row + 0.5) / SQUARE);
            WadiRgb value = wadi_scalef(wadi_light_surround(light, wadi_to_vec3f(direction)), (float)gain);
            wadi_out_bytes(&out, &value, sizeof value);
        }
    }
    wadi_light_destroy(light);
    return wadi_out_close(&out);
}
