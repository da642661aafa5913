/* The table RUN/forces.csv: forces on solids, a line for each solid and frame (docs/formats.md). */
#ifndef WADI_IO_RUN_FORCES_H
#define WADI_IO_RUN_FORCES_H

#include "core/text.h"

/* Reads the table without the lines of frames after `last`, and without a damaged end; empty when there is
 * none. */
WadiStatus wadi_run_forces_read(const char *folder, int last, WadiText *table, WadiError *error);
/* Drops the lines of frames after `last`, and all after a damaged line. */
void wadi_run_forces_truncate(WadiText *table, int last);
WadiStatus wadi_run_forces_write(const char *folder, const WadiText *table, WadiError *error);

/* The lines of the last frame as a JSON array of objects. */
void wadi_run_forces_append_json(const WadiText *table, WadiText *json);

#endif
