/* Sand as columns of a height field: a static part and a rolling layer on it [BCRE94; ZY10 sec. 3.1].
 *
 * A column is a vertical square prism. Solids cut it into gaps, free intervals [floor, ceiling); each gap
 * holds its own sand, so that there may be sand below and above an overhang [ON03]. Gaps of neighbouring
 * columns that overlap are linked, and sand flows along links.
 *
 * Invariants: floor < ceiling; height >= floor; rolling >= 0; gaps of a column are sorted upwards; links are
 * mutual. Where every column has exactly one gap and all neighbours are linked, `is_single` is set, gap i is
 * column i, no gap has a ceiling and the arrays of links are empty. */
#ifndef WADI_DEM_COLUMNS_H
#define WADI_DEM_COLUMNS_H

#include "geom/solids.h"

typedef enum WadiDemSide {
    WADI_DEM_WEST,  /* -x */
    WADI_DEM_EAST,  /* +x */
    WADI_DEM_SOUTH, /* -y */
    WADI_DEM_NORTH, /* +y */
    WADI_DEM_SIDES,
} WadiDemSide;

typedef struct WadiDemColumns {
    int nx, ny;
    double x0, y0; /* m: corner of column (0, 0) */
    double wx, wy; /* m: widths of a column */
    /* m: range of the columns along x and y. The outermost columns end there: aligned ones are up to half a
     * width wider or narrower at a closed wall. */
    double low[2], high[2];
    int32_t count; /* of gaps */
    bool is_single;
    int32_t *first;          /* nx ny + 1: gaps of column c are first[c] .. first[c + 1]; NULL if single */
    double *floor, *ceiling; /* m; the ceiling may be INFINITY */
    double *height;          /* m: top of the static sand */
    double *rolling;         /* m: thickness of the rolling layer */
    /* Links of gap i at side s: entries link_first[4 i + s] .. link_first[4 i + s + 1]. */
    int32_t *link_first, *link_gap;
    /* Face of a link: the same number on both of its ends. If single: 2 i + 0 east and 2 i + 1 north of i. */
    int32_t *link_face;
    int32_t link_count, face_count;
    double
        *intake; /* fraction of what would flow into a gap that its ceiling leaves room for; NULL if single */
    /* Gaps that sand leaves for good: beyond open sides of the domain, or without a floor. */
    int32_t *sinks; /* ascending */
    int32_t sink_count;
    double drained; /* m^3: volume that left through sinks */
    /* Optional, an item a face: volume that crossed it towards east or north since the last reset, over the
     * area of a column, m. */
    double *crossed;
    /* Scratch of a step, an item a gap: `next` and `next_rolling` change places with height and rolling. */
    double *mobility, *next, *next_rolling;
} WadiDemColumns;

/* The law of exchange. Angles in radians, lengths in m. */
typedef struct WadiDemBcre {
    double repose;     /* theta_0 */
    double hysteresis; /* delta: sand at rest starts to roll at theta_0 + delta */
    double rate;       /* gamma, 1/s per radian */
    double speed;      /* v_d, m/s, of the rolling layer */
    double saturation; /* xi_s: of a thicker layer only so much takes part in the exchange */
    double deposition; /* factor of the rate where sand comes to rest; 1 in the papers */
    double seed;       /* thickness that starts to roll where sand at rest is too steep */
    double settle;     /* a thinner layer comes to rest on a slope that would not start to roll */
} WadiDemBcre;

/* Usual values for grains of diameter d (m) and repose angle theta_0 (radians) at gravity g. */
WadiDemBcre wadi_dem_bcre_default(double d, double repose, double g);

/* What wadi_dem_columns_create makes: empty columns over `box` (its z range bounds the search for floors),
 * about `width` wide, with the gaps that `solids` leave at `time`. Sides of the domain that are open get a
 * row of sinks beyond them. */
typedef struct WadiDemColumnsIn {
    const WadiSolids *solids;
    WadiBox box;
    double width; /* m */
    bool
        is_aligned; /* columns are as wide as asked and start at multiples of it, as lattices of particles do;
                      * else their width is adapted to the box */
    double time;    /* s */
    double least;   /* m: gaps that are lower, and overlaps that are smaller, do not count */
    bool has_faces; /* make `crossed` */
} WadiDemColumnsIn;

WadiStatus wadi_dem_columns_create(WadiDemColumns **columns, const WadiDemColumnsIn *in, WadiError *error);
/* One gap a column, floor 0, without ceilings, sinks and faces; all sides are walls. */
WadiStatus wadi_dem_columns_create_flat(WadiDemColumns **columns, int nx, int ny, double width,
                                        WadiError *error);
void wadi_dem_columns_destroy(WadiDemColumns *columns);
/* A flat one becomes one with explicit links, with the same content. For tests. */
WadiStatus wadi_dem_columns_add_links(WadiDemColumns *columns, bool has_faces, double least,
                                      WadiError *error);

/* The column at (x, y); -1 outside. */
int32_t wadi_dem_columns_at(const WadiDemColumns *columns, double x, double y);
/* Where the column begins and ends along an axis (0: x, 1: y), m. */
void wadi_dem_columns_span(const WadiDemColumns *columns, int32_t column, int axis, double *begin,
                           double *end);
/* The gap of a column that contains z, or the nearest one; -1: it has none. */
int32_t wadi_dem_columns_gap(const WadiDemColumns *columns, int32_t column, double z);
/* The column of a gap. */
int32_t wadi_dem_columns_of_gap(const WadiDemColumns *columns, int32_t gap);
bool wadi_dem_columns_is_sink(const WadiDemColumns *columns, int32_t gap);
/* Neighbours of gap i at a side, at most WADI_DEM_LINKS_MAX; their number. And the face to the n-th. */
enum { WADI_DEM_LINKS_MAX = 4 };
int wadi_dem_neighbours(const WadiDemColumns *columns, int32_t i, int side, int32_t *gaps);
int32_t wadi_dem_face(const WadiDemColumns *columns, int32_t i, int side, int n);
/* Sand in all gaps, m^3. */
double wadi_dem_columns_volume(const WadiDemColumns *columns);
/* tan of the largest downhill slope of sand: gaps without sand do not count. */
double wadi_dem_columns_steepest(const WadiDemColumns *columns);

/* dem_bcre.c: the longest step, and a step. Volume is conserved to rounding. */
double wadi_dem_bcre_largest_dt(const WadiDemColumns *columns, const WadiDemBcre *law);
WadiStatus wadi_dem_bcre_step(WadiDemColumns *columns, const WadiDemBcre *law, double dt, WadiError *error);
/* The exchange alone, without transport; bounded, so that any step is stable. */
void wadi_dem_bcre_exchange(WadiDemColumns *columns, const WadiDemBcre *law, double dt);

#endif
