#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES (INT64_C(3) << 20)
#define NAME "sluice test"

static int create(int64_t bytes, bool huge_pages, bool prefault) {
    return sluice_shared_memory_create(NAME, strlen(NAME), bytes, huge_pages, prefault);
}

static void check_created(bool prefault) {
    int fd = create(BYTES, false, prefault);
    CHECK(fd >= 0);
    struct stat file;
    CHECK_SAME(fstat(fd, &file), 0);
    CHECK_SAME(file.st_size, BYTES);
    CHECK(prefault ? file.st_blocks * 512 >= BYTES : file.st_blocks == 0);
    CHECK_SAME(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);

    int64_t writable = sluice_shared_memory_map(fd, BYTES, true, prefault);
    int64_t readable = sluice_shared_memory_map(fd, BYTES, false, prefault);
    CHECK(writable > 0 && readable > 0);
    uint8_t *written = (uint8_t *)writable;
    uint8_t *seen = (uint8_t *)readable;
    CHECK_SAME(seen[0] | seen[BYTES - 1], 0);
    written[BYTES - 1] = 7;
    CHECK_SAME(seen[BYTES - 1], 7);

    CHECK_SAME(sluice_shared_memory_seal(fd, true), 0);
    CHECK_SAME(sluice_shared_memory_seal(fd, true), -EPERM);
    CHECK_SAME(ftruncate(fd, BYTES - 1), -1);
    CHECK_SAME(ftruncate(fd, BYTES + 1), -1);
    CHECK_SAME(write(fd, "x", 1), -1);
    CHECK_SAME(sluice_shared_memory_check(fd, BYTES, false), 0);
    CHECK_SAME(sluice_shared_memory_map(fd, BYTES, true, prefault), -EPERM);
    written[0] = 8;
    CHECK_SAME(seen[0], 8);
    CHECK_SAME(sluice_shared_memory_unmap(written, BYTES), 0);
    CHECK_SAME(sluice_shared_memory_unmap(seen, BYTES), 0);
    CHECK_SAME(sluice_socket_close(fd), 0);
}

static void check_creation_errors(void) {
    char name[SLUICE_SHARED_MEMORY_NAME_BYTES + 1];
    memset(name, 'n', sizeof name);
    CHECK_SAME(sluice_shared_memory_create(name, sizeof name, BYTES, false, false), -EINVAL);
    int fd = sluice_shared_memory_create(name, sizeof name - 1, BYTES, false, false);
    CHECK(fd >= 0);
    CHECK_SAME(sluice_socket_close(fd), 0);
    const char bad[] = {'\0', '\n', '\x7f', '\x80'};
    for (int i = 0; i < 4; i++) {
        CHECK_SAME(sluice_shared_memory_create(&bad[i], 1, BYTES, false, false), -EINVAL);
    }
    CHECK_SAME(create(0, false, false), -EINVAL);
    CHECK_SAME(create(-1, false, true), -EINVAL);
    /* More than any machine has; the pages are found missing before the last of those that there are is taken. */
    CHECK_SAME(create(INT64_C(1) << 55, false, true), -ENOMEM);
}

static void check_huge_pages(void) {
    int64_t page = sluice_shared_memory_huge_page_size();
    if (page == -ENOSYS) {
        puts("skipped: this kernel has no huge pages");
        return;
    }
    CHECK(page > sluice_memory_page_size() && (page & (page - 1)) == 0);
    int fd = create(page, true, false);
    CHECK(fd >= 0);
    CHECK_SAME(create(page + 1, true, false), -EINVAL);
    CHECK_SAME(sluice_shared_memory_check(fd, page, true), -EPERM);
    CHECK_SAME(sluice_shared_memory_seal(fd, false), 0);
    CHECK_SAME(sluice_shared_memory_check(fd, page, true), 0);
    CHECK_SAME(sluice_shared_memory_check(fd, page, false), -EOPNOTSUPP);
    CHECK_SAME(sluice_shared_memory_check(fd, 2 * page, true), -ERANGE);
    CHECK_SAME(sluice_socket_close(fd), 0);

    /* More than any machine has. */
    CHECK_SAME(create(INT64_C(1) << 50, true, true), -ENOSPC);
    fd = create(page, true, true);
    if (fd == -ENOSPC) {
        puts("skipped: this machine has set no huge pages aside");
        return;
    }
    CHECK(fd >= 0);
    int64_t address = sluice_shared_memory_map(fd, page, true, true);
    CHECK(address > 0 && address % page == 0);
    memset((void *)address, 1, (size_t)page);
    CHECK_SAME(sluice_shared_memory_unmap((void *)address, page), 0);
    CHECK_SAME(sluice_socket_close(fd), 0);
}

static void check_refused(int fd, int expected) {
    CHECK(fd >= 0);
    CHECK_SAME(sluice_shared_memory_check(fd, BYTES, true), expected);
    CHECK_SAME(sluice_socket_close(fd), 0);
}

static int memory(unsigned flags, int64_t bytes, int seals) {
    int fd = memfd_create("peer's", flags);
    CHECK(fd >= 0);
    CHECK_SAME(ftruncate(fd, bytes), 0);
    CHECK_SAME(seals == 0 ? 0 : fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void check_what_a_peer_may_send(void) {
    int size = F_SEAL_SHRINK | F_SEAL_GROW;
    check_refused(memory(MFD_ALLOW_SEALING, BYTES, size), 0);
    check_refused(memory(MFD_ALLOW_SEALING, BYTES, size | F_SEAL_SEAL | F_SEAL_WRITE), 0);
    check_refused(memory(MFD_ALLOW_SEALING, BYTES, 0), -EPERM);
    check_refused(memory(MFD_ALLOW_SEALING, BYTES, F_SEAL_SHRINK), -EPERM);
    check_refused(memory(MFD_ALLOW_SEALING, BYTES, F_SEAL_GROW | F_SEAL_SEAL), -EPERM);
    check_refused(memory(0, BYTES, 0), -EPERM);
    check_refused(memory(MFD_ALLOW_SEALING, BYTES - 1, size), -ERANGE);
    check_refused(memory(MFD_ALLOW_SEALING, BYTES + 1, size), -ERANGE);
    check_refused(memory(MFD_ALLOW_SEALING, 0, size), -ERANGE);

    char path[] = "/tmp/sluice-XXXXXX";
    int file = mkstemp(path);
    CHECK_SAME(unlink(path), 0);
    CHECK_SAME(ftruncate(file, BYTES), 0);
    CHECK_SAME(sluice_shared_memory_seal(file, false) < 0, true);
    check_refused(file, -EPERM);
    int ends[2];
    CHECK_SAME(pipe2(ends, O_CLOEXEC), 0);
    CHECK_SAME(sluice_shared_memory_seal(ends[1], false), -EINVAL);
    check_refused(ends[0], -EPERM);
    check_refused(ends[1], -EPERM);
    check_refused(sluice_event_create(), -EPERM);
    check_refused(open("/dev/zero", O_RDWR | O_CLOEXEC), -EPERM);
    check_refused(open("/tmp", O_RDONLY | O_CLOEXEC), -EPERM);
    CHECK_SAME(sluice_shared_memory_check(-1, BYTES, true), -EBADF);
    CHECK_SAME(sluice_shared_memory_check(-1, 0, true), -EINVAL);
}

/* A descriptor that came from the owner of read-only memory may be opened again, but gives no right to write. */
static void check_opened_again(void) {
    int fd = create(BYTES, false, false);
    CHECK_SAME(sluice_shared_memory_seal(fd, true), 0);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_RDWR | O_CLOEXEC);
    CHECK(again >= 0);
    CHECK_SAME(sluice_shared_memory_map(again, BYTES, true, false), -EPERM);
    int64_t address = sluice_shared_memory_map(again, BYTES, false, false);
    CHECK(address > 0);
    CHECK_SAME(mprotect((void *)address, BYTES, PROT_READ | PROT_WRITE), -1);
    CHECK_SAME(fallocate(again, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BYTES), -1);
    CHECK_SAME(sluice_shared_memory_unmap((void *)address, BYTES), 0);
    CHECK_SAME(sluice_socket_close(again), 0);

    int reader = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(reader >= 0);
    CHECK_SAME(sluice_shared_memory_seal(reader, false), -EPERM);
    CHECK_SAME(sluice_shared_memory_map(reader, BYTES, true, false), -EACCES);
    CHECK_SAME(sluice_socket_close(reader), 0);
    CHECK_SAME(sluice_socket_close(fd), 0);
}

/* Pages that the peer gives back come again as zeros. */
static void check_hole(void) {
    int fd = create(BYTES, false, true);
    CHECK_SAME(sluice_shared_memory_seal(fd, false), 0);
    uint8_t *bytes = (uint8_t *)sluice_shared_memory_map(fd, BYTES, true, true);
    memset(bytes, 1, BYTES);
    CHECK_SAME(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BYTES), 0);
    CHECK_SAME(bytes[0] | bytes[BYTES - 1], 0);
    CHECK_SAME(sluice_shared_memory_unmap(bytes, BYTES), 0);
    CHECK_SAME(sluice_socket_close(fd), 0);
}

/* Whether the kernel refuses to read a byte for this process, as it must in a page without access. */
static bool is_guarded(const uint8_t *at) {
    int ends[2];
    CHECK_SAME(pipe2(ends, O_CLOEXEC), 0);
    bool refused = write(ends[1], at, 1) == -1 && errno == EFAULT;
    CHECK_SAME(sluice_socket_close(ends[0]) | sluice_socket_close(ends[1]), 0);
    return refused;
}

static void check_guards(int64_t bytes) {
    int64_t page = sluice_memory_page_size();
    int64_t pages = (bytes + page - 1) / page * page;
    int fd = create(bytes, false, false);
    CHECK(fd >= 0);
    uint8_t *first = (uint8_t *)sluice_shared_memory_map(fd, bytes, true, false);
    uint8_t *second = (uint8_t *)sluice_shared_memory_map(fd, bytes, false, true);
    CHECK(is_guarded(first - 1) && is_guarded(first - page) && is_guarded(first + pages));
    CHECK(is_guarded(first + pages + page - 1) && is_guarded(second - 1) && is_guarded(second + pages));
    CHECK(!is_guarded(first) && !is_guarded(first + bytes - 1) && !is_guarded(second + bytes - 1));
    CHECK_SAME(sluice_shared_memory_unmap(first, bytes), 0);
    CHECK_SAME(sluice_shared_memory_unmap(second, bytes), 0);
    /* The guards have gone with it. */
    CHECK_SAME(msync(first - page, (size_t)page, MS_ASYNC) == -1 ? errno : 0, ENOMEM);
    CHECK_SAME(msync(first + pages, (size_t)page, MS_ASYNC) == -1 ? errno : 0, ENOMEM);
    CHECK_SAME(sluice_socket_close(fd), 0);
}

static void check_unmapping_errors(void) {
    int64_t page = sluice_memory_page_size();
    CHECK_SAME(sluice_shared_memory_unmap((void *)(intptr_t)(16 * page), 0), -EINVAL);
    CHECK_SAME(sluice_shared_memory_unmap((void *)(intptr_t)(16 * page + 1), page), -EINVAL);
    CHECK_SAME(sluice_shared_memory_unmap(NULL, page), -EINVAL);
    CHECK_SAME(sluice_shared_memory_unmap((void *)(intptr_t)page, INT64_MAX), -EINVAL);
    int fd = create(page, false, false);
    CHECK_SAME(sluice_shared_memory_map(fd, INT64_MAX, true, false), -ENOMEM);
    CHECK_SAME(sluice_socket_close(fd), 0);
}

void test_shared_memory(void) {
    int before = open_descriptors();
    check_created(false);
    check_created(true);
    check_creation_errors();
    check_huge_pages();
    check_what_a_peer_may_send();
    check_opened_again();
    check_hole();
    check_guards(1);
    check_guards(sluice_memory_page_size());
    check_guards(BYTES + 1);
    check_unmapping_errors();
    CHECK_SAME(sluice_shared_memory_map(-1, BYTES, true, false), -EBADF);
    CHECK_SAME(sluice_shared_memory_map(-1, 0, true, false), -EINVAL);
    CHECK_SAME(sluice_shared_memory_seal(-1, false), -EBADF);
    CHECK_SAME(open_descriptors(), before);
}
