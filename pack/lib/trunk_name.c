/* trunk_name.c - the mapping of names in FORMAT.md 1. */
#include "trunk_name.h"

#include <errno.h>
#include <string.h>

enum { SUFFIX_LENGTH = sizeof(TRUNK_SUFFIX) - 1 };

static bool has_suffix(const char *name, size_t length)
{
    return length >= SUFFIX_LENGTH &&
           memcmp(name + length - SUFFIX_LENGTH, TRUNK_SUFFIX, SUFFIX_LENGTH) == 0;
}

/* A packed file of such a name would stand for a directory entry that cannot exist. */
static bool is_impossible(const char *source)
{
    return !*source || strcmp(source, ".") == 0 || strcmp(source, "..") == 0;
}

enum trunk_name_kind trunk_name_of_entry(const char *entry, bool is_regular,
                                         char ret_source[TRUNK_NAME_MAX + 1])
{
    size_t length = strlen(entry);
    bool packed = is_regular && has_suffix(entry, length);

    ret_source[0] = '\0';
    if (length > TRUNK_NAME_MAX || trunk_name_is_temporary(entry))
        return TRUNK_NAME_HIDDEN;
    if (packed)
        length -= SUFFIX_LENGTH;
    memcpy(ret_source, entry, length);
    ret_source[length] = '\0';
    if (is_impossible(ret_source))
        return TRUNK_NAME_HIDDEN;
    return packed ? TRUNK_NAME_PACKED : TRUNK_NAME_PLAIN;
}

int trunk_name_packed(const char *source, char ret_entry[TRUNK_NAME_MAX + 1])
{
    size_t length = strlen(source);

    if (length > TRUNK_NAME_MAX - SUFFIX_LENGTH)
        return -ENAMETOOLONG;
    memcpy(ret_entry, source, length);
    memcpy(ret_entry + length, TRUNK_SUFFIX, sizeof(TRUNK_SUFFIX));
    return 0;
}

bool trunk_name_must_pack(const char *source)
{
    return has_suffix(source, strlen(source));
}

bool trunk_name_is_temporary(const char *name)
{
    return strncmp(name, TRUNK_TEMP_PREFIX, sizeof(TRUNK_TEMP_PREFIX) - 1) == 0;
}
