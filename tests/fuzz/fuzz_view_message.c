/* Any bytes as a message of the page: refused, or a message whose strings end and numbers are finite. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    WadiViewMessage message;
    memset(&message, 0xa5, sizeof message);
    const bool is_message = wadi_view_message_read((const char *)data, size, &message);
    if (memchr(message.name, 0, sizeof message.name) == NULL ||
        memchr(message.text, 0, sizeof message.text) == NULL) {
        abort();
    }
    for (int i = 0; i < 8; ++i) {
        if (!isfinite(message.value[i])) {
            abort();
        }
    }
    if (is_message && (message.number < 0 || size >= WADI_VIEW_MESSAGE_MAX)) {
        abort();
    }
    return 0;
}
