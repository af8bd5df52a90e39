#include "commands.h"
int command_bench(const struct options *options) { return 1; }
