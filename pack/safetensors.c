/* safetensors.c - one pass over the JSON of a header. */
#include "safetensors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

enum { NESTING_MAX = 64 }; /* of values that are skipped */

struct parser {
    const char *at;
    const char *end;
    struct safetensors *result;
    size_t capacity;
    uint64_t data_start;
};

static int refuse(struct parser *p, const char *problem)
{
    p->result->problem = problem;
    return -EBADMSG;
}

/* A rule is broken, but the list is still worth having. */
static void note(struct safetensors *result, const char *problem)
{
    if (!result->problem)
        result->problem = problem;
}

static void skip_space(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static bool take(struct parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

/* The bytes between two quotes. */
static int take_string(struct parser *p, const char **ret, size_t *ret_length)
{
    if (!take(p, '"'))
        return refuse(p, "the header is no valid JSON (a string is missing)");
    *ret = p->at;
    while (p->at < p->end && *p->at != '"') {
        if ((unsigned char)*p->at < 0x20)
            return refuse(p, "the header is no valid JSON (a control character)");
        p->at += *p->at == '\\' && p->end - p->at > 1 ? 2 : 1;
    }
    if (p->at >= p->end)
        return refuse(p, "the header is no valid JSON (a string does not end)");
    *ret_length = (size_t)(p->at - *ret);
    p->at++;
    return 0;
}

static int take_number(struct parser *p, uint64_t *ret)
{
    const char *start;

    skip_space(p);
    start = p->at;
    *ret = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(*ret, (uint64_t)10, ret) ||
            __builtin_add_overflow(*ret, (uint64_t)(*p->at - '0'), ret))
            return refuse(p, "a number in the header is too large");
    return p->at == start ? refuse(p, "the header has something else where a number belongs") : 0;
}

/* A value of any kind that does not matter. */
static int skip_value(struct parser *p)
{
    unsigned depth = 0;
    const char *string;
    size_t length;

    do {
        skip_space(p);
        if (p->at == p->end)
            return refuse(p, "the header is no valid JSON (it ends in a value)");
        char c = *p->at;
        if (c == '"') {
            int r = take_string(p, &string, &length);
            if (r < 0)
                return r;
            continue;
        }
        p->at++;
        if (c == '{' || c == '[') {
            if (++depth > NESTING_MAX)
                return refuse(p, "the header is nested too deeply");
        } else if (c == '}' || c == ']') {
            if (depth-- == 0)
                return refuse(p, "the header is no valid JSON (a value is missing)");
        } else if (depth == 0) {
            while (p->at < p->end && !strchr(",}] \t\r\n", *p->at))
                p->at++;
        }
    } while (depth > 0);
    return 0;
}

static int take_shape(struct parser *p, struct safetensors_tensor *tensor)
{
    int r = 0;

    skip_space(p);
    tensor->shape = p->at;
    tensor->element_count = 1;
    if (!take(p, '['))
        return refuse(p, "a tensor's shape is no list");
    if (!take(p, ']')) {
        unsigned rank = 0;
        do {
            uint64_t extent;
            r = take_number(p, &extent);
            if (r < 0)
                return r;
            if (++rank > SAFETENSORS_RANK_MAX)
                return refuse(p, "a tensor has too many dimensions");
            if (__builtin_mul_overflow(tensor->element_count, extent, &tensor->element_count))
                return refuse(p, "a tensor has too many elements");
        } while (take(p, ','));
        if (!take(p, ']'))
            return refuse(p, "a tensor's shape does not end");
    }
    tensor->shape_length = (size_t)(p->at - tensor->shape);
    return 0;
}

static int take_offsets(struct parser *p, struct safetensors_tensor *tensor)
{
    int r;

    if (!take(p, '['))
        return refuse(p, "a tensor's data_offsets are no list");
    r = take_number(p, &tensor->begin);
    if (r < 0)
        return r;
    if (!take(p, ','))
        return refuse(p, "a tensor's data_offsets are not two");
    r = take_number(p, &tensor->end);
    if (r < 0)
        return r;
    if (!take(p, ']'))
        return refuse(p, "a tensor's data_offsets are not two");
    if (__builtin_add_overflow(tensor->begin, p->data_start, &tensor->begin) ||
        __builtin_add_overflow(tensor->end, p->data_start, &tensor->end) ||
        tensor->begin > tensor->end)
        return refuse(p, "a tensor's data_offsets are impossible");
    return 0;
}

static int take_dtype(struct parser *p, struct safetensors_tensor *tensor)
{
    const char *text;
    size_t length;

    int r = take_string(p, &text, &length);
    if (r < 0)
        return r;
    if (length >= SAFETENSORS_DTYPE_SIZE)
        return refuse(p, "a tensor's dtype is too long");
    memcpy(tensor->dtype, text, length);
    tensor->dtype[length] = '\0';
    return 0;
}

static bool is_key(const char *key, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(key, wanted, length) == 0;
}

enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_OFFSETS = 4, HAS_ALL = 7 };

/* "key": value of one tensor's object. */
static int take_member(struct parser *p, struct safetensors_tensor *tensor, unsigned *has)
{
    const char *key;
    size_t length;

    int r = take_string(p, &key, &length);
    if (r < 0)
        return r;
    if (!take(p, ':'))
        return refuse(p, "the header is no valid JSON (a colon is missing)");
    if (is_key(key, length, "dtype")) {
        *has |= HAS_DTYPE;
        return take_dtype(p, tensor);
    }
    if (is_key(key, length, "shape")) {
        *has |= HAS_SHAPE;
        return take_shape(p, tensor);
    }
    if (is_key(key, length, "data_offsets")) {
        *has |= HAS_OFFSETS;
        return take_offsets(p, tensor);
    }
    return skip_value(p);
}

static int add_tensor(struct parser *p, const struct safetensors_tensor *tensor)
{
    struct safetensors *result = p->result;

    if (result->count == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 256;
        struct safetensors_tensor *grown = reallocarray(result->tensors, capacity, sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        result->tensors = grown;
        p->capacity = capacity;
    }
    result->tensors[result->count++] = *tensor;
    return 0;
}

static int take_tensor(struct parser *p, const char *name, size_t name_length)
{
    struct safetensors_tensor tensor = {.name = name, .name_length = name_length};
    unsigned has = 0;

    if (!take(p, '{'))
        return refuse(p, "a tensor's entry is no object");
    if (!take(p, '}')) {
        do {
            int r = take_member(p, &tensor, &has);
            if (r < 0)
                return r;
        } while (take(p, ','));
        if (!take(p, '}'))
            return refuse(p, "a tensor's entry does not end");
    }
    if (has != HAS_ALL)
        return refuse(p, "a tensor's entry lacks dtype, shape or data_offsets");
    return add_tensor(p, &tensor);
}

static int take_all(struct parser *p)
{
    if (!take(p, '{'))
        return refuse(p, "the header is no JSON object");
    if (!take(p, '}')) {
        do {
            const char *name;
            size_t length;
            int r = take_string(p, &name, &length);
            if (r < 0)
                return r;
            if (!take(p, ':'))
                return refuse(p, "the header is no valid JSON (a colon is missing)");
            r = is_key(name, length, "__metadata__") ? skip_value(p) : take_tensor(p, name, length);
            if (r < 0)
                return r;
        } while (take(p, ','));
        if (!take(p, '}'))
            return refuse(p, "the header is no valid JSON (it does not end)");
    }
    skip_space(p);
    return p->at == p->end ? 0 : refuse(p, "the header has something behind its JSON object");
}

/* Bits of an element; 0 for a type that this build does not know. */
static unsigned dtype_bits(const char *dtype)
{
    static const struct {
        const char *name;
        unsigned bits;
    } known[] = {
        {"BOOL", 8},    {"U8", 8},   {"I8", 8},   {"F8_E4M3", 8}, {"F8_E5M2", 8},
        {"F8_E8M0", 8}, {"U16", 16}, {"I16", 16}, {"F16", 16},    {"BF16", 16},
        {"U32", 32},    {"I32", 32}, {"F32", 32}, {"U64", 64},    {"I64", 64},
        {"F64", 64},    {"C64", 64}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(dtype, known[i].name) == 0)
            return known[i].bits;
    return 0;
}

static int compare_begin(const void *a, const void *b)
{
    const struct safetensors_tensor *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int compare_name(const void *a, const void *b)
{
    const struct safetensors_tensor *x = *(const struct safetensors_tensor *const *)a;
    const struct safetensors_tensor *y = *(const struct safetensors_tensor *const *)b;
    size_t length = x->name_length < y->name_length ? x->name_length : y->name_length;
    int order = memcmp(x->name, y->name, length);

    return order ? order : (x->name_length > y->name_length) - (x->name_length < y->name_length);
}

static int check_names(struct safetensors *result)
{
    const struct safetensors_tensor **sorted = calloc(result->count + 1, sizeof(*sorted));

    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < result->count; i++)
        sorted[i] = &result->tensors[i];
    qsort(sorted, result->count, sizeof(*sorted), compare_name);
    for (size_t i = 1; i < result->count; i++)
        if (compare_name(&sorted[i - 1], &sorted[i]) == 0)
            note(result, "a tensor's name is there twice");
    free(sorted);
    return 0;
}

/* The rules that a reader need not know to read a tensor. */
static void check_layout(struct safetensors *result, uint64_t data_start, uint64_t file_size)
{
    uint64_t expected = data_start;

    if (result->count > 1)
        qsort(result->tensors, result->count, sizeof(*result->tensors), compare_begin);
    for (size_t i = 0; i < result->count; i++) {
        const struct safetensors_tensor *tensor = &result->tensors[i];
        unsigned bits = dtype_bits(tensor->dtype);
        uint64_t total_bits;

        if (tensor->begin != expected)
            note(result,
                 tensor->begin < expected ? "tensors overlap" : "there is a hole between tensors");
        if (tensor->end > expected)
            expected = tensor->end;
        if (bits && (__builtin_mul_overflow(tensor->element_count, (uint64_t)bits, &total_bits) ||
                     total_bits / 8 != tensor->end - tensor->begin || total_bits % 8))
            note(result, "a tensor's length does not fit its shape and dtype");
    }
    if (expected > file_size)
        note(result, "the file ends before its tensors do");
    else if (expected < file_size)
        note(result, "the file goes on behind its tensors");
}

int safetensors_header_size(const uint8_t prefix[SAFETENSORS_PREFIX_SIZE], uint64_t file_size,
                            uint64_t *ret_size)
{
    *ret_size = get_le64(prefix);
    if (*ret_size < 2 || *ret_size > SAFETENSORS_HEADER_MAX ||
        !range_within(SAFETENSORS_PREFIX_SIZE, *ret_size, file_size))
        return -EBADMSG;
    return 0;
}

int safetensors_parse(const char *header, size_t header_size, uint64_t file_size,
                      struct safetensors *ret)
{
    struct parser p = {
        .at = header,
        .end = header + header_size,
        .result = ret,
        .data_start = SAFETENSORS_PREFIX_SIZE + (uint64_t)header_size,
    };

    *ret = (struct safetensors){0};
    int r = take_all(&p);
    if (r == 0) {
        check_layout(ret, p.data_start, file_size);
        r = check_names(ret);
    }
    if (r < 0) {
        const char *problem = ret->problem;
        safetensors_fini(ret);
        ret->problem = problem;
    }
    return r;
}

void safetensors_fini(struct safetensors *safetensors)
{
    free(safetensors->tensors);
    *safetensors = (struct safetensors){0};
}
