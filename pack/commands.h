/* commands.h - what main dispatches to. Each returns the exit status. */
#ifndef PACK_COMMANDS_H
#define PACK_COMMANDS_H

#include "options.h"

__attribute__((warn_unused_result)) int command_pack(const struct options *options);
__attribute__((warn_unused_result)) int command_unpack(const struct options *options);
__attribute__((warn_unused_result)) int command_verify(const struct options *options);
__attribute__((warn_unused_result)) int command_info(const struct options *options);
__attribute__((warn_unused_result)) int command_bench(const struct options *options);

#endif
