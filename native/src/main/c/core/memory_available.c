#define _GNU_SOURCE
#include "sluice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Size of a path: a mount point, a group's path below it, and the parts before and after them. */
#define PATH_BYTES 8192

/* The files of one control group version; the names in memory.stat end with a space. */
struct version {
    const char *file_system;
    const char *limit;
    const char *usage;
    /* The memory of the group and its descendants that the kernel reclaims when the group needs room. */
    const char *reclaimable[3];
};

static const struct version VERSION_1 = {
    "cgroup", "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_active_file ", "total_inactive_file "}};
static const struct version VERSION_2 = {
    "cgroup2", "memory.max", "memory.current", {"active_file ", "inactive_file ", "slab_reclaimable "}};

static FILE *open_text(const char *root, const char *folder, const char *name) {
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return fopen(path, "re");
}

/* Returns the number after a prefix at the start of a line, or -1 if there is none, such as for "max". */
static int64_t number_in(const char *root, const char *folder, const char *name, const char *prefix) {
    FILE *file = open_text(root, folder, name);
    if (file == NULL) {
        return -1;
    }
    char line[256];
    int64_t number = -1;
    size_t skipped = strlen(prefix);
    while (number < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, prefix, skipped) == 0 && sscanf(line + skipped, "%" SCNd64, &number) != 1) {
            number = -1;
        }
    }
    fclose(file);
    return number;
}

int64_t sluice_memory_information(const char *root, const char *name) {
    int64_t kilobytes = number_in(root, "/proc", "meminfo", name);
    return kilobytes < 0 || kilobytes > INT64_MAX / 1024 ? -ENOSYS : kilobytes * 1024;
}

/* Returns how much memory a group leaves to its processes; INT64_MAX without a limit or report. */
static int64_t left_by_group(const char *root, const char *folder, const struct version *version) {
    int64_t limit = number_in(root, folder, version->limit, "");
    int64_t usage = number_in(root, folder, version->usage, "");
    if (limit < 0 || usage < 0) {
        return INT64_MAX;
    }
    int64_t kept = usage;
    for (int i = 0; i < 3 && version->reclaimable[i] != NULL; i++) {
        int64_t part = number_in(root, folder, "memory.stat", version->reclaimable[i]);
        kept -= part < 0 ? 0 : part < kept ? part : kept;
    }
    return kept < limit ? limit - kept : 0;
}

/* Whether a comma-separated list contains a word. */
static bool lists(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Returns this process's group in a version, which the caller frees, or NULL if there is none. */
static char *group_of_process(const char *root, const struct version *version) {
    FILE *file = open_text(root, "/proc/self", "cgroup");
    if (file == NULL) {
        return NULL;
    }
    char *line = NULL;
    size_t size = 0;
    char *group = NULL;
    while (group == NULL && getline(&line, &size, file) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        /* hierarchy:controllers:path; version 2 has no controllers */
        char *controllers = strchr(line, ':');
        char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (path == NULL) {
            continue;
        }
        *path++ = '\0';
        controllers++;
        if (version == &VERSION_2 ? *controllers == '\0' : lists(controllers, "memory")) {
            group = strdup(path);
        }
    }
    free(line);
    fclose(file);
    return group;
}

/* /proc/self/mountinfo escapes spaces and the like as three octal digits. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' && from[3] >= '0'
                && from[3] <= '7') {
            *to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 3;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/*
 * Returns the path of a group below the mount point of a hierarchy mounted from `top` on: "" for the mount point
 * itself; NULL if the group is not below it.
 */
static const char *below_mount(const char *group, const char *top) {
    size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    if (strcmp(group, "/") == 0 || (strncmp(top, "/..", 3) == 0 && top[strspn(top, "/.")] == '\0')) {
        /* A namespace hides the rest: what is mounted is this group or an ancestor. */
        return "";
    }
    if (strncmp(group, top, length) != 0 || (group[length] != '/' && group[length] != '\0')
            || strstr(group + length, "/..") != NULL) {
        return NULL;
    }
    return group + length;
}

/* The least that the groups from one up to the mount point leave. */
static int64_t left_below(const char *root, const char *mount, const char *below, const struct version *version) {
    char folder[PATH_BYTES];
    int length = snprintf(folder, sizeof folder, "%s%s", mount, below);
    if (length < 0 || (size_t)length >= sizeof folder) {
        return INT64_MAX;
    }
    int64_t least = INT64_MAX;
    while (true) {
        int64_t left = left_by_group(root, folder, version);
        least = left < least ? left : least;
        char *last = strrchr(folder, '/');
        if (last == NULL || (size_t)(last - folder) < strlen(mount)) {
            return least;
        }
        *last = '\0';
    }
}

static int64_t left_by_version(const char *root, const struct version *version) {
    char *group = group_of_process(root, version);
    FILE *file = group == NULL ? NULL : open_text(root, "/proc/self", "mountinfo");
    if (file == NULL) {
        free(group);
        return INT64_MAX;
    }
    char *line = NULL;
    size_t size = 0;
    int64_t least = INT64_MAX;
    while (getline(&line, &size, file) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        /* id parent device top mount options... - file_system source options */
        char *separator = strstr(line, " - ");
        if (separator == NULL) {
            continue;
        }
        *separator = '\0';
        char *rest = separator + 3;
        const char *file_system = strsep(&rest, " ");
        strsep(&rest, " ");
        if (strcmp(file_system, version->file_system) != 0
                || (version == &VERSION_1 && (rest == NULL || !lists(rest, "memory")))) {
            continue;
        }
        char *fields = line;
        for (int i = 0; i < 3; i++) {
            strsep(&fields, " ");
        }
        char *top = strsep(&fields, " ");
        char *mount = strsep(&fields, " ");
        if (top == NULL || mount == NULL) {
            continue;
        }
        unescape(top);
        unescape(mount);
        const char *below = below_mount(group, top);
        if (below != NULL) {
            int64_t left = left_below(root, mount, below, version);
            least = left < least ? left : least;
        }
    }
    free(line);
    fclose(file);
    free(group);
    return least;
}

int64_t sluice_memory_available(const char *root) {
    int64_t machine = sluice_memory_information(root, "MemAvailable:");
    int64_t least = machine < 0 ? INT64_MAX : machine;
    const struct version *versions[] = {&VERSION_1, &VERSION_2};
    for (int i = 0; i < 2; i++) {
        int64_t left = left_by_version(root, versions[i]);
        least = left < least ? left : least;
    }
    return least == INT64_MAX ? -ENOSYS : least;
}
