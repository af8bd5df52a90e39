/* unit.h - what every Check program of the tests shares: main's body and how it reports.
 *
 * Results go to standard output as TAP, so that meson counts each case. Cases run in
 * forked children (CK_FORK=no to debug one), so that a crash fails that case alone.
 */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <check.h>

/* Run suite and free it. Returns main's exit status. */
int unit_run(Suite *suite);

/* A new test case inside suite, with a generous limit against hangs (never a speed test). */
TCase *unit_case(Suite *suite, const char *name);

#endif
