#include "gallery.h"

#include <string.h>

const WadiGalleryEntry wadi_gallery_entries[] = {
    { .name = "bunny-water",
      .summary = "The Stanford bunny as water collapses and splashes in a box",
      .source = "ZB05 fig. 1",
      .particles = 269338,
      .needs_bunny = true,
      .sheet_frames = 6,
      .azimuth = 25.0,
      .elevation = 20.0 },
    { .name = "bunny-sand-slippery",
      .summary = "The bunny as sand on walls without friction: it spreads",
      .source = "ZB05 fig. 1",
      .particles = 269338,
      .needs_bunny = true,
      .sheet_frames = 6,
      .azimuth = 25.0,
      .elevation = 20.0 },
    { .name = "bunny-sand",
      .summary = "The bunny as sand with wall friction 0.6: a pile that stays",
      .source = "ZB05 fig. 2",
      .particles = 269338,
      .needs_bunny = true,
      .sheet_frames = 6,
      .azimuth = 25.0,
      .elevation = 20.0 },
    { .name = "water-column",
      .summary = "A column of water is released, 100 x 60 x 60 cells",
      .source = "ZB05 fig. 5",
      .particles = 432000,
      .sheet_frames = 6,
      .azimuth = 25.0,
      .elevation = 20.0 },
    { .name = "sand-column",
      .summary = "A column of sand is released, 100 x 60 x 60 cells",
      .source = "ZB05 fig. 6",
      .particles = 432000,
      .sheet_frames = 6,
      .azimuth = 25.0,
      .elevation = 20.0 },
    { .name = "flip-vs-pic",
      .summary = "The same water with FLIP and with PIC, drawn by velocity",
      .source = "ZB05 fig. 3",
      .particles = 53760,
      .runs = { { "flip", { "materials.water.transfer=flip" } },
                { "pic", { "materials.water.transfer=pic" } } },
      .sheet_frames = 4,
      .streak = 0.02 },
    { .name = "inf585-collapse",
      .summary = "A block collapses with PIC and Gauss-Seidel, without and with corrections",
      .source = "A24 fig. 3 to 6",
      .particles = 49152,
      .runs = { { "plain", { "flip.density_alpha=0", "flip.pair_separation=0" } },
                { "corrected", { "flip.density_alpha=0.1", "flip.pair_separation=2" } } },
      .sheet_frames = 4,
      .azimuth = 25.0,
      .elevation = 20.0 },
    { .name = "inf585-alpha",
      .summary = "Strength of its density correction: 0, 0.1 and 1",
      .source = "A24 fig. 11, 12",
      .particles = 49152,
      .runs = { { "alpha-0", { "flip.density_alpha=0" } },
                { "alpha-0.1", { "flip.density_alpha=0.1" } },
                { "alpha-1", { "flip.density_alpha=1" } } },
      .sheet_frames = 4,
      .azimuth = 25.0,
      .elevation = 20.0 },
    { .name = "inf585-layers",
      .summary = "Its layers: a block seeded as a lattice falls into sheets, a jittered one does not",
      .source = "A24 fig. 13",
      .particles = 49152,
      .runs = { { "lattice", { "bodies[0].jitter=0" } }, { "jittered", { "bodies[0].jitter=1" } } },
      .sheet_frames = 3,
      .azimuth = 0.0,
      .elevation = 0.0 },
    { .name = "circle-blobs",
      .summary = "A ball of particles wrapped by ZB05's function and by blobbies, cut through",
      .source = "ZB05 fig. 4",
      .particles = 2074,
      .slices = { "surface={method: zhu_bridson, offset: 0, smoothing: 0, flatten: 0, cell_size: 0.008}",
                  "surface={method: blobby, smoothing: 0, flatten: 0, cell_size: 0.008}" } },
    { .name = "inf585-radius",
      .summary = "A splash wrapped with radii of 1, 1.5, 2 and 2.5 particle radii, cut through",
      .source = "A24 fig. 7 to 10",
      .particles = 49152,
      .slices = { "surface={radius: 0.5, reach: 1, offset: 0, flatten: 0}",
                  "surface={radius: 0.75, reach: 1.5, offset: 0, flatten: 0}",
                  "surface={radius: 1, reach: 2, offset: 0, flatten: 0}",
                  "surface={radius: 1.25, reach: 2.5, offset: 0, flatten: 0}" } },
    { .name = "moist-column",
      .summary = "A column of moist sand stands for two seconds, then water undercuts it",
      .source = "LD09 fig. 4",
      .particles = 120000,
      .sheet_frames = 6,
      .azimuth = 25.0,
      .elevation = 20.0 },
    { .name = "jet-on-pile",
      .summary = "A dry column collapses to a pile, and a jet of water digs a hole",
      .source = "LD09 fig. 3",
      .particles = 79998,
      .sheet_frames = 6,
      .azimuth = 25.0,
      .elevation = 30.0 },
    { .name = "rain-on-soil",
      .summary = "Rain soaks into a slope, runs down and stands in a puddle",
      .source = "LD09 fig. 5",
      .particles = 25984,
      .sheet_frames = 6,
      .azimuth = 25.0,
      .elevation = 30.0 },
};
const int wadi_gallery_entry_count = sizeof wadi_gallery_entries / sizeof wadi_gallery_entries[0];

const WadiGalleryEntry *wadi_gallery_find(const char *name)
{
    for (int i = 0; i < wadi_gallery_entry_count; ++i) {
        if (strcmp(wadi_gallery_entries[i].name, name) == 0) {
            return &wadi_gallery_entries[i];
        }
    }
    return NULL;
}

int wadi_gallery_run_count(const WadiGalleryEntry *entry)
{
    int count = 0;
    while (count < WADI_GALLERY_RUN_MAX && entry->runs[count].name != NULL) {
        ++count;
    }
    return count > 0 ? count : 1;
}
