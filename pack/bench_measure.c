/* bench_measure.c - rounds of memcpy, decode, decode and check; encoding before them. */
#include "bench_measure.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "bytes.h"
#include "checksum.h"
#include "cleanup.h"
#include "format.h"
#include "frame_decode.h"
#include "io.h"
#include "pipeline.h"
#include "worker.h"

enum {
    ROUNDS = 5,
    PIECE = 4 << 20, /* raw bytes taken together when a file is sampled */
};

#define ENCODE_SECONDS 0.5 /* encoding is repeated for so long, ROUNDS times at most */

/* One frame of the data. */
struct frame {
    size_t raw_offset;
    size_t raw_size;
    size_t packed_offset;
    size_t packed_size;
};

enum step { STEP_ENCODE, STEP_MEMCPY, STEP_DECODE, STEP_DECODE_CHECKED };

struct session;

/* One thread's share of the frames: numbers first, first + thread_count, … */
struct share {
    pthread_t thread;
    struct session *session;
    unsigned first;
    struct worker *worker;
    uint64_t hashes; /* of all frames: so that the checksums are not optimised away */
    int error;
};

struct session {
    struct bench_data *data;
    uint8_t *packed; /* PIPELINE_MARGIN into its allocation */
    struct frame *frames;
    size_t frame_count;
    struct share *shares;
    unsigned thread_count;
    enum step step;
};

void bench_data_fini(struct bench_data *data)
{
    free(data->raw);
    free(data->output);
    *data = (struct bench_data){0};
}

/* Pieces spread evenly, the first and the last of the file among them. */
static int read_pieces(int fd, uint64_t file_size, struct bench_data *data)
{
    uint64_t pieces = data->size / PIECE;

    if (data->size == file_size)
        return io_read(fd, data->raw, data->size, 0);
    for (uint64_t i = 0; i < pieces; i++) {
        uint64_t at = pieces > 1 ? (file_size - PIECE) / (pieces - 1) * i : 0;
        int r = io_read(fd, data->raw + i * PIECE, PIECE, at & ~(uint64_t)(TRUNK_ALIGNMENT - 1));
        if (r < 0)
            return r;
    }
    return 0;
}

int bench_data_read(int fd, uint64_t limit, struct bench_data *ret)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (st.st_size == 0)
        return -ENODATA;
    uint64_t file_size = (uint64_t)st.st_size;
    *ret = (struct bench_data){.size = file_size < limit ? (size_t)file_size : (size_t)limit};
    ret->raw = malloc(ret->size);
    ret->output = malloc(ret->size + FRAME_DECODE_SLACK);
    int r = ret->raw && ret->output ? read_pieces(fd, file_size, ret) : -ENOMEM;
    if (r < 0) {
        bench_data_fini(ret);
        return r;
    }
    memset(ret->output, 1, ret->size); /* page faults are not what is measured */
    return 0;
}

static int run_frame(struct share *share, struct frame *frame)
{
    const struct session *session = share->session;
    uint8_t *raw = session->data->raw + frame->raw_offset;
    uint8_t *packed = session->packed + frame->packed_offset;
    uint8_t *output = session->data->output + frame->raw_offset;
    struct frame_summary summary;
    int r;

    switch (session->step) {
    case STEP_ENCODE:
        return frame_encode(share->worker->encoder, raw, frame->raw_size, packed,
                            frame_encode_bound(frame->raw_size), &frame->packed_size, &summary);
    case STEP_MEMCPY:
        memcpy(output, raw, frame->raw_size);
        return 0;
    case STEP_DECODE:
    case STEP_DECODE_CHECKED:
        r = frame_decode(share->worker->decoder, packed, frame->packed_size, output,
                         frame->raw_size, NULL);
        if (r == 0 && session->step == STEP_DECODE_CHECKED)
            share->hashes ^= checksum_hash(output, frame->raw_size);
        return r;
    }
    return -EINVAL;
}

static void *run_share(void *argument)
{
    struct share *share = argument;
    struct session *session = share->session;

    share->error = 0;
    for (size_t i = share->first; i < session->frame_count && share->error == 0;
         i += session->thread_count)
        share->error = run_frame(share, &session->frames[i]);
    return NULL;
}

/* One thread is timed by the processor's time that it took, which what else runs on the machine
 * disturbs least; several by the clock on the wall. */
static double seconds_now(const struct session *session)
{
    struct timespec now;

    clock_gettime(session->thread_count > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* All frames through one step. Returns 0 with the seconds, or an error. */
static int run_step(struct session *session, enum step step, double *ret_seconds)
{
    unsigned started = 1;
    int r = 0;

    session->step = step;
    double start = seconds_now(session);
    for (; started < session->thread_count && r == 0; started++)
        r = -pthread_create(&session->shares[started].thread, NULL, run_share,
                            &session->shares[started]);
    if (r < 0)
        started--;
    run_share(&session->shares[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(session->shares[i].thread, NULL);
    *ret_seconds = seconds_now(session) - start;
    for (unsigned i = 0; i < started && r == 0; i++)
        r = session->shares[i].error;
    return r;
}

/* Frames, and for each the room that encoding it takes. */
static int lay_out(struct session *session, uint32_t frame_size)
{
    struct bench_data *data = session->data;
    size_t stride = align_up(frame_encode_bound(frame_size), 64);

    session->frame_count = data->size / frame_size + (data->size % frame_size != 0);
    session->frames = calloc(session->frame_count, sizeof(*session->frames));
    uint8_t *packed = malloc(session->frame_count * stride + 2 * PIPELINE_MARGIN);
    if (!packed)
        return -ENOMEM;
    session->packed = packed + PIPELINE_MARGIN;
    if (!session->frames)
        return -ENOMEM;
    for (size_t i = 0; i < session->frame_count; i++) {
        size_t at = i * frame_size;
        session->frames[i] = (struct frame){
            .raw_offset = at,
            .raw_size = data->size - at < frame_size ? data->size - at : frame_size,
            .packed_offset = i * stride,
        };
    }
    return 0;
}

static int make_shares(struct session *session, const struct bench_case *what)
{
    session->shares = calloc(what->threads, sizeof(*session->shares));
    if (!session->shares)
        return -ENOMEM;
    session->thread_count = what->threads;
    for (unsigned i = 0; i < what->threads; i++) {
        struct share *share = &session->shares[i];

        *share =
            (struct share){.session = session, .first = i, .worker = worker_new(&what->options)};
        if (!share->worker)
            return -ENOMEM;
        int r = worker_need_encoder(share->worker, what->frame_size);
        if (r == 0)
            r = worker_need_decoder(share->worker, what->frame_size);
        if (r < 0)
            return r;
    }
    return 0;
}

static void session_fini(struct session *session)
{
    for (unsigned i = 0; i < session->thread_count; i++)
        worker_free(session->shares[i].worker);
    free(session->shares);
    free(session->frames);
    free(session->packed ? session->packed - PIPELINE_MARGIN : NULL);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return values[count / 2];
}

static int measure_encoding(struct session *session, double *ret_seconds)
{
    double seconds[ROUNDS], total = 0;
    size_t rounds = 0;

    /* The first round, with its page faults, counts only if it was long. */
    for (bool warm = false; rounds < ROUNDS && (rounds == 0 || total < ENCODE_SECONDS);
         warm = true) {
        int r = run_step(session, STEP_ENCODE, &seconds[rounds]);
        if (r < 0)
            return r;
        if (!warm && seconds[rounds] < ENCODE_SECONDS)
            continue;
        total += seconds[rounds++];
    }
    *ret_seconds = median(seconds, rounds);
    return 0;
}

/* Packed frames one behind the other, as in a file. */
static void compact(struct session *session)
{
    size_t at = 0;

    for (size_t i = 0; i < session->frame_count; i++) {
        struct frame *frame = &session->frames[i];
        memmove(session->packed + at, session->packed + frame->packed_offset, frame->packed_size);
        frame->packed_offset = at;
        at += frame->packed_size;
    }
}

static double whole_ratio(const struct session *session, uint32_t frame_size, uint32_t block_size)
{
    size_t frames_per_block = block_size / frame_size;
    size_t blocks = (session->frame_count + frames_per_block - 1) / frames_per_block;
    uint64_t size = TRUNK_SUPERBLOCK_SIZE;

    for (size_t i = 0; i < session->frame_count; i++) {
        if (i % frames_per_block == 0)
            size = align_up(size, TRUNK_ALIGNMENT);
        size += session->frames[i].packed_size;
    }
    size = align_up(size, TRUNK_ALIGNMENT) + blocks * TRUNK_BLOCK_ENTRY_SIZE +
           session->frame_count * TRUNK_FRAME_ENTRY_SIZE;
    return (double)size / (double)session->data->size;
}

static int measure_decoding(struct session *session, double gigabytes, struct bench_result *ret)
{
    double copying[ROUNDS], decoding[ROUNDS], checking[ROUNDS];

    for (int i = -1; i < ROUNDS; i++) { /* one round to warm up */
        size_t at = i < 0 ? 0 : (size_t)i;
        int r = run_step(session, STEP_MEMCPY, &copying[at]);
        if (r == 0)
            r = run_step(session, STEP_DECODE, &decoding[at]);
        if (r == 0)
            r = run_step(session, STEP_DECODE_CHECKED, &checking[at]);
        if (r < 0)
            return r;
    }
    ret->memcpy_gbps = gigabytes / median(copying, ROUNDS);
    ret->decode_gbps = gigabytes / median(decoding, ROUNDS);
    ret->decode_checked_gbps = gigabytes / median(checking, ROUNDS);
    return memcmp(session->data->output, session->data->raw, session->data->size) == 0 ? 0
                                                                                       : -EBADMSG;
}

int bench_measure(struct bench_data *data, const struct bench_case *what, struct bench_result *ret)
{
    __attribute__((cleanup(session_fini))) struct session session = {.data = data};
    double gigabytes = (double)data->size / 1e9;
    double seconds;

    int r = lay_out(&session, what->frame_size);
    if (r == 0)
        r = make_shares(&session, what);
    if (r == 0)
        r = measure_encoding(&session, &seconds);
    if (r < 0)
        return r;
    ret->encode_gbps = gigabytes / seconds;
    compact(&session);
    ret->ratio = whole_ratio(&session, what->frame_size, what->block_size);
    return measure_decoding(&session, gigabytes, ret);
}
