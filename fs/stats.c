#include "stats.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tree.h"

enum { SAMPLES_MAX = 128, NAME_ROOM = 80 };

struct sample {
    char name[NAME_ROOM];
    double value;
};

struct samples {
    struct sample list[SAMPLES_MAX];
    unsigned count;
};

static int samples_read(const char *mountpoint, struct samples *ret)
{
    char path[PATH_MAX], line[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s/%s", mountpoint, TREE_STATS_DIRECTORY, TREE_METRICS);
    file = fopen(path, "re");
    if (!file) {
        fprintf(stderr, "trunkfs: %s: %s: is trunkfs mounted there?\n", path, strerror(errno));
        return -1;
    }
    ret->count = 0;
    while (ret->count < SAMPLES_MAX && fgets(line, sizeof(line), file)) {
        struct sample *sample = &ret->list[ret->count];
        if (line[0] != '#' && sscanf(line, "trunkfs_%79s %lf", sample->name, &sample->value) == 2)
            ret->count++;
    }
    fclose(file);
    return 0;
}

static double value_of(const struct samples *samples, const char *name)
{
    for (unsigned i = 0; i < samples->count; i++) {
        if (!strcmp(samples->list[i].name, name))
            return samples->list[i].value;
    }
    return 0;
}

/* The latency that this share of reads stays below, in microseconds; 0 if there were none. */
static double latency(const struct samples *samples, double share)
{
    static const char prefix[] = "read_latency_seconds_bucket{le=\"";
    double total = value_of(samples, "read_latency_seconds_count");

    for (unsigned i = 0; i < samples->count; i++) {
        const struct sample *sample = &samples->list[i];
        if (total > 0 && !strncmp(sample->name, prefix, sizeof(prefix) - 1) &&
            sample->value >= share * total)
            return strtod(sample->name + sizeof(prefix) - 1, NULL) * 1e6;
    }
    return 0;
}

static void print_once(const struct samples *now)
{
    double served = value_of(now, "bytes_served_total");
    double fetched = value_of(now, "bytes_fetched_total");
    double issued = value_of(now, "prefetch_issued_bytes_total");
    double used = value_of(now, "memory_frames_bytes") + value_of(now, "memory_packed_bytes") +
                  value_of(now, "memory_index_bytes");

    printf("reads       %.0f, %.3f GB served, 50%% within %.0f us, 99%% within %.0f us\n",
           value_of(now, "requests_total{op=\"read\"}"), served / 1e9, latency(now, 0.5),
           latency(now, 0.99));
    printf("fetched     %.3f GB in %.0f reads, %.3f of what was served\n", fetched / 1e9,
           value_of(now, "fetches_total"), served > 0 ? fetched / served : 0);
    printf("frames      %.0f decoded, %.0f found decoded, %.0f found on their way\n",
           value_of(now, "frames_decoded_total"), value_of(now, "cache_hits_total"),
           value_of(now, "cache_joins_total"));
    printf("read ahead  %.3f GB, %.3f GB used, %.3f GB dropped\n", issued / 1e9,
           value_of(now, "prefetch_used_bytes_total") / 1e9,
           value_of(now, "prefetch_wasted_bytes_total") / 1e9);
    printf("memory      %.1f of %.0f MiB, %.0f files open, %.0f reads in flight\n",
           used / (1 << 20), value_of(now, "memory_budget_bytes") / (1 << 20),
           value_of(now, "open_files"), value_of(now, "requests_in_flight"));
    printf("errors      %.0f corrupt frames, %.0f failed reads, %.0f refused files\n",
           value_of(now, "errors_corrupt_total"), value_of(now, "errors_io_total"),
           value_of(now, "errors_file_total"));
}

static void print_interval(const struct samples *before, const struct samples *now, double seconds)
{
    static const char *const rates[] = {"bytes_served_total", "bytes_fetched_total"};
    double mb[2];

    for (unsigned i = 0; i < 2; i++)
        mb[i] = (value_of(now, rates[i]) - value_of(before, rates[i])) / seconds / 1e6;
    printf("%9.1f %9.1f %9.0f %9.0f %9.0f %8.1f\n", mb[0], mb[1],
           (value_of(now, "requests_total{op=\"read\"}") -
            value_of(before, "requests_total{op=\"read\"}")) /
               seconds,
           (value_of(now, "frames_decoded_total") - value_of(before, "frames_decoded_total")) /
               seconds,
           value_of(now, "requests_in_flight"),
           (value_of(now, "memory_frames_bytes") + value_of(now, "memory_packed_bytes") +
            value_of(now, "memory_index_bytes")) /
               (1 << 20));
    fflush(stdout);
}

int stats_print(const char *mountpoint, double interval)
{
    static struct samples samples[2];
    struct timespec pause = {.tv_sec = (time_t)interval,
                             .tv_nsec = (long)((interval - (double)(time_t)interval) * 1e9)};

    if (samples_read(mountpoint, &samples[0]) < 0)
        return 1;
    if (interval <= 0) {
        print_once(&samples[0]);
        return 0;
    }
    printf("served MB/s fetched   reads/s  frames/s in flight  MiB used\n");
    for (unsigned i = 1;; i ^= 1) {
        nanosleep(&pause, NULL);
        if (samples_read(mountpoint, &samples[i]) < 0)
            return 1;
        print_interval(&samples[i ^ 1], &samples[i], interval);
    }
}
