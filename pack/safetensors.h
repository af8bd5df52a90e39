/* safetensors.h - the header of a safetensors file, as a hint about what its bytes mean.
 *
 * Memory only. Trusts nothing: any bytes yield a list or a reason, in time and memory bounded
 * by their number, without recursion. Nothing but reports depends on the outcome.
 */
#ifndef PACK_SAFETENSORS_H
#define PACK_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

enum {
    SAFETENSORS_PREFIX_SIZE = 8,
    SAFETENSORS_HEADER_MAX = 100000000, /* the limit of the reference implementation */
    SAFETENSORS_DTYPE_SIZE = 16,
    SAFETENSORS_RANK_MAX = 64,
};

struct safetensors_tensor {
    const char *name; /* as in the header, escapes unresolved; not terminated */
    size_t name_length;
    const char *shape; /* as in the header, e.g. [4096,128]; not terminated */
    size_t shape_length;
    char dtype[SAFETENSORS_DTYPE_SIZE];
    uint64_t element_count;
    uint64_t begin; /* in the file */
    uint64_t end;
};

struct safetensors {
    struct safetensors_tensor *tensors; /* by begin; owned */
    size_t count;
    const char *problem; /* a static string: what the rules of the format forbid; or NULL */
};

/* Length of the header that follows the first 8 bytes of a file. Returns 0, or -EBADMSG if
 * that cannot be one. */
__attribute__((warn_unused_result)) int
safetensors_header_size(const uint8_t prefix[SAFETENSORS_PREFIX_SIZE], uint64_t file_size,
                        uint64_t *ret_size);

/* header must outlive *ret. Returns 0 with the tensors, in which problem may be set; -EBADMSG
 * with problem only; -ENOMEM. */
__attribute__((warn_unused_result)) int safetensors_parse(const char *header, size_t header_size,
                                                          uint64_t file_size,
                                                          struct safetensors *ret);
void safetensors_fini(struct safetensors *safetensors);

#endif
