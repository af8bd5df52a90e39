/* stats.h - `trunkfs --stats`: the metrics of a mount, for a person. Called from main. */
#ifndef TRUNKFS_STATS_H
#define TRUNKFS_STATS_H

/* Print once, or with interval (seconds) above 0 until interrupted. Returns the exit status. */
__attribute__((warn_unused_result)) int stats_print(const char *mountpoint, double interval);

#endif
