/* command_verify.c - trunkpack verify: every frame of every packed file, and with --against
 * everything else too. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "against.h"
#include "beneath.h"
#include "check_file.h"
#include "cleanup.h"
#include "copy_file.h"
#include "interrupt.h"
#include "json_out.h"
#include "places.h"
#include "report.h"
#include "restore_plan.h"
#include "selection.h"

static void advance(void *context, size_t raw_size)
{
    report_advance(raw_size, 0);
}

static void report_bad_frame(void *context, const struct packed_file_bad *bad)
{
    struct restore_task *task = context;

    report_fault(task->entry->path, "frame %llu, bytes %llu to %llu of the original: %s",
                 (unsigned long long)bad->frame, (unsigned long long)bad->raw_offset,
                 (unsigned long long)bad->raw_offset + bad->raw_size, packed_file_bad_text(bad));
}

/* -1 where there is nothing to compare with. A missing original is against_trees' to tell. */
static int open_original(const struct restore_task *task, int *ret_fd)
{
    *ret_fd = -1;
    if (task->common->original_fd < 0)
        return 0;
    int fd = beneath_open(task->common->original_fd, task->original_path, O_RDONLY | O_NONBLOCK);
    if (fd == -ENOENT || fd == -ELOOP)
        return 0;
    if (fd < 0)
        return fd;
    *ret_fd = fd;
    return 0;
}

static bool check_attributes(const struct restore_task *task, const struct stat *packed,
                             int original_fd)
{
    struct stat original;

    if (original_fd < 0)
        return true;
    if (fstat(original_fd, &original) < 0)
        return false;
    return against_attributes(task->entry->path, packed, &original);
}

static bool report_result(const struct restore_task *task, const struct check_file_result *result)
{
    const char *path = task->entry->path;

    if (result->digest_differs)
        report_fault(path, "its SHA-256 differs from what the superblock says");
    if (result->original_differs)
        report_fault(path, "differs from the original at byte %llu",
                     (unsigned long long)result->first_difference);
    return !result->bad_frames && !result->digest_differs && !result->original_differs;
}

/* Returns 0 and task->done if all is well; 0 if not, which was reported; or -errno. */
static int verify_packed(struct restore_task *task, struct worker *worker, int *fd, int original_fd,
                         const char **ret_what)
{
    const struct check_file_callbacks callbacks = {
        .bad_frame = report_bad_frame,
        .advance = advance,
        .context = task,
    };
    __attribute__((cleanup(packed_file_close))) struct packed_file file = PACKED_FILE_NONE;
    struct check_file_result result;
    struct stat st = task->entry->st;
    struct fault fault;

    int r = packed_file_open(steal_fd(fd), &file, &fault);
    if (r < 0 && fault.check != FAULT_NONE) {
        report_fault(task->entry->path, "%s (at %llu)", fault_text(fault.check),
                     (unsigned long long)fault.offset);
        return 0;
    }
    if (r < 0)
        return r;
    task->raw_size = file.sb.raw_size;
    report_expect(task->raw_size - task->stored_size);
    st.st_mode = S_IFREG | file.sb.mode;
    st.st_mtim.tv_sec = file.sb.mtime_sec;
    st.st_mtim.tv_nsec = file.sb.mtime_nsec;
    bool attributes = check_attributes(task, &st, original_fd);
    r = check_file(&file, original_fd, worker, &callbacks, &result, ret_what);
    if (r == 0)
        task->done = report_result(task, &result) && attributes;
    return r;
}

static int verify_copy(struct restore_task *task, int fd, int original_fd, const char **ret_what)
{
    const struct stat *st = &task->entry->st;
    uint64_t size = (uint64_t)st->st_size;
    uint64_t offset = 0;
    struct stat original;

    task->raw_size = size;
    task->done = true;
    if (original_fd < 0) {
        report_advance(size, 0);
        return 0;
    }
    if (fstat(original_fd, &original) < 0)
        return -errno;
    task->done = check_attributes(task, st, original_fd);
    if (original.st_size != st->st_size) {
        report_fault(task->entry->path, "%llu bytes, but %llu in the original",
                     (unsigned long long)size, (unsigned long long)original.st_size);
        task->done = false;
        return 0;
    }
    *ret_what = "comparing with the original";
    int r = copy_file_compare(fd, original_fd, size, &offset);
    report_advance(size, 0);
    if (r == -EBADMSG) {
        report_fault(task->entry->path, "differs from the original at byte %llu",
                     (unsigned long long)offset);
        task->done = false;
        return 0;
    }
    return r;
}

static int verify_one(struct restore_task *task, struct worker *worker, const char **ret_what)
{
    autoclose int fd = -1;
    autoclose int original_fd = -1;

    *ret_what = "opening";
    fd = beneath_open(task->common->tree->root_fd, task->entry->path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return fd;
    *ret_what = "opening the original";
    int r = open_original(task, &original_fd);
    if (r < 0)
        return r;
    task->stored_size = (uint64_t)task->entry->st.st_size;
    *ret_what = "reading";
    return task->packed ? verify_packed(task, worker, &fd, original_fd, ret_what)
                        : verify_copy(task, fd, original_fd, ret_what);
}

static void run_task(struct pool_work *work, void *context)
{
    struct restore_task *task = (struct restore_task *)work;
    const char *what = "";
    int r = interrupt_pending() ? -ECANCELED : verify_one(task, context, &what);

    if (r < 0)
        report_error(task->entry->path, what, r);
    if (r < 0 || !task->done) {
        task->done = false;
        task->entry->failed = true;
        return;
    }
    if (task->packed || task->common->original_fd >= 0)
        report_file(task->entry->path, "ok");
    else
        report_file(task->entry->path, "a plain copy: without --against there is nothing to "
                                       "compare it with");
}

static void print_json(const struct restore_plan *plan, size_t good, double seconds)
{
    const char *separator = "\n";

    printf("{\"files\": [");
    for (size_t i = 0; i < plan->count; i++) {
        const struct restore_task *task = &plan->tasks[i];
        if (task->entry->first_link != TREE_NO_LINK)
            continue;
        printf("%s  {\"path\": ", separator);
        separator = ",\n";
        json_out_string(stdout, task->entry->path);
        printf(", \"packed\": %s, \"ok\": %s, \"raw_size\": %llu}", task->packed ? "true" : "false",
               task->done ? "true" : "false", (unsigned long long)task->raw_size);
    }
    printf("],\n \"good\": %zu, \"seconds\": %.3f, \"errors\": %llu}\n", good, seconds,
           (unsigned long long)report_error_count());
}

/* A plain copy has no checksum. */
static const char *unchecked_text(const struct options *options, size_t copies, char text[80])
{
    text[0] = '\0';
    if (copies && !options->against)
        snprintf(text, 80, " (%zu plain copies: only --against compares them)", copies);
    return text;
}

static void print_summary(const struct options *options, const struct restore_plan *plan,
                          double seconds)
{
    char text[80];
    size_t good = 0, count = 0, copies = 0;
    uint64_t raw_size = 0;

    for (size_t i = 0; i < plan->count; i++) {
        count += plan->tasks[i].entry->first_link == TREE_NO_LINK;
        good += plan->tasks[i].done;
        copies += plan->tasks[i].done && !plan->tasks[i].packed;
        raw_size += plan->tasks[i].raw_size;
    }
    report_end_progress();
    if (options->json)
        print_json(plan, good, seconds);
    else if (!options->quiet)
        printf("%zu of %zu files good%s, %llu errors, %.1f s, %.0f MB/s\n", good, count,
               unchecked_text(options, copies, text), (unsigned long long)report_error_count(),
               seconds, seconds > 0 ? (double)raw_size / seconds / 1e6 : 0);
}

/* The original: a directory beside a packed directory, a file (or the directory that it is
 * in) beside a packed file. */
struct original {
    struct place place;
    struct tree tree;
};

static void original_close(struct original *original)
{
    place_close(&original->place);
    tree_fini(&original->tree);
}

static int open_against(const struct options *options, struct restore_common *common,
                        struct restore_plan *plan, bool single, struct original *original)
{
    if (!options->against)
        return 0;
    int r = place_open(options->against, &original->place);
    if (r < 0)
        return r;
    if (!single && original->place.name)
        return -ENOTDIR;
    if (single) {
        if (original->place.name && plan->count)
            plan->tasks[0].original_path = original->place.name;
        common->original_fd = original->place.root_fd;
        autoclose int fd = -1;
        if (plan->count)
            fd = beneath_open(common->original_fd, plan->tasks[0].original_path, O_PATH);
        return fd < 0 ? fd : 0;
    }
    r = selection_scan(&original->place, options, &original->tree);
    if (r < 0)
        return r;
    common->original_fd = original->tree.root_fd;
    return against_trees(common->tree, &original->tree);
}

static int verify_tree(const struct options *options, struct tree *tree, const char *single_name)
{
    __attribute__((cleanup(restore_plan_fini))) struct restore_plan plan = {0};
    __attribute__((cleanup(original_close))) struct original original = {PLACE_NONE, TREE_NONE};
    struct restore_common common = {
        .options = options,
        .tree = tree,
        .destination_fd = -1,
        .original_fd = -1,
    };
    struct run *run = NULL;
    double start = report_now();

    int r = restore_plan_make(&common, tree, single_name, &plan);
    if (r < 0)
        return r;
    r = open_against(options, &common, &plan, single_name, &original);
    if (r < 0) {
        report_error(options->against, "opening the original", r);
        return 0;
    }
    if (single_name && plan.count && !plan.tasks[0].packed && !options->against) {
        report_fault(options->source, "no packed file; a copy can only be compared, --against SRC");
        return 0;
    }
    r = run_start(options->jobs, &options->encode, &run);
    if (r < 0)
        return r;
    restore_plan_run(&plan, run, run_task);
    run_stop(run);
    print_summary(options, &plan, report_now() - start);
    return 0;
}

int command_verify(const struct options *options)
{
    __attribute__((cleanup(place_close))) struct place source = PLACE_NONE;
    __attribute__((cleanup(tree_fini))) struct tree tree = TREE_NONE;
    struct options all = *options; /* --exclude is for names in the original */

    all.exclude_count = 0;
    report_init(&(struct report_options){
        .quiet = options->quiet, .json = options->json, .verb = "verifying"});
    int r = place_open(options->source, &source);
    if (r < 0) {
        report_error(options->source, "opening the packed directory or file", r);
        return EXIT_FAILURE;
    }
    r = selection_scan(&source, &all, &tree);
    if (r == 0)
        r = verify_tree(options, &tree, source.shown);
    if (r < 0)
        report_error(options->source, "verifying", r);
    return report_error_count() ? EXIT_FAILURE : EXIT_SUCCESS;
}
