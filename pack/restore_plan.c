/* restore_plan.c - names of packed entries, and the collisions among them. */
#include "restore_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "beneath.h"
#include "cleanup.h"
#include "format.h"
#include "io.h"
#include "report.h"
#include "trunk_name.h"

/* The same directory, another name; allocated. */
static char *sibling(const char *path, const char *name)
{
    size_t length = (size_t)(beneath_name(path) - path);
    char *result;

    return asprintf(&result, "%.*s%s", (int)length, path, name) < 0 ? NULL : result;
}

/* A single file is packed if it says so itself, whatever its name. */
static bool begins_as_packed(const struct tree *tree, const struct tree_entry *entry)
{
    char magic[sizeof(TRUNK_MAGIC) - 1];
    autoclose int fd = beneath_open(tree->root_fd, entry->path, O_RDONLY | O_NONBLOCK);

    return fd >= 0 && io_read(fd, magic, sizeof(magic), 0) == 0 &&
           memcmp(magic, TRUNK_MAGIC, sizeof(magic)) == 0;
}

static int name_entry(const struct tree *tree, struct tree_entry *entry, const char *single_name,
                      bool *ret_packed)
{
    char source[TRUNK_NAME_MAX + 1];
    const char *path = single_name ? single_name : entry->path;
    enum trunk_name_kind kind =
        trunk_name_of_entry(beneath_name(path), S_ISREG(entry->st.st_mode), source);

    *ret_packed = kind == TRUNK_NAME_PACKED;
    if (!*path) { /* the root */
        entry->output_path = strdup("");
        return entry->output_path ? 0 : -ENOMEM;
    }
    if (kind == TRUNK_NAME_HIDDEN) {
        if (!trunk_name_is_temporary(beneath_name(path)))
            report_fault(entry->path, "left out: a packed file of that name stands for no file; "
                                      "give it another name");
        return 0;
    }
    if (single_name)
        *ret_packed = begins_as_packed(tree, entry) || *ret_packed;
    entry->output_path = sibling(path, source);
    return entry->output_path ? 0 : -ENOMEM;
}

static void add_task(struct restore_common *common, struct tree_entry *entry, bool packed,
                     struct restore_plan *plan)
{
    struct restore_task *task = &plan->tasks[plan->count++];

    *task = (struct restore_task){
        .common = common,
        .entry = entry,
        .original_path = entry->output_path,
        .packed = packed,
    };
}

/* NAME.trunk stands for NAME: nothing else may be NAME. */
static void refuse_collisions(struct restore_plan *plan, const struct tree *tree)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct restore_task *task = &plan->tasks[i];
        if (!task->packed)
            continue;
        const struct tree_entry *other = tree_find(tree, task->entry->output_path);
        if (!other || other == task->entry || !other->output_path ||
            strcmp(other->output_path, task->entry->output_path) != 0)
            continue;
        task->entry->failed = true;
        report_fault(task->entry->path, "stands for the same name as %s; remove one of the two",
                     other->path);
    }
}

/* Names of one file that are not of one kind are two files to a reader. */
static void part_mixed_links(struct restore_plan *plan, struct tree *tree,
                             const bool *packed_entries)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct restore_task *task = &plan->tasks[i];
        size_t first = task->entry->first_link;

        if (first != TREE_NO_LINK &&
            (packed_entries[first] != task->packed || !tree->entries[first].output_path))
            task->entry->first_link = TREE_NO_LINK;
    }
}

int restore_plan_make(struct restore_common *common, struct tree *tree, const char *single_name,
                      struct restore_plan *ret)
{
    autofree bool *packed_entries = calloc(tree->count + 1, sizeof(bool));
    *ret = (struct restore_plan){.tasks = calloc(tree->count + 1, sizeof(struct restore_task))};

    if (!packed_entries || !ret->tasks)
        return -ENOMEM;
    for (size_t i = 0; i < tree->count; i++) {
        struct tree_entry *entry = &tree->entries[i];
        int r = name_entry(tree, entry, single_name, &packed_entries[i]);
        if (r < 0)
            return r;
        if (entry->output_path && S_ISREG(entry->st.st_mode))
            add_task(common, entry, packed_entries[i], ret);
    }
    if (!single_name)
        refuse_collisions(ret, tree);
    part_mixed_links(ret, tree, packed_entries);
    return 0;
}

void restore_plan_run(struct restore_plan *plan, struct run *run,
                      void (*function)(struct pool_work *work, void *context))
{
    for (size_t i = 0; i < plan->count; i++) {
        struct restore_task *task = &plan->tasks[i];

        if (task->entry->failed || task->entry->first_link != TREE_NO_LINK)
            continue;
        report_expect((uint64_t)task->entry->st.st_size);
        task->work.run = function;
        run_submit(run, &task->work, (uint64_t)task->entry->st.st_size);
    }
    run_wait(run);
}

void restore_plan_fini(struct restore_plan *plan)
{
    free(plan->tasks);
    *plan = (struct restore_plan){0};
}
