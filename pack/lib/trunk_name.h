/* trunk_name.h - names of files in a source and in its packed directory (FORMAT.md 1).
 *
 * Memory only: what kind of file a name belongs to, and which names lie beside it, is
 * the caller's knowledge. Names are bytes. Callable on any thread.
 */
#ifndef TRUNK_NAME_H
#define TRUNK_NAME_H

#include <stdbool.h>

#include "format.h"

enum trunk_name_kind {
    TRUNK_NAME_PLAIN,  /* shown as it is, under its own name */
    TRUNK_NAME_PACKED, /* a packed file, shown without the suffix */
    TRUNK_NAME_HIDDEN, /* never shown: still being written, or its name would be empty, . or .. */
};

/* What an entry of a packed directory is, and the name that it has in the source (at
 * most TRUNK_NAME_MAX bytes and a NUL). is_regular: a regular file, not followed. */
enum trunk_name_kind trunk_name_of_entry(const char *entry, bool is_regular,
                                         char ret_source[TRUNK_NAME_MAX + 1]);

/* The name of the packed file for the regular source file source. Returns 0, or
 * -ENAMETOOLONG if it would exceed TRUNK_NAME_MAX bytes. */
__attribute__((warn_unused_result)) int trunk_name_packed(const char *source,
                                                          char ret_entry[TRUNK_NAME_MAX + 1]);

/* Must a regular source file of this name be packed, because as a copy it would be
 * taken for a packed file? */
bool trunk_name_must_pack(const char *source);

/* Does the name begin as the names of files that are still being written do? A source
 * entry of such a name cannot be represented in a packed directory. */
bool trunk_name_is_temporary(const char *name);

#endif
