/* command_info.c - trunkpack info. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "beneath.h"
#include "cleanup.h"
#include "info_print.h"
#include "interrupt.h"
#include "json_out.h"
#include "places.h"
#include "report.h"
#include "restore_plan.h"
#include "selection.h"

struct totals {
    uint64_t packed_files, copies;
    uint64_t raw_size, stored_size;
};

static void print_copy(const struct options *options, const struct restore_task *task)
{
    unsigned long long size = (unsigned long long)task->entry->st.st_size;
    autofree char *quoted = report_quote(task->entry->path);

    if (!options->json) {
        printf("%s\n  a plain copy, %llu bytes\n", quoted ? quoted : "?", size);
        return;
    }
    fputs("  {\"path\": ", stdout);
    json_out_string(stdout, task->entry->path);
    printf(", \"packed\": false, \"raw_size\": %llu, \"packed_size\": %llu, \"ratio\": 1}", size,
           size);
}

static int show_packed(const struct options *options, struct restore_task *task,
                       struct worker *worker, int *fd, const char *separator)
{
    __attribute__((cleanup(packed_file_close))) struct packed_file file = PACKED_FILE_NONE;
    __attribute__((cleanup(file_info_fini))) struct file_info info = {0};
    struct fault fault;

    int r = packed_file_open(steal_fd(fd), &file, &fault);
    if (r < 0 && fault.check != FAULT_NONE) {
        report_fault(task->entry->path, "%s (at %llu)", fault_text(fault.check),
                     (unsigned long long)fault.offset);
        return -EBADMSG;
    }
    if (r == 0)
        r = file_info_get(&file, worker, &info);
    if (r < 0) {
        report_error(task->entry->path, "reading", r);
        return r;
    }
    task->raw_size = file.sb.raw_size;
    task->stored_size = file.sb.packed_size;
    if (options->json) /* nothing for a file that can't be shown: the list stays well-formed */
        fputs(separator, stdout);
    (options->json ? info_print_json : info_print_text)(stdout, task->entry->path, &file, &info,
                                                        options->tensors);
    return 0;
}

static int show(const struct options *options, struct restore_task *task, struct worker *worker,
                const char *separator)
{
    autoclose int fd =
        beneath_open(task->common->tree->root_fd, task->entry->path, O_RDONLY | O_NONBLOCK);

    if (fd < 0) {
        report_error(task->entry->path, "opening", fd);
        return fd;
    }
    if (task->packed)
        return show_packed(options, task, worker, &fd, separator);
    if (options->json)
        fputs(separator, stdout);
    task->raw_size = task->stored_size = (uint64_t)task->entry->st.st_size;
    print_copy(options, task);
    return 0;
}

static void print_totals(const struct options *options, const struct totals *totals)
{
    char raw[REPORT_SIZE_TEXT], stored[REPORT_SIZE_TEXT];
    double ratio = report_ratio((double)totals->stored_size, (double)totals->raw_size);

    if (options->json)
        printf("],\n \"packed\": %llu, \"copies\": %llu, \"raw_size\": %llu, "
               "\"stored_size\": %llu, \"ratio\": %.6f}\n",
               (unsigned long long)totals->packed_files, (unsigned long long)totals->copies,
               (unsigned long long)totals->raw_size, (unsigned long long)totals->stored_size,
               ratio);
    else if (totals->packed_files + totals->copies > 1)
        printf("%llu packed, %llu copies: %s -> %s (%.4f)\n",
               (unsigned long long)totals->packed_files, (unsigned long long)totals->copies,
               report_size(totals->raw_size, raw), report_size(totals->stored_size, stored), ratio);
}

static int show_all(const struct options *options, struct tree *tree, const char *single_name)
{
    __attribute__((cleanup(restore_plan_fini))) struct restore_plan plan = {0};
    struct restore_common common = {
        .options = options, .tree = tree, .destination_fd = -1, .original_fd = -1};
    struct totals totals = {0};
    const char *separator = "\n";

    int r = restore_plan_make(&common, tree, single_name, &plan);
    if (r < 0)
        return r;
    struct worker *worker = worker_new(&options->encode);
    if (!worker)
        return -ENOMEM;
    if (options->json)
        fputs("{\"files\": [", stdout);
    for (size_t i = 0; i < plan.count && !interrupt_pending(); i++) {
        struct restore_task *task = &plan.tasks[i];

        if (task->entry->first_link != TREE_NO_LINK)
            continue;
        if (show(options, task, worker, separator) < 0)
            continue;
        separator = ",\n";
        *(task->packed ? &totals.packed_files : &totals.copies) += 1;
        totals.raw_size += task->raw_size;
        totals.stored_size += task->stored_size;
    }
    worker_free(worker);
    print_totals(options, &totals);
    return 0;
}

int command_info(const struct options *options)
{
    __attribute__((cleanup(place_close))) struct place source = PLACE_NONE;
    __attribute__((cleanup(tree_fini))) struct tree tree = TREE_NONE;

    report_init(&(struct report_options){.quiet = true, .json = options->json});
    int r = place_open(options->source, &source);
    if (r < 0) {
        report_error(options->source, "opening the packed directory or file", r);
        return EXIT_FAILURE;
    }
    r = selection_scan(&source, options, &tree);
    if (r == 0)
        r = show_all(options, &tree, source.shown);
    if (r < 0)
        report_error(options->source, "reading", r);
    return report_error_count() ? EXIT_FAILURE : EXIT_SUCCESS;
}
