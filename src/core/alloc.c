#include "core/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "core/check.h"
#include "core/os/os_memory.h"

/* Large blocks begin on a page, so that disks can read into them directly; those of megabytes on a huge
 * page. */
enum { LARGE = 1 << 16, PAGE = 4096, HUGE = 2 << 20 };

static void *default_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    const size_t unit = size >= LARGE && alignment < PAGE ? PAGE : alignment;
    const size_t rounded = (size + unit - 1) & ~(unit - 1);
    void *block = rounded < size ? NULL : wadi_os_block(rounded, size >= HUGE && unit < HUGE ? HUGE : unit);
    if (block != NULL && size >= HUGE) {
        wadi_os_block_is_huge(block, rounded);
    }
    return block;
}

static void default_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    wadi_os_block_free(memory);
}

/* The only global of the library besides the counters below; see wadi_set_allocator. */
static WadiAllocator allocator = { default_alloc, default_free, NULL };

static atomic_size_t live_bytes;
static atomic_size_t peak_bytes;
static atomic_size_t call_count;

void wadi_set_allocator(const WadiAllocator *replacement)
{
    allocator = replacement ? *replacement : (WadiAllocator){ default_alloc, default_free, NULL };
}

size_t wadi_alloc_live_bytes(void)
{
    return live_bytes;
}

size_t wadi_alloc_peak_bytes(void)
{
    return peak_bytes;
}

size_t wadi_alloc_call_count(void)
{
    return call_count;
}

bool wadi_size_multiply(size_t a, size_t b, size_t *product)
{
    if (__builtin_mul_overflow(a, b, product)) {
        *product = 0;
        return false;
    }
    return true;
}

WadiStatus wadi_alloc_unset(void **memory, size_t count, size_t size, const char *what, WadiError *error)
{
    *memory = NULL;
    size_t bytes = 0;
    /* Half the address space is a bug or an attack, and PTRDIFF_MAX is the largest object C allows. */
    if (!wadi_size_multiply(count, size, &bytes) || bytes > PTRDIFF_MAX) {
        wadi_fail(error, WADI_ERR_MEMORY, "out of memory: %s needs %zu items of %zu bytes", what, count,
                  size);
        return WADI_ERR_MEMORY; /* a constant: the compiler sees that no such block is ever set */
    }
    if (bytes == 0) {
        return WADI_OK;
    }
    void *block = allocator.alloc(allocator.user, bytes, WADI_ALIGNMENT);
    atomic_fetch_add(&call_count, 1);
    if (block == NULL) {
        return wadi_fail_memory(error, bytes, what);
    }
    size_t live = atomic_fetch_add(&live_bytes, bytes) + bytes;
    size_t peak = peak_bytes;
    while (live > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, live)) {
    }
    *memory = block;
    return WADI_OK;
}

WadiStatus wadi_alloc(void **memory, size_t count, size_t size, const char *what, WadiError *error)
{
    WADI_TRY(wadi_alloc_unset(memory, count, size, what, error));
    if (*memory != NULL) {
        memset(*memory, 0, count * size);
    }
    return WADI_OK;
}

WadiStatus wadi_realloc(void **memory, size_t old_count, size_t new_count, size_t size, const char *what,
                        WadiError *error)
{
    void *block = NULL;
    WADI_TRY(wadi_alloc(&block, new_count, size, what, error));
    size_t kept = (old_count < new_count ? old_count : new_count) * size;
    if (kept > 0) {
        memcpy(block, *memory, kept);
    }
    wadi_free(*memory, old_count, size);
    *memory = block;
    return WADI_OK;
}

WadiStatus wadi_memory_probe(size_t bytes, const char *what, WadiError *error)
{
    return wadi_os_has_room(bytes) ? WADI_OK : wadi_fail_memory(error, bytes, what);
}

void wadi_free(void *memory, size_t count, size_t size)
{
    if (memory == NULL) {
        return;
    }
    size_t bytes = count * size;
    size_t before = atomic_fetch_sub(&live_bytes, bytes);
    WADI_ASSERT(before >= bytes);
    allocator.free(allocator.user, memory, bytes);
}

WadiStatus wadi_string_copy(char **copy, const char *text, size_t length, WadiError *error)
{
    /* Ends at an embedded zero, so that the sized free finds the same length. */
    length = length > 0 ? strnlen(text, length) : 0;
    WADI_TRY(wadi_alloc((void **)copy, length + 1, 1, "text", error));
    if (length > 0) {
        memcpy(*copy, text, length);
    }
    return WADI_OK;
}

void wadi_string_free(char *text)
{
    if (text != NULL) {
        wadi_free(text, strlen(text) + 1, 1);
    }
}
