/* run.h - the threads of one run, and which of them takes a file.
 *
 * Encoding and decoding is done by as many workers as --jobs says. A large file is led by
 * one of a few leaders, who hash it and hand its chunks to the workers; a small file is
 * handled from end to end by one worker, many side by side.
 */
#ifndef PACK_RUN_H
#define PACK_RUN_H

#include <stdint.h>

#include "frame_encode.h"
#include "pool.h"
#include "worker.h"

struct run;

/* Start the threads. Returns 0, -ENOMEM or -EAGAIN. */
__attribute__((warn_unused_result)) int
run_start(unsigned jobs, const struct frame_encode_options *options, struct run **ret);
void run_stop(struct run *run); /* waits for what was submitted; NULL is allowed */

/* Have a file of raw_size bytes done: work->run is called on some thread with a struct
 * worker whose pipeline is ready. Waits while many files are queued. From main only. */
void run_submit(struct run *run, struct pool_work *work, uint64_t raw_size);

/* Until all that was submitted is done. From main only. */
void run_wait(struct run *run);

#endif
