/* Grains of sand on a mesh or on the ground. Every particle has a lattice of grains of its own, turned by its
 * hash, and a point of the surface belongs to the nearest particle: grains move with their particles and are
 * cut where two particles meet [theory 12.3]. */
#include "render/trace/tracer_internal.h"

#include "core/random.h"

/* Grains are drawn as shapes where they are wider than this many pixels; below, over an octave, more and more
 * of the samples see the mean over shapes, with the colours of single grains. */
static const float SHAPES_FROM = 0.7f;
/* Colours of single grains fade out with their size over this many pixels. */
static const float COLOURS_FROM = 0.33f;

/* Lumps: the smallest over the size of a grain, each octave four times larger, at most this large relative to
 * the distance of the particles; the slope and the change of brightness that each octave adds. Slopes of
 * lumps larger than LUMP_GENTLE, m, fall with a power of their size: with the slope of small ones low sun
 * would make marks of them, and flat sand would look like plaster. */
static const float LUMP_SIZE = 5.0f, LUMP_LARGEST = 1.0f, LUMP_SLOPE = 0.1f, LUMP_SHADE = 0.05f,
                   LUMP_GENTLE = 0.005f, LUMP_POWER = 0.6f;
/* A lump turns away from the eye by at most this fraction of what would hide it. */
static const float LUMP_HIDDEN = 0.7f;
enum { LUMP_OCTAVES = 5, NEAR_MAX = 4 };
/* Distance of the ground's lattices, in grains. */
static const float GROUND_CELL = 24.0f;

typedef struct Lattice {
    WadiVec3f axis[3]; /* rows of the rotation into the lattice */
    WadiVec3f origin;  /* position of the particle in the lattice, cells */
    WadiVec3f anchor;  /* m */
    float scale;       /* cells per metre */
    uint64_t seed;
} Lattice;

static WadiVec3f turned(const Lattice *lattice, WadiVec3f v)
{
    return wadi_vec3f(wadi_dotf(lattice->axis[0], v), wadi_dotf(lattice->axis[1], v),
                      wadi_dotf(lattice->axis[2], v));
}

/* A rotation from a hash: a unit quaternion as a matrix. */
static void hash_rotation(uint64_t hash, WadiVec3f axis[3])
{
    float u = (float)(hash & 0xffff) * 0x1p-16f, a = 6.2831853f * (float)(hash >> 16 & 0xffff) * 0x1p-16f,
          b = 6.2831853f * (float)(hash >> 32 & 0xffff) * 0x1p-16f;
    float low = sqrtf(1.0f - u), high = sqrtf(u);
    float x = low * sinf(a), y = low * cosf(a), z = high * sinf(b), w = high * cosf(b);
    axis[0] = wadi_vec3f(1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w));
    axis[1] = wadi_vec3f(2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w));
    axis[2] = wadi_vec3f(2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y));
}

/* The nearest particles of a point of the surface, the nearest first. */
typedef struct Near {
    WadiVec3f position[NEAR_MAX]; /* m */
    uint64_t hash[NEAR_MAX];
    float square[NEAR_MAX]; /* m^2, of the distances */
    int count;
} Near;

static void add_near(Near *near, WadiVec3f x, WadiVec3f position, uint64_t hash)
{
    WadiVec3f away = wadi_subf(x, position);
    float square = wadi_dotf(away, away);
    for (int n = 0; n < near->count; ++n) {
        if (near->hash[n] == hash) {
            return;
        }
    }
    int k = near->count < NEAR_MAX ? near->count : NEAR_MAX - 1;
    if (near->count == NEAR_MAX && !(square < near->square[k])) {
        return;
    }
    near->count = k + 1;
    for (; k > 0 && square < near->square[k - 1]; --k) {
        near->position[k] = near->position[k - 1];
        near->hash[k] = near->hash[k - 1];
        near->square[k] = near->square[k - 1];
    }
    near->position[k] = position;
    near->hash[k] = hash;
    near->square[k] = square;
}

static Near near_particles(const WadiTraceHit *hit)
{
    Near near = { .count = 0 };
    const WadiPart *part = hit->part;
    for (int n = 0; part != NULL && part->owner != NULL && n < 3 * WADI_TRACE_OWNERS; ++n) {
        uint32_t candidate = part->owner[hit->vertex[n / WADI_TRACE_OWNERS]][n % WADI_TRACE_OWNERS];
        if (candidate != UINT32_MAX) {
            const float *at = part->anchor[candidate];
            add_near(&near, hit->rest, wadi_vec3f(at[0], at[1], at[2]),
                     (uint64_t)part->anchor_hash[candidate] + 2);
        }
    }
    if (near.count > 0) {
        return near;
    }
    /* The ground has no particles: points of a jittered grid take their place. */
    float cell = GROUND_CELL * hit->look->grain_size;
    int32_t i = (int32_t)floorf(hit->rest.x / cell), j = (int32_t)floorf(hit->rest.y / cell);
    for (int n = 0; n < 9; ++n) {
        int32_t x = i + n % 3 - 1, y = j + n / 3 - 1;
        uint64_t hash = wadi_hash_combine((uint64_t)(uint32_t)x, (uint64_t)(uint32_t)y);
        float u = (float)(hash & 0xffff) * 0x1p-16f, v = (float)(hash >> 16 & 0xffff) * 0x1p-16f;
        WadiVec3f position = { ((float)x + 0.15f + 0.7f * u) * cell, ((float)y + 0.15f + 0.7f * v) * cell,
                               hit->rest.z };
        add_near(&near, hit->rest, position, hash);
    }
    return near;
}

/* The lattice of the n-th of the nearest particles, with cells of `cell` m. */
static Lattice lattice_of(const Near *near, int n, float cell)
{
    Lattice lattice = { .scale = 1.0f / cell, .anchor = near->position[n] };
    lattice.seed = wadi_random_bits(1, near->hash[n], WADI_RANDOM_GRAIN);
    uint64_t bits = wadi_random_bits(2, near->hash[n], WADI_RANDOM_GRAIN);
    hash_rotation(bits, lattice.axis);
    lattice.origin = wadi_vec3f((float)(bits >> 48 & 0xff) / 256.0f, (float)(bits >> 56) / 256.0f, 0.5f);
    return lattice;
}

static WadiVec3f in_lattice(const Lattice *lattice, WadiVec3f x)
{
    WadiVec3f at = wadi_scalef(turned(lattice, wadi_subf(x, lattice->anchor)), lattice->scale);
    return wadi_addf(at, lattice->origin);
}

/* The mineral of a grain, its brightness and the normal of its brightest facet. */
static WadiRgb grain_colour(const WadiLook *look, uint64_t grain, WadiVec3f *mirror)
{
    uint64_t hash = wadi_hash_mix(grain + UINT64_C(0x9e3779b97f4a7c15));
    float u = (float)(hash & 0xffff) * 0x1p-16f, bright = (float)(hash >> 16 & 0xffff) * 0x1p-15f - 1.0f;
    int m = 0;
    while (m + 1 < WADI_LOOK_MINERALS && u >= look->fraction[m]) {
        u -= look->fraction[m++];
    }
    float z = (float)(hash >> 32 & 0xffff) * 0x1p-15f - 1.0f, r = sqrtf(wadi_maxf(1.0f - z * z, 0.0f)),
          angle = 6.2831853f * (float)(hash >> 48) * 0x1p-16f;
    *mirror = wadi_vec3f(r * cosf(angle), r * sinf(angle), z);
    return wadi_scalef(look->mineral[look->fraction[m] > 0.0f ? m : 0], 1.0f + look->variation * bright);
}

/* Smooth noise of mean 0 in a lattice, and its gradient. */
static float lump(uint64_t seed, WadiVec3f x, WadiVec3f *gradient)
{
    float low[3] = { floorf(x.x), floorf(x.y), floorf(x.z) },
          t[3] = { x.x - low[0], x.y - low[1], x.z - low[2] }, w[3], dw[3], sum = 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
        w[axis] = t[axis] * t[axis] * (3.0f - 2.0f * t[axis]);
        dw[axis] = 6.0f * t[axis] * (1.0f - t[axis]);
    }
    *gradient = wadi_vec3f(0, 0, 0);
    for (int n = 0; n < 8; ++n) {
        WadiVec3f corner = { low[0] + (float)(n & 1), low[1] + (float)(n >> 1 & 1),
                             low[2] + (float)(n >> 2) };
        uint64_t hash = wadi_grain_bed_cell(seed, corner);
        float value = (float)(hash >> 40) * 0x1p-23f - 1.0f;
        float a = n & 1 ? w[0] : 1.0f - w[0], b = n & 2 ? w[1] : 1.0f - w[1], c = n & 4 ? w[2] : 1.0f - w[2];
        sum += value * a * b * c;
        gradient->x += value * (n & 1 ? dw[0] : -dw[0]) * b * c;
        gradient->y += value * (n & 2 ? dw[1] : -dw[1]) * a * c;
        gradient->z += value * (n & 4 ? dw[2] : -dw[2]) * a * b;
    }
    return sum;
}

/* A tilt of a normal, limited along the view: the far sides of lumps, which a flat view does not show, would
 * be black marks. */
static WadiVec3f visible_tilt(WadiVec3f tilt, WadiVec3f normal, WadiVec3f direction)
{
    float down = -wadi_dotf(normal, direction), away = -wadi_dotf(tilt, direction);
    if (!(away > 0.0f) || !(down > 0.0f)) {
        return tilt;
    }
    float most = LUMP_HIDDEN * down, limited = most * away / (most + away);
    WadiVec3f across = wadi_add_scaledf(direction, normal, down);
    return wadi_add_scaledf(tilt, across, (away - limited) / wadi_maxf(wadi_dotf(across, across), 1e-9f));
}

/* Sand is never smooth: lumps between the size of its grains and that of the particles tilt the surface.
 * Those of the nearest particles are blended, so that no border shows. */
static void add_lumps(WadiTraceHit *hit, const Near *near, WadiVec3f direction, float width)
{
    float reach = near->count > 1 ? 1.2f * near->square[near->count - 1] : 1.0f, total = 0.0f, square = 0.0f,
          shade = 0.0f;
    WadiVec3f tilt = { 0 };
    for (int octave = 0; octave < LUMP_OCTAVES && hit->look->lumps > 0.0f; ++octave) {
        float size = hit->look->grain_size * LUMP_SIZE * (float)(1 << 2 * octave);
        float seen = wadi_minf(wadi_maxf(size / width - 1.0f, 0.0f), 1.0f);
        if (size * size > LUMP_LARGEST * reach) {
            break;
        }
        total = square = 0.0f;
        WadiVec3f sum = { 0 };
        float value = 0.0f;
        for (int n = 0; seen > 0.0f && n < near->count; ++n) {
            float weight = near->count > 1 ? wadi_maxf(1.0f - near->square[n] / reach, 0.0f) : 1.0f;
            Lattice lattice = lattice_of(near, n, size);
            WadiVec3f gradient;
            weight *= weight;
            value +=
                weight * lump(lattice.seed + (uint64_t)octave, in_lattice(&lattice, hit->rest), &gradient);
            for (int axis = 0; axis < 3; ++axis) {
                float g = axis == 0 ? gradient.x : axis == 1 ? gradient.y : gradient.z;
                sum = wadi_add_scaledf(sum, lattice.axis[axis], weight * g);
            }
            total += weight;
            square += weight * weight;
        }
        if (total > 0.0f) { /* the sum of independent lumps keeps its variance */
            float slope = LUMP_SLOPE * powf(wadi_minf(LUMP_GENTLE / size, 1.0f), LUMP_POWER);
            tilt = wadi_add_scaledf(tilt, sum, hit->look->lumps * seen * slope / sqrtf(square));
            shade += hit->look->lumps * seen * LUMP_SHADE * value / sqrtf(square);
        }
    }
    tilt = wadi_add_scaledf(tilt, hit->shading, -wadi_dotf(tilt, hit->shading));
    tilt = visible_tilt(tilt, hit->shading, direction);
    WadiVec3f bent = wadi_normalizedf_or(wadi_subf(hit->shading, tilt), hit->shading);
    hit->shading = wadi_dotf(bent, hit->normal) > 0.2f ? bent : hit->shading;
    hit->colour = wadi_scalef(hit->colour, 1.0f + shade);
}

bool wadi_tracer_find_grain(const WadiTracer *tracer, WadiTraceHit *hit, WadiVec3f direction, float width,
                            float u, WadiBsdfGrain *grain)
{
    const WadiLook *look = hit->look;
    float pixels = look->grain_size / wadi_maxf(width, 1e-30f),
          amount = wadi_minf(pixels / COLOURS_FROM, 1.0f);
    Near near = near_particles(hit);
    Lattice lattice = lattice_of(&near, 0, WADI_BED_CELL * look->grain_size);
    WadiVec3f at = in_lattice(&lattice, hit->rest);
    bool is_shape = u < pixels / SHAPES_FROM - 1.0f;
    if (!is_shape) {
        if (amount > 0.02f) {
            uint64_t cell = wadi_grain_bed_cell(lattice.seed, at);
            WadiRgb colour = grain_colour(look, cell, &grain->mirror);
            /* Shapes also differ by their light: uniformly from none to twice the mean. */
            float relief = (float)(cell >> 40 & 0xffff) * 0x1p-15f;
            hit->colour = wadi_lerpf(look->colour, wadi_scalef(colour, relief), amount);
        }
        add_lumps(hit, &near, direction, width);
        return false;
    }
    add_lumps(hit, &near, direction, width);
    grain->bed = (WadiGrainBed){ .shapes = tracer->shapes,
                                 .seed = lattice.seed,
                                 .normal = turned(&lattice, hit->shading) };
    grain->bed.height = wadi_dotf(grain->bed.normal, at);
    grain->hit = wadi_grain_bed_hit(&grain->bed, at, turned(&lattice, direction));
    hit->colour = grain_colour(look, grain->hit.grain, &grain->mirror);
    WadiVec3f s, t;
    wadi_framef(hit->shading, &s, &t);
    grain->axis[0] = turned(&lattice, s);
    grain->axis[1] = turned(&lattice, t);
    grain->axis[2] = grain->bed.normal;
    return true;
}
