/* json_out.h - the few things that printing JSON needs beyond printf. */
#ifndef PACK_JSON_OUT_H
#define PACK_JSON_OUT_H

#include <stdio.h>

/* A quoted string. Bytes that are not UTF-8 become lone surrogates U+DC80 to U+DCFF, as in
 * Python's file system encoding, so that any name survives. */
void json_out_string(FILE *stream, const char *bytes);

#endif
