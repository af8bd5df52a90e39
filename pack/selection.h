/* selection.h - the tree of an operand, without what --exclude leaves out. From main only. */
#ifndef PACK_SELECTION_H
#define PACK_SELECTION_H

#include "options.h"
#include "places.h"
#include "tree.h"

/* Takes place->root_fd. Reports what could not be read. Returns 0 or -errno. */
__attribute__((warn_unused_result)) int
selection_scan(struct place *place, const struct options *options, struct tree *ret);

#endif
