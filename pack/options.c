/* options.c - one table of options, from which parsing and help both come. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "help.h"
#include "isa.h"

enum {
    JOBS_MAX = 256,
    ZSTD_LEVEL_MAX = 19,
    LEVEL_UNSET = 0,
    LEVEL_OF_ZSTD = 1,   /* byte planes of weights: a higher one is slower and no smaller */
    LEVEL_OF_OTHERS = 3, /* there zstd is left with text and the like */
};

static const char *const codec_names[] = {
    [FRAME_CODEC_AUTO] = "auto", [FRAME_CODEC_FAST] = "fast", [FRAME_CODEC_SMALL] = "small",
    [FRAME_CODEC_ZSTD] = "zstd", [FRAME_CODEC_RAW] = "raw",
};

const char *options_codec_name(enum frame_codec codec)
{
    return codec_names[codec];
}

__attribute__((format(printf, 1, 2))) static int usage_error(const char *format, ...)
{
    va_list arguments;

    fputs("trunkpack: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\nTry 'trunkpack --help'.\n", stderr);
    return EXIT_USAGE;
}

static unsigned processors(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

static int parse_number(const char *text, long least, long most, long *ret)
{
    char *end;

    errno = 0;
    *ret = strtol(text, &end, 10);
    return errno != 0 || end == text || *end || *ret < least || *ret > most ? -EINVAL : 0;
}

/* Bytes, or with K or M (KiB or MiB behind them are fine too). */
static int parse_size(const char *text, uint32_t *ret)
{
    char *end;
    unsigned shift = 0;

    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *text == '-')
        return -EINVAL;
    if (*end == 'K' || *end == 'k')
        shift = 10;
    else if (*end == 'M' || *end == 'm')
        shift = 20;
    if (shift)
        end++;
    if (strcmp(end, "iB") == 0)
        end += 2;
    if (*end || value > (UINT32_MAX >> shift))
        return -EINVAL;
    *ret = (uint32_t)(value << shift);
    return 0;
}

static int parse_codec(const char *text, enum frame_codec *ret)
{
    for (unsigned i = 0; i < sizeof(codec_names) / sizeof(codec_names[0]); i++) {
        if (strcmp(text, codec_names[i]) == 0) {
            *ret = (enum frame_codec)i;
            return 0;
        }
    }
    return -EINVAL;
}

static int select_isa(const char *name)
{
    int r = isa_select(name);
    const char *source = name ? "--isa" : "TRUNKFS_ISA";

    if (!name)
        name = getenv("TRUNKFS_ISA");
    if (r == -EINVAL)
        return usage_error("%s: unknown instruction set '%s'", source, name);
    if (r < 0)
        return usage_error("%s: this processor or build has no instruction set '%s'", source, name);
    return -1;
}

static bool is_power_of_two(uint32_t value)
{
    return value && !(value & (value - 1));
}

static int check_sizes(struct options *options, bool frame_given)
{
    uint32_t block = options->block_size;

    if (!is_power_of_two(block) || block < TRUNK_FRAME_SIZE_MIN || block > TRUNK_BLOCK_SIZE_MAX)
        return usage_error("--block-size must be a power of two from 4K to 64M");
    if (!frame_given && options->frame_size > block)
        options->frame_size = block;
    uint32_t frame = options->frame_size;
    if (!is_power_of_two(frame) || frame < TRUNK_FRAME_SIZE_MIN || frame > TRUNK_FRAME_SIZE_MAX)
        return usage_error("--frame-size must be a power of two from 4K to 4M");
    if (frame > block || block / frame > TRUNK_FRAMES_PER_BLOCK_MAX)
        return usage_error("--block-size must be 1 to %d times --frame-size",
                           TRUNK_FRAMES_PER_BLOCK_MAX);
    return -1;
}

/* What is set while the options are read. */
struct parsing {
    struct options *options;
    const char *isa;
    bool frame_given;
};

static int take_exclude(struct options *options, const char *pattern)
{
    const char **grown =
        reallocarray(options->excludes, options->exclude_count + 1, sizeof(*options->excludes));
    if (!grown)
        return usage_error("out of memory");
    options->excludes = grown;
    options->excludes[options->exclude_count++] = pattern;
    return -1;
}

/* One option. Returns -1 to go on, else the exit status. */
static int take_option(struct parsing *parsing, int option, const char *value)
{
    struct options *o = parsing->options;
    long number;

    switch (option) {
    case 'j':
        if (parse_number(value, 1, JOBS_MAX, &number) < 0)
            return usage_error("--jobs must be a number from 1 to %d", JOBS_MAX);
        o->jobs = (unsigned)number;
        break;
    case OPTION_LEVEL:
        if (parse_number(value, 1, ZSTD_LEVEL_MAX, &number) < 0)
            return usage_error("--level must be a number from 1 to %d", ZSTD_LEVEL_MAX);
        o->encode.zstd_level = (int)number;
        break;
    case OPTION_CODEC:
        if (parse_codec(value, &o->encode.codec) < 0)
            return usage_error("--codec must be auto, fast, small, zstd or raw");
        break;
    case OPTION_BLOCK_SIZE:
        if (parse_size(value, &o->block_size) < 0)
            return usage_error("--block-size: '%s' is not a size", value);
        break;
    case OPTION_FRAME_SIZE:
        if (parse_size(value, &o->frame_size) < 0)
            return usage_error("--frame-size: '%s' is not a size", value);
        parsing->frame_given = true;
        break;
    case OPTION_EXCLUDE:
        return take_exclude(o, value);
    case OPTION_AGAINST:
        o->against = value;
        break;
    case OPTION_ISA:
        parsing->isa = value;
        break;
    case OPTION_REMOVE_SOURCE:
        o->remove_source = true;
        break;
    case OPTION_DRY_RUN:
        o->dry_run = true;
        break;
    case OPTION_TENSORS:
        o->tensors = true;
        break;
    case OPTION_JSON:
        o->json = true;
        break;
    case 'q':
        o->quiet = true;
        break;
    case 'h':
        help_print(stdout, o->command);
        return EXIT_SUCCESS;
    case 'V':
        help_print_version(stdout);
        return EXIT_SUCCESS;
    default:
        fprintf(stderr, "Try 'trunkpack %s --help'.\n", help_command_name(o->command));
        return EXIT_USAGE;
    }
    return -1;
}

static int take_operands(struct options *options, int argc, char **argv)
{
    bool two = options->command == COMMAND_PACK || options->command == COMMAND_UNPACK;
    int wanted = two ? 2 : 1;

    if (argc - optind < wanted)
        return usage_error("%s: an operand is missing", help_command_name(options->command));
    if (argc - optind > wanted)
        return usage_error("%s: one operand too many: '%s'", help_command_name(options->command),
                           argv[optind + wanted]);
    options->source = argv[optind];
    options->destination = two ? argv[optind + 1] : NULL;
    if (!*options->source || (two && !*options->destination))
        return usage_error("an operand is empty");
    return -1;
}

int options_parse(int argc, char **argv, struct options *ret)
{
    struct parsing parsing = {.options = ret};
    struct option table[HELP_OPTIONS_MAX + 1];
    int option, status;

    *ret = (struct options){
        .jobs = processors(),
        .encode = {.codec = FRAME_CODEC_AUTO, .zstd_level = LEVEL_UNSET},
        .frame_size = TRUNK_FRAME_SIZE_DEFAULT,
        .block_size = TRUNK_BLOCK_SIZE_DEFAULT,
    };
    if (argc < 2)
        return usage_error("a command is missing");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_print_all(stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        status = select_isa(NULL);
        if (status < 0)
            help_print_version(stdout);
        return status < 0 ? EXIT_SUCCESS : status;
    }
    if (help_find_command(argv[1], &ret->command) < 0)
        return usage_error("unknown command '%s'", argv[1]);
    help_fill_table(ret->command, table);
    argv[1] = argv[0]; /* getopt starts its messages with it */
    while ((option = getopt_long(argc - 1, argv + 1, help_short_options(ret->command), table,
                                 NULL)) != -1) {
        status = take_option(&parsing, option, optarg);
        if (status >= 0)
            return status;
    }
    if (ret->encode.zstd_level == LEVEL_UNSET)
        ret->encode.zstd_level =
            ret->encode.codec == FRAME_CODEC_ZSTD ? LEVEL_OF_ZSTD : LEVEL_OF_OTHERS;
    status = take_operands(ret, argc - 1, argv + 1);
    if (status < 0)
        status = check_sizes(ret, parsing.frame_given);
    if (status < 0)
        status = select_isa(parsing.isa);
    return status;
}

void options_fini(struct options *options)
{
    free(options->excludes);
}
