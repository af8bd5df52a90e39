/* estimate.h - what a file would become, from a few of its frames. Prints nothing. */
#ifndef PACK_ESTIMATE_H
#define PACK_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "pack_file.h"

struct estimate {
    uint64_t packed_size; /* of the packed file, index and alignment included */
    bool exact;           /* every frame was encoded */
};

/* Encode at most sample_count frames, spread evenly. Returns 0, -errno of a read, -ESTALE,
 * -ENOMEM. */
__attribute__((warn_unused_result)) int
estimate_packed_size(const struct pack_geometry *geometry, const struct pack_file_source *source,
                     struct worker *worker, uint64_t sample_count, struct estimate *ret);

#endif
