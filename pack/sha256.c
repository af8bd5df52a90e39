/* sha256.c - through EVP, which picks the processor's SHA instructions. */
#include "sha256.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>

struct sha256 {
    EVP_MD_CTX *context;
};

int sha256_new(struct sha256 **ret)
{
    struct sha256 *hash = malloc(sizeof(*hash));
    if (!hash)
        return -ENOMEM;
    hash->context = EVP_MD_CTX_new();
    if (!hash->context) {
        free(hash);
        return -ENOMEM;
    }
    *ret = hash;
    return 0;
}

void sha256_free(struct sha256 *hash)
{
    if (!hash)
        return;
    EVP_MD_CTX_free(hash->context);
    free(hash);
}

int sha256_begin(struct sha256 *hash)
{
    return EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL) == 1 ? 0 : -EIO;
}

int sha256_update(struct sha256 *hash, const void *bytes, size_t size)
{
    return EVP_DigestUpdate(hash->context, bytes, size) == 1 ? 0 : -EIO;
}

int sha256_end(struct sha256 *hash, uint8_t ret_digest[SHA256_SIZE])
{
    return EVP_DigestFinal_ex(hash->context, ret_digest, NULL) == 1 ? 0 : -EIO;
}

void sha256_to_text(const uint8_t digest[SHA256_SIZE], char ret_text[SHA256_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < SHA256_SIZE; i++) {
        ret_text[2 * i] = digits[digest[i] >> 4];
        ret_text[2 * i + 1] = digits[digest[i] & 15];
    }
    ret_text[2 * SHA256_SIZE] = '\0';
}
