/* info_print.h - what `trunkpack info` shows of one file, for people and as JSON. */
#ifndef PACK_INFO_PRINT_H
#define PACK_INFO_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "file_info.h"

void info_print_text(FILE *stream, const char *path, const struct packed_file *file,
                     const struct file_info *info, bool tensors);

/* One JSON object, without a line end. */
void info_print_json(FILE *stream, const char *path, const struct packed_file *file,
                     const struct file_info *info, bool tensors);

#endif
