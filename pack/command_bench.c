/* command_bench.c - trunkpack bench: the tables of one file of weights. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "bench_measure.h"
#include "cleanup.h"
#include "entropy.h"
#include "format.h"
#include "interrupt.h"
#include "isa.h"
#include "json_out.h"
#include "report.h"

enum { DATA_LIMIT = 64 << 20 }; /* bytes of a larger file that are measured on */

/* One table: rows that differ in one thing. */
struct row {
    char name[24];
    struct bench_case what;
    struct bench_result result;
};

struct table {
    const char *title; /* for people */
    const char *key;   /* in JSON */
    struct row rows[8];
    size_t count;
};

static struct bench_case usual(enum frame_codec codec)
{
    return (struct bench_case){
        .options = {.codec = codec, .zstd_level = codec == FRAME_CODEC_ZSTD ? 1 : 3},
        .frame_size = TRUNK_FRAME_SIZE_DEFAULT,
        .block_size = TRUNK_BLOCK_SIZE_DEFAULT,
        .threads = 1,
    };
}

static struct row *add_row(struct table *table, struct bench_case what)
{
    struct row *row = &table->rows[table->count++];

    row->what = what;
    return row;
}

static void list_codecs(struct table *table)
{
    static const enum frame_codec codecs[] = {FRAME_CODEC_AUTO, FRAME_CODEC_FAST, FRAME_CODEC_SMALL,
                                              FRAME_CODEC_ZSTD, FRAME_CODEC_RAW};

    *table = (struct table){.title = "by codec", .key = "codecs"};
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
        struct row *row = add_row(table, usual(codecs[i]));
        snprintf(row->name, sizeof(row->name), "%s", options_codec_name(codecs[i]));
    }
}

static void list_levels(struct table *table)
{
    static const int levels[] = {1, 3, 6};

    *table = (struct table){.title = "by level of --codec zstd", .key = "levels"};
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        struct bench_case what = usual(FRAME_CODEC_ZSTD);
        what.options.zstd_level = levels[i];
        snprintf(add_row(table, what)->name, sizeof(table->rows[0].name), "%d", levels[i]);
    }
}

static void list_frame_sizes(struct table *table)
{
    *table = (struct table){.title = "by frame size (unit of decoding)", .key = "frame_sizes"};
    for (unsigned shift = 16; shift <= 22; shift++) {
        struct bench_case what = usual(FRAME_CODEC_AUTO);
        what.frame_size = 1u << shift;
        snprintf(add_row(table, what)->name, sizeof(table->rows[0].name), "%u", 1u << shift);
    }
}

static void list_block_sizes(struct table *table)
{
    static const uint32_t sizes[] = {256 << 10, 1 << 20, 4 << 20, 16 << 20};

    *table = (struct table){.title = "by block size (unit of storage)", .key = "block_sizes"};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct bench_case what = usual(FRAME_CODEC_AUTO);
        what.block_size = sizes[i];
        snprintf(add_row(table, what)->name, sizeof(table->rows[0].name), "%u", sizes[i]);
    }
}

static void list_threads(struct table *table, unsigned jobs)
{
    *table = (struct table){.title = "by threads", .key = "threads"};
    for (unsigned threads = 1; threads <= jobs && table->count < 8; threads *= 2) {
        struct bench_case what = usual(FRAME_CODEC_AUTO);
        what.threads = threads;
        snprintf(add_row(table, what)->name, sizeof(table->rows[0].name), "%u", threads);
    }
}

static void print_row(const struct row *row)
{
    const struct bench_result *r = &row->result;

    printf("  %-10s  %7.4f %9.3f %9.3f %9.3f %9.3f    %.3f  %.3f  %.3f\n", row->name, r->ratio,
           r->memcpy_gbps, r->encode_gbps, r->decode_gbps, r->decode_checked_gbps,
           r->encode_gbps / r->memcpy_gbps, r->decode_gbps / r->memcpy_gbps,
           r->decode_checked_gbps / r->memcpy_gbps);
    fflush(stdout);
}

static void print_row_json(const struct row *row, const char *separator)
{
    const struct bench_result *r = &row->result;

    printf("%s\n    {\"name\": \"%s\", \"ratio\": %.6f, \"memcpy_gbps\": %.4f, "
           "\"encode_gbps\": %.4f, \"decode_gbps\": %.4f, \"decode_checked_gbps\": %.4f, "
           "\"isa\": \"%s\", \"codec\": \"%s\", \"level\": %d, \"frame_size\": %u, "
           "\"block_size\": %u, \"threads\": %u}",
           separator, row->name, r->ratio, r->memcpy_gbps, r->encode_gbps, r->decode_gbps,
           r->decode_checked_gbps, isa_name(isa_current()),
           options_codec_name(row->what.options.codec), row->what.options.zstd_level,
           row->what.frame_size, row->what.block_size, row->what.threads);
}

/* Measure and print as results come. Returns 0 or what bench_measure returns. */
static int run_table(struct bench_data *data, struct table *table, bool json)
{
    if (json)
        printf(",\n  \"%s\": [", table->key);
    else
        printf("\n%s\n               ratio    memcpy    encode    decode   checked    "
               "as a share of memcpy\n",
               table->title);
    for (size_t i = 0; i < table->count; i++) {
        struct row *row = &table->rows[i];

        if (interrupt_pending())
            return -ECANCELED;
        int r = bench_measure(data, &row->what, &row->result);
        if (r < 0)
            return r;
        if (json)
            print_row_json(row, i ? "," : "");
        else
            print_row(row);
    }
    if (json)
        printf("]");
    return 0;
}

static int print_entropies(const struct bench_data *data, bool json)
{
    struct entropy *entropy = calloc(1, sizeof(*entropy));
    struct entropy_planes planes;

    if (!entropy)
        return -ENOMEM;
    entropy_add(entropy, data->raw, data->size, 0);
    entropy_get(entropy, &planes);
    free(entropy);
    if (json)
        printf(",\n  \"entropy\": {\"exponent\": %.6f, \"sign_mantissa\": %.6f, "
               "\"high_byte\": %.6f, \"low_byte\": %.6f, \"joint\": %.6f}",
               planes.exponent, planes.sign_mantissa, planes.high_byte, planes.low_byte,
               planes.joint);
    else
        printf("Entropies, as 16-bit elements, in bits: high byte %.3f, low byte %.3f (together "
               "%.4f of 16);\nexponent %.3f, sign and mantissa %.3f (together %.4f); "
               "element %.3f (%.4f)\n",
               planes.high_byte, planes.low_byte, (planes.high_byte + planes.low_byte) / 16,
               planes.exponent, planes.sign_mantissa, (planes.exponent + planes.sign_mantissa) / 16,
               planes.joint, planes.joint / 16);
    return 0;
}

static int run_tables(struct bench_data *data, const struct options *options)
{
    struct table tables[5];
    double memcpy_gbps = 0;

    list_codecs(&tables[0]);
    list_levels(&tables[1]);
    list_frame_sizes(&tables[2]);
    list_block_sizes(&tables[3]);
    list_threads(&tables[4], options->jobs);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        int r = run_table(data, &tables[i], options->json);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < tables[0].count; i++)
        memcpy_gbps += tables[0].rows[i].result.memcpy_gbps / (double)tables[0].count;
    if (options->json)
        printf(",\n  \"memcpy_gbps\": %.4f\n}\n", memcpy_gbps);
    return 0;
}

static int run_bench(const struct options *options, int fd)
{
    __attribute__((cleanup(bench_data_fini))) struct bench_data data = {0};

    int r = bench_data_read(fd, DATA_LIMIT, &data);
    if (r < 0)
        return r;
    if (options->json) {
        fputs("{\n  \"file\": ", stdout);
        json_out_string(stdout, options->source);
        printf(", \"bytes\": %zu, \"isa\": \"%s\"", data.size, isa_name(isa_current()));
    } else {
        char text[REPORT_SIZE_TEXT];
        printf("%s: %s measured, one thread, %s; 10^9 bytes a second\n", options->source,
               report_size(data.size, text), isa_name(isa_current()));
    }
    r = print_entropies(&data, options->json);
    return r < 0 ? r : run_tables(&data, options);
}

int command_bench(const struct options *options)
{
    report_init(&(struct report_options){.quiet = true, .json = options->json});
    autoclose int fd = open(options->source, O_RDONLY | O_CLOEXEC);
    int r = fd < 0 ? -errno : run_bench(options, fd);

    if (r == -ENODATA)
        report_error(options->source, "an empty file cannot be measured", 0);
    else if (r < 0)
        report_error(options->source, "measuring", r);
    return report_error_count() ? EXIT_FAILURE : EXIT_SUCCESS;
}
