/*
 * The plain C core of the shim, independent of the JVM. The functions behave as the Java methods of the same names. A
 * negative result is -errno.
 */
#ifndef SLUICE_H
#define SLUICE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of the longest error message, with its terminator. */
#define SLUICE_ERROR_MESSAGE_BYTES 128

/* An IPv6 address and a port. */
#define SLUICE_ADDRESS_BYTES 18

static inline int sluice_result(int result) {
    return result < 0 ? -errno : result;
}

static inline int64_t sluice_long_result(int64_t result) {
    return result < 0 ? -(int64_t)errno : result;
}

const char *sluice_description(void);
void sluice_error_message(int error, char message[SLUICE_ERROR_MESSAGE_BYTES]);

int sluice_socket_open(bool ipv6);
int sluice_socket_bind(int fd, const uint8_t *address, size_t length, int scope, int port);
int sluice_socket_listen(int fd, int backlog);
int sluice_socket_connect(int fd, const uint8_t *address, size_t length, int scope, int port);
int sluice_socket_connect_result(int fd);
int sluice_socket_accept(int fd);
int sluice_socket_local_port(int fd);
/* Both return the number of bytes written. */
int sluice_socket_local_address(int fd, uint8_t address[SLUICE_ADDRESS_BYTES]);
int sluice_socket_peer_address(int fd, uint8_t address[SLUICE_ADDRESS_BYTES]);
int sluice_socket_set_no_delay(int fd, bool on);
/* Call before connect or listen: a connection that was paced once stays so. */
int sluice_socket_set_unpaced(int fd);
int sluice_socket_set_send_buffer(int fd, int bytes);
int sluice_socket_set_receive_buffer(int fd, int bytes);
int sluice_socket_set_quick_ack(int fd, bool on);
int sluice_socket_set_keep_alive(int fd, bool on);
int sluice_socket_set_user_timeout(int fd, int milliseconds);
int sluice_socket_set_reset_on_close(int fd);
int sluice_socket_shutdown(int fd);
int sluice_socket_close(int fd);
int sluice_socket_unacknowledged_bytes(int fd);

int64_t sluice_stream_send(int fd, const void *bytes, int64_t length);
int64_t sluice_stream_receive(int fd, void *bytes, int64_t length);
int64_t sluice_stream_send_vector(int fd, void *vector, int count);
int64_t sluice_stream_receive_vector(int fd, void *vector, int count);

/* The record written by sluice_epoll_await. */
struct sluice_epoll_record {
    uint32_t events;
    uint32_t zero;
    uint64_t data;
};

int sluice_epoll_create(void);
int sluice_epoll_add(int epoll, int fd, uint32_t events, uint64_t data);
int sluice_epoll_modify(int epoll, int fd, uint32_t events, uint64_t data);
int sluice_epoll_remove(int epoll, int fd);
int sluice_epoll_await(int epoll, void *records, int maximum, int64_t timeout_nanos);
/* The same for kernels without epoll_pwait2. */
int sluice_epoll_await_milliseconds(int epoll, void *records, int maximum, int64_t timeout_nanos);

int sluice_event_create(void);
int sluice_event_signal(int fd);
int sluice_event_drain(int fd);

int64_t sluice_memory_map(int64_t bytes, bool prefault);
int sluice_memory_unmap(void *address, int64_t bytes);
int sluice_memory_page_size(void);

/*
 * Returns how many bytes this process may still use: the machine's available memory, or less if a control group of the
 * process or an ancestor leaves less. Reclaimable page cache counts as available, swap does not. -ENOSYS if unknown.
 * The root precedes every path: "", except in tests.
 */
int64_t sluice_memory_available(const char *root);
/* Returns the bytes in /proc/meminfo under a name that ends with a colon, or -ENOSYS. */
int64_t sluice_memory_information(const char *root, const char *name);

/* The longest name of shared memory. */
#define SLUICE_SHARED_MEMORY_NAME_BYTES 200

int sluice_shared_memory_create(const char *name, size_t name_length, int64_t bytes, bool huge_pages, bool prefault);
int sluice_shared_memory_seal(int fd, bool read_only);
int sluice_shared_memory_check(int fd, int64_t bytes, bool huge_pages);
/* Maps between two inaccessible pages, which sluice_shared_memory_unmap removes as well. */
int64_t sluice_shared_memory_map(int fd, int64_t bytes, bool writable, bool prefault);
int sluice_shared_memory_unmap(void *address, int64_t bytes);
int64_t sluice_shared_memory_huge_page_size(void);

/*
 * The longest address of a local socket. A path is zero-terminated in the kernel's structure, which is one byte longer.
 */
#define SLUICE_LOCAL_ADDRESS_BYTES 107
/* The kernel's SCM_MAX_FD. */
#define SLUICE_LOCAL_DESCRIPTORS 253

int sluice_local_listen(const uint8_t *address, size_t length);
int sluice_local_connect(const uint8_t *address, size_t length);
int sluice_local_accept(int fd);
int sluice_local_send(int fd, const void *bytes, int length, const void *descriptors, int count);
int64_t sluice_local_receive(int fd, void *bytes, int length, void *descriptors, int maximum);
int64_t sluice_local_peer(int fd);
int sluice_local_peer_process(int fd);
int sluice_local_user_id(void);
int sluice_local_process_id(void);

#define SLUICE_PEER_RECORDS 64

/* A copy between a peer's memory and this process's. */
struct sluice_peer_record {
    uint64_t local;
    uint64_t peer;
    int64_t length;
};

int sluice_peer_open_process(int pid);
int sluice_peer_is_alive(int process);
int64_t sluice_peer_read(int process, int pid, const void *records, int count);
int64_t sluice_peer_write(int process, int pid, const void *records, int count);

/* The functions that Java calls by name rather than through wrappers. */
__attribute__((visibility("default"))) void sluice_copy(
        void *to, int64_t to_offset, const void *from, int64_t from_offset, int64_t bytes);
/* As sluice_copy, for memory that does not overlap: a piece of a copy that is large as a whole, with streaming stores. */
__attribute__((visibility("default"))) void sluice_copy_past_caches(
        void *to, int64_t to_offset, const void *from, int64_t from_offset, int64_t bytes);
/*
 * As sluice_copy, for memory that does not overlap, through the kernel: where a page is missing, such as in a truncated
 * mapped file, it returns -EFAULT without a signal. Some bytes may have been copied.
 */
__attribute__((visibility("default"))) int sluice_copy_by_kernel(
        void *to, int64_t to_offset, const void *from, int64_t from_offset, int64_t bytes);

/*
 * Copies pages of one size between the offsets in two tables, from an index on. Returns how many were copied: less than
 * the count if the next one exceeds one of the two memories.
 */
__attribute__((visibility("default"))) int64_t sluice_copy_pages(
        void *to,
        int64_t to_bytes,
        const int64_t *to_offsets,
        const void *from,
        int64_t from_bytes,
        const int64_t *from_offsets,
        int64_t first,
        int64_t count,
        int64_t page_bytes);

/* The streaming stores that sluice_copy uses for large copies. */
enum sluice_streaming { SLUICE_STREAMING_SSE2, SLUICE_STREAMING_AVX512 };

/* Whether this processor supports it. */
bool sluice_copy_can_stream(enum sluice_streaming streaming);
/* For memory that does not overlap, of any size. */
void sluice_copy_streaming(enum sluice_streaming streaming, void *to, const void *from, size_t bytes);

int sluice_thread_set_affinity(int cpu);

/* The scheduler's statistics of the calling thread, in nanoseconds: running, and waiting for a processor. */
struct sluice_thread_schedule {
    int64_t ran;
    int64_t waited;
};
int sluice_thread_schedule(struct sluice_thread_schedule *record);
/* Waits of the calling thread end when they are to, not up to 50 microseconds later. */
int sluice_thread_exact_timers(void);

#endif
