/* Pictures of particles: a page that applies every message has the particles of the last picture, at about
 * five bytes each, and what did not change is not sent again. */
#include <string.h>

#include "expect.h"
#include "view_history.h"
#include "view_picture.h"

enum { COUNT = 20000, CHUNKS = 4096 };

static double x[COUNT], y[COUNT], z[COUNT];
static float speed[COUNT];
static uint8_t material[COUNT];
static uint32_t id[COUNT];

static WadiViewInput make_input(size_t count)
{
    return (WadiViewInput){
        .position = { .data = { x, y, z },
                      .type = WADI_VIEW_F64,
                      .components = 3,
                      .count = count,
                      .stride = 8 },
        .material = { .data = { material },
                      .type = WADI_VIEW_U8,
                      .components = 1,
                      .count = count,
                      .stride = 1 },
        .id = { .data = { id }, .type = WADI_VIEW_U32, .components = 1, .count = count, .stride = 4 },
        .attribute = { .data = { speed },
                       .type = WADI_VIEW_F32,
                       .components = 1,
                       .count = count,
                       .stride = 4 },
        .tile_size = 0.25,
        .low = 0.0,
        .high = 2.0,
        .keep = WADI_VIEW_KEEP_ALL,
    };
}

static uint64_t random_state;

static double uniform(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (double)(random_state >> 11) / (double)(UINT64_C(1) << 53);
}

static void place_all(double offset)
{
    random_state = 5;
    for (int i = 0; i < COUNT; ++i) {
        x[i] = -3.0 + 2.0 * uniform();
        y[i] = 1e4 + uniform();
        z[i] = uniform() + (i % 4 == 0 ? offset : 0.0);
        speed[i] = (float)(2.0 * uniform());
        material[i] = (uint8_t)(i % 5);
        id[i] = (uint32_t)(7 * i);
    }
}

/* What a page does with messages. */
typedef struct Model {
    int32_t tile[CHUNKS][3];
    uint32_t count[CHUNKS];
    uint32_t word[CHUNKS][WADI_VIEW_CHUNK];
    uint8_t value[CHUNKS][WADI_VIEW_CHUNK];
    uint32_t chunks;
} Model;

static Model model;

static uint32_t number(const unsigned char *at)
{
    uint32_t n;
    memcpy(&n, at, sizeof n);
    return n;
}

static void apply(const WadiViewBytes *message)
{
    const unsigned char *at = message->data;
    const uint32_t records = number(at + 8), words = number(at + 12);
    assert_int_equal(message->size, 64 + 20 * (size_t)records + 5 * (size_t)words);
    if ((number(at) & 256) != 0) {
        memset(&model, 0, sizeof model);
    }
    model.chunks = number(at + 16);
    const unsigned char *word = at + 64 + 20 * (size_t)records, *value = word + 4 * (size_t)words;
    for (uint32_t r = 0; r < records; ++r) {
        const unsigned char *record = at + 64 + 20 * (size_t)r;
        const uint32_t chunk = number(record), count = number(record + 4);
        assert_true(chunk < CHUNKS && count <= WADI_VIEW_CHUNK && chunk < model.chunks);
        memcpy(model.tile[chunk], record + 8, 12);
        model.count[chunk] = count;
        memcpy(model.word[chunk], word, 4 * (size_t)count);
        memcpy(model.value[chunk], value, count);
        word += 4 * (size_t)count;
        value += count;
    }
    assert_true(value == message->data + message->size);
}

/* Sums that have one value for the particles as they are, rounded to the places of a tile. */
static void sum_of_model(double sums[5])
{
    memset(sums, 0, 5 * sizeof *sums);
    for (uint32_t c = 0; c < model.chunks; ++c) {
        for (uint32_t i = 0; i < model.count[c]; ++i) {
            const uint32_t w = model.word[c][i];
            for (int a = 0; a < 3; ++a) {
                sums[a] += 0.25 * (model.tile[c][a] + ((w >> (10 * a) & 1023) + 0.5) / 1024.0);
            }
            sums[3] += model.value[c][i];
            sums[4] += 1.0 + 10.0 * (w >> 30);
        }
    }
}

static void check_model(size_t count)
{
    double sums[5], expected[5] = { 0 };
    sum_of_model(sums);
    for (size_t i = 0; i < count; ++i) {
        expected[0] += x[i];
        expected[1] += y[i];
        expected[2] += z[i];
        expected[3] += floor((double)speed[i] / 2.0 * 255.0 + 0.5);
        expected[4] += 1.0 + 10.0 * (material[i] < 3 ? material[i] : 3);
    }
    const double rounding = 0.25 / 1024.0 * (double)count / 2.0;
    for (int a = 0; a < 3; ++a) {
        CHECK_NEAR(sums[a], expected[a], rounding);
    }
    CHECK_NEAR(sums[3], expected[3], 1e-3 * expected[3]);
    CHECK_NEAR(sums[4], expected[4], 0.0);
}

static void a_page_has_what_the_picture_has(void **unused)
{
    (void)unused;
    WadiViewPicture picture = { 0 };
    WadiViewPage page = { 0 };
    WadiViewBytes message = { 0 };
    for (int step = 0; step < 12; ++step) {
        /* Particles move, vanish and come back; some steps change nothing. */
        const size_t count = step % 5 == 4 ? COUNT / 50 : (size_t)(COUNT - 900 * step);
        place_all(0.3 * (step / 2));
        WadiViewInput input = make_input(count);
        assert_true(wadi_view_picture_make(&picture, &input));
        assert_int_equal(picture.count, count);
        assert_true(wadi_view_page_send(&page, &picture, &message));
        apply(&message);
        check_model(count);
    }
    free(message.data);
    wadi_view_page_free(&page);
    wadi_view_picture_free(&picture);
}

static void what_rests_is_not_sent_again(void **unused)
{
    (void)unused;
    WadiViewPicture picture = { 0 };
    WadiViewPage page = { 0 };
    WadiViewBytes message = { 0 };
    place_all(0.0);
    WadiViewInput input = make_input(COUNT);
    assert_true(wadi_view_picture_make(&picture, &input));
    assert_true(wadi_view_page_send(&page, &picture, &message));
    apply(&message);
    assert_true((double)message.size < 5.6 * COUNT); /* 160 tiles of 125: chunks that are half full */
    assert_true(wadi_view_picture_make(&picture, &input));
    assert_true(wadi_view_page_send(&page, &picture, &message));
    assert_int_equal(message.size, 64);
    apply(&message);
    check_model(COUNT);
    /* One particle moves inside its tile: that tile alone is sent. */
    x[77] += x[77] - floor(x[77] / 0.25) * 0.25 > 0.12 ? -0.1 : 0.1;
    assert_true(wadi_view_picture_make(&picture, &input));
    assert_true(wadi_view_page_send(&page, &picture, &message));
    assert_true(message.size < 64 + 20 * 2 + 5 * 2 * WADI_VIEW_CHUNK);
    apply(&message);
    check_model(COUNT);
    free(message.data);
    wadi_view_page_free(&page);
    wadi_view_picture_free(&picture);
}

static void reverse_the_store(void)
{
    for (int i = 0; i < COUNT / 2; ++i) {
        const int j = COUNT - 1 - i;
        double t = x[i];
        x[i] = x[j], x[j] = t, t = y[i], y[i] = y[j], y[j] = t, t = z[i], z[i] = z[j], z[j] = t;
        uint32_t n = id[i];
        id[i] = id[j], id[j] = n, n = material[i], material[i] = material[j], material[j] = (uint8_t)n;
    }
}

static void fewer_particles_are_chosen_by_id(void **unused)
{
    (void)unused;
    WadiViewPicture half = { 0 }, quarter = { 0 };
    place_all(0.0);
    WadiViewInput input = make_input(COUNT);
    input.keep = WADI_VIEW_KEEP_ALL / 2;
    assert_true(wadi_view_picture_make(&half, &input));
    input.keep = WADI_VIEW_KEEP_ALL / 4;
    assert_true(wadi_view_picture_make(&quarter, &input));
    CHECK_NEAR((double)half.count, 0.5 * COUNT, 0.02 * COUNT);
    CHECK_NEAR((double)quarter.count, 0.25 * COUNT, 0.02 * COUNT);
    assert_int_equal(half.particles, COUNT);
    /* The order of the store does not matter: the same words, by ids. */
    uint64_t before = 0, after = 0;
    for (size_t i = 0; i < quarter.count; ++i) {
        before += (uint64_t)quarter.words[i] * 2654435761u;
    }
    reverse_the_store();
    assert_true(wadi_view_picture_make(&quarter, &input));
    for (size_t i = 0; i < quarter.count; ++i) {
        after += (uint64_t)quarter.words[i] * 2654435761u;
    }
    assert_true(before == after);
    wadi_view_picture_free(&half);
    wadi_view_picture_free(&quarter);
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The particles in each fourth slot, as ascending numbers of tile and position in it. */
static size_t each_fourth(const WadiViewPicture *picture, uint64_t *keys)
{
    size_t count = 0;
    for (size_t t = 0; t < picture->tile_count; ++t) {
        const WadiViewTile *tile = &picture->tiles[t];
        const uint64_t at = (uint64_t)(tile->at[0] + 100) * 100 + (uint64_t)tile->at[2];
        for (uint32_t n = 0; n < tile->count; n += 4) {
            keys[count++] = (at * 10 + (uint64_t)(tile->at[1] % 10)) << 32 | picture->words[tile->first + n];
        }
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    return count;
}

/* With another order of the store each fourth slot has mostly the same particles: 125 are in a tile, a
 * quarter +- 5 of them have ids for these slots. If ids did not matter, 25 % would be the same. */
static void slots_are_given_by_id(void **unused)
{
    (void)unused;
    static uint64_t before[COUNT], after[COUNT];
    WadiViewPicture picture = { 0 };
    place_all(0.0);
    const WadiViewInput input = make_input(COUNT);
    assert_true(wadi_view_picture_make(&picture, &input));
    const size_t count = each_fourth(&picture, before);
    CHECK_NEAR((double)count, 0.25 * COUNT, 0.5 * (double)picture.tile_count);
    reverse_the_store();
    assert_true(wadi_view_picture_make(&picture, &input));
    assert_int_equal(each_fourth(&picture, after), count);
    size_t same = 0;
    for (size_t i = 0, j = 0; i < count && j < count;) {
        same += before[i] == after[j];
        const bool is_lower = before[i] <= after[j];
        j += after[j] <= before[i];
        i += is_lower;
    }
    assert_true(same > count * 4 / 5);
    wadi_view_picture_free(&picture);
}

static void the_past_stays_reachable_in_bounded_memory(void **unused)
{
    (void)unused;
    WadiViewHistory history = { .limit = 1 << 20 };
    WadiViewPicture picture = { 0 };
    place_all(0.0);
    WadiViewInput input = make_input(COUNT / 4);
    assert_null(wadi_view_history_find(&history, 1));
    for (uint32_t frame = 1; frame <= 300; ++frame) {
        assert_true(wadi_view_picture_make(&picture, &input));
        picture.frame = frame;
        wadi_view_history_add(&history, &picture);
        assert_true(history.bytes <= 1 << 20);
    }
    assert_int_equal(wadi_view_history_find(&history, 1)->frame, 1);
    for (uint32_t frame = 1; frame <= 300; ++frame) {
        const uint32_t found = wadi_view_history_find(&history, frame)->frame;
        assert_true(found <= frame && found + history.every > frame);
    }
    wadi_view_history_clear(&history);
    wadi_view_picture_free(&picture);
}

static void an_empty_picture_is_a_picture(void **unused)
{
    (void)unused;
    WadiViewPicture picture = { 0 };
    WadiViewPage page = { 0 };
    WadiViewBytes message = { 0 };
    place_all(0.0);
    WadiViewInput input = make_input(COUNT);
    assert_true(wadi_view_picture_make(&picture, &input) && wadi_view_page_send(&page, &picture, &message));
    apply(&message);
    input = make_input(0);
    assert_true(wadi_view_picture_make(&picture, &input) && wadi_view_page_send(&page, &picture, &message));
    apply(&message);
    check_model(0);
    /* Values that are not finite do no harm. */
    x[0] = (double)NAN, y[1] = (double)INFINITY, speed[2] = NAN, z[3] = -1e300;
    input = make_input(10);
    assert_true(wadi_view_picture_make(&picture, &input) && wadi_view_page_send(&page, &picture, &message));
    apply(&message);
    free(message.data);
    wadi_view_page_free(&page);
    wadi_view_picture_free(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_has_what_the_picture_has),
        cmocka_unit_test(what_rests_is_not_sent_again),
        cmocka_unit_test(fewer_particles_are_chosen_by_id),
        cmocka_unit_test(slots_are_given_by_id),
        cmocka_unit_test(the_past_stays_reachable_in_bounded_memory),
        cmocka_unit_test(an_empty_picture_is_a_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
