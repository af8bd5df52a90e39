/* help.c - commands and options, with the words that --help says of them. */
#include "help.h"

#include <errno.h>
#include <string.h>

#include "isa.h"

static const struct command_help {
    const char *name;
    const char *operands;
    const char *text;
    const char *short_options;
} commands[] = {
    [COMMAND_PACK] = {"pack", "SRC DST", "pack a directory, or one file, into the directory DST",
                      "j:qhV"},
    [COMMAND_UNPACK] = {"unpack", "PACKED DST",
                        "restore a packed directory, or one packed file, in the directory DST",
                        "j:qhV"},
    [COMMAND_VERIFY] = {"verify", "PACKED", "decode every frame; compare checksums and SHA-256",
                        "j:qhV"},
    [COMMAND_INFO] = {"info", "PACKED", "sizes, ratio, types, tensors, codecs, entropies", "hV"},
    [COMMAND_BENCH] = {"bench", "FILE", "ratio and speed on your own weights, beside memcpy",
                       "j:hV"},
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

enum {
    IN_PACK = 1 << COMMAND_PACK,
    IN_UNPACK = 1 << COMMAND_UNPACK,
    IN_VERIFY = 1 << COMMAND_VERIFY,
    IN_INFO = 1 << COMMAND_INFO,
    IN_BENCH = 1 << COMMAND_BENCH,
    IN_ALL = (1 << COMMAND_COUNT) - 1,
};

static const struct option_help {
    const char *name;
    const char *argument; /* NULL: none */
    int value;            /* a letter, or OPTION_ */
    unsigned commands;
    const char *text;
} table[] = {
    {"jobs", "N", 'j', IN_PACK | IN_UNPACK | IN_VERIFY | IN_BENCH,
     "threads that encode and decode (all processors)"},
    {"codec", "NAME", OPTION_CODEC, IN_PACK,
     "auto, fast, small, zstd, or raw (every file is packed, none compressed)"},
    {"level", "N", OPTION_LEVEL, IN_PACK, "level of zstd, 1 to 19 (1 with --codec zstd, else 3)"},
    {"block-size", "SIZE", OPTION_BLOCK_SIZE, IN_PACK, "unit of storage, 4K to 64M (4M)"},
    {"frame-size", "SIZE", OPTION_FRAME_SIZE, IN_PACK, "unit of decoding, 4K to 4M (256K)"},
    {"exclude", "GLOB", OPTION_EXCLUDE, IN_PACK | IN_VERIFY,
     "leave out what matches: a name, or a path if it has a slash"},
    {"remove-source", NULL, OPTION_REMOVE_SOURCE, IN_PACK,
     "remove each source file once its packed file is synced and verified"},
    {"dry-run", NULL, OPTION_DRY_RUN, IN_PACK, "estimate from samples, write nothing"},
    {"against", "SRC", OPTION_AGAINST, IN_VERIFY, "compare with the original, byte by byte"},
    {"tensors", NULL, OPTION_TENSORS, IN_INFO, "list each tensor"},
    {"json", NULL, OPTION_JSON, IN_ALL, "print the result as JSON"},
    {"quiet", NULL, 'q', IN_PACK | IN_UNPACK | IN_VERIFY, "print errors only"},
    {"isa", "NAME", OPTION_ISA, IN_ALL,
     "instruction set: auto, scalar, avx2, avx512, neon (TRUNKFS_ISA, or auto)"},
    {"help", NULL, 'h', IN_ALL, "print this help"},
    {"version", NULL, 'V', IN_ALL, "print version and instruction set"},
};

enum { OPTION_COUNT = sizeof(table) / sizeof(table[0]) };
_Static_assert((int)OPTION_COUNT <= (int)HELP_OPTIONS_MAX,
               "every option has room in getopt's table");

const char *help_command_name(enum command command)
{
    return commands[command].name;
}

int help_find_command(const char *name, enum command *ret)
{
    for (unsigned i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            *ret = (enum command)i;
            return 0;
        }
    }
    return -ENOENT;
}

void help_fill_table(enum command command, struct option ret_table[HELP_OPTIONS_MAX + 1])
{
    unsigned count = 0;

    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (!(table[i].commands & (1u << command)))
            continue;
        ret_table[count++] = (struct option){
            .name = table[i].name,
            .has_arg = table[i].argument ? required_argument : no_argument,
            .val = table[i].value,
        };
    }
    ret_table[count] = (struct option){0};
}

const char *help_short_options(enum command command)
{
    return commands[command].short_options;
}

static void print_option(FILE *stream, const struct option_help *option)
{
    char left[64];
    const char *argument = option->argument;

    if (option->value < 256)
        snprintf(left, sizeof(left), "-%c, --%s%s%s", option->value, option->name,
                 argument ? "=" : "", argument ? argument : "");
    else
        snprintf(left, sizeof(left), "    --%s%s%s", option->name, argument ? "=" : "",
                 argument ? argument : "");
    fprintf(stream, "  %-24s %s\n", left, option->text);
}

void help_print(FILE *stream, enum command command)
{
    const struct command_help *help = &commands[command];

    fprintf(stream, "Usage: trunkpack %s [OPTION]... %s\n", help->name, help->operands);
    fprintf(stream, "%s\n\n", help->text);
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (table[i].commands & (1u << command))
            print_option(stream, &table[i]);
}

void help_print_all(FILE *stream)
{
    fputs("Usage: trunkpack COMMAND [OPTION]... OPERAND...\n"
          "Pack model weights without loss, for trunkfs to mount.\n\n",
          stream);
    for (unsigned i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-7s %-11s %s\n", commands[i].name, commands[i].operands,
                commands[i].text);
    fputs("\n", stream);
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        print_option(stream, &table[i]);
    fputs("\n'trunkpack COMMAND --help' shows the options of one command.\n"
          "Exit status: 0 success, 1 failure, 2 wrong usage.\n",
          stream);
}

void help_print_version(FILE *stream)
{
    fprintf(stream, "trunkpack %s (%s)\n", TRUNK_PROGRAM_VERSION, isa_name(isa_current()));
}
