/* command_unpack.c - trunkpack unpack: the mirror image of pack. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "cleanup.h"
#include "copy_file.h"
#include "interrupt.h"
#include "json_out.h"
#include "mirror.h"
#include "places.h"
#include "report.h"
#include "restore_plan.h"
#include "selection.h"
#include "temp_file.h"
#include "unpack_file.h"

static void advance(void *context, size_t raw_size)
{
    report_advance(raw_size, 0);
}

/* Written by an earlier run that was interrupted later on? */
static bool is_there(int parent_fd, const char *name, const struct stat *original)
{
    struct stat present;

    return fstatat(parent_fd, name, &present, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(present.st_mode) && present.st_size == original->st_size &&
           present.st_mtim.tv_sec == original->st_mtim.tv_sec &&
           present.st_mtim.tv_nsec == original->st_mtim.tv_nsec &&
           ((present.st_mode ^ original->st_mode) & TRUNK_MODE_MASK) == 0;
}

/* The original's attributes: its owner is the packed file's, the rest is in the superblock. */
static void describe_original(const struct superblock *sb, const struct stat *packed,
                              struct stat *ret)
{
    *ret = *packed;
    ret->st_size = (off_t)sb->raw_size;
    ret->st_mode = S_IFREG | sb->mode;
    ret->st_mtim.tv_sec = sb->mtime_sec;
    ret->st_mtim.tv_nsec = sb->mtime_nsec;
}

static int report_bad(const struct restore_task *task, const struct packed_file_bad *bad)
{
    if (bad->frame == UINT64_MAX)
        report_fault(task->entry->path, "the SHA-256 of what was unpacked differs; the packed file "
                                        "is damaged: get another copy of it");
    else
        report_fault(task->entry->path,
                     "frame %llu, bytes %llu to %llu: %s; the packed file is "
                     "damaged: get another copy of it",
                     (unsigned long long)bad->frame, (unsigned long long)bad->raw_offset,
                     (unsigned long long)bad->raw_offset + bad->raw_size,
                     packed_file_bad_text(bad));
    return -EBADMSG;
}

static int finish(const struct restore_task *task, struct temp_file *temp,
                  const struct stat *original, const char **ret_what)
{
    *ret_what = "setting mode and time";
    int r = temp_file_dress(temp, original);
    if (r < 0)
        return r;
    return temp_file_publish(temp, beneath_name(task->entry->output_path), ret_what);
}

/* -EBADMSG was reported already. */
static int unpack_packed(struct restore_task *task, struct worker *worker, int *fd,
                         const struct stat *st, int parent_fd, const char **ret_what)
{
    __attribute__((cleanup(packed_file_close))) struct packed_file file = PACKED_FILE_NONE;
    __attribute__((cleanup(temp_file_discard))) struct temp_file temp = TEMP_FILE_NONE;
    struct packed_file_bad bad;
    struct stat original;
    struct fault fault;

    *ret_what = "reading";
    int r = packed_file_open(steal_fd(fd), &file, &fault);
    if (r < 0 && fault.check != FAULT_NONE) {
        report_fault(task->entry->path, "cannot be unpacked: %s (at %llu)", fault_text(fault.check),
                     (unsigned long long)fault.offset);
        return -EBADMSG;
    }
    if (r < 0)
        return r;
    describe_original(&file.sb, st, &original);
    task->raw_size = file.sb.raw_size;
    report_expect(task->raw_size - task->stored_size);
    if (is_there(parent_fd, beneath_name(task->entry->output_path), &original)) {
        task->present = true;
        return 0;
    }
    *ret_what = "making a temporary file";
    r = temp_file_create(parent_fd, &temp);
    if (r < 0)
        return r;
    r = unpack_file(&file, temp.fd, worker, advance, NULL, &bad, ret_what);
    if (r == -EBADMSG || (r < 0 && r != -ECANCELED && bad.frame != UINT64_MAX))
        return report_bad(task, &bad);
    if (r < 0)
        return r;
    return finish(task, &temp, &original, ret_what);
}

static int unpack_copy(struct restore_task *task, int fd, const struct stat *st, int parent_fd,
                       const char **ret_what)
{
    __attribute__((cleanup(temp_file_discard))) struct temp_file temp = TEMP_FILE_NONE;

    task->raw_size = (uint64_t)st->st_size;
    if (is_there(parent_fd, beneath_name(task->entry->output_path), st)) {
        task->present = true;
        return 0;
    }
    *ret_what = "making a temporary file";
    int r = temp_file_create(parent_fd, &temp);
    if (r < 0)
        return r;
    r = copy_file(fd, st, temp.fd, advance, NULL, ret_what);
    if (r < 0)
        return r;
    return finish(task, &temp, st, ret_what);
}

static int unpack_one(struct restore_task *task, struct worker *worker, const char **ret_what)
{
    autoclose int fd = -1;
    autoclose int parent_fd = -1;
    struct stat st;

    *ret_what = "opening";
    fd = beneath_open(task->common->tree->root_fd, task->entry->path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -ESTALE;
    task->stored_size = (uint64_t)st.st_size;
    *ret_what = "opening its directory in the destination";
    parent_fd = beneath_open_parent(task->common->destination_fd, task->entry->output_path);
    if (parent_fd < 0)
        return parent_fd;
    return task->packed ? unpack_packed(task, worker, &fd, &st, parent_fd, ret_what)
                        : unpack_copy(task, fd, &st, parent_fd, ret_what);
}

static void run_task(struct pool_work *work, void *context)
{
    struct restore_task *task = (struct restore_task *)work;
    const char *what = "";
    bool canceled = interrupt_pending() || atomic_load(&task->common->stop);
    int r = canceled ? -ECANCELED : unpack_one(task, context, &what);

    if (r < 0) {
        task->entry->failed = true;
        if (r == -ENOSPC || r == -EDQUOT || r == -EROFS)
            atomic_store(&task->common->stop, true);
        if (r != -EBADMSG)
            report_error(task->entry->path, what, r);
        return;
    }
    task->done = true;
    report_file(task->entry->path, "%s%s, %llu -> %llu bytes", task->packed ? "unpacked" : "copied",
                task->present ? " before" : "", (unsigned long long)task->stored_size,
                (unsigned long long)task->raw_size);
}

static void print_summary(const struct options *options, const struct restore_plan *plan,
                          double seconds)
{
    uint64_t raw_size = 0, count = 0;
    char text[REPORT_SIZE_TEXT];

    for (size_t i = 0; i < plan->count; i++) {
        count += plan->tasks[i].done;
        raw_size += plan->tasks[i].done ? plan->tasks[i].raw_size : 0;
    }
    report_end_progress();
    if (options->json)
        printf("{\"files\": %llu, \"raw_size\": %llu, \"seconds\": %.3f, \"errors\": %llu}\n",
               (unsigned long long)count, (unsigned long long)raw_size, seconds,
               (unsigned long long)report_error_count());
    else if (!options->quiet)
        printf("%llu files, %s in %.1f s, %.0f MB/s\n", (unsigned long long)count,
               report_size(raw_size, text), seconds,
               seconds > 0 ? (double)raw_size / seconds / 1e6 : 0);
}

static int unpack_tree(const struct options *options, struct tree *tree, const char *single_name,
                       int destination_fd)
{
    __attribute__((cleanup(restore_plan_fini))) struct restore_plan plan = {0};
    struct restore_common common = {
        .options = options,
        .tree = tree,
        .destination_fd = destination_fd,
        .original_fd = -1,
    };
    struct run *run = NULL;
    double start = report_now();

    int r = restore_plan_make(&common, tree, single_name, &plan);
    if (r < 0)
        return r;
    r = run_start(options->jobs, &options->encode, &run);
    if (r < 0)
        return r;
    temp_file_sweep(destination_fd);
    mirror_begin(tree, destination_fd);
    restore_plan_run(&plan, run, run_task);
    run_stop(run);
    if (interrupt_pending())
        report_fault(options->source, "interrupted; the same command again continues");
    else
        mirror_end(tree, destination_fd);
    if (fsync(destination_fd) < 0)
        return -errno;
    print_summary(options, &plan, report_now() - start);
    return 0;
}

int command_unpack(const struct options *options)
{
    __attribute__((cleanup(place_close))) struct place source = PLACE_NONE;
    __attribute__((cleanup(tree_fini))) struct tree tree = TREE_NONE;
    autoclose int destination_fd = -1;

    report_init(&(struct report_options){
        .quiet = options->quiet, .json = options->json, .verb = "unpacking"});
    int r = place_open(options->source, &source);
    if (r < 0) {
        report_error(options->source, "opening the packed directory or file", r);
        return EXIT_FAILURE;
    }
    r = place_destination(options->destination, &source, true, &destination_fd);
    if (r < 0) {
        report_error(options->destination,
                     r == -EBUSY ? "the destination must lie outside the packed directory, and the "
                                   "packed directory outside the destination; choose another one"
                                 : "opening the destination",
                     r == -EBUSY ? 0 : r);
        return EXIT_FAILURE;
    }
    r = selection_scan(&source, options, &tree);
    if (r == 0)
        r = unpack_tree(options, &tree, source.shown, destination_fd);
    if (r < 0)
        report_error(options->source, "unpacking", r);
    return report_error_count() ? EXIT_FAILURE : EXIT_SUCCESS;
}
