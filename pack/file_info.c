/* file_info.c - frames sampled, tensors weighed by the frames that they lie in. */
#include "file_info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "format.h"
#include "io.h"
#include "pipeline.h"

/* Raw bytes of some frames, with the room that decoding wants. */
struct window {
    uint8_t *packed; /* PIPELINE_MARGIN into its allocation */
    uint8_t *raw;
};

static void window_fini(struct window *window)
{
    free(window->packed ? window->packed - PIPELINE_MARGIN : NULL);
    free(window->raw);
}

static int window_init(struct window *window, size_t raw_size, size_t packed_size)
{
    uint8_t *packed = malloc(packed_size + 2 * PIPELINE_MARGIN);

    window->packed = packed ? packed + PIPELINE_MARGIN : NULL;
    window->raw = malloc(raw_size + FRAME_DECODE_SLACK);
    return window->packed && window->raw ? 0 : -ENOMEM;
}

static struct file_info_kind *find_kind(struct file_info_kind *kinds, const char *name)
{
    for (unsigned i = 0; i < FILE_INFO_KINDS; i++) {
        if (!kinds[i].name)
            kinds[i].name = name;
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return &kinds[FILE_INFO_KINDS - 1];
}

static int note_bad(void *context, const struct packed_file_bad *bad)
{
    bool *is_bad = context;

    *is_bad = true;
    return 0;
}

static int add_frame(struct file_info *info, const struct index_frame *frame,
                     const struct window *window)
{
    struct frame_info details;

    if (frame_info_get(window->packed, frame->packed_size, frame->raw_size, &details, NULL) < 0) {
        info->bad_frames++;
        return 0;
    }
    struct file_info_kind *transform = find_kind(info->transforms, details.transform);
    transform->count++;
    transform->raw_size += frame->raw_size;
    transform->packed_size += frame->packed_size;
    if (!transform->entropy)
        transform->entropy = calloc(1, sizeof(*transform->entropy));
    if (!transform->entropy)
        return -ENOMEM;
    entropy_add(transform->entropy, window->raw, frame->raw_size, details.phase & 1);
    for (unsigned i = 0; i < details.plane_count; i++) {
        struct file_info_kind *coder = find_kind(info->coders, details.plane[i].coder);
        coder->count++;
        coder->raw_size += details.plane[i].raw_size;
        coder->packed_size += details.plane[i].packed_size;
    }
    return 0;
}

static int sample_frames(const struct packed_file *file, struct worker *worker,
                         struct file_info *info)
{
    __attribute__((cleanup(window_fini))) struct window window = {0};
    uint64_t total = file->sb.frame_count;
    uint64_t count = total < FILE_INFO_SAMPLE ? total : FILE_INFO_SAMPLE;

    int r =
        window_init(&window, file->sb.frame_size, file->sb.frame_size + TRUNK_FRAME_HEADER_SIZE);
    for (uint64_t i = 0; i < count && r == 0; i++) {
        struct index_frame frame;
        bool bad = false;

        index_frame_get(file->index, i * total / count, &frame);
        r = packed_file_read(file, worker, frame.raw_offset, frame.raw_size, window.packed,
                             window.raw, note_bad, &bad);
        info->sampled_frames++;
        if (bad)
            info->bad_frames++;
        else if (r == 0)
            r = add_frame(info, &frame, &window);
    }
    return r;
}

/* Raw bytes from the start of the file. -EBADMSG if a frame is bad. */
static int read_start(const struct packed_file *file, struct worker *worker, uint8_t *bytes,
                      uint64_t size)
{
    __attribute__((cleanup(window_fini))) struct window window = {0};
    size_t step = packed_file_chunk_size(file);

    int r = window_init(&window, step, packed_file_chunk_room(file));
    for (uint64_t at = 0; at < size && r == 0; at += step) {
        uint64_t rest = file->sb.raw_size - at;
        uint64_t wanted = size - at;
        bool bad = false;

        r = packed_file_read(file, worker, at, rest < step ? rest : step, window.packed, window.raw,
                             note_bad, &bad);
        if (bad)
            return -EBADMSG;
        memcpy(bytes + at, window.raw, wanted < step ? wanted : step);
    }
    return r;
}

/* The share of the packed bytes of [begin, end): a frame's are spread evenly over it. */
static double packed_share(const struct packed_file *file, uint64_t begin, uint64_t end)
{
    uint64_t frame_size = file->sb.frame_size;
    double share = 0;

    if (end > file->sb.raw_size)
        end = file->sb.raw_size;
    while (begin < end) {
        struct index_frame frame;
        index_frame_get(file->index, begin / frame_size, &frame);
        uint64_t frame_end = frame.raw_offset + frame.raw_size;
        uint64_t stop = end < frame_end ? end : frame_end;

        share += (double)frame.packed_size * (double)(stop - begin) / (double)frame.raw_size;
        begin = stop;
    }
    return share;
}

static void add_dtype(struct file_info *info, const struct safetensors_tensor *tensor,
                      double packed_size)
{
    struct file_info_dtype *dtype = info->dtypes;

    while (dtype < info->dtypes + FILE_INFO_KINDS - 1 && dtype->name &&
           strcmp(dtype->name, tensor->dtype) != 0)
        dtype++;
    if (!dtype->name)
        dtype->name = tensor->dtype;
    dtype->tensors++;
    dtype->raw_size += tensor->end - tensor->begin;
    dtype->packed_size += packed_size;
}

static int weigh_tensors(const struct packed_file *file, struct file_info *info)
{
    info->tensor_packed = calloc(info->tensors.count + 1, sizeof(double));
    if (!info->tensor_packed)
        return -ENOMEM;
    for (size_t i = 0; i < info->tensors.count; i++) {
        const struct safetensors_tensor *tensor = &info->tensors.tensors[i];

        info->tensor_packed[i] = packed_share(file, tensor->begin, tensor->end);
        add_dtype(info, tensor, info->tensor_packed[i]);
    }
    return 0;
}

static int read_tensors(const struct packed_file *file, struct worker *worker,
                        struct file_info *info)
{
    uint8_t prefix[SAFETENSORS_PREFIX_SIZE];
    uint64_t header_size;

    if (file->sb.raw_size < SAFETENSORS_PREFIX_SIZE)
        return 0;
    int r = read_start(file, worker, prefix, sizeof(prefix));
    if (r < 0 || safetensors_header_size(prefix, file->sb.raw_size, &header_size) < 0)
        return r == -EBADMSG ? 0 : r;
    info->header = malloc(sizeof(prefix) + header_size);
    if (!info->header)
        return -ENOMEM;
    r = read_start(file, worker, (uint8_t *)info->header, sizeof(prefix) + header_size);
    if (r < 0)
        return r == -EBADMSG ? 0 : r;
    info->is_safetensors = info->header[sizeof(prefix)] == '{';
    if (!info->is_safetensors)
        return 0;
    r = safetensors_parse(info->header + sizeof(prefix), header_size, file->sb.raw_size,
                          &info->tensors);
    if (r == -EBADMSG)
        return 0;
    return r < 0 ? r : weigh_tensors(file, info);
}

int file_info_get(const struct packed_file *file, struct worker *worker, struct file_info *ret)
{
    *ret = (struct file_info){0};
    int r = sample_frames(file, worker, ret);
    if (r == 0)
        r = read_tensors(file, worker, ret);
    if (r < 0)
        file_info_fini(ret);
    return r;
}

void file_info_fini(struct file_info *info)
{
    for (unsigned i = 0; i < FILE_INFO_KINDS; i++)
        free(info->transforms[i].entropy);
    free(info->header);
    free(info->tensor_packed);
    safetensors_fini(&info->tensors);
    *info = (struct file_info){0};
}
