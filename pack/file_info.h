/* file_info.h - what can be told of one packed file without unpacking all of it.
 *
 * Prints nothing. Sizes are exact; codecs and entropies come from a sample of the frames when
 * there are many. One thread at a time.
 */
#ifndef PACK_FILE_INFO_H
#define PACK_FILE_INFO_H

#include <stdbool.h>

#include "entropy.h"
#include "packed_file.h"
#include "safetensors.h"

enum { FILE_INFO_SAMPLE = 256, FILE_INFO_KINDS = 32 };

/* Frames of one transform, or planes of one coder, in the sample. */
struct file_info_kind {
    const char *name; /* static string */
    uint64_t count;
    uint64_t raw_size;
    uint64_t packed_size;
    struct entropy *entropy; /* transforms only; owned */
};

/* Tensors of one dtype. */
struct file_info_dtype {
    const char *name; /* borrowed from the tensors */
    uint64_t tensors;
    uint64_t raw_size;
    double packed_size;
};

struct file_info {
    uint64_t sampled_frames; /* of sb.frame_count */
    uint64_t bad_frames;     /* of the sample */
    struct file_info_kind transforms[FILE_INFO_KINDS];
    struct file_info_kind coders[FILE_INFO_KINDS];
    bool is_safetensors;        /* it looks like one */
    char *header;               /* owned */
    struct safetensors tensors; /* empty if it is not, or its header could not be read */
    double *tensor_packed;      /* packed size of each tensor, its share of the frames; owned */
    struct file_info_dtype dtypes[FILE_INFO_KINDS];
};

/* Returns 0, -ENOMEM, or -errno of a read. */
__attribute__((warn_unused_result)) int file_info_get(const struct packed_file *file,
                                                      struct worker *worker, struct file_info *ret);
void file_info_fini(struct file_info *info);

#endif
