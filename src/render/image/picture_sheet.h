/* A contact sheet: pictures from files in a grid, each with a label. */
#ifndef WADI_RENDER_PICTURE_SHEET_H
#define WADI_RENDER_PICTURE_SHEET_H

#include "core/status.h"

typedef struct WadiSheetPicture {
    const char *path; /* of a PNG file; NULL: an empty cell */
    char label[160];  /* under it; cut off where the cell ends */
} WadiSheetPicture;

/* `columns` 0: up to three pictures form a row, more a grid as square as possible. Cells have the aspect
 * ratio of the first picture that is there; others are stretched. The sheet is about 1920 pixels wide, or
 * less for small pictures. */
WadiStatus wadi_picture_sheet_write(const char *path, const WadiSheetPicture *pictures, int count,
                                    int columns, WadiError *error);

#endif
