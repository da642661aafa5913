#include "sph/loads/sph_wall_push.h"

#include "math/minmax.h"
#include "math/vec3.h"
#include "sph/pairs/sph_lanes.h"

/* Of the sum of the shares: forces that no normal has are spread among the contacts, and a contact without a
 * share, of which only images are felt, has a part. */
static const double ACROSS = 1e-6;
static const float LEAST_SHARE = 1e-3f; /* 1/spacing */

void wadi_sph_wall_push(const WadiSphPairs *pairs, const WadiSphWalls *walls, int32_t near, float own,
                        WadiF4 *push)
{
    WadiF4 sum = walls->gradient[near] * own;
    for (int64_t n = pairs->mirror_start[near]; n < pairs->mirror_start[near + 1]; ++n) {
        const WadiSphMirror *mirror = &pairs->mirror[n];
        const WadiF4 across = (*(const WadiF4 *)mirror->gradient - *(const WadiF4 *)mirror->back) * 0.5f;
        sum += across * (own + wadi_sph_number(pairs, wadi_sph_mirror_other(mirror)));
    }
    *push = wadi_sph_xyz(sum);
}

static double share_of(const WadiSphContact *contact)
{
    return (double)wadi_maxf(-contact->velocity[3], LEAST_SHARE);
}

static WadiVec3 normal_of(const WadiSphContact *contact)
{
    const WadiF4 n = contact->normal;
    return (WadiVec3){ (double)n[0], (double)n[1], (double)n[2] };
}

/* part_c += (w_c n_c n_c + eps) u, u such that these add up to `rest`. */
static void split_rest(const WadiSphContact *contact, int count, WadiF4 rest,
                       WadiF4 part[WADI_SPH_CONTACT_MAX])
{
    double m[3][3] = { { 0 } }, all = 0.0;
    for (int c = 0; c < count; ++c) {
        const double w = share_of(&contact[c]);
        for (int a = 0; a < 9; ++a) {
            m[a / 3][a % 3] += w * (double)contact[c].normal[a / 3] * (double)contact[c].normal[a % 3];
        }
        all += w;
    }
    for (int a = 0; a < 3; ++a) {
        m[a][a] += ACROSS * all;
    }
    const WadiVec3 x = { m[0][0], m[1][0], m[2][0] }, y = { m[0][1], m[1][1], m[2][1] };
    const WadiVec3 z = { m[0][2], m[1][2], m[2][2] };
    const WadiVec3 yz = wadi_cross(y, z), t = { (double)rest[0], (double)rest[1], (double)rest[2] };
    const double determinant = wadi_dot(x, yz);
    const WadiVec3 u = { wadi_dot(t, yz) / determinant, wadi_dot(t, wadi_cross(z, x)) / determinant,
                         wadi_dot(t, wadi_cross(x, y)) / determinant };
    for (int c = 0; c < count; ++c) {
        const WadiVec3 n = normal_of(&contact[c]);
        const WadiVec3 across = wadi_scale(u, ACROSS * all / count);
        const WadiVec3 f = wadi_add_scaled(across, n, share_of(&contact[c]) * wadi_dot(n, u));
        part[c] += (WadiF4){ (float)f.x, (float)f.y, (float)f.z, 0.0f };
    }
}

void wadi_sph_split_push(const WadiSphContact *contact, int count, float own, WadiF4 push,
                         WadiF4 part[WADI_SPH_CONTACT_MAX])
{
    WadiF4 rest = push;
    if (count == 1) {
        part[0] = push;
        return;
    }
    for (int c = 0; c < count; ++c) {
        part[c] = wadi_sph_xyz(contact[c].normal * (own * contact[c].velocity[3]));
        rest -= part[c];
    }
    if (count > 0) {
        split_rest(contact, count, rest, part);
    }
}
