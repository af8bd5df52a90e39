/* command_pack.c - trunkpack pack: scan, plan, make directories, pack files, link, finish. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "beneath.h"
#include "cleanup.h"
#include "estimate.h"
#include "interrupt.h"
#include "io.h"
#include "json_out.h"
#include "mirror.h"
#include "pack_plan.h"
#include "places.h"
#include "report.h"
#include "run.h"
#include "selection.h"
#include "temp_file.h"

enum { DRY_RUN_SAMPLES = 32 };

static void describe_geometry(const struct options *options, struct pack_geometry *ret)
{
    *ret = (struct pack_geometry){
        .frame_size = options->frame_size,
        .block_size = options->block_size,
    };
    /* All that decides the bytes of a packed file, beside the sizes: see is_packed_already. */
    snprintf(ret->writer, sizeof(ret->writer), "trunkpack %s %s %d", TRUNK_PROGRAM_VERSION,
             options_codec_name(options->encode.codec), options->encode.zstd_level);
}

static void expect(const struct pack_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->tasks[i].entry->first_link == TREE_NO_LINK && !plan->tasks[i].entry->failed)
            report_expect((uint64_t)plan->tasks[i].entry->st.st_size);
}

/* Every file once, whatever the number of its names. */
static void run_tasks(struct pack_plan *plan, struct run *run,
                      void (*function)(struct pool_work *work, void *context))
{
    for (size_t i = 0; i < plan->count; i++) {
        struct pack_task *task = &plan->tasks[i];

        if (task->entry->first_link != TREE_NO_LINK || task->entry->failed)
            continue;
        task->work.run = function;
        run_submit(run, &task->work, (uint64_t)task->entry->st.st_size);
    }
    run_wait(run);
}

/* Names of files that have several: they can go only when all are in the destination. */
static void remove_linked(struct pack_plan *plan, struct run *run)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct pack_task *task = &plan->tasks[i];

        if (task->entry->st.st_nlink == 1 || task->entry->failed)
            continue;
        task->work.run = pack_task_run_removal;
        run_submit(run, &task->work, (uint64_t)task->entry->st.st_size);
        run_wait(run);
    }
}

static int pack_all(struct pack_plan *plan, struct tree *tree, int destination_fd, struct run *run)
{
    temp_file_sweep(destination_fd);
    mirror_begin(tree, destination_fd);
    run_tasks(plan, run, pack_task_run);
    int r = pack_plan_name_links(plan, tree);
    if (r < 0)
        return r;
    if (interrupt_pending()) {
        report_fault("", "interrupted; the same command again continues");
        return 0;
    }
    mirror_end(tree, destination_fd);
    if (fsync(destination_fd) < 0)
        report_error("", "syncing the destination", -errno);
    if (plan->count && plan->tasks[0].common->options->remove_source)
        remove_linked(plan, run);
    return 0;
}

static void estimate_one(struct pool_work *work, void *context)
{
    struct pack_task *task = (struct pack_task *)work;
    struct worker *worker = context;
    struct pack_file_source source = {0};
    struct estimate estimate;
    autoclose int fd = beneath_open(task->common->tree->root_fd, task->entry->path,
                                    O_RDONLY | O_NONBLOCK | O_NOCTTY);
    int r = fd < 0 ? fd : fstat(fd, &source.st) < 0 ? -errno : 0;

    source.fd = fd;
    if (r == 0)
        r = io_allocated_size(fd, (uint64_t)source.st.st_size, &source.allocated_size);
    if (r == 0)
        r = estimate_packed_size(&task->common->geometry, &source, worker, DRY_RUN_SAMPLES,
                                 &estimate);
    if (r < 0) {
        task->entry->failed = true;
        report_error(task->entry->path, "estimating", r);
        return;
    }
    bool packed =
        task->must_pack || (!task->must_copy && pack_file_worth(&source, estimate.packed_size));
    task->outcome = packed ? PACK_PACKED : PACK_COPIED;
    task->raw_size = (uint64_t)source.st.st_size;
    task->stored_size = packed ? estimate.packed_size : task->raw_size;
    report_advance(task->raw_size, task->stored_size);
    report_file(task->entry->path, "would be %s, %llu -> about %llu bytes (%.4f)",
                pack_task_outcome_text(task->outcome), (unsigned long long)task->raw_size,
                (unsigned long long)task->stored_size,
                report_ratio((double)task->stored_size, (double)task->raw_size));
}

struct totals {
    size_t packed, copied, failed;
    uint64_t raw_size, stored_size;
};

static struct totals add_up(const struct pack_plan *plan)
{
    struct totals totals = {0};

    for (size_t i = 0; i < plan->count; i++) {
        const struct pack_task *task = &plan->tasks[i];

        if (task->entry->first_link != TREE_NO_LINK && !task->entry->failed)
            continue; /* another name of a file that is counted */
        if (task->entry->failed || task->outcome == PACK_FAILED) {
            totals.failed++;
            continue;
        }
        if (task->outcome == PACK_PACKED || task->outcome == PACK_PRESENT_PACKED)
            totals.packed++;
        else
            totals.copied++;
        totals.raw_size += task->raw_size;
        totals.stored_size += task->stored_size;
    }
    return totals;
}

static void print_json(const struct pack_plan *plan, const struct totals *totals, double seconds,
                       bool dry_run)
{
    const char *separator = "\n";

    printf("{\"dry_run\": %s, \"files\": [", dry_run ? "true" : "false");
    for (size_t i = 0; i < plan->count; i++) {
        const struct pack_task *task = &plan->tasks[i];

        if (task->entry->first_link != TREE_NO_LINK && !task->entry->failed)
            continue;
        printf("%s  {\"path\": ", separator);
        separator = ",\n";
        json_out_string(stdout, task->output_base);
        printf(", \"outcome\": \"%s\", \"raw_size\": %llu, \"stored_size\": %llu}",
               task->entry->failed ? "failed" : pack_task_outcome_text(task->outcome),
               (unsigned long long)task->raw_size, (unsigned long long)task->stored_size);
    }
    printf("],\n \"packed\": %zu, \"copied\": %zu, \"failed\": %zu, \"raw_size\": %llu, "
           "\"stored_size\": %llu, \"ratio\": %.6f, \"seconds\": %.3f, \"errors\": %llu}\n",
           totals->packed, totals->copied, totals->failed, (unsigned long long)totals->raw_size,
           (unsigned long long)totals->stored_size,
           report_ratio((double)totals->stored_size, (double)totals->raw_size), seconds,
           (unsigned long long)report_error_count());
}

static void print_summary(const struct options *options, const struct pack_plan *plan,
                          double seconds)
{
    struct totals totals = add_up(plan);
    char raw[REPORT_SIZE_TEXT], stored[REPORT_SIZE_TEXT];

    report_end_progress();
    if (options->json) {
        print_json(plan, &totals, seconds, options->dry_run);
        return;
    }
    if (options->quiet)
        return;
    printf("%s%zu packed, %zu copied, %llu errors: %s -> %s (%.4f) in %.1f s, %.0f MB/s\n",
           options->dry_run ? "estimate: " : "", totals.packed, totals.copied,
           (unsigned long long)report_error_count(), report_size(totals.raw_size, raw),
           report_size(totals.stored_size, stored),
           report_ratio((double)totals.stored_size, (double)totals.raw_size), seconds,
           seconds > 0 ? (double)totals.raw_size / seconds / 1e6 : 0);
}

static int pack_tree(const struct options *options, struct tree *tree, const char *output_name,
                     int destination_fd)
{
    __attribute__((cleanup(pack_plan_fini))) struct pack_plan plan = {0};
    struct pack_common common = {
        .options = options,
        .tree = tree,
        .destination_fd = destination_fd,
    };
    struct run *run = NULL;
    double start = report_now();
    int r;

    describe_geometry(options, &common.geometry);
    r = pack_plan_make(&common, tree, output_name, &plan);
    if (r < 0)
        return r;
    expect(&plan);
    r = run_start(options->jobs, &options->encode, &run);
    if (r < 0)
        return r;
    if (options->dry_run)
        run_tasks(&plan, run, estimate_one);
    else
        r = pack_all(&plan, tree, destination_fd, run);
    run_stop(run);
    if (r == 0)
        print_summary(options, &plan, report_now() - start);
    return r;
}

static int open_destination(const struct options *options, const struct place *source, int *ret_fd)
{
    int r = place_destination(options->destination, source, !options->dry_run, ret_fd);

    if (r == -EBUSY)
        report_fault(options->destination, "the destination must lie outside the source, and the "
                                           "source outside the destination; choose another one");
    else if (r < 0)
        report_error(options->destination, "opening the destination", r);
    return r;
}

int command_pack(const struct options *options)
{
    __attribute__((cleanup(place_close))) struct place source = PLACE_NONE;
    __attribute__((cleanup(tree_fini))) struct tree tree = TREE_NONE;
    autoclose int destination_fd = -1;

    report_init(&(struct report_options){
        .quiet = options->quiet, .json = options->json, .verb = "packing"});
    int r = place_open(options->source, &source);
    if (r < 0) {
        report_error(options->source, "opening the source", r);
        return EXIT_FAILURE;
    }
    if (open_destination(options, &source, &destination_fd) < 0)
        return EXIT_FAILURE;
    r = selection_scan(&source, options, &tree);
    if (r == 0)
        r = pack_tree(options, &tree, source.shown, destination_fd);
    if (r < 0)
        report_error(options->source, "packing", r);
    return report_error_count() ? EXIT_FAILURE : EXIT_SUCCESS;
}
