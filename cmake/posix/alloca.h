/* What libfyaml includes of POSIX, for Windows: it reads texts in memory here, so that files and terminals
 * fail. */
#include <malloc.h>
