#include "unit.h"

#include <stdlib.h>

/* Sanitised builds on a loaded machine are slow; this only ends what hangs. */
enum { HANG_LIMIT_SECONDS = 240 };

TCase *unit_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, HANG_LIMIT_SECONDS);
    suite_add_tcase(suite, tcase);
    return tcase;
}

int unit_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
