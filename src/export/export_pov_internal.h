/* Words of POV-Ray that the files of its export share. */
#ifndef WADI_EXPORT_POV_INTERNAL_H
#define WADI_EXPORT_POV_INTERNAL_H

#include "export/export_pov.h"

/* "Wadi_NAME" and `what`, with characters invalid in POV-Ray replaced; the number makes names unique. */
void wadi_pov_name(WadiExportOut *out, const WadiExportFrame *frame, int material, const char *what);
/* In the axes of the file. */
void wadi_pov_vector(WadiExportOut *out, const WadiExportFrame *frame, WadiVec3 a, int decimals);
void wadi_pov_rgb(WadiExportOut *out, WadiRgb c);
/* A texture of sand of one colour. */
void wadi_pov_sand(WadiExportOut *out, WadiRgb colour, float wetness);
/* Whether the look has a macro Wadi_NAME_Grains of the wetness and of whether the mesh has coordinates. */
bool wadi_pov_has_grains(const WadiLook *look);

#endif
