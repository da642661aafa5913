#include "render/image/picture_sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/image/image.h"
#include "render/image/lettering.h"
#include "render/image/look.h"

enum { SHEET_WIDTH = 1920, GAP = 8, LABEL_HEIGHT = 24, CELL_MIN = 64, PAPER = 250, EMPTY = 225, INK = 40 };

typedef struct Grid {
    int columns, rows, width, height; /* pixels of a cell, without its label */
} Grid;

static Grid choose_grid(int count, int columns, const WadiImage *first)
{
    Grid grid = { .columns = columns > 0 ? columns : count <= 3 ? count : (int)ceil(sqrt((double)count)) };
    grid.rows = (count + grid.columns - 1) / grid.columns;
    int width = (SHEET_WIDTH - GAP) / grid.columns - GAP;
    grid.width = width < first->width ? width : first->width;
    grid.width = grid.width > CELL_MIN ? grid.width : CELL_MIN;
    double height = (double)grid.width * first->height / first->width;
    grid.height = (int)fmin(fmax(1.0, rint(height)), 4.0 * grid.width);
    return grid;
}

/* Mean linear light of `from` over the area of one pixel of the sheet. */
static void average(const WadiImage *from, double left, double right, double top, double bottom,
                    const float *light_of, uint8_t rgb[3])
{
    double sum[3] = { 0 }, area = 0.0;
    for (int y = (int)top; y < from->height && y < bottom; ++y) {
        double high = fmin(y + 1.0, bottom) - fmax(y, top);
        for (int x = (int)left; x < from->width && x < right; ++x) {
            double weight = high * (fmin(x + 1.0, right) - fmax(x, left));
            const uint8_t *pixel = from->rgb + 3 * ((size_t)y * (size_t)from->width + (size_t)x);
            area += weight;
            for (int c = 0; c < 3; ++c) {
                sum[c] += weight * (double)light_of[pixel[c]];
            }
        }
    }
    for (int c = 0; c < 3; ++c) {
        rgb[c] = area > 0.0 ? (uint8_t)lrintf(wadi_srgb_encode((float)(sum[c] / area)) * 255.0f) : 0;
    }
}

static void draw_picture(WadiImage *sheet, const WadiImage *from, int left, int top, const Grid *grid)
{
    float light_of[256];
    for (int i = 0; i < 256; ++i) {
        light_of[i] = wadi_srgb_decode((float)i / 255.0f);
    }
    double across = (double)from->width / grid->width, down = (double)from->height / grid->height;
    for (int y = 0; y < grid->height; ++y) {
        for (int x = 0; x < grid->width; ++x) {
            size_t to = (size_t)(top + y) * (size_t)sheet->width + (size_t)(left + x);
            average(from, x * across, (x + 1) * across, y * down, (y + 1) * down, light_of,
                    sheet->rgb + 3 * to);
        }
    }
}

static void draw_label(WadiImage *sheet, const char *text, int left, int top, const Grid *grid)
{
    static const uint8_t ink[3] = { INK, INK, INK };
    char label[sizeof(WadiSheetPicture){ 0 }.label];
    snprintf(label, sizeof label, "%s", text);
    const int size = wadi_letter_text_width(label, 2) <= grid->width ? 2 : 1;
    for (size_t end = strlen(label); end > 0 && wadi_letter_text_width(label, size) > grid->width; --end) {
        label[end - 1] = '\0';
    }
    wadi_letter_text(sheet, left, top + (LABEL_HEIGHT - WADI_LETTER_HEIGHT * size) / 2, size, label, ink);
}

static void draw_empty(WadiImage *sheet, int left, int top, const Grid *grid)
{
    for (int y = 0; y < grid->height; ++y) {
        memset(sheet->rgb + 3 * ((size_t)(top + y) * (size_t)sheet->width + (size_t)left), EMPTY,
               3 * (size_t)grid->width);
    }
}

static WadiStatus fill(WadiImage *sheet, const WadiSheetPicture *pictures, int count, const Grid *grid,
                       WadiError *error)
{
    memset(sheet->rgb, PAPER, 3 * (size_t)sheet->width * (size_t)sheet->height);
    for (int i = 0; i < count; ++i) {
        const int left = GAP + i % grid->columns * (grid->width + GAP);
        const int top = GAP + i / grid->columns * (grid->height + LABEL_HEIGHT);
        if (pictures[i].path != NULL) {
            WadiImage picture;
            WADI_TRY(wadi_image_read_png(&picture, pictures[i].path, error));
            draw_picture(sheet, &picture, left, top, grid);
            wadi_image_free(&picture);
        } else {
            draw_empty(sheet, left, top, grid);
        }
        draw_label(sheet, pictures[i].label, left, top + grid->height, grid);
    }
    return WADI_OK;
}

WadiStatus wadi_picture_sheet_write(const char *path, const WadiSheetPicture *pictures, int count,
                                    int columns, WadiError *error)
{
    WadiImage first, sheet;
    int there = 0;
    while (there < count - 1 && pictures[there].path == NULL) {
        ++there;
    }
    WADI_TRY(wadi_image_read_png(&first, pictures[there].path, error));
    Grid grid = choose_grid(count, columns, &first);
    wadi_image_free(&first);
    WADI_TRY(wadi_image_init(&sheet, GAP + grid.columns * (grid.width + GAP),
                             GAP + grid.rows * (grid.height + LABEL_HEIGHT), error));
    WadiStatus status = fill(&sheet, pictures, count, &grid, error);
    if (status == WADI_OK) {
        status = wadi_image_write_png(&sheet, path, error);
    }
    wadi_image_free(&sheet);
    return status;
}
