/* rans_expand.c - the table of rans_expand.h, spelled by the preprocessor: a row a mask. */
#include "rans_expand.h"

#define BIT(m, i)         ((m) >> (i)&1)
#define BELOW_1(m)        BIT(m, 0)
#define BELOW_2(m)        (BELOW_1(m) + BIT(m, 1))
#define BELOW_3(m)        (BELOW_2(m) + BIT(m, 2))
#define BELOW_4(m)        (BELOW_3(m) + BIT(m, 3))
#define BELOW_5(m)        (BELOW_4(m) + BIT(m, 4))
#define BELOW_6(m)        (BELOW_5(m) + BIT(m, 5))
#define BELOW_7(m)        (BELOW_6(m) + BIT(m, 6))
#define LANE(m, i, below) (BIT(m, i) ? (below) : 0x80)
#define ROW(m)                                                                                     \
    {                                                                                              \
        LANE(m, 0, 0), LANE(m, 1, BELOW_1(m)), LANE(m, 2, BELOW_2(m)), LANE(m, 3, BELOW_3(m)),     \
            LANE(m, 4, BELOW_4(m)), LANE(m, 5, BELOW_5(m)), LANE(m, 6, BELOW_6(m)),                \
            LANE(m, 7, BELOW_7(m))                                                                 \
    }
#define ROWS_4(m)  ROW(m), ROW((m) + 1), ROW((m) + 2), ROW((m) + 3)
#define ROWS_16(m) ROWS_4(m), ROWS_4((m) + 4), ROWS_4((m) + 8), ROWS_4((m) + 12)
#define ROWS_64(m) ROWS_16(m), ROWS_16((m) + 16), ROWS_16((m) + 32), ROWS_16((m) + 48)

const uint8_t rans_expand[256][8] = {ROWS_64(0), ROWS_64(64), ROWS_64(128), ROWS_64(192)};
