/* rans_expand.h - byte shuffles that deal bytes to lanes, for instruction sets without an
 * expand instruction. */
#ifndef TRUNK_RANS_EXPAND_H
#define TRUNK_RANS_EXPAND_H

#include <stdint.h>

/* rans_expand[mask][i]: where bit i of mask is set, how many bits are set below it;
 * elsewhere 0x80, which shuffles give 0 for. */
extern const uint8_t rans_expand[256][8];

#endif
