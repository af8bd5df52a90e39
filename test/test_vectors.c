/* test_vectors.c - the vectors in test/vectors are what the program builds, and the
 * library's reader gives each its verdict; no check is without a vector. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"
#include "vectors.h"

static uint8_t *read_committed(const char *name, size_t *ret_size)
{
    char path[4096];
    const char *root = getenv("TEST_SOURCE_ROOT");
    ck_assert_ptr_nonnull(root);
    snprintf(path, sizeof(path), "%s/test/vectors/%s.trunk", root, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    struct stat st;
    ck_assert_int_eq(fstat(fileno(file), &st), 0);
    uint8_t *bytes = malloc((size_t)st.st_size + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, (size_t)st.st_size, file), (size_t)st.st_size);
    fclose(file);
    *ret_size = (size_t)st.st_size;
    return bytes;
}

START_TEST(committed_vector_is_what_the_program_builds)
{
    const struct vector *vector = vectors_get((size_t)_i);
    struct vector_file built;
    size_t size;
    uint8_t *bytes = read_committed(vector->name, &size);
    vectors_build(vector, &built);
    ck_assert_msg(size == built.packed.size && memcmp(bytes, built.packed.bytes, size) == 0,
                  "%s differs: run make_vectors, and say why in the commit", vector->name);
    vectors_free(&built);
    free(bytes);
}
END_TEST

START_TEST(reader_gives_the_verdict)
{
    const struct vector *vector = vectors_get((size_t)_i);
    struct vector_file built;
    struct fault fault = {FAULT_NONE, 0};
    size_t size, raw_size = 0;
    uint8_t *raw = NULL, *bytes = read_committed(vector->name, &size);
    int r = packed_read(bytes, size, &raw, &raw_size, &fault);
    ck_assert_msg(r == vector->error, "%s: returned %d (%s at %llu)", vector->name, r,
                  fault_text(fault.check), (unsigned long long)fault.offset);
    ck_assert_msg(fault.check == vector->check, "%s: fault \"%s\"", vector->name,
                  fault_text(fault.check));
    if (r == 0) {
        vectors_build(vector, &built);
        ck_assert_msg(raw_size == built.raw_size && memcmp(raw, built.raw, raw_size) == 0,
                      "%s: other bytes than the original's", vector->name);
        vectors_free(&built);
    }
    free(raw);
    free(bytes);
}
END_TEST

START_TEST(name_tells_the_verdict)
{
    const struct vector *vector = vectors_get((size_t)_i);
    const char *prefix = vector->error == 0             ? "good-"
                         : vector->error == -EOPNOTSUPP ? "unsupported-"
                                                        : "bad-";
    ck_assert_msg(strncmp(vector->name, prefix, strlen(prefix)) == 0, "%s", vector->name);
    for (size_t i = 0; i < (size_t)_i; i++)
        ck_assert_str_ne(vector->name, vectors_get(i)->name);
}
END_TEST

START_TEST(every_check_is_produced_by_some_vector)
{
    for (int check = FAULT_NONE + 1; check < FAULT_COUNT_; check++) {
        size_t i = 0;
        while (i < vectors_count() && (int)vectors_get(i)->check != check)
            i++;
        ck_assert_msg(i < vectors_count(), "no vector for \"%s\"",
                      fault_text((enum fault_check)check));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vectors");
    TCase *tcase = unit_case(suite, "vectors");
    int count = (int)vectors_count();
    tcase_add_loop_test(tcase, committed_vector_is_what_the_program_builds, 0, count);
    tcase_add_loop_test(tcase, reader_gives_the_verdict, 0, count);
    tcase_add_loop_test(tcase, name_tells_the_verdict, 0, count);
    tcase_add_test(tcase, every_check_is_produced_by_some_vector);
    return unit_run(suite);
}
