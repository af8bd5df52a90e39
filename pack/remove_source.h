/* remove_source.h - take away a source file, once its packed file proves to hold it. */
#ifndef PACK_REMOVE_SOURCE_H
#define PACK_REMOVE_SOURCE_H

#include "pack_task.h"

/* Sync the directory of the output; open the output anew; decode it whole (a copy: read it
 * whole) and compare it with the source byte by byte and by SHA-256; only then unlink the
 * source. The task must have succeeded. Returns 0; -errno with what failed in *ret_what,
 * and then the source is still there. */
__attribute__((warn_unused_result)) int remove_source(const struct pack_task *task,
                                                      struct worker *worker, const char **ret_what);

#endif
