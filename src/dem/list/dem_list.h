/* The list of pairs of grains that may touch before it is made again. A grain has a skin m, its way until
 * then; i and j are listed when they are nearer than R_i + R_j + m_i + m_j. Skins are powers of the root of
 * two of the smallest one, so that most grains have equal ones; the grain with the larger skin owns the
 * pair, and the first of two with equal ones: slow grains never search far [theory 13.2]. */
#ifndef WADI_DEM_LIST_H
#define WADI_DEM_LIST_H

#include "core/arena.h"
#include "dem/contact/dem_pairs.h"
#include "dem/list/dem_sleepers.h"
#include "particles/tile_sort.h"

/* Pairs with the memory that they own; zeroed: empty. */
typedef struct WadiDemList {
    WadiDemPairs pairs;
    size_t start_capacity, other_capacity, target_capacity, offset_capacity, spring_start_capacity,
        touches_capacity, near_capacity, near_count_capacity, chunk_capacity, slot_start_capacity,
        slot_capacity;
} WadiDemList;

/* Springs of the contacts of an earlier list, by the numbers that grains had in it. Each contact is in the
 * row of one of its grains; the spring is that of the row's grain against the other. */
typedef struct WadiDemSprings {
    int32_t count;  /* grains */
    int32_t *start; /* count + 1 */
    int32_t *other;
    WadiDemSpring *spring;
} WadiDemSprings;

enum { WADI_DEM_FOUND = 6 }; /* pairs of a grain that are kept from the search for them */

typedef struct WadiDemListIn {
    const WadiParticles *particles; /* sorted */
    const WadiTileSort *sort;       /* of those that are awake; cells at least 2 R + 2 m wide, smallest m */
    const WadiDemAsleep *asleep;    /* the grains before sort->first; NULL: none */
    /* m, per particle: radius when it is as large as it will be, and skin. WADI_DEM_LANES more are read. */
    const float *radius, *skin;
    double largest_radius, smallest_skin;
    const uint32_t *grain; /* per particle: spheres of one grain make no pairs; NULL: all are grains */
    /* Memory whose content is lost: WADI_DEM_FOUND whole numbers for each particle of the sort, and three for
     * each of them and WADI_DEM_LANES more. */
    int32_t *found_room, *place_room;
} WadiDemListIn;

/* Near pairs are not chosen yet. */
WadiStatus wadi_dem_list_build(WadiDemList *list, const WadiDemListIn *in, WadiArena *scratch,
                               WadiError *error);
void wadi_dem_list_free(WadiDemList *list);

/* Contacts of a list in the order of their pairs. */
typedef struct WadiDemContacts {
    const WadiDemPairs *pairs;
    int32_t chunk, from, near; /* from: first grain of the chunk */
    int32_t pair, owner;
    const WadiDemSpring *spring;
} WadiDemContacts;

void wadi_dem_contacts_begin(WadiDemContacts *at, const WadiDemPairs *pairs);
bool wadi_dem_contacts_next(WadiDemContacts *at);

/* Near pairs get the springs that they had in the last list. list_index: per particle, 1 + its index in that
 * list; 0: it is new. */
void wadi_dem_list_take_springs(WadiDemList *list, const WadiDemSprings *springs, const uint32_t *list_index);

/* The springs of the contacts of a list, in scratch. */
WadiStatus wadi_dem_springs_of(WadiDemSprings *springs, const WadiDemPairs *pairs, WadiArena *scratch,
                               WadiError *error);
/* That of a against b, with its sign; false: they were not in contact. */
bool wadi_dem_spring_find(const WadiDemSprings *springs, uint32_t a, uint32_t b, WadiDemSpring *spring);

/* Parts of wadi_dem_list_build: memory for rows, memory for pairs, and the halo slots of these. */
WadiStatus wadi_dem_list_renew_grains(WadiDemList *list, int32_t first, int32_t count, WadiError *error);
WadiStatus wadi_dem_list_renew_pairs(WadiDemList *list, int64_t count, WadiError *error);
WadiStatus wadi_dem_list_make_slots(WadiDemList *list, WadiArena *scratch, WadiError *error);

#endif
