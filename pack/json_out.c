/* json_out.c - strings in JSON. */
#include "json_out.h"

#include <stdint.h>

/* Length of the well-formed UTF-8 sequence at p, or 0 (no overlong forms or surrogates). */
static unsigned sequence_length(const uint8_t *p)
{
    unsigned length;
    uint32_t least, value;

    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] < 0xe0) {
        length = 2;
        least = 0x80;
        value = p[0] & 0x1f;
    } else if (p[0] >= 0xe0 && p[0] < 0xf0) {
        length = 3;
        least = 0x800;
        value = p[0] & 0x0f;
    } else if (p[0] >= 0xf0 && p[0] < 0xf5) {
        length = 4;
        least = 0x10000;
        value = p[0] & 0x07;
    } else {
        return 0;
    }
    for (unsigned i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) /* the terminating zero too */
            return 0;
        value = value << 6 | (p[i] & 0x3f);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    return length;
}

void json_out_string(FILE *stream, const char *bytes)
{
    const uint8_t *p = (const uint8_t *)bytes;

    putc('"', stream);
    while (*p) {
        unsigned length = sequence_length(p);

        if (length == 0)
            fprintf(stream, "\\udc%02x", *p++);
        else if (*p == '"' || *p == '\\')
            fprintf(stream, "\\%c", *p++);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(stream, "\\u%04x", *p++);
        else
            for (; length > 0; length--)
                putc(*p++, stream);
    }
    putc('"', stream);
}
