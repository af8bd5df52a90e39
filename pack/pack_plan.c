/* pack_plan.c - one pass over the tree, one more for files with several names. */
#include "pack_plan.h"

#include <errno.h>
#include <string.h>

#include "beneath.h"
#include "cleanup.h"
#include "report.h"
#include "trunk_name.h"

static const char *kind_text(mode_t mode)
{
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    if (S_ISCHR(mode) || S_ISBLK(mode))
        return "a device";
    return "no regular file";
}

/* Said once, and the run ends with status 1: the result would lack the entry. */
static void refuse(struct tree_entry *entry, const char *why)
{
    entry->failed = true;
    report_fault(entry->path, "left out: %s; move it away, or leave it out with --exclude", why);
}

/* Marks of one file by its own name. Returns 0 or -ENOMEM. */
static int mark(struct pack_task *task, const struct tree *tree)
{
    char packed_name[TRUNK_NAME_MAX + 1];
    const char *name = beneath_name(task->output_base);
    autofree char *packed_path = pack_task_output_path(task->entry->path, true);

    if (!packed_path)
        return -ENOMEM;
    const struct tree_entry *beside = tree_find(tree, packed_path);
    task->must_pack = trunk_name_must_pack(name);
    task->must_copy =
        trunk_name_packed(name, packed_name) < 0 || (beside && !S_ISREG(beside->st.st_mode));
    return 0;
}

static bool is_file(const struct tree_entry *entry)
{
    return S_ISREG(entry->st.st_mode) && !entry->failed;
}

static int plan_entry(struct tree_entry *entry, const char *output_name)
{
    const char *path = output_name ? output_name : entry->path;
    mode_t mode = entry->st.st_mode;

    if (trunk_name_is_temporary(beneath_name(path)))
        refuse(entry, "such names are kept for unfinished files");
    else if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode))
        refuse(entry, kind_text(mode));
    else if (!S_ISREG(mode)) {
        entry->output_path = strdup(path);
        if (!entry->output_path)
            return -ENOMEM;
    }
    return 0;
}

/* What one name of a file demands holds for all of its names. The tasks are in the order of
 * the entries, and so is a first name before the others. */
static void share_marks(struct pack_plan *plan, const struct tree *tree, struct pack_task **task_of)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct pack_task *task = &plan->tasks[i];
        if (task->entry->first_link == TREE_NO_LINK)
            continue;
        struct pack_task *first = task_of[task->entry->first_link];
        if (!first)
            continue;
        first->must_pack |= task->must_pack;
        first->must_copy |= task->must_copy;
    }
}

static void settle(struct pack_plan *plan, bool pack_all)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct pack_task *task = &plan->tasks[i];

        if (task->must_pack && task->must_copy)
            refuse(task->entry, "its packed file cannot have its name, and a copy would be taken "
                                "for a packed file");
        else if (pack_all && !task->must_copy)
            task->must_pack = true;
    }
}

/* By the text alone, so that an absolute link always does. target is that of a link at path,
 * below the source. */
static bool leads_out(const char *path, const char *target)
{
    size_t depth = 0;

    if (*target == '/')
        return true;
    for (; *path; path++)
        depth += *path == '/';
    while (*target) {
        size_t length = strcspn(target, "/");
        if (length == 2 && memcmp(target, "..", 2) == 0) {
            if (depth == 0)
                return true;
            depth--;
        } else if (length > 1 || (length == 1 && *target != '.')) {
            depth++;
        }
        target += length + (target[length] == '/');
    }
    return false;
}

/* A snapshot in a cache of models is nothing but such links, and nobody means to pack those. */
static void note_links_out(const struct tree *tree)
{
    const struct tree_entry *first = NULL;
    size_t count = 0;
    struct stat st;

    for (size_t i = 0; i < tree->count; i++) {
        const struct tree_entry *entry = &tree->entries[i];
        if (!entry->link_target || !leads_out(entry->path, entry->link_target) ||
            fstatat(tree->root_fd, entry->path, &st, 0) < 0)
            continue;
        first = first ? first : entry;
        count++;
    }
    if (first)
        report_note(first->path,
                    "%s (such links: %zu): kept as a link; what only such links lead to is not "
                    "packed: to have it, pack a directory that contains both",
                    *first->link_target == '/' ? "an absolute link" : "leads out of the source",
                    count);
}

int pack_plan_make(struct pack_common *common, struct tree *tree, const char *output_name,
                   struct pack_plan *ret)
{
    *ret = (struct pack_plan){.tasks = calloc(tree->count + 1, sizeof(struct pack_task))};
    autofree struct pack_task **task_of = calloc(tree->count + 1, sizeof(struct pack_task *));

    if (!ret->tasks || !task_of)
        return -ENOMEM;
    for (size_t i = 0; i < tree->count; i++) {
        struct tree_entry *entry = &tree->entries[i];
        int r = plan_entry(entry, output_name);
        if (r < 0)
            return r;
        if (!is_file(entry))
            continue;
        struct pack_task *task = &ret->tasks[ret->count++];
        *task = (struct pack_task){
            .common = common,
            .entry = entry,
            .output_base = output_name ? output_name : entry->path,
        };
        task_of[i] = task;
        r = mark(task, tree);
        if (r < 0)
            return r;
    }
    if (!common->options->quiet)
        note_links_out(tree);
    share_marks(ret, tree, task_of);
    settle(ret, common->options->encode.codec == FRAME_CODEC_RAW);
    return 0;
}

void pack_plan_fini(struct pack_plan *plan)
{
    free(plan->tasks);
    *plan = (struct pack_plan){0};
}

int pack_plan_name_links(struct pack_plan *plan, struct tree *tree)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct pack_task *task = &plan->tasks[i];
        if (task->entry->first_link == TREE_NO_LINK)
            continue;
        const struct tree_entry *first = &tree->entries[task->entry->first_link];
        bool packed = first->output_path && strcmp(first->output_path, first->path) != 0;

        task->entry->output_path = pack_task_output_path(task->output_base, packed);
        if (!task->entry->output_path)
            return -ENOMEM;
        task->outcome = first->failed ? PACK_FAILED
                        : packed      ? PACK_PRESENT_PACKED
                                      : PACK_PRESENT_COPY;
    }
    return 0;
}
