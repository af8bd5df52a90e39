/* restore_plan.h - from the tree of a packed directory to one task a file, each with the name
 * that the file has in the source (FORMAT.md 1). For unpack, verify and info. From main only.
 */
#ifndef PACK_RESTORE_PLAN_H
#define PACK_RESTORE_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "pool.h"
#include "run.h"
#include "tree.h"

/* What all tasks of a run share. Constant but for stop. */
struct restore_common {
    const struct options *options;
    const struct tree *tree; /* of the packed directory */
    int destination_fd;      /* unpack; else -1 */
    int original_fd;         /* verify --against: root of the original; else -1 */
    atomic_bool stop;        /* the destination is full or broken: begin nothing more */
};

struct restore_task {
    struct pool_work work;
    struct restore_common *common;
    struct tree_entry *entry;  /* output_path: its path in the source */
    const char *original_path; /* below original_fd; borrowed */
    bool packed;

    /* Written by the task. */
    uint64_t raw_size;
    uint64_t stored_size;
    bool done;
    bool present; /* unpack: an earlier run had done it */
};

struct restore_plan {
    struct restore_task *tasks; /* one for each regular file, those with first_link included */
    size_t count;
};

/* Sets output_path of every entry that is shown. single_name: for a tree of one file, the name
 * by which it was given, else NULL. Reports names that collide. Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int restore_plan_make(struct restore_common *common,
                                                          struct tree *tree,
                                                          const char *single_name,
                                                          struct restore_plan *ret);
void restore_plan_fini(struct restore_plan *plan);

/* Have function, with a struct worker as context, run on every file that has not failed, once
 * whatever the number of its names; wait until all are done. */
void restore_plan_run(struct restore_plan *plan, struct run *run,
                      void (*function)(struct pool_work *work, void *context));

#endif
