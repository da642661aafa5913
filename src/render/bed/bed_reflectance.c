/* Reflectance of a bed of grains too small to be seen, from the geometry of grain_bed.c [theory 12.3].
 *
 * One reflection: P(g) Q / (cos i + cos o), Lommel and Seeliger's law of a porous surface with a phase
 * function P of the angle g between the directions, and a correction Q near 1 that was measured by tracing
 * rays (tests/unit/test_grain_bed.c does so again). */
#include "render/bed/grain_bed.h"

static const float pif = 3.14159265f;

enum { POLAR = 6, AROUND = 5, COSINES = 17 };

/* Q at these polar angles of both directions and at azimuths of 0, 45 .. 180 between them, degrees. */
static const float polar_nodes[POLAR] = { 5.0f, 30.0f, 50.0f, 65.0f, 78.0f, 86.0f };
static const float correction[POLAR][POLAR][AROUND] = { { { 1.015f, 1.040f, 1.043f, 1.039f, 1.038f },
                                                          { 0.967f, 0.961f, 0.953f, 0.947f, 0.946f },
                                                          { 0.929f, 0.927f, 0.925f, 0.931f, 0.934f },
                                                          { 0.950f, 0.948f, 0.952f, 0.964f, 0.968f },
                                                          { 1.048f, 1.047f, 1.063f, 1.082f, 1.087f },
                                                          { 1.271f, 1.278f, 1.324f, 1.366f, 1.372f } },
                                                        { { 0.967f, 0.961f, 0.953f, 0.947f, 0.946f },
                                                          { 0.993f, 0.970f, 0.929f, 0.928f, 0.936f },
                                                          { 0.967f, 0.930f, 0.920f, 0.949f, 0.971f },
                                                          { 0.928f, 0.919f, 0.940f, 1.003f, 1.045f },
                                                          { 0.947f, 0.961f, 1.022f, 1.145f, 1.224f },
                                                          { 1.047f, 1.074f, 1.215f, 1.463f, 1.645f } },
                                                        { { 0.929f, 0.927f, 0.925f, 0.931f, 0.934f },
                                                          { 0.967f, 0.930f, 0.920f, 0.949f, 0.971f },
                                                          { 0.975f, 0.914f, 0.911f, 0.986f, 1.042f },
                                                          { 0.963f, 0.897f, 0.917f, 1.038f, 1.138f },
                                                          { 0.905f, 0.894f, 0.957f, 1.146f, 1.317f },
                                                          { 0.894f, 0.925f, 1.046f, 1.403f, 1.762f } },
                                                        { { 0.950f, 0.948f, 0.952f, 0.964f, 0.968f },
                                                          { 0.928f, 0.919f, 0.940f, 1.003f, 1.045f },
                                                          { 0.963f, 0.897f, 0.917f, 1.038f, 1.138f },
                                                          { 0.969f, 0.869f, 0.892f, 1.053f, 1.213f },
                                                          { 0.909f, 0.836f, 0.882f, 1.088f, 1.255f },
                                                          { 0.815f, 0.808f, 0.889f, 1.180f, 1.385f } },
                                                        { { 1.048f, 1.047f, 1.063f, 1.082f, 1.087f },
                                                          { 0.947f, 0.961f, 1.022f, 1.145f, 1.224f },
                                                          { 0.905f, 0.894f, 0.957f, 1.146f, 1.317f },
                                                          { 0.909f, 0.836f, 0.882f, 1.088f, 1.255f },
                                                          { 0.953f, 0.770f, 0.801f, 0.982f, 0.906f },
                                                          { 0.758f, 0.703f, 0.740f, 0.918f, 0.632f } },
                                                        { { 1.271f, 1.278f, 1.324f, 1.366f, 1.372f },
                                                          { 1.047f, 1.074f, 1.215f, 1.463f, 1.645f },
                                                          { 0.894f, 0.925f, 1.046f, 1.403f, 1.762f },
                                                          { 0.815f, 0.808f, 0.889f, 1.180f, 1.385f },
                                                          { 0.758f, 0.703f, 0.740f, 0.918f, 0.632f },
                                                          { 0.894f, 0.620f, 0.635f, 0.737f, 0.272f } } };

/* The integral of wadi_bed_single over all directions, for cosines of 0, 1/16 .. 1. */
static const float albedo_nodes[COSINES] = { 0.7898f, 0.6998f, 0.6433f, 0.5976f, 0.5679f, 0.5476f,
                                             0.5305f, 0.5166f, 0.5076f, 0.5000f, 0.4936f, 0.4891f,
                                             0.4857f, 0.4832f, 0.4813f, 0.4805f, 0.4806f };
static const float albedo_mean = 0.5033f;

static float phase(float cosine)
{
    float g = acosf(cosine);
    return 0.28f * expf(-g / 0.12f) + 1.08f * powf(0.5f * (1.0f + cosine), 1.6f) + 0.015f;
}

/* Index and fraction of an angle among the nodes. */
static int polar_index(float cosine, float *fraction)
{
    float angle = acosf(wadi_minf(cosine, 1.0f)) * 180.0f / pif;
    int i = 0;
    while (i + 2 < POLAR && angle > polar_nodes[i + 1]) {
        ++i;
    }
    float t = (angle - polar_nodes[i]) / (polar_nodes[i + 1] - polar_nodes[i]);
    *fraction = wadi_minf(wadi_maxf(t, 0.0f), 1.0f);
    return i;
}

float wadi_bed_single(WadiVec3f out, WadiVec3f in)
{
    float fo, fi, cosine = wadi_minf(wadi_maxf(wadi_dotf(out, in), -1.0f), 1.0f);
    int o = polar_index(out.z, &fo), i = polar_index(in.z, &fi);
    float across = sqrtf(wadi_maxf((1.0f - out.z * out.z) * (1.0f - in.z * in.z), 1e-12f));
    float around = (cosine - out.z * in.z) / across;
    float azimuth = acosf(wadi_minf(wadi_maxf(around, -1.0f), 1.0f)) * (float)(AROUND - 1) / pif;
    int a = azimuth < (float)(AROUND - 2) ? (int)azimuth : AROUND - 2;
    float fa = azimuth - (float)a, sum = 0.0f;
    for (int n = 0; n < 8; ++n) {
        float weight = (n & 1 ? fo : 1.0f - fo) * (n & 2 ? fi : 1.0f - fi) * (n & 4 ? fa : 1.0f - fa);
        sum += weight * correction[o + (n & 1)][i + (n >> 1 & 1)][a + (n >> 2)];
    }
    return phase(cosine) * sum / wadi_maxf(out.z + in.z, 1e-3f);
}

float wadi_bed_albedo(float cosine)
{
    float x = wadi_minf(wadi_maxf(cosine, 0.0f), 1.0f) * (float)(COSINES - 1);
    int i = x < (float)(COSINES - 2) ? (int)x : COSINES - 2;
    float t = x - (float)i;
    return (1.0f - t) * albedo_nodes[i] + t * albedo_nodes[i + 1];
}

float wadi_bed_albedo_mean(void)
{
    return albedo_mean;
}

float wadi_bed_depth_factor(float depth, float cosine)
{
    float t = 1.0f - wadi_minf(cosine, 1.0f);
    return expf(-0.7f * depth) / (0.473f + 0.28f * t * sqrtf(t));
}
