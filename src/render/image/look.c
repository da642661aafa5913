#include "render/image/look.h"

WadiLook wadi_look_plain(WadiRgb colour)
{
    return (WadiLook){ .kind = WADI_LOOK_PLAIN,
                       .colour = colour,
                       .diffuse_roughness = 0.2f,
                       .coat = 0.5f,
                       .coat_roughness = 0.5f,
                       .index = 1.5f };
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
