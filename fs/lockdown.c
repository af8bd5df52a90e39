#include "lockdown.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lockdown_filter.h"
#include "log.h"

/* Every right that the first version of Landlock knows; reading is given back beneath the packed
 * directory. */
#define ALL_RIGHTS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

static void not_available(atomic_flag *said, const char *what, int error)
{
    if (!atomic_flag_test_and_set(said))
        log_info("lockdown: %s not available: %s", what, strerror(error));
}

void lockdown_init(struct lockdown *lockdown, int packed_fd)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct landlock_ruleset_attr attributes = {.handled_access_fs = ALL_RIGHTS};
    struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE |
                                                                LANDLOCK_ACCESS_FS_READ_DIR,
                                              .parent_fd = packed_fd};
    int fd = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);

    lockdown->ruleset_fd = fd;
    if (fd < 0) {
        not_available(&said, "Landlock", errno);
        return;
    }
    if (syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0) {
        not_available(&said, "Landlock", errno);
        lockdown_fini(lockdown);
    }
}

void lockdown_fini(struct lockdown *lockdown)
{
    if (lockdown->ruleset_fd >= 0)
        close(lockdown->ruleset_fd);
    lockdown->ruleset_fd = -1;
}

/* A mount by root serves files of every owner; all else goes. */
static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    uint32_t keep = 1u << CAP_DAC_READ_SEARCH;

    if (syscall(SYS_capget, &header, data) < 0)
        return -errno;
    data[0].permitted &= keep;
    data[0].effective &= keep;
    data[0].inheritable = 0;
    data[1].permitted = data[1].effective = data[1].inheritable = 0;
    return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

void lockdown_thread(const struct lockdown *lockdown)
{
    static atomic_flag said[4] = {ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT,
                                  ATOMIC_FLAG_INIT};
    int r;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        not_available(&said[0], "no_new_privs", errno);
    r = drop_capabilities();
    if (r < 0)
        not_available(&said[1], "dropping capabilities", -r);
    if (lockdown->ruleset_fd >= 0 &&
        syscall(SYS_landlock_restrict_self, lockdown->ruleset_fd, 0) < 0)
        not_available(&said[2], "Landlock", errno);
    r = lockdown_filter_install();
    if (r < 0)
        not_available(&said[3], "seccomp", -r);
}
