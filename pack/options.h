/* options.h - the command line of trunkpack: commands, their options, their help. */
#ifndef PACK_OPTIONS_H
#define PACK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frame_encode.h"

enum { EXIT_USAGE = 2 };

enum command { COMMAND_PACK, COMMAND_UNPACK, COMMAND_VERIFY, COMMAND_INFO, COMMAND_BENCH };

struct options {
    enum command command;
    unsigned jobs;                      /* 1 or more */
    struct frame_encode_options encode; /* --codec, --level */
    uint32_t frame_size;                /* bytes; valid together with block_size */
    uint32_t block_size;                /* bytes */
    const char **excludes;              /* patterns; owned list of borrowed strings */
    size_t exclude_count;
    const char *against; /* --against, or NULL */
    bool remove_source;
    bool dry_run;
    bool tensors;
    bool quiet;
    bool json;
    const char *source;      /* first operand */
    const char *destination; /* second operand, or NULL */
};

/* Read the command line. Returns -1 to go on; else the exit status, when help or version was
 * printed, or a usage error was reported. */
__attribute__((warn_unused_result)) int options_parse(int argc, char **argv, struct options *ret);
void options_fini(struct options *options);

/* The name of a codec, as --codec takes it. */
const char *options_codec_name(enum frame_codec codec);

#endif
