/* Videos: input of ffmpeg and reports of its failures; text in PNG files; contact sheets. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "expect.h"
#include "io/files/files.h"
#include "io_scratch.h"
#include "render/image/image.h"
#include "render/image/picture_sheet.h"
#include "render/image/video.h"
#include "render/image/video_check.h"
#include "stop_flag.h"

enum { PICTURES = 3 };

static char names[PICTURES][2048];
static const char *paths[PICTURES];

/* Pictures of noise, so that they exceed the capacity of a pipe. */
static void make_pictures(int width, int height)
{
    WadiError error = { 0 };
    for (int i = 0; i < PICTURES; ++i) {
        WadiImage image;
        CHECK_OK(wadi_image_init(&image, width, height, &error), error);
        for (int b = 0; b < 3 * width * height; ++b) {
            image.rgb[b] = (uint8_t)(wadi_random_unit((uint64_t)i, (uint64_t)b, WADI_RANDOM_TEST) * 256.0);
        }
        snprintf(names[i], sizeof names[i], "%s/picture.%d.png", scratch, i);
        paths[i] = names[i];
        CHECK_OK(wadi_image_write_png(&image, names[i], &error), error);
        wadi_image_free(&image);
    }
}

static WadiVideoDef video_def(void)
{
    return (WadiVideoDef){ .pictures = paths, .picture_count = PICTURES, .fps = 24.0 };
}

/* Replaces ffmpeg by this shell script; "": removes it. Returns the old path. */
static char *use_ffmpeg(const char *script)
{
    char folder[1024], path[1100], search[4096];
    static char before[4096];
    snprintf(before, sizeof before, "%s", getenv("PATH"));
    snprintf(folder, sizeof folder, "%s/bin", scratch);
    snprintf(path, sizeof path, "%s/ffmpeg", folder);
    assert_true(mkdir(folder, 0700) == 0 || errno == EEXIST);
    unlink(path);
    if (script[0] != '\0') {
        char text[2048];
        int length = snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
        CHECK_OK(wadi_file_write(path, text, (size_t)length, NULL), (WadiError){ 0 });
        assert_int_equal(chmod(path, 0700), 0);
        snprintf(search, sizeof search, "%s:/usr/bin:/bin", folder);
    } else {
        snprintf(search, sizeof search, "%s", folder);
    }
    setenv("PATH", search, 1);
    return before;
}

static void test_the_bytes_of_the_pictures_go_in(void **state)
{
    (void)state;
    make_pictures(200, 200);
    char *before =
        use_ffmpeg("for last; do :; done\necho \"$@\" > \"${0%/*}/../words\"\n"
                   "cat > \"${0%/*}/../bytes\"; head -c 100 \"${0%/*}/../bytes\" > \"${last#file:}\"");
    WadiVideoDef def = video_def();
    WadiError error = { 0 };
    char path[1100];
    snprintf(path, sizeof path, "%s/-a: b.mp4", scratch);
    /* It reported success, but the file is no video. */
    WadiStatus status = wadi_video_write(path, &def, &error);
    setenv("PATH", before, 1);
    assert_int_equal(status, WADI_ERR_IO);
    assert_non_null(strstr(error.text, "ended without an error, but the file is cut off"));
    assert_int_equal(scratch_count(scratch, "b.mp4"), 0);
    char *video, *picture, *words;
    size_t video_size, size, words_size, at = 0;
    CHECK_OK(wadi_file_read(scratch_path("bytes"), 1 << 28, &video, &video_size, &error), error);
    for (int i = 0; i < PICTURES; ++i) {
        CHECK_OK(wadi_file_read(paths[i], 1 << 28, &picture, &size, &error), error);
        assert_true(at + size <= video_size && memcmp(video + at, picture, size) == 0);
        at += size;
        wadi_free(picture, size + 1, 1);
    }
    assert_int_equal(at, video_size);
    wadi_free(video, video_size + 1, 1);
    CHECK_OK(wadi_file_read(scratch_path("words"), 1 << 20, &words, &words_size, &error), error);
    assert_non_null(strstr(words, "-framerate 24 "));
    assert_non_null(strstr(words, "yuv420p"));
    assert_non_null(strstr(words, "+faststart"));
    wadi_free(words, words_size + 1, 1);
    assert_int_equal(scratch_count(scratch, ".tmp-"), 0);
}

static void test_without_ffmpeg(void **state)
{
    (void)state;
    make_pictures(8, 8);
    char *before = use_ffmpeg("");
    WadiVideoDef def = video_def();
    WadiError error = { 0 };
    WadiStatus status = wadi_video_write(scratch_path("none.mp4"), &def, &error);
    setenv("PATH", before, 1);
    assert_int_equal(status, WADI_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "apt-get install ffmpeg"));
}

/* It fails before it has read everything: no signal ends this program, and its last line is reported. */
static void test_ffmpeg_fails(void **state)
{
    (void)state;
    make_pictures(400, 400);
    char *before = use_ffmpeg("echo first >&2; echo 'Unknown encoder libx264' >&2; echo >&2; exit 1");
    void (*handler)(int) = signal(SIGPIPE, SIG_DFL);
    WadiVideoDef def = video_def();
    WadiError error = { 0 };
    WadiStatus status = wadi_video_write(scratch_path("bad.mp4"), &def, &error);
    signal(SIGPIPE, handler);
    setenv("PATH", before, 1);
    assert_int_equal(status, WADI_ERR_IO);
    assert_non_null(strstr(error.text, "Unknown encoder libx264"));
    assert_null(strstr(error.text, "first"));
    assert_int_equal(scratch_count(scratch, "bad.mp4"), 0);
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGPIPE), 0);
}

static void test_stop(void **state)
{
    (void)state;
    make_pictures(8, 8);
    char *before = use_ffmpeg("exec cat > /dev/null");
    atomic_bool stop = true;
    WadiVideoDef def = video_def();
    def.stop = stop_when(&stop);
    WadiError error = { 0 };
    WadiStatus status = wadi_video_write(scratch_path("stop.mp4"), &def, &error);
    setenv("PATH", before, 1);
    assert_int_equal(status, WADI_ERR_STOPPED);
}

/* The real one, with an odd size: an MP4 file whose index comes before its pictures, and a GIF. */
static void test_real_ffmpeg(void **state)
{
    (void)state;
    make_pictures(33, 21);
    WadiVideoDef def = video_def();
    WadiError error = { 0 };
    WadiStatus status = wadi_video_write(scratch_path("real.mp4"), &def, &error);
    if (status == WADI_ERR_UNSUPPORTED) {
        skip();
    }
    CHECK_OK(status, error);
    char *bytes;
    size_t size;
    CHECK_OK(wadi_file_read(scratch_path("real.mp4"), 1 << 28, &bytes, &size, &error), error);
    assert_true(size > 100 && memcmp(bytes + 4, "ftyp", 4) == 0);
    const char *moov = memmem(bytes, size, "moov", 4), *mdat = memmem(bytes, size, "mdat", 4);
    assert_true(moov != NULL && mdat != NULL && moov < mdat);
    assert_non_null(memmem(bytes, size, "avc1", 4));
    wadi_free(bytes, size + 1, 1);
    def.is_gif = true;
    CHECK_OK(wadi_video_write(scratch_path("real.gif"), &def, &error), error);
    CHECK_OK(wadi_file_read(scratch_path("real.gif"), 1 << 28, &bytes, &size, &error), error);
    assert_true(size > 6 && memcmp(bytes, "GIF89a", 6) == 0);
    wadi_free(bytes, size + 1, 1);
}

/* Every truncation of a complete file is refused. */
static void check_cuts(const char *path, bool is_gif)
{
    WadiError error = { 0 };
    char *bytes;
    size_t size;
    CHECK_OK(wadi_video_check(path, is_gif, PICTURES, &error), error);
    assert_int_equal(wadi_video_check(path, !is_gif, PICTURES, &error), WADI_ERR_FORMAT);
    assert_int_equal(wadi_video_check(path, is_gif, is_gif ? PICTURES - 1 : PICTURES + 1, &error),
                     WADI_ERR_FORMAT);
    CHECK_OK(wadi_file_read(path, 1 << 28, &bytes, &size, &error), error);
    char cut[1100];
    snprintf(cut, sizeof cut, "%s/cut", scratch);
    for (size_t length = 0; length < size; length += length < 1000 || length + 100 > size ? 1 : 97) {
        CHECK_OK(wadi_file_write(cut, bytes, length, &error), error);
        assert_int_equal(wadi_video_check(cut, is_gif, PICTURES, &error), WADI_ERR_FORMAT);
    }
    /* As after a temporarily full disk: the end of the file is there. */
    memset(bytes, 0, size / 2);
    CHECK_OK(wadi_file_write(cut, bytes, size, &error), error);
    assert_int_equal(wadi_video_check(cut, is_gif, PICTURES, &error), WADI_ERR_FORMAT);
    wadi_free(bytes, size + 1, 1);
}

static void test_truncated_videos_are_refused(void **state)
{
    (void)state;
    make_pictures(33, 21);
    WadiVideoDef def = video_def();
    WadiError error = { 0 };
    WadiStatus status = wadi_video_write(scratch_path("cuts.mp4"), &def, &error);
    if (status == WADI_ERR_UNSUPPORTED) {
        skip();
    }
    CHECK_OK(status, error);
    check_cuts(scratch_path("cuts.mp4"), false);
    def.is_gif = true;
    CHECK_OK(wadi_video_write(scratch_path("cuts.gif"), &def, &error), error);
    check_cuts(scratch_path("cuts.gif"), true);
    /* A damaged picture is refused. */
    char *bytes;
    size_t size;
    CHECK_OK(wadi_file_read(paths[1], 1 << 28, &bytes, &size, &error), error);
    memset(bytes + size / 2, 0, 40);
    CHECK_OK(wadi_file_write(paths[1], bytes, size, &error), error);
    wadi_free(bytes, size + 1, 1);
    def.is_gif = false;
    assert_int_equal(wadi_video_write(scratch_path("damaged.mp4"), &def, &error), WADI_ERR_IO);
    assert_int_equal(scratch_count(scratch, "damaged.mp4"), 0);
}

static void test_text_in_a_png_file(void **state)
{
    (void)state;
    WadiImage image, back;
    WadiError error = { 0 };
    CHECK_OK(wadi_image_init(&image, 3, 2, &error), error);
    for (int i = 0; i < 18; ++i) {
        image.rgb[i] = (uint8_t)(13 * i);
    }
    const char *path = scratch_path("words.png");
    const WadiImageText texts[] = { { "Software", "wadi" }, { "wadi key", "0123456789abcdef" } };
    CHECK_OK(wadi_image_write_png_with(&image, path, texts, 2, &error), error);
    CHECK_OK(wadi_image_read_png(&back, path, &error), error);
    assert_true(back.width == 3 && back.height == 2 && memcmp(back.rgb, image.rgb, 18) == 0);
    wadi_image_free(&back);
    wadi_image_free(&image);

    char *bytes;
    size_t size;
    CHECK_OK(wadi_file_read(path, 1 << 20, &bytes, &size, &error), error);
    /* A chunk: its length, type, keyword and text. */
    static const char chunk[] = "\0\0\0\x19"
                                "tEXt"
                                "wadi key\0"
                                "0123456789abcdef";
    assert_non_null(memmem(bytes, size, chunk, sizeof chunk - 1));
    assert_true(wadi_image_png_is_whole(bytes, size));
    for (size_t cut = 0; cut < size; ++cut) {
        CHECK_OK(wadi_file_write(path, bytes, cut, &error), error);
        assert_false(wadi_image_png_is_whole(bytes, cut));
        /* Without the checksums behind them the pixels are all there. */
        if (cut + 20 < size) {
            assert_int_not_equal(wadi_image_read_png(&back, path, NULL), WADI_OK);
            assert_null(back.rgb);
        }
    }
    wadi_free(bytes, size + 1, 1);
}

/* Four pictures of one colour each in two rows: the middle of each cell has its picture's colour. */
static void test_a_sheet(void **state)
{
    (void)state;
    static const uint8_t colour[4][3] = { { 255, 0, 0 }, { 0, 255, 0 }, { 0, 0, 255 }, { 90, 90, 90 } };
    WadiSheetPicture pictures[4];
    char path[4][1100];
    WadiError error = { 0 };
    for (int i = 0; i < 4; ++i) {
        WadiImage image;
        CHECK_OK(wadi_image_init(&image, 160, 90, &error), error);
        for (int p = 0; p < 160 * 90; ++p) {
            memcpy(image.rgb + 3 * p, colour[i], 3);
        }
        snprintf(path[i], sizeof path[i], "%s/cell.%d.png", scratch, i);
        CHECK_OK(wadi_image_write_png(&image, path[i], &error), error);
        wadi_image_free(&image);
        pictures[i].path = path[i];
        snprintf(pictures[i].label, sizeof pictures[i].label, "frame %d", i);
    }
    WadiImage sheet;
    CHECK_OK(wadi_picture_sheet_write(scratch_path("sheet.png"), pictures, 4, 0, &error), error);
    CHECK_OK(wadi_image_read_png(&sheet, scratch_path("sheet.png"), &error), error);
    assert_true(sheet.width > 320 && sheet.width < 400 && sheet.height > 180 && sheet.height < 280);
    for (int i = 0; i < 4; ++i) {
        int x = sheet.width * (1 + 2 * (i % 2)) / 4, y = sheet.height * (1 + 2 * (i / 2)) / 4 - 4;
        const uint8_t *pixel = sheet.rgb + 3 * (y * sheet.width + x);
        assert_memory_equal(pixel, colour[i], 3);
    }
    wadi_image_free(&sheet);
    assert_int_equal(wadi_picture_sheet_write(scratch_path("sheet.png"),
                                              &(WadiSheetPicture){ .path = "/nowhere.png" }, 1, 0, &error),
                     WADI_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_bytes_of_the_pictures_go_in),
        cmocka_unit_test(test_without_ffmpeg),
        cmocka_unit_test(test_ffmpeg_fails),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_real_ffmpeg),
        cmocka_unit_test(test_truncated_videos_are_refused),
        cmocka_unit_test(test_text_in_a_png_file),
        cmocka_unit_test(test_a_sheet),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
