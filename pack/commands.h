/* commands.h - what main dispatches to. Each returns the exit status. */
#ifndef PACK_COMMANDS_H
#define PACK_COMMANDS_H

#include "options.h"

int command_pack(const struct options *options);
int command_unpack(const struct options *options);
int command_verify(const struct options *options);
int command_info(const struct options *options);
int command_bench(const struct options *options);

#endif
