/* help.h - what trunkpack can be told: the table of commands and options. */
#ifndef PACK_HELP_H
#define PACK_HELP_H

#include <getopt.h>
#include <stdio.h>

#include "options.h"

enum { HELP_OPTIONS_MAX = 20 };

/* Options without a letter. */
enum {
    OPTION_CODEC = 256,
    OPTION_LEVEL,
    OPTION_BLOCK_SIZE,
    OPTION_FRAME_SIZE,
    OPTION_EXCLUDE,
    OPTION_REMOVE_SOURCE,
    OPTION_DRY_RUN,
    OPTION_AGAINST,
    OPTION_TENSORS,
    OPTION_JSON,
    OPTION_ISA,
};

const char *help_command_name(enum command command);

/* Returns 0, or -ENOENT. */
__attribute__((warn_unused_result)) int help_find_command(const char *name, enum command *ret);

/* For getopt_long: the options that the command takes. */
void help_fill_table(enum command command, struct option ret_table[HELP_OPTIONS_MAX + 1]);
const char *help_short_options(enum command command);

void help_print(FILE *stream, enum command command); /* of one command */
void help_print_all(FILE *stream);
void help_print_version(FILE *stream); /* with the instruction set in use */

#endif
