/* sha256.h - SHA-256 of a stream. The only user of libcrypto. One thread at a time. */
#ifndef PACK_SHA256_H
#define PACK_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_TEXT_SIZE = 2 * SHA256_SIZE + 1 };

struct sha256;

/* Returns 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int sha256_new(struct sha256 **ret);
void sha256_free(struct sha256 *hash); /* NULL is allowed */

/* sha256_begin starts anew; each returns 0 or -EIO (libcrypto refused). */
__attribute__((warn_unused_result)) int sha256_begin(struct sha256 *hash);
__attribute__((warn_unused_result)) int sha256_update(struct sha256 *hash, const void *bytes,
                                                      size_t size);
__attribute__((warn_unused_result)) int sha256_end(struct sha256 *hash,
                                                   uint8_t ret_digest[SHA256_SIZE]);

/* The digest in lower-case hexadecimal, as sha256sum prints it. */
void sha256_to_text(const uint8_t digest[SHA256_SIZE], char ret_text[SHA256_TEXT_SIZE]);

#endif
