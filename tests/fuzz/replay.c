/* Gives the empty input and every file of the folders named on the command line to a fuzz target, once,
 * without a fuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "wadi/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    int failed = 1;
    uint8_t *data = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        /* Exactly as long as the input, so that a sanitizer sees a read past its end. */
        data = size >= 0 ? malloc(size > 0 ? (size_t)size : 1) : NULL;
        if (data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size) {
            LLVMFuzzerTestOneInput(data, (size_t)size);
            failed = 0;
        }
    }
    if (failed) {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    free(data);
    fclose(file);
    return failed;
}

static void fail(void *user, const char *condition, const char *file, int line)
{
    (void)user;
    fprintf(stderr, "%s:%d: assert failed: %s\n", file, line, condition);
    abort();
}

int main(int argc, char **argv)
{
    wadi_set_assert_hook(&(WadiAssertHook){ fail, NULL });
    uint8_t nothing = 0;
    LLVMFuzzerTestOneInput(&nothing, 0);
    int failed = 0, count = 1;
    for (int i = 1; i < argc; ++i) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
            char path[4096];
            int length = snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (entry->d_name[0] != '.' && length > 0 && (size_t)length < sizeof path) {
                failed += replay_file(path);
                ++count;
            }
        }
        closedir(folder);
    }
    printf("%d inputs\n", count);
    return failed != 0;
}
