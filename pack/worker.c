/* worker.c - memory of one thread, grown to the largest frame seen. */
#include "worker.h"

#include <errno.h>
#include <stdlib.h>

#include "pipeline.h"

struct worker *worker_new(const struct frame_encode_options *options)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (worker)
        worker->encode_options = *options;
    return worker;
}

void worker_free(struct worker *worker)
{
    if (!worker)
        return;
    frame_encoder_free(worker->encoder);
    frame_decoder_free(worker->decoder);
    free(worker->scratch);
    pipeline_free(worker->pipeline);
    free(worker);
}

int worker_need_encoder(struct worker *worker, size_t frame_size)
{
    if (worker->encoder_size >= frame_size)
        return 0;
    frame_encoder_free(worker->encoder);
    worker->encoder = NULL;
    worker->encoder_size = 0;
    int r = frame_encoder_new(&worker->encode_options, frame_size, &worker->encoder);
    if (r < 0)
        return r;
    worker->encoder_size = frame_size;
    return 0;
}

int worker_need_decoder(struct worker *worker, size_t frame_size)
{
    if (worker->decoder_size >= frame_size)
        return 0;
    frame_decoder_free(worker->decoder);
    free(worker->scratch);
    worker->decoder = NULL;
    worker->decoder_size = 0;
    worker->scratch = malloc(frame_size + FRAME_DECODE_SLACK);
    if (!worker->scratch)
        return -ENOMEM;
    int r = frame_decoder_new(frame_size, &worker->decoder);
    if (r < 0)
        return r;
    worker->decoder_size = frame_size;
    return 0;
}
