#include "render/image/look.h"

#include "render/image/noise.h"

WadiLook wadi_look_plain(WadiRgb colour)
{
    return (WadiLook){ .kind = WADI_LOOK_PLAIN,
                       .colour = colour,
                       .diffuse_roughness = 0.2f,
                       .coat = 0.5f,
                       .coat_roughness = 0.5f,
                       .index = 1.5f };
}

WadiLook wadi_look_foam(void)
{
    return (WadiLook){ .kind = WADI_LOOK_PLAIN, .colour = wadi_srgb(245, 247, 248), .index = 1.5f };
}

WadiLook wadi_look_sand(WadiRgb colour)
{
    return (WadiLook){ .kind = WADI_LOOK_SAND,
                       .colour = colour,
                       .diffuse_roughness = 0.6f,
                       .coat_roughness = 0.35f,
                       .index = 1.33f };
}

WadiLook wadi_look_water(double depth)
{
    /* The ratios of pure water's absorption at 610, 550 and 465 nm, weaker in red so that a tank is not only
     * blue; one third of the red is left after `depth`. */
    float scale = depth > 0.0 ? (float)(1.0 / depth) : 0.0f;
    return (WadiLook){ .kind = WADI_LOOK_WATER,
                       .colour = wadi_grey(1.0f),
                       .index = 1.333f,
                       .absorption = wadi_vec3f(1.1f * scale, 0.27f * scale, 0.16f * scale) };
}

WadiLook wadi_look_glass(void)
{
    return (WadiLook){ .kind = WADI_LOOK_GLASS, .colour = { 0.97f, 0.985f, 0.98f }, .index = 1.5f };
}

WadiLook wadi_look_sea(void)
{
    /* Clear ocean water sends back a few percent of blue light; ripples blur its mirror. */
    return (WadiLook){ .kind = WADI_LOOK_PLAIN,
                       .colour = { 0.008f, 0.035f, 0.05f },
                       .coat = 1.0f,
                       .coat_roughness = 0.2f,
                       .waves = 1.0f,
                       .index = 1.333f };
}

/* The fraction of the second colour at x, in units of the pattern. */
static double second_fraction(WadiLookTexture texture, WadiVec3 x)
{
    double ring, rough;
    switch (texture) {
    case WADI_LOOK_TEXTURE_CHECKER: return fmod(fabs(floor(x.x) + floor(x.y) + floor(x.z)), 2.0);
    case WADI_LOOK_TEXTURE_BANDS: return fmod(fabs(floor(x.z)), 2.0);
    case WADI_LOOK_TEXTURE_WOOD:
        /* Rings a quarter apart, a little out of round, with fibres along x. */
        ring = 4.0 * hypot(x.y, x.z) + 0.8 * wadi_value_noise(wadi_scale(x, 0.7), 21);
        rough = wadi_value_noise(wadi_vec3(4.0 * x.x, 60.0 * x.y, 60.0 * x.z), 22);
        ring -= floor(ring);
        return fmin(fmax(ring * ring + 0.15 * rough, 0.0), 1.0);
    case WADI_LOOK_TEXTURE_STONE:
        ring = 0.5;
        for (int octave = 0; octave < 5; ++octave) {
            ring += 0.32 * wadi_value_noise(wadi_scale(x, 1 << octave), 23 + (uint64_t)octave) / (octave + 1);
        }
        return fmin(fmax(ring, 0.0), 1.0);
    default: return 0.0;
    }
}

WadiRgb wadi_look_colour(const WadiLook *look, WadiVec3 x)
{
    double unit = look->texture_size > 0.0f ? (double)look->texture_size : 1.0;
    double second = second_fraction(look->texture, wadi_scale(x, 1.0 / unit));
    return wadi_lerpf(look->colour, look->second_colour, (float)second);
}

float wadi_srgb_decode(float value)
{
    return value <= 0.04045f ? value / 12.92f : powf((value + 0.055f) / 1.055f, 2.4f);
}

float wadi_srgb_encode(float value)
{
    return value <= 0.0031308f ? 12.92f * value : 1.055f * powf(value, 1.0f / 2.4f) - 0.055f;
}

WadiRgb wadi_srgb(int red, int green, int blue)
{
    return wadi_vec3f(wadi_srgb_decode((float)red / 255.0f), wadi_srgb_decode((float)green / 255.0f),
                      wadi_srgb_decode((float)blue / 255.0f));
}
