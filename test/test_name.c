/* test_name.c - names in a source and in its packed directory (FORMAT.md 1). */
#include "trunk_name.h"

#include <errno.h>
#include <string.h>

#include "unit.h"

struct mapping {
    const char *entry;
    bool is_regular;
    enum trunk_name_kind kind;
    const char *source; /* not looked at when hidden */
};
static const struct mapping mappings[] = {
    {"config.json", true, TRUNK_NAME_PLAIN, "config.json"},
    {"model.safetensors.trunk", true, TRUNK_NAME_PACKED, "model.safetensors"},
    {"a.trunk.trunk", true, TRUNK_NAME_PACKED, "a.trunk"},
    {"directory.trunk", false, TRUNK_NAME_PLAIN, "directory.trunk"},
    {"trunk", true, TRUNK_NAME_PLAIN, "trunk"},
    {"a.Trunk", true, TRUNK_NAME_PLAIN, "a.Trunk"},
    {"a.trunk ", true, TRUNK_NAME_PLAIN, "a.trunk "},
    {"\n\xff\x01.trunk", true, TRUNK_NAME_PACKED, "\n\xff\x01"},
    {".trunk", true, TRUNK_NAME_HIDDEN, NULL},
    {"..trunk", true, TRUNK_NAME_HIDDEN, NULL},
    {"...trunk", true, TRUNK_NAME_HIDDEN, NULL},
    {"....trunk", true, TRUNK_NAME_PACKED, "..."},
    {".trunk", false, TRUNK_NAME_PLAIN, ".trunk"},
    {".trunk-tmp-4711", true, TRUNK_NAME_HIDDEN, NULL},
    {".trunk-tmp-", false, TRUNK_NAME_HIDDEN, NULL},
    {".trunk-tmp", true, TRUNK_NAME_PLAIN, ".trunk-tmp"},
    {".trunk-tmp-x.trunk", true, TRUNK_NAME_HIDDEN, NULL},
};

START_TEST(entry_shows_as)
{
    const struct mapping *mapping = &mappings[_i];
    char source[TRUNK_NAME_MAX + 1];
    enum trunk_name_kind kind = trunk_name_of_entry(mapping->entry, mapping->is_regular, source);
    ck_assert_msg(kind == mapping->kind, "%s: kind %d", mapping->entry, kind);
    if (kind != TRUNK_NAME_HIDDEN)
        ck_assert_str_eq(source, mapping->source);
}
END_TEST

START_TEST(packed_name_and_back)
{
    char name[TRUNK_NAME_MAX + 2], entry[TRUNK_NAME_MAX + 1], source[TRUNK_NAME_MAX + 1];
    memset(name, 'n', sizeof(name));
    for (size_t length = 1; length <= TRUNK_NAME_MAX; length++) {
        name[length] = '\0';
        int r = trunk_name_packed(name, entry);
        ck_assert_int_eq(r, length + 6 > TRUNK_NAME_MAX ? -ENAMETOOLONG : 0);
        if (r == 0) {
            ck_assert_int_eq(trunk_name_of_entry(entry, true, source), TRUNK_NAME_PACKED);
            ck_assert_str_eq(source, name);
        }
        name[length] = 'n';
    }
}
END_TEST

START_TEST(what_must_be_packed)
{
    ck_assert(trunk_name_must_pack("a.trunk"));
    ck_assert(trunk_name_must_pack(".trunk"));
    ck_assert(!trunk_name_must_pack("a.trunk2"));
    ck_assert(!trunk_name_must_pack("trunk"));
    ck_assert(trunk_name_is_temporary(".trunk-tmp-"));
    ck_assert(!trunk_name_is_temporary(".trunk-tm"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("name");
    TCase *tcase = unit_case(suite, "name");
    tcase_add_loop_test(tcase, entry_shows_as, 0, sizeof(mappings) / sizeof(mappings[0]));
    tcase_add_test(tcase, packed_name_and_back);
    tcase_add_test(tcase, what_must_be_packed);
    return unit_run(suite);
}
