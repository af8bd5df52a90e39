/* pipeline_private.h - what the parts of the pipeline call of each other. */
#ifndef TRUNKFS_PIPELINE_PRIVATE_H
#define TRUNKFS_PIPELINE_PRIVATE_H

#include "pipeline.h"

/* The packed bytes of frame are here and somebody waits: decode it. (table locked) */
void pipeline_queue(struct pipeline_worker *worker, struct frame *frame);

/* frames (chained by queue_next) can't be had: fail those who wait. Not under the table lock. */
void pipeline_fail(struct pipeline_worker *worker, struct frame *frames, int error);

/* Decode a frame that was taken off the queues: it is QUEUED, and has its buffer if has_buffer.
 * Not under the table lock. */
void pipeline_decode_frame(struct pipeline_worker *worker, struct frame *frame, bool has_buffer);

/* Wake an idle worker if there are more ready frames than this one gets to soon. */
void pipeline_share(struct pipeline_worker *worker);

#endif
