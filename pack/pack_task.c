/* pack_task.c - what becomes of one file. */
#include "pack_task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "bytes.h"
#include "cleanup.h"
#include "copy_file.h"
#include "estimate.h"
#include "interrupt.h"
#include "io.h"
#include "packed_file.h"
#include "remove_source.h"
#include "report.h"
#include "temp_file.h"
#include "trunk_name.h"

enum {
    SAMPLE_COUNT = 32,                     /* frames that decide whether packing is tried at all */
    SAMPLE_FROM = 64,                      /* frames of a file that is worth sampling */
    SMALLEST_PACKED = 2 * TRUNK_ALIGNMENT, /* superblock and one block */
};

/* One task at work. */
struct work {
    struct pack_task *task;
    struct worker *worker;
    struct pack_file_source source;
    int parent_fd;         /* of the output */
    const char *copy_name; /* in it */
    const char *packed_name;
    uint64_t advanced; /* bytes told to report_advance */
};

const char *pack_task_outcome_text(enum pack_outcome outcome)
{
    static const char *const texts[] = {
        [PACK_FAILED] = "failed",
        [PACK_PACKED] = "packed",
        [PACK_COPIED] = "copied",
        [PACK_PRESENT_PACKED] = "packed before",
        [PACK_PRESENT_COPY] = "copied before",
    };
    return texts[outcome];
}

char *pack_task_output_path(const char *path, bool packed)
{
    char *output;
    return asprintf(&output, "%s%s", path, packed ? TRUNK_SUFFIX : "") < 0 ? NULL : output;
}

/* A file that is packed and then copied after all counts once. */
static void advance(void *context, size_t raw_size, size_t packed_size)
{
    struct work *work = context;

    work->advanced += raw_size;
    if (work->advanced <= (uint64_t)work->source.st.st_size)
        report_advance(raw_size, packed_size);
}

static void advance_copy(void *context, size_t size)
{
    advance(context, size, size);
}

/* Report, and end the run if the destination can take nothing more. */
static void fail(struct work *work, const char *what, int error)
{
    work->task->outcome = PACK_FAILED;
    work->task->entry->failed = true;
    if (error == -ENOSPC || error == -EDQUOT || error == -EROFS)
        atomic_store(&work->task->common->stop, true);
    report_error(work->task->entry->path, what, error);
}

static int open_source(struct work *work, const char **ret_what)
{
    const struct pack_task *task = work->task;
    struct pack_file_source *source = &work->source;

    *ret_what = "opening";
    source->fd = beneath_open(task->common->tree->root_fd, task->entry->path,
                              O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (source->fd < 0)
        return source->fd;
    if (fstat(source->fd, &source->st) < 0)
        return -errno;
    if (!S_ISREG(source->st.st_mode) || source->st.st_ino != task->entry->st.st_ino ||
        source->st.st_dev != task->entry->st.st_dev)
        return -ESTALE;
    *ret_what = "looking for holes";
    return io_allocated_size(source->fd, (uint64_t)source->st.st_size, &source->allocated_size);
}

static bool is_same_time(const struct stat *st, int64_t seconds, uint32_t nanoseconds)
{
    return st->st_mtim.tv_sec == seconds && (uint32_t)st->st_mtim.tv_nsec == nanoseconds;
}

/* Is there a packed file made from this very source with these very options? */
static bool is_packed_already(struct work *work)
{
    const struct pack_geometry *geometry = &work->task->common->geometry;
    const struct stat *st = &work->source.st;
    struct packed_file file;
    int fd = openat(work->parent_fd, work->packed_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || packed_file_open(fd, &file, NULL) < 0)
        return false;
    const struct superblock *sb = &file.sb;
    bool same = sb->raw_size == (uint64_t)st->st_size &&
                is_same_time(st, sb->mtime_sec, sb->mtime_nsec) &&
                sb->mode == (st->st_mode & TRUNK_MODE_MASK) &&
                sb->allocated_size == work->source.allocated_size &&
                sb->frame_size == geometry->frame_size && sb->block_size == geometry->block_size &&
                strcmp(sb->writer, geometry->writer) == 0;
    work->task->stored_size = sb->packed_size;
    packed_file_close(&file);
    return same;
}

/* Is it any packed file at all? */
static bool is_packed_file(struct work *work)
{
    struct packed_file file;
    int fd = openat(work->parent_fd, work->packed_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || packed_file_open(fd, &file, NULL) < 0)
        return false;
    packed_file_close(&file);
    return true;
}

/* By size and time, as a copy of the source has them. */
static bool is_copy(const struct work *work, const struct stat *present)
{
    const struct stat *st = &work->source.st;

    return S_ISREG(present->st_mode) && present->st_size == st->st_size &&
           is_same_time(present, st->st_mtim.tv_sec, (uint32_t)st->st_mtim.tv_nsec);
}

static bool is_copied_already(struct work *work)
{
    const struct stat *st = &work->source.st;
    struct stat present;

    if (fstatat(work->parent_fd, work->copy_name, &present, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    work->task->stored_size = (uint64_t)st->st_size;
    return is_copy(work, &present) && ((present.st_mode ^ st->st_mode) & TRUNK_MODE_MASK) == 0;
}

/* A file under the name that the output does not take would show the same name twice. It is
 * removed if an earlier run made it, and in the way if not: it may be all that somebody has.
 * Returns 1 if there is one to remove, 0 if there is none, -EEXIST. */
static int check_other(struct work *work, bool packed, const char **ret_what)
{
    const char *other = packed ? work->copy_name : work->packed_name;
    struct stat st;

    if (!other || (packed && trunk_name_must_pack(work->copy_name)))
        return 0; /* that name belongs to another file of the source */
    if (fstatat(work->parent_fd, other, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return 0;
    if (st.st_dev == work->source.st.st_dev && st.st_ino == work->source.st.st_ino)
        return 0;
    if (packed ? is_copy(work, &st) : is_packed_file(work))
        return 1;
    *ret_what = packed ? "a file of that name in the destination is not its copy; move it away"
                       : "NAME.trunk in the destination is not a packed file; move it away";
    return -EEXIST;
}

/* After a file has taken one of its two names. */
static int remove_other(struct work *work, bool packed, const char **ret_what)
{
    int r = check_other(work, packed, ret_what);

    if (r <= 0)
        return r;
    *ret_what = "removing what an earlier run left under its other name";
    return unlinkat(work->parent_fd, packed ? work->copy_name : work->packed_name, 0) < 0 ? -errno
                                                                                          : 0;
}

static int publish(struct work *work, struct temp_file *temp, const char *name,
                   const char **ret_what)
{
    struct stat st;

    *ret_what = "setting mode and time";
    int r = temp_file_dress(temp, &work->source.st);
    if (r < 0)
        return r;
    r = check_other(work, work->task->outcome == PACK_PACKED, ret_what);
    if (r < 0)
        return r;
    *ret_what = "it is its own output; choose another destination";
    if (fstatat(work->parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_dev == work->source.st.st_dev && st.st_ino == work->source.st.st_ino)
        return -EEXIST;
    return temp_file_publish(temp, name, ret_what);
}

/* The name must still be that of the file that was read. */
static int check_not_replaced(struct work *work)
{
    const struct pack_task *task = work->task;
    struct stat now;
    autoclose int fd = beneath_open(task->common->tree->root_fd, task->entry->path, O_PATH);

    if (fd < 0 || fstat(fd, &now) < 0)
        return -ESTALE;
    return io_changed(&work->source.st, &now) ? -ESTALE : 0;
}

static int make_copy(struct work *work, const char **ret_what)
{
    __attribute__((cleanup(temp_file_discard))) struct temp_file temp = TEMP_FILE_NONE;

    *ret_what = "making a temporary file";
    int r = temp_file_create(work->parent_fd, &temp);
    if (r < 0)
        return r;
    r = copy_file(work->source.fd, &work->source.st, temp.fd, advance_copy, work, ret_what);
    if (r < 0)
        return r;
    *ret_what = "copying";
    r = check_not_replaced(work);
    if (r < 0)
        return r;
    work->task->stored_size = (uint64_t)work->source.st.st_size;
    work->task->outcome = PACK_COPIED;
    return publish(work, &temp, work->copy_name, ret_what);
}

/* Sets *ret_worth to false, and makes nothing, if a copy is better. */
static int make_packed(struct work *work, bool *ret_worth, const char **ret_what)
{
    __attribute__((cleanup(temp_file_discard))) struct temp_file temp = TEMP_FILE_NONE;
    struct superblock sb;

    *ret_what = "making a temporary file";
    int r = temp_file_create(work->parent_fd, &temp);
    if (r < 0)
        return r;
    r = pack_file(&work->task->common->geometry, &work->source, work->worker, temp.fd, advance,
                  work, &sb, ret_what);
    if (r < 0)
        return r;
    *ret_worth = work->task->must_pack || pack_file_worth(&work->source, sb.packed_size);
    if (!*ret_worth)
        return 0;
    *ret_what = "packing";
    r = check_not_replaced(work);
    if (r < 0)
        return r;
    work->task->stored_size = sb.packed_size;
    work->task->outcome = PACK_PACKED;
    return publish(work, &temp, work->packed_name, ret_what);
}

/* Is it worth trying? A sample may be wrong by a little, so it has to be clearly bad. */
static int is_promising(struct work *work, bool *ret_promising)
{
    const struct pack_geometry *geometry = &work->task->common->geometry;
    uint64_t raw_size = (uint64_t)work->source.st.st_size;
    struct estimate estimate;

    *ret_promising = true;
    if (work->task->must_pack)
        return 0;
    *ret_promising = work->source.allocated_size > SMALLEST_PACKED && !work->task->must_copy;
    if (!*ret_promising || raw_size / geometry->frame_size < SAMPLE_FROM)
        return 0;
    int r = estimate_packed_size(geometry, &work->source, work->worker, SAMPLE_COUNT, &estimate);
    if (r < 0)
        return r;
    *ret_promising = estimate.packed_size < raw_size - raw_size / SAMPLE_FROM;
    return 0;
}

static int make_output(struct work *work, const char **ret_what)
{
    struct pack_task *task = work->task;
    bool promising;

    if (!task->must_copy && is_packed_already(work))
        task->outcome = PACK_PRESENT_PACKED;
    else if (!task->must_pack && is_copied_already(work))
        task->outcome = PACK_PRESENT_COPY;
    if (task->outcome != PACK_FAILED) {
        report_advance(task->raw_size, task->stored_size);
        return 0;
    }
    *ret_what = "reading";
    int r = is_promising(work, &promising);
    if (r < 0)
        return r;
    if (promising) {
        r = make_packed(work, &promising, ret_what);
        if (r < 0)
            return r;
    }
    return promising ? 0 : make_copy(work, ret_what);
}

static bool is_packed_outcome(enum pack_outcome outcome)
{
    return outcome == PACK_PACKED || outcome == PACK_PRESENT_PACKED;
}

static int finish_output(struct work *work, const char **ret_what)
{
    struct pack_task *task = work->task;
    bool packed = is_packed_outcome(task->outcome);

    int r = remove_other(work, packed, ret_what);
    if (r < 0)
        return r;
    *ret_what = "naming the output";
    task->entry->output_path = pack_task_output_path(task->output_base, packed);
    if (!task->entry->output_path)
        return -ENOMEM;
    return 0;
}

static int handle(struct work *work, const char **ret_what)
{
    struct pack_task *task = work->task;
    char packed_name[TRUNK_NAME_MAX + 1];

    int r = open_source(work, ret_what);
    if (r < 0)
        return r;
    task->raw_size = (uint64_t)work->source.st.st_size;
    work->copy_name = beneath_name(task->output_base);
    if (trunk_name_packed(work->copy_name, packed_name) == 0)
        work->packed_name = packed_name;
    *ret_what = "opening its directory in the destination";
    work->parent_fd = beneath_open_parent(task->common->destination_fd, task->output_base);
    if (work->parent_fd < 0)
        return work->parent_fd;
    r = make_output(work, ret_what);
    if (r < 0)
        return r;
    r = finish_output(work, ret_what);
    if (r < 0)
        return r;
    if (task->common->options->remove_source && task->entry->st.st_nlink == 1)
        r = remove_source(task, work->worker, ret_what);
    return r;
}

void pack_task_run(struct pool_work *pool_work, void *context)
{
    struct pack_task *task = (struct pack_task *)pool_work;
    struct work work = {.task = task, .worker = context, .source.fd = -1, .parent_fd = -1};
    const char *what = "";

    bool canceled = interrupt_pending() || atomic_load(&task->common->stop);
    int r = canceled ? -ECANCELED : handle(&work, &what);
    cleanup_close(&work.source.fd);
    cleanup_close(&work.parent_fd);
    if (r < 0) {
        fail(&work, what, r);
        return;
    }
    report_file(task->entry->path, "%s, %llu -> %llu bytes (%.4f)",
                pack_task_outcome_text(task->outcome), (unsigned long long)task->raw_size,
                (unsigned long long)task->stored_size,
                report_ratio((double)task->stored_size, (double)task->raw_size));
}

void pack_task_run_removal(struct pool_work *pool_work, void *context)
{
    struct pack_task *task = (struct pack_task *)pool_work;
    const char *what = "";

    int r = interrupt_pending() ? -ECANCELED : remove_source(task, context, &what);
    if (r < 0)
        report_error(task->entry->path, what, r);
}
