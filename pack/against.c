/* against.c - two sorted lists of paths, side by side. */
#include "against.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "format.h"
#include "report.h"

bool against_attributes(const char *path, const struct stat *packed, const struct stat *original)
{
    mode_t modes = (packed->st_mode ^ original->st_mode) & TRUNK_MODE_MASK;

    if (modes && !S_ISLNK(original->st_mode))
        report_fault(path, "mode %04o, but %04o in the original", packed->st_mode & TRUNK_MODE_MASK,
                     original->st_mode & TRUNK_MODE_MASK);
    else
        modes = 0;
    bool times = packed->st_mtim.tv_sec != original->st_mtim.tv_sec ||
                 packed->st_mtim.tv_nsec != original->st_mtim.tv_nsec;
    if (times)
        report_fault(path, "modification time %lld.%09ld, but %lld.%09ld in the original",
                     (long long)packed->st_mtim.tv_sec, packed->st_mtim.tv_nsec,
                     (long long)original->st_mtim.tv_sec, original->st_mtim.tv_nsec);
    return !modes && !times;
}

static int compare_outputs(const void *a, const void *b)
{
    return strcmp((*(const struct tree_entry *const *)a)->output_path,
                  (*(const struct tree_entry *const *)b)->output_path);
}

static int compare_key(const void *path, const void *entry)
{
    return strcmp(path, (*(const struct tree_entry *const *)entry)->output_path);
}

/* What is shown, sorted by the path in the original. */
static const struct tree_entry **sort_outputs(const struct tree *packed, size_t *ret_count)
{
    const struct tree_entry **sorted = calloc(packed->count + 1, sizeof(*sorted));

    *ret_count = 0;
    for (size_t i = 0; sorted && i < packed->count; i++)
        if (packed->entries[i].output_path)
            sorted[(*ret_count)++] = &packed->entries[i];
    if (sorted)
        qsort(sorted, *ret_count, sizeof(*sorted), compare_outputs);
    return sorted;
}

static void compare_links(const struct tree *packed, const struct tree_entry *entry,
                          const struct tree *original, const struct tree_entry *source)
{
    bool packed_linked = entry->first_link != TREE_NO_LINK;
    bool source_linked = source->first_link != TREE_NO_LINK;

    if (packed_linked != source_linked) {
        report_fault(entry->path, "%s",
                     source_linked ? "a file of its own, but a hard link in the original"
                                   : "a hard link, but a file of its own in the original");
        return;
    }
    if (!packed_linked)
        return;
    const char *first = packed->entries[entry->first_link].output_path;
    if (!first || strcmp(first, original->entries[source->first_link].path) != 0)
        report_fault(entry->path, "hard link to another file than in the original");
}

static void compare_entry(const struct tree *packed, const struct tree_entry *entry,
                          const struct tree *original, const struct tree_entry *source)
{
    if ((entry->st.st_mode ^ source->st.st_mode) & S_IFMT) {
        report_fault(entry->path, "of another type than in the original");
        return;
    }
    if (S_ISREG(entry->st.st_mode)) {
        compare_links(packed, entry, original, source);
        return;
    }
    (void)against_attributes(entry->path, &entry->st, &source->st);
    if (entry->link_target && strcmp(entry->link_target, source->link_target) != 0)
        report_fault(entry->path, "leads to another target than in the original");
}

int against_trees(const struct tree *packed, const struct tree *original)
{
    size_t count;
    autofree const struct tree_entry **sorted = sort_outputs(packed, &count);

    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct tree_entry *source = tree_find(original, sorted[i]->output_path);
        if (!source)
            report_fault(sorted[i]->path, "not in the original");
        else
            compare_entry(packed, sorted[i], original, source);
    }
    for (size_t i = 0; i < original->count; i++) {
        const char *path = original->entries[i].path;
        if (!bsearch(path, sorted, count, sizeof(*sorted), compare_key))
            report_fault(path, "not in the packed directory");
    }
    return 0;
}
