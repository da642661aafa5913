/* The legend of false colours. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/false_colour.h"
#include "render/image/lettering.h"

enum { TICK_MAX = 12, LABEL_SIZE = 48 };

int wadi_scale_ticks(double low, double high, int wanted, double *tick, int tick_max)
{
    if (!(high > low) || !isfinite(high - low) || wanted < 1) {
        return 0;
    }
    double rough = (high - low) / wanted, unit = pow(10.0, floor(log10(rough)));
    double step = rough <= unit         ? unit
                  : rough <= 2.0 * unit ? 2.0 * unit
                  : rough <= 5.0 * unit ? 5.0 * unit
                                        : 10.0 * unit;
    int count = 0;
    for (double n = ceil(low / step - 1e-9); n * step <= high + 1e-9 * step && count < tick_max; n += 1.0) {
        tick[count++] = n == 0.0 ? 0.0 : n * step;
    }
    return count;
}

/* A part of the picture, clipped to it. */
typedef struct Area {
    int left, top, right, bottom; /* pixels; right and bottom excluded */
} Area;

static Area clipped(Area area, const WadiImage *image)
{
    area.left = area.left < 0 ? 0 : area.left;
    area.top = area.top < 0 ? 0 : area.top;
    area.right = area.right > image->width ? image->width : area.right;
    area.bottom = area.bottom > image->height ? image->height : area.bottom;
    return area;
}

static void fill(WadiImage *image, Area area, const uint8_t rgb[3])
{
    area = clipped(area, image);
    for (int y = area.top; y < area.bottom; ++y) {
        for (int x = area.left; x < area.right; ++x) {
            memcpy(image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x), rgb, 3);
        }
    }
}

/* Blends in three quarters of white, so that text is legible on any background. */
static void fade(WadiImage *image, Area area)
{
    area = clipped(area, image);
    for (int y = area.top; y < area.bottom; ++y) {
        uint8_t *row = image->rgb + 3 * (size_t)y * (size_t)image->width;
        for (int n = 3 * area.left; n < 3 * area.right; ++n) {
            row[n] = (uint8_t)(191 + row[n] / 4);
        }
    }
}

static void tick_label(char label[LABEL_SIZE], double value, double step)
{
    /* As many digits as distinguish neighbouring ticks. */
    int digits = (int)fmax(0.0, ceil(-log10(step) - 1e-9));
    bool is_plain = fabs(value) < 1e5 && digits <= 5;
    snprintf(label, LABEL_SIZE, is_plain ? "%.*f" : "%.*e", is_plain ? digits : 1, value);
}

static void draw_kinds(const WadiFalseColour *colour, WadiImage *image, int scale, const char *title)
{
    static const uint8_t ink[3] = { 24, 24, 24 };
    int line = (WADI_LETTER_HEIGHT + 3) * scale, count = 0;
    int wide = wadi_letter_text_width(title, scale);
    char label[LABEL_SIZE];
    for (int k = 0; k < WADI_FALSE_COLOUR_KINDS && k <= (int)colour->high; ++k, ++count) {
        snprintf(label, sizeof label, "%.40s", colour->kind[k] != NULL ? colour->kind[k] : "00");
        int width = wadi_letter_text_width(label, scale) + line;
        wide = width > wide ? width : wide;
    }
    Area box = { image->width - wide - 3 * line / 2, line, image->width - line / 2,
                 line * (count + 2) + line / 2 };
    fade(image, box);
    wadi_letter_text(image, box.left + line / 2, box.top + line / 3, scale, title, ink);
    for (int k = 0; k < count; ++k) {
        uint8_t rgb[3];
        int top = box.top + line * (k + 1) + line / 3, left = box.left + line / 2;
        wadi_colour_map_at(colour->map, k, rgb);
        fill(image, (Area){ left, top, left + 2 * line / 3, top + 2 * line / 3 }, rgb);
        snprintf(label, sizeof label, "%d", k);
        wadi_letter_text(image, left + line, top, scale, colour->kind[k] != NULL ? colour->kind[k] : label,
                         ink);
    }
}

void wadi_false_colour_legend(const WadiFalseColour *colour, WadiImage *image)
{
    static const uint8_t ink[3] = { 24, 24, 24 };
    int scale = image->height / 270 > 1 ? image->height / 270 : 1, letter = WADI_LETTER_WIDTH * scale;
    char title[LABEL_SIZE + 24], label[LABEL_SIZE];
    snprintf(title, sizeof title, "%s%s%s", colour->attribute, colour->unit[0] != '\0' ? ", " : "",
             colour->unit);
    if (colour->is_kind) {
        draw_kinds(colour, image, scale, title);
        return;
    }
    double tick[TICK_MAX];
    int ticks = wadi_scale_ticks(colour->low, colour->high, 6, tick, TICK_MAX);
    double step = ticks > 1 ? tick[1] - tick[0] : colour->high - colour->low;
    int wide = wadi_letter_text_width(title, scale);
    for (int t = 0; t < ticks; ++t) {
        tick_label(label, tick[t], step);
        int width = wadi_letter_text_width(label, scale) + 5 * letter;
        wide = width > wide ? width : wide;
    }
    Area box = { image->width - wide - 3 * letter, 3 * letter, image->width - letter,
                 3 * letter + image->height / 2 };
    fade(image, box);
    wadi_letter_text(image, box.left + letter, box.top + letter, scale, title, ink);
    Area bar = { box.left + letter, box.top + 4 * letter, box.left + 3 * letter, box.bottom - 2 * letter };
    for (int y = bar.top; y < bar.bottom; ++y) {
        uint8_t rgb[3];
        wadi_colour_map_at(colour->map, (double)(bar.bottom - 1 - y) / (bar.bottom - 1 - bar.top), rgb);
        fill(image, (Area){ bar.left, y, bar.right, y + 1 }, rgb);
    }
    for (int t = 0; t < ticks; ++t) {
        double part = (tick[t] - colour->low) / (colour->high - colour->low);
        int y = bar.bottom - 1 - (int)lrint(part * (bar.bottom - 1 - bar.top));
        fill(image, (Area){ bar.right, y, bar.right + letter, y + scale }, ink);
        tick_label(label, tick[t], step);
        wadi_letter_text(image, bar.right + 3 * letter / 2, y - 3 * scale, scale, label, ink);
    }
}
