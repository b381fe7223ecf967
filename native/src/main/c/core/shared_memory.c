#define _GNU_SOURCE
#include "sluice.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Newer than some C libraries. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* What fixes the size. */
#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

/* What fallocate is asked for at once: a signal undoes the whole of such a step. */
#define PREFAULT_STEP (INT64_C(64) << 20)

/*
 * What is mapped at once: meanwhile no other thread of the process can map or unmap anything. All at once, as MAP_POPULATE
 * does, gigabytes would hold the pollers up for seconds.
 */
#define POPULATE_STEP (INT64_C(8) << 20)

/* Gives a number of kB of /proc/meminfo in bytes, or -errno. */
static int64_t memory_fact(const char *format) {
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return -errno;
    }
    char line[128];
    int64_t kilobytes = -ENOSYS;
    while (kilobytes < 0 && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, format, &kilobytes) != 1) {
            kilobytes = -ENOSYS;
        }
    }
    fclose(file);
    return kilobytes < 0 ? kilobytes : kilobytes * 1024;
}

/*
 * Allocates all pages. The kernel rather ends a process than refuses it a small page, so it is asked for no more than
 * it says is available; huge pages it refuses.
 */
static int prefault_pages(int fd, int64_t bytes, bool huge_pages) {
    for (int64_t done = 0; done < bytes;) {
        int64_t available = huge_pages ? -ENOSYS : memory_fact("MemAvailable: %" SCNd64);
        if (available >= 0 && available < bytes - done) {
            return -ENOMEM;
        }
        int64_t step = bytes - done < PREFAULT_STEP ? bytes - done : PREFAULT_STEP;
        int result = sluice_result(fallocate(fd, 0, done, step));
        if (result == 0) {
            done += step;
        } else if (result != -EINTR) {
            return result;
        }
    }
    return 0;
}

int sluice_shared_memory_create(const char *name, size_t name_length, int64_t bytes, bool huge_pages, bool prefault) {
    if (name_length > SLUICE_SHARED_MEMORY_NAME_BYTES || bytes < 1) {
        return -EINVAL;
    }
    char text[SLUICE_SHARED_MEMORY_NAME_BYTES + 1];
    for (size_t i = 0; i < name_length; i++) {
        if (name[i] < ' ' || name[i] > '~') {
            return -EINVAL;
        }
        text[i] = name[i];
    }
    text[name_length] = '\0';

    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge_pages ? MFD_HUGETLB : 0);
    int fd = sluice_result(memfd_create(text, flags | MFD_NOEXEC_SEAL));
    if (fd == -EINVAL) {
        fd = sluice_result(memfd_create(text, flags));
    }
    if (fd < 0) {
        return fd;
    }
    int result;
    do {
        result = sluice_result(ftruncate(fd, bytes));
    } while (result == -EINTR);
    if (result == 0 && prefault) {
        result = prefault_pages(fd, bytes, huge_pages);
    }
    if (result < 0) {
        close(fd);
        return result;
    }
    return fd;
}

int sluice_shared_memory_seal(int fd, bool read_only) {
    return sluice_result(fcntl(fd, F_ADD_SEALS, SIZE_SEALS | F_SEAL_SEAL | (read_only ? F_SEAL_FUTURE_WRITE : 0)));
}

int sluice_shared_memory_check(int fd, int64_t bytes, bool huge_pages) {
    if (bytes < 1) {
        return -EINVAL;
    }
    int seals = sluice_result(fcntl(fd, F_GET_SEALS));
    if (seals == -EINVAL) {
        /* Not a file of a kind that has seals. */
        return -EPERM;
    }
    if (seals < 0) {
        return seals;
    }
    if ((seals & SIZE_SEALS) != SIZE_SEALS) {
        return -EPERM;
    }
    struct statfs system;
    int result;
    do {
        result = sluice_result(fstatfs(fd, &system));
    } while (result == -EINTR);
    if (result < 0) {
        return result;
    }
    if ((uint32_t)system.f_type == HUGETLBFS_MAGIC && !huge_pages) {
        return -EOPNOTSUPP;
    }
    /* After the seals were seen: the size that is there now stays. */
    struct stat file;
    result = sluice_result(fstat(fd, &file));
    if (result < 0) {
        return result;
    }
    return file.st_size == bytes ? 0 : -ERANGE;
}

/* An older kernel knows nothing of it: there the first access to each page, which is there, maps it. */
static void populate(char *address, int64_t bytes, bool writable) {
    int advice = writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    int result = 0;
    for (int64_t at = 0; at < bytes && result == 0; at += POPULATE_STEP) {
        int64_t step = bytes - at < POPULATE_STEP ? bytes - at : POPULATE_STEP;
        result = madvise(address + at, (size_t)step, advice);
    }
}

int64_t sluice_shared_memory_map(int fd, int64_t bytes, bool writable, bool prefault) {
    if (bytes < 1) {
        return -EINVAL;
    }
    int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    void *address = mmap(NULL, (size_t)bytes, protection, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
        return -(int64_t)errno;
    }
    if (prefault) {
        populate(address, bytes, writable);
    }
    return (int64_t)(intptr_t)address;
}

int64_t sluice_shared_memory_huge_page_size(void) {
    return memory_fact("Hugepagesize: %" SCNd64);
}
