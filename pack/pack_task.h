/* pack_task.h - one regular file of the source on its way into the packed directory: from
 * what is there already to its final name, and to the removal of the source if wanted.
 *
 * Reports its own errors. Any number of tasks may run at the same time.
 */
#ifndef PACK_PACK_TASK_H
#define PACK_PACK_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "pack_file.h"
#include "pool.h"
#include "tree.h"

/* What all tasks of a run share. Constant but for stop. */
struct pack_common {
    const struct options *options;
    struct pack_geometry geometry;
    const struct tree *tree;
    int destination_fd;
    atomic_bool stop; /* the destination is full or broken: begin nothing more */
};

enum pack_outcome {
    PACK_FAILED, /* reported */
    PACK_PACKED,
    PACK_COPIED,
    PACK_PRESENT_PACKED, /* it was there already */
    PACK_PRESENT_COPY,
};

struct pack_task {
    struct pool_work work;
    struct pack_common *common;
    struct tree_entry *entry; /* output_path is set when the task is done */
    const char *output_base;  /* path in the destination before the suffix; borrowed */
    bool must_pack;           /* as a copy it would be taken for a packed file, or --codec raw */
    bool must_copy;           /* the name of its packed file is not to be had */

    /* Written by the task. */
    enum pack_outcome outcome;
    uint64_t raw_size;
    uint64_t stored_size;
};

/* For pool_work.run: context is a struct worker. */
void pack_task_run(struct pool_work *work, void *context);

/* Likewise, for a file with several names, once all of them are in the destination: removes
 * this name from the source, as --remove-source does. One such task at a time. */
void pack_task_run_removal(struct pool_work *work, void *context);

/* The path of the packed file for a source path (NAME.trunk in the same directory), or of its
 * copy; allocated, NULL without memory. */
char *pack_task_output_path(const char *path, bool packed);

const char *pack_task_outcome_text(enum pack_outcome outcome);

#endif
