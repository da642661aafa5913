/* A clear sky and the colour of its sun.
 * Source: [PSS99], luminance and chromaticity of the sky in Perez' form (appendix A.2), and the sun's
 * attenuation by air and haze.
 * Differs: the attenuation is evaluated at three wavelengths instead of a spectrum. A sun below 2 degrees is
 * raised to 2, where the fit ends. The fitted sky is too bright relative to its sun and is scaled: at 45
 * degrees it has 26 klx on a level sheet, the clear sky of the IESNA 14. Near the horizon it is purple and
 * dull beside photographs: its colour is moved to daylight of a bluer kind, and it is brightened a little. */
#include "render/image/noise.h"
#include "render/trace/light.h"

static const double pi = 3.14159265358979323846;

/* kcd/m^2 and klx to the renderer's unit: a white sheet that faces a sun of 100 klx has radiance 1. */
static const double unit = 3.14159265358979323846 / 100.0;

static const double sky_scale = 0.54;

/* Height of the band above the horizon whose colour is corrected (a sine), its change of x, and the part by
 * which it is brighter. */
static const double horizon_height = 0.1, horizon_blue = 0.022, horizon_glow = 0.35;

static double perez(const double c[5], double cos_view, double gamma, double cos_gamma)
{
    return (1.0 + c[0] * exp(c[1] / cos_view)) *
           (1.0 + c[2] * exp(c[3] * gamma) + c[4] * cos_gamma * cos_gamma);
}

/* Relative to the zenith. */
static double distribution(const double c[5], double cos_view, double cos_gamma, double sun_angle)
{
    double gamma = acos(fmin(fmax(cos_gamma, -1.0), 1.0));
    return perez(c, cos_view, gamma, cos_gamma) / perez(c, 1.0, sun_angle, cos(sun_angle));
}

static double zenith(const double m[3][4], double turbidity, double sun_angle)
{
    double a = sun_angle, t = turbidity, row[3];
    for (int i = 0; i < 3; ++i) {
        row[i] = ((m[i][0] * a + m[i][1]) * a + m[i][2]) * a + m[i][3];
    }
    return (row[0] * t + row[1]) * t + row[2];
}

/* The chromaticity of daylight: y for x (CIE 15). */
static double daylight_y(double x)
{
    return (2.870 - 3.000 * x) * x - 0.275;
}

static WadiVec3 raised_sun(WadiVec3 sun)
{
    sun = wadi_normalized_or(sun, wadi_vec3(0, 0, 1));
    double lowest = sin(2.0 * pi / 180.0);
    if (sun.z >= lowest) {
        return sun;
    }
    double across = hypot(sun.x, sun.y), wanted = sqrt(1.0 - lowest * lowest);
    return across > 0.0 ? wadi_vec3(sun.x * wanted / across, sun.y * wanted / across, lowest)
                        : wadi_vec3(wanted, 0.0, lowest);
}

WadiRgb wadi_sky_radiance(WadiVec3 direction, WadiVec3 sun, double turbidity)
{
    double t = fmin(fmax(turbidity, 1.7), 10.0);
    sun = raised_sun(sun);
    double sun_angle = acos(fmin(sun.z, 1.0)), cos_gamma = wadi_dot(direction, sun);
    double cos_view = fmax(direction.z, 0.01); /* the formula has a pole at the horizon */
    const double luminance[5] = { 0.1787 * t - 1.4630, -0.3554 * t + 0.4275, -0.0227 * t + 5.3251,
                                  0.1206 * t - 2.5771, -0.0670 * t + 0.3703 };
    const double chroma_x[5] = { -0.0193 * t - 0.2592, -0.0665 * t + 0.0008, -0.0004 * t + 0.2125,
                                 -0.0641 * t - 0.8989, -0.0033 * t + 0.0452 };
    const double chroma_y[5] = { -0.0167 * t - 0.2608, -0.0950 * t + 0.0092, -0.0079 * t + 0.2102,
                                 -0.0441 * t - 1.6537, -0.0109 * t + 0.0529 };
    static const double zenith_x[3][4] = { { 0.00166, -0.00375, 0.00209, 0.0 },
                                           { -0.02903, 0.06377, -0.03202, 0.00394 },
                                           { 0.11693, -0.21196, 0.06052, 0.25886 } };
    static const double zenith_y[3][4] = { { 0.00275, -0.00610, 0.00317, 0.0 },
                                           { -0.04214, 0.08970, -0.04153, 0.00516 },
                                           { 0.15346, -0.26756, 0.06670, 0.26688 } };
    double chi = (4.0 / 9.0 - t / 120.0) * (pi - 2.0 * sun_angle);
    double zenith_luminance = fmax((4.0453 * t - 4.9710) * tan(chi) - 0.2155 * t + 2.4192, 0.05);
    double big_y = zenith_luminance * distribution(luminance, cos_view, cos_gamma, sun_angle);
    double x = zenith(zenith_x, t, sun_angle) * distribution(chroma_x, cos_view, cos_gamma, sun_angle);
    double y = zenith(zenith_y, t, sun_angle) * distribution(chroma_y, cos_view, cos_gamma, sun_angle);
    double low = exp(-fmax(direction.z, 0.0) / horizon_height);
    x -= horizon_blue * low;
    y = fmax(y, daylight_y(x));
    big_y = fmax(big_y, 0.0) * (1.0 + horizon_glow * low) * sky_scale * unit;
    double cie_x = x / y * big_y, cie_z = (1.0 - x - y) / y * big_y;
    double red = 3.2406 * cie_x - 1.5372 * big_y - 0.4986 * cie_z;
    double green = -0.9689 * cie_x + 1.8758 * big_y + 0.0415 * cie_z;
    double blue = 0.0557 * cie_x - 0.2040 * big_y + 1.0570 * cie_z;
    return wadi_vec3f((float)fmax(red, 0.0), (float)fmax(green, 0.0), (float)fmax(blue, 0.0));
}

WadiRgb wadi_sky_sun(WadiVec3 sun, double turbidity)
{
    sun = raised_sun(sun);
    double degrees = acos(fmin(sun.z, 1.0)) * 180.0 / pi;
    double mass = 1.0 / (sun.z + 0.15 * pow(93.885 - degrees, -1.253));
    double haze = 0.04608 * fmin(fmax(turbidity, 1.7), 10.0) - 0.04586;
    static const double wavelength[3] = { 0.61, 0.55, 0.465 }; /* um, of the sRGB primaries */
    static const double ozone[3] = { 0.04, 0.03, 0.003 };
    double rgb[3];
    for (int i = 0; i < 3; ++i) {
        double depth = 0.008735 * pow(wavelength[i], -4.08) + haze * pow(wavelength[i], -1.3) + ozone[i];
        rgb[i] = 128.0 * exp(-depth * mass) * unit; /* 128 klx outside the air */
    }
    return wadi_vec3f((float)rgb[0], (float)rgb[1], (float)rgb[2]);
}

/* Fractal noise, 0 .. 1, of a layer of clouds at unit height. */
static double cloud_noise(WadiVec3 direction)
{
    double x = direction.x / direction.z, y = direction.y / direction.z, sum = 0.5, weight = 0.36;
    for (int octave = 0; octave < 6; ++octave, weight *= 0.52) {
        double scale = 0.9 * (double)(1 << octave);
        sum +=
            weight * wadi_value_noise(wadi_vec3(scale * x, scale * y, 0.7 * octave), 31 + (uint64_t)octave);
    }
    return fmin(fmax(sum, 0.0), 1.0);
}

WadiRgb wadi_sky_clouds(WadiRgb sky, WadiVec3 direction, WadiVec3 sun, double turbidity, double cover)
{
    double rise =
        fmin(fmax((direction.z - 0.02) / 0.12, 0.0), 1.0); /* too thin to be seen near the horizon */
    if (cover <= 0.0 || rise <= 0.0) {
        return sky;
    }
    /* The noise is above this in about the fraction `cover` of the sky, and everywhere for a cover of 1. */
    double edge = 0.57 + 0.5 * (0.5 - cover) - 2.5 * fmax(cover - 0.85, 0.0);
    double t = fmin(fmax((cloud_noise(direction) - edge + 0.06) / 0.16, 0.0), 1.0);
    double dense = t * t * (3.0 - 2.0 * t) * rise;
    /* Lit by the sun from above and outside: brighter about it, darker where they are thick. */
    double towards = fmax(wadi_dot(direction, raised_sun(sun)), 0.0), shade = 0.32 + 0.4 * pow(towards, 8.0);
    WadiRgb lit =
        wadi_scalef(wadi_sky_sun(sun, turbidity), (float)(shade * (1.0 - 0.45 * dense * dense) / pi));
    lit = wadi_add_scaledf(lit, sky, 0.35f);
    return wadi_lerpf(sky, lit, (float)(0.92 * dense));
}
