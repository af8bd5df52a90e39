/* pack_plan.h - from the tree of a source to one task a file: what cannot be packed is said,
 * what must be packed or copied is marked (FORMAT.md 1). From main only. */
#ifndef PACK_PACK_PLAN_H
#define PACK_PACK_PLAN_H

#include "pack_task.h"

struct pack_plan {
    struct pack_task *tasks; /* one for each regular file, those with first_link included */
    size_t count;
};

/* Sets output_path of directories and symbolic links too. output_name: the name to use for
 * the only entry of a tree of one file, or NULL. Reports what is refused. Returns 0 or
 * -ENOMEM. */
__attribute__((warn_unused_result)) int pack_plan_make(struct pack_common *common,
                                                       struct tree *tree, const char *output_name,
                                                       struct pack_plan *ret);
void pack_plan_fini(struct pack_plan *plan);

/* The output paths of other names of a file, once its first name has one. Returns 0 or
 * -ENOMEM. */
__attribute__((warn_unused_result)) int pack_plan_name_links(struct pack_plan *plan,
                                                             struct tree *tree);

#endif
