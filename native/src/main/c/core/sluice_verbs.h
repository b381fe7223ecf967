/*
 * The part of the plain C core that drives RDMA adapters, through libibverbs opened at run time. The functions behave
 * as the Java methods of the same names. A negative result is -errno.
 *
 * A handle is the address of an object of libibverbs. NULL returns -EINVAL; any other invalid address crashes. Records
 * are aligned to 8 bytes.
 */
#ifndef SLUICE_VERBS_H
#define SLUICE_VERBS_H

#include "sluice.h"

/* Returns NULL if the library is usable, otherwise why it is not. */
const char *sluice_verbs_load(const char *path);
bool sluice_verbs_loaded(void);
/* The signals that the library, or one that it loaded, tried to handle: bit n is signal n. 0 before it is loaded. */
uint32_t sluice_verbs_claimed_signals(void);
/* The file of that library, if there are such signals; empty if unknown. */
const char *sluice_verbs_claimant(void);

/* The access rights of VerbsMemory. */
enum {
    SLUICE_VERBS_LOCAL_WRITE = 1 << 0,
    SLUICE_VERBS_REMOTE_WRITE = 1 << 1,
    SLUICE_VERBS_REMOTE_READ = 1 << 2,
    SLUICE_VERBS_REMOTE_ATOMIC = 1 << 3,
    SLUICE_VERBS_RELAXED_ORDERING = 1 << 4,
    SLUICE_VERBS_ON_DEMAND = 1 << 5,
};

enum {
    SLUICE_VERBS_GID_UNKNOWN,
    SLUICE_VERBS_GID_INFINIBAND,
    SLUICE_VERBS_GID_ROCE_V1,
    SLUICE_VERBS_GID_ROCE_V2,
};

struct sluice_verbs_device_record {
    int64_t max_region_bytes;
    int64_t node_guid;
    int32_t max_queue_pairs;
    int32_t max_queue_pair_work_requests;
    int32_t max_sge;
    int32_t max_completion_queues;
    int32_t max_completion_queue_entries;
    int32_t max_regions;
    int32_t max_read_depth_as_target;
    int32_t max_read_depth_as_initiator;
    int32_t max_shared_receive_queues;
    int32_t max_shared_receive_queue_work_requests;
    int32_t ports;
    int32_t atomics;
    int32_t on_demand_paging;
    int32_t vendor_id;
    int32_t vendor_part_id;
    int32_t max_sge_of_reads;
};

struct sluice_verbs_port_record {
    int64_t max_message_bytes;
    int32_t state;
    int32_t active_mtu_bytes;
    int32_t max_mtu_bytes;
    int32_t lid;
    int32_t link_layer;
    int32_t gid_table_length;
    int32_t active_width;
    int32_t active_speed;
    int32_t subnet_manager_lid;
    int32_t zero;
};

struct sluice_verbs_gid_record {
    uint8_t gid[16];
    int32_t type;
};

struct sluice_verbs_event_record {
    int32_t type;
    int32_t port;
    int64_t handle;
    int32_t queue_pair_number;
    int32_t zero;
};

/* Returns the current devices as a NULL-terminated list, or NULL. The elements are valid until it is freed. */
void **sluice_verbs_device_list(void);
void sluice_verbs_free_device_list(void **list);
const char *sluice_verbs_device_name(void *element);

int64_t sluice_verbs_device_open(const char *name);
int sluice_verbs_device_close(void *device);
int sluice_verbs_device_query(void *device, struct sluice_verbs_device_record *record);
int sluice_verbs_device_query_port(void *device, int port, struct sluice_verbs_port_record *record);
int sluice_verbs_device_query_gid(void *device, int port, int index, struct sluice_verbs_gid_record *record);
int sluice_verbs_device_async_descriptor(void *device);
int sluice_verbs_device_next_async_event(void *device, struct sluice_verbs_event_record *record);
int64_t sluice_verbs_domain_allocate(void *device);
int sluice_verbs_domain_free(void *domain);

int64_t sluice_verbs_memory_register(void *domain, void *address, int64_t length, int access);
int64_t sluice_verbs_memory_register_dmabuf(
        void *domain, int descriptor, int64_t offset, int64_t length, uint64_t virtual_address, int access);
int sluice_verbs_memory_local_key(void *region);
int sluice_verbs_memory_remote_key(void *region);
int sluice_verbs_memory_deregister(void *region);

struct sluice_verbs_completion {
    uint64_t id;
    int32_t status;
    uint32_t vendor_error;
    uint32_t bytes;
    uint32_t queue_pair_number;
    int32_t opcode;
    uint32_t immediate;
};

int64_t sluice_verbs_channel_create(void *device);
int sluice_verbs_channel_descriptor(void *channel);
int sluice_verbs_channel_destroy(void *channel);
int64_t sluice_verbs_completion_queue_create(void *device, int entries, void *channel);
int sluice_verbs_completion_queue_entries(void *queue);
int sluice_verbs_completion_queue_destroy(void *queue);
int sluice_verbs_completion_queue_poll(void *queue, struct sluice_verbs_completion *records, int maximum);
int sluice_verbs_completion_queue_request_notification(void *queue);
int sluice_verbs_completion_queue_take_events(void *channel, void *queue);
const char *sluice_verbs_status_text(int status);

struct sluice_verbs_receive_request {
    uint64_t id;
    uint64_t address;
    int32_t length;
    uint32_t local_key;
    uint64_t zero;
};

int64_t sluice_verbs_receive_queue_create(void *domain, int work_requests);
int sluice_verbs_receive_queue_depth(void *queue);
int sluice_verbs_receive_queue_post(void *queue, const struct sluice_verbs_receive_request *records, int count);
int sluice_verbs_receive_queue_destroy(void *queue);

struct sluice_verbs_piece {
    uint64_t address;
    uint32_t length;
    uint32_t local_key;
};

struct sluice_verbs_work_request {
    int64_t queue_pair;
    uint64_t id;
    uint64_t local_address;
    uint64_t remote_address;
    uint64_t operand;
    uint64_t swap;
    int32_t length;
    uint32_t local_key;
    uint32_t remote_key;
    uint32_t immediate;
    uint32_t opcode;
    uint32_t flags;
    int32_t pieces;
    int32_t zero;
};

struct sluice_verbs_path_record {
    int32_t mtu_bytes;
    int32_t destination_queue_pair;
    int32_t receive_sequence;
    int32_t max_read_depth_as_target;
    int32_t minimum_rnr_timer;
    int32_t port;
    int32_t source_gid_index;
    int32_t hop_limit;
    int32_t traffic_class;
    int32_t service_level;
    int32_t destination_lid;
    int32_t is_global;
    uint8_t destination_gid[16];
};

int64_t sluice_verbs_queue_pair_create(
        void *domain, void *completion_queue, void *receive_queue, int send_depth, int pieces, int inline_bytes);
int sluice_verbs_queue_pair_number(void *queue_pair);
int sluice_verbs_queue_pair_send_depth(void *queue_pair);
int sluice_verbs_queue_pair_inline_bytes(void *queue_pair);
int sluice_verbs_queue_pair_initialise(void *queue_pair, int port, int partition_key_index, int access);
int sluice_verbs_queue_pair_ready_to_receive(void *queue_pair, const struct sluice_verbs_path_record *record);
int sluice_verbs_queue_pair_ready_to_send(
        void *queue_pair, int timeout, int retries, int rnr_retries, int send_sequence, int max_read_depth_as_initiator);
int sluice_verbs_queue_pair_to_error(void *queue_pair);
int sluice_verbs_queue_pair_to_reset(void *queue_pair);
int sluice_verbs_queue_pair_state(void *queue_pair);
int sluice_verbs_queue_pair_destroy(void *queue_pair);
int sluice_verbs_queue_pair_post(const struct sluice_verbs_work_request *records, int count);

#endif
