/* info_json.c - `trunkpack info --json`. */
#include "info_print.h"

#include <string.h>

#include "cleanup.h"
#include "json_out.h"
#include "report.h"
#include "sha256.h"

static void print_superblock(FILE *stream, const struct superblock *sb)
{
    char digest[SHA256_TEXT_SIZE];

    sha256_to_text(sb->sha256, digest);
    fprintf(stream,
            "\"packed\": true, \"raw_size\": %llu, \"packed_size\": %llu, \"ratio\": %.6f, "
            "\"index_size\": %llu, \"allocated_size\": %llu,\n   \"sha256\": \"%s\", "
            "\"frame_size\": %u, \"block_size\": %u, \"frame_count\": %llu, "
            "\"block_count\": %llu, \"mode\": %u, \"mtime_sec\": %lld, \"mtime_nsec\": %u, "
            "\"features_incompat\": %llu, \"writer\": ",
            (unsigned long long)sb->raw_size, (unsigned long long)sb->packed_size,
            report_ratio((double)sb->packed_size, (double)sb->raw_size),
            (unsigned long long)sb->index_size, (unsigned long long)sb->allocated_size, digest,
            sb->frame_size, sb->block_size, (unsigned long long)sb->frame_count,
            (unsigned long long)sb->block_count, sb->mode, (long long)sb->mtime_sec, sb->mtime_nsec,
            (unsigned long long)sb->features_incompat);
    json_out_string(stream, sb->writer);
}

static void print_entropy(FILE *stream, const struct entropy *entropy)
{
    struct entropy_planes planes;

    entropy_get(entropy, &planes);
    fprintf(stream,
            ", \"entropy\": {\"exponent\": %.6f, \"sign_mantissa\": %.6f, \"high_byte\": %.6f, "
            "\"low_byte\": %.6f, \"joint\": %.6f}",
            planes.exponent, planes.sign_mantissa, planes.high_byte, planes.low_byte, planes.joint);
}

static void print_kinds(FILE *stream, const char *title, const struct file_info_kind *kinds)
{
    fprintf(stream, ",\n   \"%s\": [", title);
    for (unsigned i = 0; i < FILE_INFO_KINDS && kinds[i].name; i++) {
        fprintf(stream,
                "%s\n    {\"name\": \"%s\", \"count\": %llu, \"raw_size\": %llu, "
                "\"packed_size\": %llu, \"ratio\": %.6f",
                i ? "," : "", kinds[i].name, (unsigned long long)kinds[i].count,
                (unsigned long long)kinds[i].raw_size, (unsigned long long)kinds[i].packed_size,
                report_ratio((double)kinds[i].packed_size, (double)kinds[i].raw_size));
        if (kinds[i].entropy)
            print_entropy(stream, kinds[i].entropy);
        fputs("}", stream);
    }
    fputs("]", stream);
}

static void print_dtypes(FILE *stream, const struct file_info *info)
{
    fputs(",\n   \"dtypes\": [", stream);
    for (unsigned i = 0; i < FILE_INFO_KINDS && info->dtypes[i].name; i++) {
        const struct file_info_dtype *dtype = &info->dtypes[i];

        fprintf(stream, "%s\n    {\"name\": ", i ? "," : "");
        json_out_string(stream, dtype->name);
        fprintf(stream,
                ", \"tensors\": %llu, \"raw_size\": %llu, \"packed_size\": %.0f, "
                "\"ratio\": %.6f}",
                (unsigned long long)dtype->tensors, (unsigned long long)dtype->raw_size,
                dtype->packed_size, report_ratio(dtype->packed_size, (double)dtype->raw_size));
    }
    fputs("]", stream);
}

/* Text of a header that passed as JSON: escapes included, so it is quoted as it stands. */
static void print_part(FILE *stream, const char *bytes, size_t length)
{
    fputc('"', stream);
    fwrite(bytes, 1, length, stream);
    fputc('"', stream);
}

static void print_tensors(FILE *stream, const struct file_info *info)
{
    fputs(",\n   \"tensors\": [", stream);
    for (size_t i = 0; i < info->tensors.count; i++) {
        const struct safetensors_tensor *tensor = &info->tensors.tensors[i];
        uint64_t raw_size = tensor->end - tensor->begin;

        fprintf(stream, "%s\n    {\"name\": ", i ? "," : "");
        print_part(stream, tensor->name, tensor->name_length);
        fputs(", \"dtype\": ", stream);
        json_out_string(stream, tensor->dtype);
        fprintf(stream,
                ", \"shape\": %.*s, \"begin\": %llu, \"raw_size\": %llu, \"packed_size\": %.0f, "
                "\"ratio\": %.6f}",
                (int)tensor->shape_length, tensor->shape, (unsigned long long)tensor->begin,
                (unsigned long long)raw_size, info->tensor_packed[i],
                report_ratio(info->tensor_packed[i], (double)raw_size));
    }
    fputs("]", stream);
}

void info_print_json(FILE *stream, const char *path, const struct packed_file *file,
                     const struct file_info *info, bool tensors)
{
    fputs("  {\"path\": ", stream);
    json_out_string(stream, path);
    fputs(", ", stream);
    print_superblock(stream, &file->sb);
    fprintf(stream, ", \"sampled_frames\": %llu, \"bad_frames\": %llu",
            (unsigned long long)info->sampled_frames, (unsigned long long)info->bad_frames);
    print_kinds(stream, "transforms", info->transforms);
    print_kinds(stream, "coders", info->coders);
    fprintf(stream, ",\n   \"safetensors\": %s", info->is_safetensors ? "true" : "false");
    if (info->tensors.problem) {
        fputs(", \"problem\": ", stream);
        json_out_string(stream, info->tensors.problem);
    }
    print_dtypes(stream, info);
    if (tensors)
        print_tensors(stream, info);
    fputs("}", stream);
}
