/* The published scenes that wadi can run end to end. */
#ifndef WADI_CLI_GALLERY_H
#define WADI_CLI_GALLERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WADI_GALLERY_RUN_MAX = 3, WADI_GALLERY_SET_MAX = 2, WADI_GALLERY_SLICE_MAX = 4 };

/* One of several runs of an entry: the name of its folder inside the run folder, and the differences in its
 * scene. */
typedef struct WadiGalleryRun {
    const char *name; /* NULL: end of the list */
    const char *sets[WADI_GALLERY_SET_MAX];
    /* What the source says of this run; 0: as of the entry. */
    double published_frame_seconds;
    int64_t published_awake;
} WadiGalleryRun;

/* The scene file of an entry is GALLERY/NAME/NAME.yaml. */
typedef struct WadiGalleryEntry {
    const char *name;
    const char *summary;
    const char *source;
    const char *stand_in; /* what stands here for a figure of the source; NULL: all is as there */
    int64_t particles;    /* of one run, with those that are poured */
    const char *mesh;     /* a file beside the scene that is fetched: bunny.obj or dragon.ply; NULL: none */
    const char *mesh2;    /* another one */
    /* What the source says of its own run, to compare with; 0: nothing. */
    int published_steps;
    double published_seconds;                  /* a step */
    double published_frame_seconds;            /* a frame */
    int64_t published_awake;                   /* particles that it simulates of all, ZY10's "Surface" */
    const char *published_place;               /* section or table; NULL: it gives no times */
    WadiGalleryRun runs[WADI_GALLERY_RUN_MAX]; /* none: one run, in the run folder itself */
    /* The contact sheet: frames of a run, view in degrees, length of streaks in seconds. */
    int sheet_frames;
    double azimuth, elevation, streak;
    /* Alternatively slices through the last frame, with these surface settings side by side. */
    const char *slices[WADI_GALLERY_SLICE_MAX];
} WadiGalleryEntry;

extern const WadiGalleryEntry wadi_gallery_entries[];
extern const int wadi_gallery_entry_count;

/* NULL when no entry has this name. */
const WadiGalleryEntry *wadi_gallery_find(const char *name);
/* Number of runs of the entry, at least 1. */
int wadi_gallery_run_count(const WadiGalleryEntry *entry);

/* The folder of the scene files: of $WADI_DATA, of the installation, or of the source tree. False, with a
 * message on standard error, when it is not found. */
bool wadi_gallery_folder(char *path, size_t size);
/* The folder with a mesh of an entry, which is downloaded when missing. False, with a message, when that
 * fails. */
bool wadi_gallery_mesh_folder(const char *gallery, const char *mesh, char *path, size_t size);

#endif
