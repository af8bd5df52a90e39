/* selection.c - patterns of --exclude. */
#include "selection.h"

#include <fnmatch.h>
#include <string.h>

#include "beneath.h"
#include "cleanup.h"
#include "report.h"

/* A pattern with a slash is for the whole path below the source, one without for names. */
static bool is_excluded(const void *context, const char *path, const struct stat *st)
{
    const struct options *options = context;

    for (size_t i = 0; i < options->exclude_count; i++) {
        const char *pattern = options->excludes[i];
        const char *subject = strchr(pattern, '/') ? path : beneath_name(path);

        if (*pattern == '/')
            pattern++;
        if (fnmatch(pattern, subject, 0) == 0)
            return true;
    }
    return false;
}

static void failed(void *context, const char *path, int error)
{
    report_error(path, "reading the directory", error);
}

int selection_scan(struct place *place, const struct options *options, struct tree *ret)
{
    const struct tree_options scan = {
        .skip = is_excluded,
        .failed = failed,
        .context = (void *)options,
    };
    int root_fd = steal_fd(&place->root_fd);

    if (place->name)
        return tree_single(root_fd, place->name, ret);
    return tree_scan(root_fd, &scan, ret);
}
