#define _GNU_SOURCE
#include "sluice.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Missing from older C libraries. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* The seals that fix the size. */
#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

/* The step of fallocate: a signal undoes the whole step. */
#define PREFAULT_STEP (INT64_C(64) << 20)

/*
 * The step of populating: meanwhile no other thread of the process can map or unmap memory. In a single step, as by
 * MAP_POPULATE, gigabytes would stall the pollers for seconds.
 */
#define POPULATE_STEP (INT64_C(8) << 20)

/* How often another thread may take the addresses found for a mapping. */
#define MAP_ATTEMPTS 100

/*
 * Allocates all pages. The kernel may kill a process rather than refuse it a small page, so it is asked for no more
 * than it and the control groups report as available. It does refuse huge pages.
 */
static int prefault_pages(int fd, int64_t bytes, bool huge_pages) {
    for (int64_t done = 0; done < bytes;) {
        int64_t available = huge_pages ? -ENOSYS : sluice_memory_available("");
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

/* Whether the file has huge pages: 1 or 0, or -errno. */
static int has_huge_pages(int fd) {
    struct statfs system;
    int result;
    do {
        result = sluice_result(fstatfs(fd, &system));
    } while (result == -EINTR);
    return result < 0 ? result : (uint32_t)system.f_type == HUGETLBFS_MAGIC;
}

int sluice_shared_memory_check(int fd, int64_t bytes, bool huge_pages) {
    if (bytes < 1) {
        return -EINVAL;
    }
    int seals = sluice_result(fcntl(fd, F_GET_SEALS));
    if (seals == -EINVAL) {
        /* The file is of a type without seals. */
        return -EPERM;
    }
    if (seals < 0) {
        return seals;
    }
    if ((seals & SIZE_SEALS) != SIZE_SEALS) {
        return -EPERM;
    }
    int huge = has_huge_pages(fd);
    if (huge < 0) {
        return huge;
    }
    if (huge && !huge_pages) {
        return -EOPNOTSUPP;
    }
    /* After the seals were checked: the size can no longer change. */
    struct stat file;
    int result = sluice_result(fstat(fd, &file));
    if (result < 0) {
        return result;
    }
    return file.st_size == bytes ? 0 : -ERANGE;
}

/* An older kernel lacks it: there the first access to each page maps it. */
static void populate(char *address, int64_t bytes, bool writable) {
    int advice = writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    int result = 0;
    for (int64_t at = 0; at < bytes && result == 0; at += POPULATE_STEP) {
        int64_t step = bytes - at < POPULATE_STEP ? bytes - at : POPULATE_STEP;
        result = madvise(address + at, (size_t)step, advice);
    }
}

static size_t round_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/*
 * Finds free aligned addresses for so many bytes, and maps an inaccessible page before and after them; returns NULL
 * with errno if there are none. Another thread may take the gap between the two meanwhile.
 */
static char *find_guarded_gap(size_t bytes, size_t alignment, size_t page) {
    size_t whole = bytes + 2 * page + (alignment - page);
    char *begin = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) {
        return NULL;
    }
    size_t before = round_up((uintptr_t)begin + page, alignment) - page - (uintptr_t)begin;
    size_t after = alignment - page - before;
    char *gap = begin + before + page;
    if (munmap(gap, bytes) < 0) {
        int error = errno;
        munmap(begin, whole);
        errno = error;
        return NULL;
    }
    if (before > 0) {
        munmap(begin, before);
    }
    if (after > 0) {
        munmap(gap + bytes + page, after);
    }
    return gap;
}

static void remove_guards(char *gap, size_t bytes, size_t page) {
    munmap(gap - page, page);
    munmap(gap + bytes, page);
}

/*
 * Maps between two guards of whole pages. The gap is not reserved while the file is mapped into it: a mapping that
 * fails to replace another may or may not have removed it, so the owner of the addresses would be unknown.
 */
static int64_t map_guarded(int fd, size_t bytes, int protection, size_t alignment, size_t page) {
    for (int attempt = 0; attempt < MAP_ATTEMPTS; attempt++) {
        char *gap = find_guarded_gap(bytes, alignment, page);
        if (gap == NULL) {
            return -(int64_t)errno;
        }
        char *address = mmap(gap, bytes, protection, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
        if (address == gap) {
            return (int64_t)(intptr_t)address;
        }
        int error = address == MAP_FAILED ? errno : EEXIST;
        if (address != MAP_FAILED) {
            /* A kernel that does not know the flag took the address as a hint. */
            munmap(address, bytes);
        }
        remove_guards(gap, bytes, page);
        if (error != EEXIST) {
            return -(int64_t)error;
        }
    }
    return -ENOMEM;
}

int64_t sluice_shared_memory_map(int fd, int64_t bytes, bool writable, bool prefault) {
    if (bytes < 1) {
        return -EINVAL;
    }
    struct stat file;
    int result = sluice_result(fstat(fd, &file));
    if (result < 0) {
        return result;
    }
    size_t page = (size_t)sluice_memory_page_size();
    /* Huge pages require aligned addresses, and alignment lets the kernel use transparent huge pages. */
    size_t alignment = (size_t)file.st_blksize;
    if (alignment < page || (alignment & (alignment - 1)) != 0) {
        alignment = page;
    }
    if (has_huge_pages(fd) == 1 && (size_t)bytes % alignment != 0) {
        /* The kernel would round the length up and map over the guard. */
        return -EINVAL;
    }
    if ((uint64_t)bytes > (uint64_t)INT64_MAX - 2 * (uint64_t)alignment - 2 * (uint64_t)page) {
        return -ENOMEM;
    }
    int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    int64_t address = map_guarded(fd, round_up((size_t)bytes, page), protection, alignment, page);
    if (address > 0 && prefault) {
        populate((char *)(intptr_t)address, bytes, writable);
    }
    return address;
}

int sluice_shared_memory_unmap(void *address, int64_t bytes) {
    size_t page = (size_t)sluice_memory_page_size();
    if (bytes < 1 || (uintptr_t)address < page || (uintptr_t)address % page != 0
            || (uint64_t)bytes > (uint64_t)INT64_MAX - 2 * (uint64_t)page) {
        return -EINVAL;
    }
    return sluice_result(munmap((char *)address - page, round_up((size_t)bytes, page) + 2 * page));
}

int64_t sluice_shared_memory_huge_page_size(void) {
    return sluice_memory_information("", "Hugepagesize:");
}
