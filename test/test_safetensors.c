/* test_safetensors.c - headers of safetensors files: the rules of the format, each broken once. */
#include "../pack/safetensors.h"

#include <errno.h>
#include <string.h>

#include "unit.h"

#define ONE "\"a\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]}"
#define TWO "\"b\":{\"data_offsets\":[12,16],\"shape\":[],\"dtype\":\"F32\"}"

/* file_size counts from the end of the header. */
static const struct header {
    const char *text;
    uint64_t data_size;
    int result;
    size_t count;
    const char *problem; /* part of it, NULL: none */
} headers[] = {
    {"{}", 0, 0, 0, NULL},
    {" { } \n", 0, 0, 0, NULL},
    {"{" ONE "," TWO "}", 16, 0, 2, NULL},
    {"{" TWO "," ONE "}    ", 16, 0, 2, NULL},
    {"{\"__metadata__\":{\"k\":\"}]\\\"\"}," ONE "}", 12, 0, 1, NULL},
    {"{\"a\":{\"dtype\":\"NEW\",\"shape\":[1],\"data_offsets\":[0,3],\"more\":[{\"x\":[1,2]}]}}", 3,
     0, 1, NULL},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,2]}}", 2, 0, 1, NULL},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0,7],\"data_offsets\":[0,0]}}", 0, 0, 1, NULL},
    /* valid JSON, rules broken: the list is kept */
    {"{" ONE "," ONE "}", 12, 0, 2, "overlap"},
    {"{" TWO "}", 16, 0, 1, "hole"},
    {"{" ONE "}", 13, 0, 1, "goes on"},
    {"{" ONE "}", 11, 0, 1, "ends before"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2, 0, 1, "length"},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1, 0, 1, "length"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
     "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
     0, 0, 2, "twice"},
    /* nothing can be made of it */
    {"", 0, -EBADMSG, 0, "no JSON object"},
    {"[]", 0, -EBADMSG, 0, "no JSON object"},
    {"{", 0, -EBADMSG, 0, "string"},
    {"{" ONE, 12, -EBADMSG, 0, "does not end"},
    {"{" ONE "}x", 12, -EBADMSG, 0, "behind"},
    {"{" ONE ",}", 12, -EBADMSG, 0, "string"},
    {"{\"a", 0, -EBADMSG, 0, "does not end"},
    {"{\"a\\", 0, -EBADMSG, 0, "does not end"},
    {"{\"a\n\":{}}", 0, -EBADMSG, 0, "control"},
    {"{\"a\":[]}", 0, -EBADMSG, 0, "no object"},
    {"{\"a\" {}}", 0, -EBADMSG, 0, "colon"},
    {"{\"a\":{}}", 0, -EBADMSG, 0, "lacks"},
    {"{\"a\":{\"shape\":3}}", 0, -EBADMSG, 0, "shape"},
    {"{\"a\":{\"shape\":[1,-2]}}", 0, -EBADMSG, 0, "number"},
    {"{\"a\":{\"shape\":[99999999999999999999]}}", 0, -EBADMSG, 0, "too large"},
    {"{\"a\":{\"shape\":[9999999999,9999999999]}}", 0, -EBADMSG, 0, "too many elements"},
    {"{\"a\":{\"data_offsets\":[1]}}", 0, -EBADMSG, 0, "not two"},
    {"{\"a\":{\"data_offsets\":[1,2,3]}}", 0, -EBADMSG, 0, "not two"},
    {"{\"a\":{\"data_offsets\":[2,1]}}", 0, -EBADMSG, 0, "impossible"},
    {"{\"a\":{\"data_offsets\":[0,18446744073709551615]}}", 0, -EBADMSG, 0, "impossible"},
    {"{\"a\":{\"dtype\":\"ABCDEFGHIJKLMNOPQ\"}}", 0, -EBADMSG, 0, "too long"},
    {"{\"__metadata__\":", 0, -EBADMSG, 0, "ends in a value"},
    {"{\"__metadata__\":}", 0, -EBADMSG, 0, "value is missing"},
};

START_TEST(header_is_judged)
{
    const struct header *header = &headers[_i];
    size_t length = strlen(header->text);
    struct safetensors result;

    int r = safetensors_parse(header->text, length, 8 + length + header->data_size, &result);
    ck_assert_msg(r == header->result, "%s: %d", header->text, r);
    ck_assert_msg(result.count == header->count, "%s: %zu tensors", header->text, result.count);
    if (header->problem)
        ck_assert_msg(result.problem && strstr(result.problem, header->problem), "%s: %s",
                      header->text, result.problem);
    else
        ck_assert_msg(!result.problem, "%s: %s", header->text, result.problem);
    safetensors_fini(&result);
}
END_TEST

START_TEST(tensors_are_in_order_of_place)
{
    static const char text[] = "{" TWO "," ONE "}";
    struct safetensors result;

    ck_assert_int_eq(safetensors_parse(text, strlen(text), 8 + strlen(text) + 16, &result), 0);
    ck_assert_int_eq(result.tensors[0].begin, 8 + strlen(text));
    ck_assert_int_eq(result.tensors[0].element_count, 6);
    ck_assert_str_eq(result.tensors[0].dtype, "BF16");
    ck_assert_int_eq(strncmp(result.tensors[0].shape, "[2,3]", result.tensors[0].shape_length), 0);
    ck_assert_int_eq(result.tensors[1].name[0], 'b');
    ck_assert_int_eq(result.tensors[1].end, 8 + strlen(text) + 16);
    safetensors_fini(&result);
}
END_TEST

/* Values that nest deeply are refused by a count, not by the stack. */
START_TEST(nesting_is_limited)
{
    static char text[100000];
    struct safetensors result;

    memset(text, '[', sizeof(text));
    memcpy(text, "{\"__metadata__\":", 16);
    ck_assert_int_eq(safetensors_parse(text, sizeof(text), sizeof(text) + 8, &result), -EBADMSG);
    ck_assert_ptr_nonnull(strstr(result.problem, "nested"));
}
END_TEST

START_TEST(header_size_is_checked)
{
    static const struct {
        uint8_t prefix[8];
        uint64_t file_size;
        int result;
    } cases[] = {
        {{2}, 10, 0},
        {{1}, 10, -EBADMSG},
        {{3}, 10, -EBADMSG},
        {{0, 225, 245, 5}, 1000000000, 0}, /* 100,000,000 */
        {{1, 225, 245, 5}, 1000000000, -EBADMSG},
        {{255, 255, 255, 255, 255, 255, 255, 255}, 1000, -EBADMSG},
    };
    uint64_t size;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_int_eq(safetensors_header_size(cases[i].prefix, cases[i].file_size, &size),
                         cases[i].result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("safetensors");
    TCase *c = unit_case(suite, "header");

    tcase_add_loop_test(c, header_is_judged, 0, sizeof(headers) / sizeof(headers[0]));
    tcase_add_test(c, tensors_are_in_order_of_place);
    tcase_add_test(c, nesting_is_limited);
    tcase_add_test(c, header_size_is_checked);
    return unit_run(suite);
}
