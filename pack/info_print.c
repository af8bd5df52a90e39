/* info_print.c - for people. JSON is in info_json.c. */
#include "info_print.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "report.h"
#include "sha256.h"

static void print_time(FILE *stream, const struct superblock *sb)
{
    char text[64];
    time_t seconds = (time_t)sb->mtime_sec;
    struct tm parts;

    if (localtime_r(&seconds, &parts) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts))
        fprintf(stream, "%s.%09u", text, sb->mtime_nsec);
    else
        fprintf(stream, "%lld.%09u s", (long long)sb->mtime_sec, sb->mtime_nsec);
}

static void print_features(FILE *stream, uint64_t features)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {{TRUNK_FEATURE_ZSTD, "zstd"},
                 {TRUNK_FEATURE_RANS, "rans"},
                 {TRUNK_FEATURE_WIDE, "wide"},
                 {TRUNK_FEATURE_SMALL, "small"}};
    const char *separator = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!(features & names[i].bit))
            continue;
        fprintf(stream, "%s%s", separator, names[i].name);
        separator = ", ";
    }
    fprintf(stream, "%s\n", *separator ? "" : "none");
}

static void print_superblock(FILE *stream, const struct superblock *sb)
{
    char raw[REPORT_SIZE_TEXT], packed[REPORT_SIZE_TEXT], digest[SHA256_TEXT_SIZE];
    autofree char *writer = report_quote(sb->writer);

    sha256_to_text(sb->sha256, digest);
    fprintf(stream, "  original    %llu bytes (%s), mode %04o, modified ",
            (unsigned long long)sb->raw_size, report_size(sb->raw_size, raw), sb->mode);
    print_time(stream, sb);
    fprintf(stream, "\n  packed      %llu bytes (%s), ratio %.4f, index %llu bytes\n",
            (unsigned long long)sb->packed_size, report_size(sb->packed_size, packed),
            report_ratio((double)sb->packed_size, (double)sb->raw_size),
            (unsigned long long)sb->index_size);
    fprintf(stream, "  sha256      %s\n", digest);
    fprintf(stream, "  grid        %llu frames of %u bytes in %llu blocks of %u\n",
            (unsigned long long)sb->frame_count, sb->frame_size,
            (unsigned long long)sb->block_count, sb->block_size);
    fprintf(stream, "  written by  %s; features: ", writer ? writer : "?");
    print_features(stream, sb->features_incompat);
}

static void print_kinds(FILE *stream, const char *title, const struct file_info_kind *kinds)
{
    for (unsigned i = 0; i < FILE_INFO_KINDS && kinds[i].name; i++)
        fprintf(stream, "  %-10s  %-12s %8llu  %14llu -> %14llu  %.4f\n", i == 0 ? title : "",
                kinds[i].name, (unsigned long long)kinds[i].count,
                (unsigned long long)kinds[i].raw_size, (unsigned long long)kinds[i].packed_size,
                report_ratio((double)kinds[i].packed_size, (double)kinds[i].raw_size));
}

static void print_entropies(FILE *stream, const struct file_info *info)
{
    for (unsigned i = 0; i < FILE_INFO_KINDS && info->transforms[i].name; i++) {
        struct entropy_planes planes;

        entropy_get(info->transforms[i].entropy, &planes);
        fprintf(stream,
                "  %-10s  %-12s exponent %.3f, sign+mantissa %.3f, high byte %.3f, low byte %.3f, "
                "joint %.3f of 16\n",
                i == 0 ? "entropy" : "", info->transforms[i].name, planes.exponent,
                planes.sign_mantissa, planes.high_byte, planes.low_byte, planes.joint);
    }
}

static void print_dtypes(FILE *stream, const struct file_info *info)
{
    for (unsigned i = 0; i < FILE_INFO_KINDS && info->dtypes[i].name; i++) {
        const struct file_info_dtype *dtype = &info->dtypes[i];
        autofree char *name = report_quote(dtype->name);

        fprintf(stream, "  %-10s  %-12s %8llu  %14llu -> %14.0f  %.4f\n", i == 0 ? "types" : "",
                name ? name : "?", (unsigned long long)dtype->tensors,
                (unsigned long long)dtype->raw_size, dtype->packed_size,
                report_ratio(dtype->packed_size, (double)dtype->raw_size));
    }
}

/* Some bytes of the header, as a terminal may see them; allocated. */
static char *quote_part(const char *bytes, size_t length)
{
    autofree char *copy = strndup(bytes, length);
    return copy ? report_quote(copy) : NULL;
}

static void print_tensors(FILE *stream, const struct file_info *info)
{
    for (size_t i = 0; i < info->tensors.count; i++) {
        const struct safetensors_tensor *tensor = &info->tensors.tensors[i];
        autofree char *name = quote_part(tensor->name, tensor->name_length);
        autofree char *shape = quote_part(tensor->shape, tensor->shape_length);
        autofree char *dtype = report_quote(tensor->dtype);
        uint64_t raw_size = tensor->end - tensor->begin;

        fprintf(stream, "    %s %s %s  %llu -> %.0f  %.4f\n", name ? name : "?",
                dtype ? dtype : "?", shape ? shape : "?", (unsigned long long)raw_size,
                info->tensor_packed[i], report_ratio(info->tensor_packed[i], (double)raw_size));
    }
}

void info_print_text(FILE *stream, const char *path, const struct packed_file *file,
                     const struct file_info *info, bool tensors)
{
    autofree char *quoted = report_quote(path);

    fprintf(stream, "%s\n", quoted ? quoted : "?");
    print_superblock(stream, &file->sb);
    if (info->sampled_frames < file->sb.frame_count)
        fprintf(stream, "  of a sample of %llu frames:\n",
                (unsigned long long)info->sampled_frames);
    fprintf(stream, "  %-24s %8s  %14s    %14s  ratio\n", "", "count", "original", "packed");
    print_kinds(stream, "transforms", info->transforms);
    print_kinds(stream, "coders", info->coders);
    print_entropies(stream, info);
    if (info->bad_frames)
        fprintf(stream, "  damaged     %llu frames of these; see trunkpack verify\n",
                (unsigned long long)info->bad_frames);
    if (info->is_safetensors && info->tensors.problem)
        fprintf(stream, "  safetensors not valid: %s\n", info->tensors.problem);
    print_dtypes(stream, info);
    if (tensors)
        print_tensors(stream, info);
}
