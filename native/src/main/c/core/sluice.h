/*
 * The plain C core of the shim, which knows nothing of the virtual machine. The functions mean what the Java methods of
 * the same names say. A negative result is -errno.
 */
#ifndef SLUICE_H
#define SLUICE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest message of an error number, with its end. */
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
/* Both give the number of bytes that they wrote. */
int sluice_socket_local_address(int fd, uint8_t address[SLUICE_ADDRESS_BYTES]);
int sluice_socket_peer_address(int fd, uint8_t address[SLUICE_ADDRESS_BYTES]);
int sluice_socket_set_no_delay(int fd, bool on);
/* To be called before a connect or listen: a connection that was paced once stays so. */
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

/* The record that sluice_epoll_await writes. */
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
 * The bytes that this process may still use: what the machine has available, or less where a control group of the process or
 * one above it leaves less. Page cache that can be dropped counts as available, swap does not. -ENOSYS if nothing tells. The
 * root is put before every path: "", but in tests.
 */
int64_t sluice_memory_available(const char *root);
/* The bytes that /proc/meminfo tells under a name that ends with a colon, or -ENOSYS. */
int64_t sluice_memory_information(const char *root, const char *name);

/* The longest name of shared memory. */
#define SLUICE_SHARED_MEMORY_NAME_BYTES 200

int sluice_shared_memory_create(const char *name, size_t name_length, int64_t bytes, bool huge_pages, bool prefault);
int sluice_shared_memory_seal(int fd, bool read_only);
int sluice_shared_memory_check(int fd, int64_t bytes, bool huge_pages);
/* Maps between two pages without access, which sluice_shared_memory_unmap releases too. */
int64_t sluice_shared_memory_map(int fd, int64_t bytes, bool writable, bool prefault);
int sluice_shared_memory_unmap(void *address, int64_t bytes);
int64_t sluice_shared_memory_huge_page_size(void);

/* The longest address of a local socket. A path ends with a zero in the kernel's structure, which is one longer. */
#define SLUICE_LOCAL_ADDRESS_BYTES 107
/* The kernel's SCM_MAX_FD. */
#define SLUICE_LOCAL_DESCRIPTORS 253

int sluice_local_listen(const uint8_t *address, size_t length);
int sluice_local_connect(const uint8_t *address, size_t length);
int sluice_local_accept(int fd);
int sluice_local_send(int fd, const void *bytes, int length, const void *descriptors, int count);
int64_t sluice_local_receive(int fd, void *bytes, int length, void *descriptors, int maximum);
int64_t sluice_local_peer(int fd);
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

/* The functions that Java calls by their names rather than through wrappers. */
__attribute__((visibility("default"))) void sluice_copy(
        void *to, int64_t to_offset, const void *from, int64_t from_offset, int64_t bytes);
/*
 * As sluice_copy, of memory that does not overlap, by the kernel: where a page is missing, as of a mapped file that was
 * cut short, the result is -EFAULT and no signal. Some of the bytes may have been copied then.
 */
__attribute__((visibility("default"))) int sluice_copy_by_kernel(
        void *to, int64_t to_offset, const void *from, int64_t from_offset, int64_t bytes);

/*
 * Copies pages of one size, from and to the offsets in two tables, beginning with the first so many in both. The result is how
 * many were copied: less than the count if the next one leaves one of the two memories.
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

/* Stores that pass by the caches, in what sluice_copy uses for large copies. */
enum sluice_streaming { SLUICE_STREAMING_SSE2, SLUICE_STREAMING_AVX512 };

/* Whether this processor can. */
bool sluice_copy_can_stream(enum sluice_streaming streaming);
/* Of memory that does not overlap, and of any size. */
void sluice_copy_streaming(enum sluice_streaming streaming, void *to, const void *from, size_t bytes);

int sluice_thread_set_affinity(int cpu);

/* The scheduler's counts of the calling thread, in nanoseconds: on a processor, and waiting for one. */
struct sluice_thread_schedule {
    int64_t ran;
    int64_t waited;
};
int sluice_thread_schedule(struct sluice_thread_schedule *record);

#endif
