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
