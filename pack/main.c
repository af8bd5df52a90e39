/* main.c - trunkpack: packs, restores, verifies and describes packed files. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "interrupt.h"
#include "options.h"

static int run_command(const struct options *options)
{
    switch (options->command) {
    case COMMAND_PACK:
        return command_pack(options);
    case COMMAND_UNPACK:
        return command_unpack(options);
    case COMMAND_VERIFY:
        return command_verify(options);
    case COMMAND_INFO:
        return command_info(options);
    case COMMAND_BENCH:
        return command_bench(options);
    }
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct options options;
    int status = options_parse(argc, argv, &options);

    if (status < 0) {
        interrupt_watch();
        status = run_command(&options);
        if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_SUCCESS)
            status = EXIT_FAILURE;
    }
    options_fini(&options);
    interrupt_resume();
    return status;
}
