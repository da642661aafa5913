#include "render/bed/grain_bed.h"

#include "core/hash.h"

/* In cells: displacement of a grain from the middle of its cell, and its radius. With these no grain leaves
 * the cells next to its own. */
static const float JITTER = 0.36f, RADIUS_LEAST = 0.4f, RADIUS_RANGE = 0.26f;
/* Farther than this from its cell's middle no grain extends. */
static const float EXTENT = 1.02f;
/* Depth of the floor below the plane, and the longest way, cells. */
static const float FLOOR = 3.0f, FAR = 24.0f;

typedef struct Grain {
    WadiVec3f center;
    float radius;
    uint64_t hash;
} Grain;

static uint64_t cell_hash(uint64_t seed, int32_t i, int32_t j, int32_t k)
{
    uint64_t key = (uint64_t)(uint32_t)i * UINT64_C(0x9e3779b97f4a7c15) ^
                   (uint64_t)(uint32_t)j * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                   (uint64_t)(uint32_t)k * UINT64_C(0x165667b19e3779f9);
    return wadi_hash_mix(seed + key);
}

static float bits_unit(uint64_t hash, int first)
{
    return (float)(hash >> first & 0x3ff) * (1.0f / 1024.0f);
}

static Grain grain_in(uint64_t seed, int32_t i, int32_t j, int32_t k)
{
    uint64_t h = cell_hash(seed, i, j, k);
    float jx = 2.0f * bits_unit(h, 0) - 1.0f, jy = 2.0f * bits_unit(h, 10) - 1.0f,
          jz = 2.0f * bits_unit(h, 20) - 1.0f;
    return (Grain){ { (float)i + 0.5f + JITTER * jx, (float)j + 0.5f + JITTER * jy,
                      (float)k + 0.5f + JITTER * jz },
                    RADIUS_LEAST + RADIUS_RANGE * bits_unit(h, 30),
                    h };
}

static const WadiGrainShape *shape_of(const WadiGrainBed *bed, const Grain *grain)
{
    return &bed->shapes[grain->hash >> 40 & (WADI_GRAIN_SHAPES - 1)];
}

/* Distances at which the ray enters and leaves the grain, if it is in the bed. */
static bool cross_grain(const WadiGrainBed *bed, const Grain *grain, WadiVec3f o, WadiVec3f d, float far,
                        float *enter, float *leave)
{
    if (wadi_dotf(bed->normal, grain->center) + grain->radius > bed->height) {
        return false;
    }
    WadiVec3f to = wadi_subf(grain->center, o);
    float along = wadi_dotf(to, d), r = grain->radius;
    if (wadi_dotf(to, to) - along * along >= r * r || along < -r || along - r > far) {
        return false;
    }
    WadiVec3f local = wadi_scalef(to, -1.0f / r);
    if (!wadi_grain_shape_cross(shape_of(bed, grain), local, d, enter, leave)) {
        return false;
    }
    *enter *= r;
    *leave *= r;
    return true;
}

static float component(WadiVec3f v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/* The march of a ray through layers of cells across its main axis: in each the 3 x 3 cells about the ray. */
typedef struct March {
    const WadiGrainBed *bed;
    WadiVec3f o, d;
    uint64_t skip; /* hash of a grain that is left out */
    bool is_any;   /* any grain ends it, also one around the origin */
    float far;     /* cells; in: the longest way; out: the hit */
    Grain hit;
} March;

/* True: the march has ended. */
static bool test_cell(March *m, const int32_t cell[3])
{
    Grain grain = grain_in(m->bed->seed, cell[0], cell[1], cell[2]);
    float enter, leave;
    if (grain.hash == m->skip || !cross_grain(m->bed, &grain, m->o, m->d, m->far, &enter, &leave)) {
        return false;
    }
    if (m->is_any) {
        return leave > 1e-3f && enter < m->far;
    }
    if (enter > 0.0f && enter < m->far) {
        m->far = enter;
        m->hit = grain;
    }
    return false;
}

/* True when a grain was met. */
static bool march(March *m)
{
    WadiVec3f d = m->d;
    int a = fabsf(d.x) > fabsf(d.y) ? (fabsf(d.x) > fabsf(d.z) ? 0 : 2) : (fabsf(d.y) > fabsf(d.z) ? 1 : 2);
    int b = (a + 1) % 3, c = (a + 2) % 3, step = component(d, a) < 0.0f ? -1 : 1;
    float oa = component(m->o, a), da = component(d, a), before = EXTENT / fabsf(da);
    float first = m->far;
    int32_t cell[3];
    for (int32_t layer = (int32_t)floorf(oa) - step;; layer += step) {
        float t = ((float)layer + 0.5f - oa) / da;
        if (t - before > m->far) {
            return m->far < first;
        }
        int32_t mb = (int32_t)floorf(component(m->o, b) + t * component(d, b)),
                mc = (int32_t)floorf(component(m->o, c) + t * component(d, c));
        cell[a] = layer;
        for (int n = 0; n < 9; ++n) {
            cell[b] = mb + n % 3 - 1;
            cell[c] = mc + n / 3 - 1;
            if (test_cell(m, cell)) {
                return true;
            }
        }
    }
}

WadiGrainHit wadi_grain_bed_hit(const WadiGrainBed *bed, WadiVec3f origin, WadiVec3f direction)
{
    float down = -wadi_dotf(bed->normal, direction);
    March m = {
        .bed = bed, .o = origin, .d = direction, .far = wadi_minf(FLOOR / wadi_maxf(down, 1e-3f), FAR)
    };
    bool is_grain = march(&m);
    WadiVec3f p = wadi_add_scaledf(origin, direction, m.far);
    float depth = bed->height - wadi_dotf(bed->normal, p);
    if (!is_grain) {
        return (WadiGrainHit){ p, bed->normal, depth, wadi_grain_bed_cell(bed->seed, p) };
    }
    WadiVec3f local = wadi_scalef(wadi_subf(p, m.hit.center), 1.0f / m.hit.radius);
    return (WadiGrainHit){ p, wadi_grain_shape_normal(shape_of(bed, &m.hit), local), depth, m.hit.hash };
}

bool wadi_grain_bed_is_lit(const WadiGrainBed *bed, const WadiGrainHit *hit, WadiVec3f direction)
{
    float up = wadi_dotf(bed->normal, direction), depth = hit->depth;
    if (up <= 0.0f) {
        return false;
    }
    March m = { .bed = bed,
                .o = hit->position,
                .d = direction,
                .skip = hit->grain,
                .is_any = true,
                .far = wadi_minf(wadi_maxf(depth, 0.0f) / up, FAR) };
    return !march(&m);
}

uint64_t wadi_grain_bed_cell(uint64_t seed, WadiVec3f position)
{
    return cell_hash(seed, (int32_t)floorf(position.x), (int32_t)floorf(position.y),
                     (int32_t)floorf(position.z));
}
