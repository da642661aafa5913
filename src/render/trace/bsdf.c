/* The base is the energy-preserving Oren-Nayar model of [PKH24]; the coat is single-scattering GGX with
 * Smith's shadowing [WMLT07], sampled by visible normals [H18]. The coat's reflectance is subtracted from the
 * base's light on entry and on exit. Wet sand has a film of water: part of the light from a grain is
 * reflected back to it by the film [LD88]. */
#include "render/trace/bsdf.h"

#include <stddef.h>

static const float pif = 3.14159265f;

float wadi_fresnel(float cosine, float index)
{
    float c = wadi_minf(fabsf(cosine), 1.0f), g2 = index * index - 1.0f + c * c;
    if (g2 <= 0.0f) {
        return 1.0f;
    }
    float g = sqrtf(g2), a = (g - c) / (g + c), b = (c * (g + c) - 1.0f) / (c * (g - c) + 1.0f);
    return wadi_minf(0.5f * a * a * (1.0f + b * b), 1.0f);
}

/* A fit to the integral by W. Egan and T. Hilgeman, "Optical Properties of Inhomogeneous Materials" (1979);
 * tested against the integral. */
float wadi_fresnel_inside(float index)
{
    return -1.4399f / (index * index) + 0.7099f / index + 0.6681f + 0.0636f * index;
}

/* The first water darkens most; moist sand has no film. */
static const float DARK_RATE = 2.5f, FILM_FROM = 0.4f;
/* How far forward soaked grains scatter: chosen so that soaked beach sand is 0.45 times as bright as dry. */
static const float SOAKED_FORWARD = 0.85f;

float wadi_wet_film(float wetness)
{
    float t = wadi_minf(wadi_maxf((wetness - FILM_FROM) / (1.0f - FILM_FROM), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

float wadi_wet_grains(float colour, float wetness)
{
    const float w = wadi_minf(wadi_maxf(wetness, 0.0f), 1.0f), c = wadi_minf(wadi_maxf(colour, 0.0f), 1.0f);
    const float forward = SOAKED_FORWARD * (1.0f - expf(-DARK_RATE * w)) / (1.0f - expf(-DARK_RATE));
    float root = (1.0f - c) / (1.0f + c), single = 1.0f - root * root;
    single = single * (1.0f - forward) / (1.0f - forward * single);
    root = sqrtf(wadi_maxf(1.0f - single, 0.0f));
    return (1.0f - root) / (1.0f + root);
}

WadiBsdf wadi_bsdf_of_look(const WadiLook *look, WadiRgb colour, float wetness, float outside)
{
    float index = wadi_maxf(look->index, 1.0f) / outside;
    WadiBsdf bsdf = { .albedo = colour,
                      .roughness = look->diffuse_roughness,
                      .alpha = wadi_maxf(look->coat_roughness * look->coat_roughness, 1e-3f),
                      .index = wadi_maxf(index, 1.0f) };
    if (look->kind != WADI_LOOK_SAND) {
        bsdf.coat = look->coat;
        return bsdf;
    }
    const float film = wadi_wet_film(wetness);
    WadiRgb dry = look->grain_size > 0.0f ? look->colour : colour, own = colour;
    colour = dry;
    if (wetness > 0.0f) {
        colour = wadi_vec3f(wadi_wet_grains(colour.x, wetness), wadi_wet_grains(colour.y, wetness),
                            wadi_wet_grains(colour.z, wetness));
        bsdf.albedo = colour;
    }
    if (outside == 1.0f && film > 0.0f) {
        /* [LD88]: the film reflects the fraction p of the diffuse light from below back down, repeatedly;
         * from above it reflects r = 1 - n^2 (1 - p) of such light. Entry and exit losses belong to the coat
         * and are divided out here: white stays white, within half a percent for a rough base, and the colour
         * is limited to 0.98. */
        colour =
            wadi_vec3f(wadi_minf(colour.x, 0.98f), wadi_minf(colour.y, 0.98f), wadi_minf(colour.z, 0.98f));
        float p = wadi_fresnel_inside(index), r = 1.0f - index * index * (1.0f - p);
        WadiRgb wet = { colour.x * (1.0f - p) / (1.0f - p * colour.x),
                        colour.y * (1.0f - p) / (1.0f - p * colour.y),
                        colour.z * (1.0f - p) / (1.0f - p * colour.z) };
        bsdf.albedo = wadi_scalef(wadi_lerpf(colour, wet, film), 1.0f / (1.0f - film * r));
        bsdf.coat = film;
        bsdf.roughness *= 1.0f - film; /* light reaches the base through the film, nearly vertically */
    }
    if (look->grain_size > 0.0f) {
        /* Water changes all grains by the factor of their mean, so that the mean over grains is that of a
         * surface too far away to see them. */
        bsdf.bed = 1.0f - film;
        bsdf.mean = wetness > 0.0f ? bsdf.albedo : dry;
        bsdf.albedo = wadi_vec3f(own.x * bsdf.mean.x / wadi_maxf(dry.x, 1e-4f),
                                 own.y * bsdf.mean.y / wadi_maxf(dry.y, 1e-4f),
                                 own.z * bsdf.mean.z / wadi_maxf(dry.z, 1e-4f));
        bsdf.roughness = 0.0f;
    }
    return bsdf;
}

/* Directional albedo of single scattering for a white surface. [PKH24], their fit. */
static float rough_albedo(float cosine, float roughness, float a)
{
    float c = 1.0f - cosine;
    float g = c * (0.0571085289f + c * (0.491881867f + c * (-0.332181442f + c * 0.0714429953f)));
    return a * (1.0f + roughness * g);
}

/* Light of `in` in the frame of the bed. */
static WadiVec3f to_bed(const WadiBsdfGrain *grain, WadiVec3f v)
{
    WadiVec3f sum = wadi_scalef(grain->axis[0], v.x);
    return wadi_add_scaledf(wadi_add_scaledf(sum, grain->axis[1], v.y), grain->axis[2], v.z);
}

/* One grain in 200 reflects towards the eye; the others give as much less, so that the mean is 1. */
static float flash(const WadiBsdf *bsdf, WadiVec3f out, WadiVec3f in)
{
    static const float cosine = 0.995f, strength = 40.0f;
    WadiVec3f h = wadi_normalizedf_or(wadi_addf(out, in), wadi_vec3f(0, 0, 1));
    bool is_mirror = fabsf(wadi_dotf(to_bed(bsdf->grain, h), bsdf->grain->mirror)) > cosine;
    return 1.0f + bsdf->sparkle * strength * ((is_mirror ? 1.0f : 0.0f) - (1.0f - cosine));
}

float wadi_bsdf_bed(const WadiBsdf *bsdf, WadiVec3f out, WadiVec3f in)
{
    if (bsdf->grain == NULL) {
        return wadi_bed_single(out, in);
    }
    WadiVec3f light = to_bed(bsdf->grain, in);
    float cosine = wadi_dotf(bsdf->grain->hit.normal, light);
    if (cosine <= 0.0f || !wadi_grain_bed_is_lit(&bsdf->grain->bed, &bsdf->grain->hit, light)) {
        return 0.0f;
    }
    return cosine / in.z * (bsdf->sparkle > 0.0f ? flash(bsdf, out, in) : 1.0f);
}

/* One reflection by geometry, the others as those of a rough surface [PKH24 sec. 4]: white grains lose
 * nothing. */
static WadiRgb bed_eval(const WadiBsdf *bsdf, WadiVec3f out, WadiVec3f in)
{
    float single = wadi_bsdf_bed(bsdf, out, in) / pif, mean = wadi_bed_albedo_mean();
    float multiple = (1.0f - wadi_bed_albedo(out.z)) * (1.0f - wadi_bed_albedo(in.z)) / (pif * (1.0f - mean));
    if (bsdf->grain != NULL) {
        multiple *= wadi_bed_depth_factor(bsdf->grain->hit.depth, out.z);
    }
    WadiRgb c = { wadi_minf(bsdf->mean.x, 1.0f), wadi_minf(bsdf->mean.y, 1.0f),
                  wadi_minf(bsdf->mean.z, 1.0f) };
    WadiRgb several = { c.x * c.x * mean / (1.0f - c.x * (1.0f - mean)),
                        c.y * c.y * mean / (1.0f - c.y * (1.0f - mean)),
                        c.z * c.z * mean / (1.0f - c.z * (1.0f - mean)) };
    WadiRgb bed = wadi_add_scaledf(wadi_scalef(bsdf->albedo, single), several, multiple);
    return wadi_add_scaledf(wadi_scalef(bed, bsdf->bed), bsdf->albedo, (1.0f - bsdf->bed) / pif);
}

static WadiRgb base_eval(const WadiBsdf *bsdf, WadiVec3f out, WadiVec3f in)
{
    if (bsdf->bed > 0.0f) {
        return bed_eval(bsdf, out, in);
    }
    float r = bsdf->roughness;
    if (r <= 0.0f) {
        return wadi_scalef(bsdf->albedo, 1.0f / pif);
    }
    float s = wadi_dotf(in, out) - in.z * out.z, st = s > 0.0f ? s / wadi_maxf(in.z, out.z) : s;
    float a = 1.0f / (1.0f + (0.5f - 2.0f / (3.0f * pif)) * r);
    float mean = a * (1.0f + (2.0f / 3.0f - 28.0f / (15.0f * pif)) * r);
    float single = a * (1.0f + r * st) / pif;
    float multiple = wadi_maxf(1.0f - rough_albedo(out.z, r, a), 0.0f) *
                     wadi_maxf(1.0f - rough_albedo(in.z, r, a), 0.0f) / (pif * wadi_maxf(1.0f - mean, 1e-6f));
    WadiRgb c = bsdf->albedo;
    WadiRgb multiple_albedo = { c.x * c.x * mean / (1.0f - c.x * (1.0f - mean)),
                                c.y * c.y * mean / (1.0f - c.y * (1.0f - mean)),
                                c.z * c.z * mean / (1.0f - c.z * (1.0f - mean)) };
    return wadi_add_scaledf(wadi_scalef(c, single), multiple_albedo, multiple);
}

/* Smith's Lambda for GGX. */
static float shadowing(WadiVec3f w, float alpha)
{
    float square = w.z * w.z, tangent = (1.0f - square) / wadi_maxf(square, 1e-12f);
    return 0.5f * (sqrtf(1.0f + alpha * alpha * wadi_maxf(tangent, 0.0f)) - 1.0f);
}

static float ggx(WadiVec3f h, float alpha)
{
    float a = alpha * alpha, across = h.x * h.x + h.y * h.y, t = across + h.z * h.z * a;
    return a / (pif * t * t); /* across + z^2 = 1; this form loses no digits for a small alpha */
}

/* Transmittance of the coat. A rough coat reflects less at grazing angles than a smooth one. Fresnel at a
 * raised cosine is at most 0.003 below the coat's reflectance, for alpha 0.01 to 1 and index 1.33 to 1.5. */
static float coat_transmittance(const WadiBsdf *bsdf, float cosine)
{
    float raised = (cosine + 0.45f * bsdf->alpha) / (1.0f + 0.45f * bsdf->alpha);
    return 1.0f - bsdf->coat * wadi_fresnel(raised, bsdf->index);
}

/* Probability of sampling the coat: about its fraction of the reflected light. */
static float coat_probability(const WadiBsdf *bsdf, WadiVec3f out)
{
    if (bsdf->coat <= 0.0f || bsdf->index <= 1.0f) {
        return 0.0f;
    }
    float specular = bsdf->coat * wadi_fresnel(out.z, bsdf->index);
    float diffuse = (1.0f - specular) * wadi_luminance(bsdf->albedo);
    return wadi_minf(wadi_maxf(specular / wadi_maxf(specular + diffuse, 1e-6f), 0.1f), 0.9f);
}

WadiRgb wadi_bsdf_eval(const WadiBsdf *bsdf, WadiVec3f out, WadiVec3f in, float *pdf)
{
    *pdf = 0.0f;
    if (!(out.z > 0.0f && in.z > 0.0f)) {
        return wadi_grey(0.0f);
    }
    float probability = coat_probability(bsdf, out);
    WadiRgb value = base_eval(bsdf, out, in);
    *pdf = (1.0f - probability) * in.z / pif;
    if (probability > 0.0f) {
        float transmittance = coat_transmittance(bsdf, out.z) * coat_transmittance(bsdf, in.z);
        WadiVec3f h = wadi_normalizedf_or(wadi_addf(out, in), wadi_vec3f(0, 0, 1));
        float lambda_out = shadowing(out, bsdf->alpha), lambda_in = shadowing(in, bsdf->alpha);
        float d = ggx(h, bsdf->alpha);
        float specular = bsdf->coat * wadi_fresnel(wadi_dotf(out, h), bsdf->index) * d /
                         ((1.0f + lambda_out + lambda_in) * 4.0f * out.z * in.z);
        value = wadi_addf(wadi_scalef(value, transmittance), wadi_grey(specular));
        *pdf += probability * d / ((1.0f + lambda_out) * 4.0f * out.z);
    }
    return wadi_scalef(value, in.z);
}

WadiVec3f wadi_bsdf_sample(const WadiBsdf *bsdf, WadiVec3f out, const float u[3])
{
    float probability = coat_probability(bsdf, out);
    float angle = 2.0f * pif * u[1], r = sqrtf(u[0]);
    if (u[2] >= probability) {
        return wadi_vec3f(r * cosf(angle), r * sinf(angle), sqrtf(wadi_maxf(1.0f - u[0], 0.0f)));
    }
    /* [H18]: stretched to alpha 1; the visible half of a disc as seen from `out`. */
    WadiVec3f v =
        wadi_normalizedf_or(wadi_vec3f(bsdf->alpha * out.x, bsdf->alpha * out.y, out.z), wadi_vec3f(0, 0, 1));
    float across = v.x * v.x + v.y * v.y;
    WadiVec3f t1 =
        across > 0.0f ? wadi_scalef(wadi_vec3f(-v.y, v.x, 0.0f), 1.0f / sqrtf(across)) : wadi_vec3f(1, 0, 0);
    WadiVec3f t2 = wadi_crossf(v, t1);
    float a = r * cosf(angle), b = r * sinf(angle), s = 0.5f * (1.0f + v.z);
    b = (1.0f - s) * sqrtf(wadi_maxf(1.0f - a * a, 0.0f)) + s * b;
    WadiVec3f n = wadi_scalef(v, sqrtf(wadi_maxf(1.0f - a * a - b * b, 0.0f)));
    n = wadi_add_scaledf(wadi_add_scaledf(n, t1, a), t2, b);
    WadiVec3f h = wadi_normalizedf_or(wadi_vec3f(bsdf->alpha * n.x, bsdf->alpha * n.y, wadi_maxf(n.z, 1e-7f)),
                                      wadi_vec3f(0, 0, 1));
    return wadi_normalizedf_or(wadi_add_scaledf(wadi_scalef(out, -1.0f), h, 2.0f * wadi_dotf(out, h)),
                               wadi_vec3f(0, 0, -1));
}
