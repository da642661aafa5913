/* Closed components from the coarse levels: only connected blocks are joined, so that each component ends as
 * one unknown without edges, whose excess is zero exactly when the component has none. */
#include "linsys/poisson_components.h"

#include <math.h>

WadiStatus wadi_poisson_closed_find(WadiPoissonClosed *closed, const WadiPoissonTree *tree, WadiArena *arena,
                                    WadiError *error)
{
    *closed = (WadiPoissonClosed){ 0 };
    for (int l = 0; l < tree->level_count; ++l) {
        const WadiPoissonLevel *level = &tree->level[l];
        for (int32_t i = 0; i < level->count; ++i) {
            closed->count += level->parent[i] < 0 && level->excess[i] <= 0.0f;
        }
    }
    if (closed->count == 0) {
        return WADI_OK;
    }
    size_t count = (size_t)closed->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &closed->sum, count, "closed components", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &closed->members, count, "closed components", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &closed->lowest, count, "closed components", error));
    /* From the coarsest level down: an unknown without edges is a component, any other belongs to that of its
     * parent. */
    int32_t *above = NULL, next = 0;
    for (int l = tree->level_count - 1; l >= 0; --l) {
        const WadiPoissonLevel *level = &tree->level[l];
        int32_t *of;
        WADI_TRY(WADI_ARENA_NEW(arena, &of, (size_t)level->count, "closed components", error));
        for (int32_t i = 0; i < level->count; ++i) {
            bool has_parent = above != NULL && level->parent[i] >= 0; /* the coarsest level has no parents */
            of[i] = has_parent ? above[level->parent[i]] : level->excess[i] <= 0.0f ? next++ : -1;
        }
        above = of;
    }
    closed->of = above;
    return WADI_OK;
}

void wadi_poisson_closed_shift(const WadiPoissonClosed *closed, const WadiPoissonFine *fine,
                               bool is_to_lowest, double *values)
{
    if (closed->count == 0) {
        return;
    }
    for (int32_t c = 0; c < closed->count; ++c) {
        closed->sum[c] = closed->members[c] = 0.0;
        closed->lowest[c] = INFINITY;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t row = 1; row < fine->rows->count; ++row) {
            for (unsigned left = fine->coupled[row]; left != 0; left &= left - 1) {
                size_t cell = 8 * (size_t)row + (size_t)__builtin_ctz(left);
                int32_t c = closed->of[fine->parent[cell]];
                if (c >= 0 && pass == 0) {
                    closed->sum[c] += values[cell];
                    closed->members[c] += 1.0;
                    closed->lowest[c] = fmin(closed->lowest[c], values[cell]);
                } else if (c >= 0) {
                    values[cell] -= is_to_lowest ? closed->lowest[c] : closed->sum[c] / closed->members[c];
                }
            }
        }
    }
}

WadiStatus wadi_poisson_hierarchy_begin(WadiPoissonHierarchy **hierarchy, WadiArena *scratch,
                                        WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(scratch, hierarchy, 1, "coarse grid", error));
    **hierarchy = (WadiPoissonHierarchy){ 0 };
    return WADI_OK;
}

WadiStatus wadi_poisson_hierarchy_make(WadiPoissonHierarchy *hierarchy, const WadiPoisson *system,
                                       WadiArena *arena, WadiError *error)
{
    WADI_TRY(wadi_poisson_tree_build(&hierarchy->tree, system, arena, error));
    WADI_TRY(wadi_poisson_closed_find(&hierarchy->closed, &hierarchy->tree, arena, error));
    hierarchy->is_made = true;
    return WADI_OK;
}

WadiStatus wadi_poisson_hierarchy_reduce(WadiPoissonHierarchy *hierarchy, const WadiPoissonHierarchy *from,
                                         const WadiPoisson *system, WadiArena *arena, WadiError *error)
{
    *hierarchy = *from;
    WadiPoissonFine *fine = &hierarchy->tree.fine;
    WADI_TRY(wadi_poisson_fine_build(fine, system, arena, error));
    fine->parent = from->tree.fine.parent;
    fine->tile_parent_first = from->tree.fine.tile_parent_first;
    fine->tile_parent_count = from->tree.fine.tile_parent_count;
    return WADI_OK;
}
