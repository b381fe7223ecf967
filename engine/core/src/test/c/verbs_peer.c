/*
 * A peer of Sluice's verbs transport in plain C on libibverbs: it shares no code with the engine, only what goes over the
 * wire. A test drives it through two descriptors, at first with the offers and keys of both sides, then with commands of one
 * byte and their operands. Integers are in network byte order. Each command is answered by eight bytes.
 *
 *   f seed      fills its region                             0
 *   c seed      looks at its region                          -1, or the offset of the first byte that is wrong
 *   W seed      writes to the test's region, then notifies   0
 *   R seed      reads the test's region and looks at it      as c
 *   S addend    writes to it with an immediate for a signal  0
 *   A addend    fetch-and-add of the test's word             what the word held
 *   n           waits for a notification                     its length, followed by its bytes
 *   q           ends
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REGION_BYTES (256 << 10)
#define MESSAGE_BYTES 512
#define HEADER_BYTES 16
#define CREDITS 32
#define GID_BYTES 16
#define OFFER_BYTES (7 + 38 + 9)
#define KEYS_BYTES (2 + 8 + 4)
#define PATIENCE_SECONDS 60
#define SEQUENCE 0x123456

enum type { FETCH_ADD = 2, ANSWER = 5, NOTIFICATION = 6, DEFINE_SIGNAL = 10 };

struct peer {
    int in;
    int out;
    struct ibv_context *context;
    struct ibv_pd *domain;
    struct ibv_cq *queue;
    struct ibv_qp *pair;
    uint8_t *region;
    uint8_t *scratch;
    uint8_t *messages;
    uint64_t *flush_word;
    struct ibv_mr *region_key;
    struct ibv_mr *scratch_key;
    struct ibv_mr *messages_key;
    struct ibv_mr *flush_word_key;
    uint64_t remote_address;
    uint32_t remote_key;
    /* Of the test's region, as requests by message name it. */
    uint64_t handle;
    uint64_t key;
    uint64_t epoch;
    uint32_t received;
    uint64_t notified;
};

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "verbs_peer: line %d: %s: %s\n", __LINE__, #condition, strerror(errno)); \
            return -1; \
        } \
    } while (0)

/* ---- what the test says ---- */

static int read_all(int descriptor, void *to, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t count = read(descriptor, (char *)to + done, bytes - done);
        CHECK(count > 0);
        done += (size_t)count;
    }
    return 0;
}

static int write_all(int descriptor, const void *from, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t count = write(descriptor, (const char *)from + done, bytes - done);
        CHECK(count > 0);
        done += (size_t)count;
    }
    return 0;
}

static uint64_t get64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return be64toh(value);
}

static uint32_t get32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return be32toh(value);
}

static uint8_t *put64(uint8_t *at, uint64_t value) {
    value = htobe64(value);
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static uint8_t *put32(uint8_t *at, uint32_t value) {
    value = htobe32(value);
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static int answer(struct peer *peer, int64_t value) {
    uint8_t bytes[8];
    put64(bytes, (uint64_t)value);
    return write_all(peer->out, bytes, sizeof bytes);
}

static int operand(struct peer *peer, uint64_t *value) {
    uint8_t bytes[8];
    CHECK(read_all(peer->in, bytes, sizeof bytes) == 0);
    *value = get64(bytes);
    return 0;
}

/* ---- bytes that differ from place to place ---- */

static uint8_t pattern(uint64_t seed, uint64_t at) {
    return (uint8_t)(seed * 31 + at * 7 + (at >> 8));
}

static void fill(uint8_t *bytes, uint64_t seed) {
    for (uint64_t i = 0; i < REGION_BYTES; i++) {
        bytes[i] = pattern(seed, i);
    }
}

static int64_t first_wrong(const uint8_t *bytes, uint64_t seed) {
    for (uint64_t i = 0; i < REGION_BYTES; i++) {
        if (bytes[i] != pattern(seed, i)) {
            return (int64_t)i;
        }
    }
    return -1;
}

/* ---- setting up ---- */

static int post_receive(struct peer *peer, uint64_t buffer) {
    struct ibv_sge place = {
        .addr = (uintptr_t)(peer->messages + buffer * MESSAGE_BYTES),
        .length = MESSAGE_BYTES,
        .lkey = peer->messages_key->lkey,
    };
    struct ibv_recv_wr request = {.wr_id = buffer, .sg_list = &place, .num_sge = 1}, *bad;
    CHECK(ibv_post_recv(peer->pair, &request, &bad) == 0);
    return 0;
}

static struct ibv_context *open_device(const char *name) {
    struct ibv_context *context = NULL;
    struct ibv_device **devices = ibv_get_device_list(NULL);
    for (int i = 0; devices != NULL && devices[i] != NULL; i++) {
        if (strcmp(ibv_get_device_name(devices[i]), name) == 0) {
            context = ibv_open_device(devices[i]);
        }
    }
    if (devices != NULL) {
        ibv_free_device_list(devices);
    }
    return context;
}

static int set_up(struct peer *peer, const char *device) {
    const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    CHECK((peer->context = open_device(device)) != NULL);
    CHECK((peer->domain = ibv_alloc_pd(peer->context)) != NULL);
    CHECK((peer->queue = ibv_create_cq(peer->context, 256, NULL, NULL, 0)) != NULL);
    CHECK((peer->region = aligned_alloc(4096, REGION_BYTES)) != NULL);
    CHECK((peer->scratch = aligned_alloc(4096, REGION_BYTES)) != NULL);
    /* One more than there are credits: what is sent lies in the last. */
    CHECK((peer->messages = aligned_alloc(4096, (CREDITS + 1) * MESSAGE_BYTES + 3584)) != NULL);
    CHECK((peer->flush_word = aligned_alloc(4096, 4096)) != NULL);
    CHECK((peer->region_key = ibv_reg_mr(peer->domain, peer->region, REGION_BYTES, rights)) != NULL);
    CHECK((peer->scratch_key = ibv_reg_mr(peer->domain, peer->scratch, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE)) != NULL);
    CHECK((peer->messages_key = ibv_reg_mr(peer->domain, peer->messages, (CREDITS + 1) * MESSAGE_BYTES,
                   IBV_ACCESS_LOCAL_WRITE)) != NULL);
    CHECK((peer->flush_word_key = ibv_reg_mr(peer->domain, peer->flush_word, 4096, rights)) != NULL);
    struct ibv_qp_init_attr made = {
        .send_cq = peer->queue,
        .recv_cq = peer->queue,
        .cap = {.max_send_wr = 64, .max_recv_wr = CREDITS, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
    };
    CHECK((peer->pair = ibv_create_qp(peer->domain, &made)) != NULL);
    struct ibv_qp_attr attributes = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
    };
    CHECK(ibv_modify_qp(peer->pair, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
    for (uint64_t buffer = 0; buffer < CREDITS; buffer++) {
        CHECK(post_receive(peer, buffer) == 0);
    }
    return 0;
}

static int send_offer(struct peer *peer, const union ibv_gid *gid) {
    uint8_t offer[OFFER_BYTES] = {1, CREDITS >> 8, CREDITS & 0xff, MESSAGE_BYTES >> 8, MESSAGE_BYTES & 0xff, 1, 1};
    uint8_t *at = offer + 7;
    memcpy(at, gid->raw, GID_BYTES);
    at = put32(at + GID_BYTES, 0);
    at = put32(at, 1024);
    *at++ = 1;
    *at++ = 8;
    at = put64(at, (uintptr_t)peer->flush_word);
    at = put32(at, peer->flush_word_key->rkey);
    *at++ = 0;
    at = put32(at, peer->pair->qp_num);
    put32(at, SEQUENCE);
    return write_all(peer->out, offer, sizeof offer);
}

static int connect_to(struct peer *peer, const uint8_t *offer, uint8_t gid_index) {
    CHECK(offer[0] == 1 && offer[5] == 1 && offer[6] == 1);
    const uint8_t *rail = offer + 7;
    const uint8_t *lane = rail + 38;
    struct ibv_qp_attr attributes = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = get32(lane + 1),
        .rq_psn = get32(lane + 5) & 0xffffff,
        .max_dest_rd_atomic = 8,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = gid_index, .hop_limit = 64}},
    };
    memcpy(attributes.ah_attr.grh.dgid.raw, rail, GID_BYTES);
    CHECK(ibv_modify_qp(peer->pair, &attributes,
                  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                          | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
    attributes = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTS,
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 6,
        .sq_psn = SEQUENCE,
        .max_rd_atomic = 8,
    };
    CHECK(ibv_modify_qp(peer->pair, &attributes,
                  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN
                          | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
    return 0;
}

/* The keys of a region as the engine writes them: the number of rails, flags, the address, a key for each rail. */
static int exchange_keys(struct peer *peer) {
    uint8_t keys[KEYS_BYTES] = {1, 0};
    put32(put64(keys + 2, (uintptr_t)peer->region), peer->region_key->rkey);
    CHECK(write_all(peer->out, keys, sizeof keys) == 0);
    CHECK(read_all(peer->in, keys, sizeof keys) == 0);
    CHECK(keys[0] == 1);
    peer->remote_address = get64(keys + 2);
    peer->remote_key = get32(keys + 10);
    CHECK(operand(peer, &peer->handle) == 0 && operand(peer, &peer->key) == 0 && operand(peer, &peer->epoch) == 0);
    return 0;
}

/* ---- moving data ---- */

/*
 * Waits for the completion of what was posted last (type 0), or for a message of a type, which is copied. Messages of other
 * types only count.
 */
static int await(struct peer *peer, int type, uint8_t *message) {
    time_t end = time(NULL) + PATIENCE_SECONDS;
    for (;;) {
        struct ibv_wc completion;
        int count = ibv_poll_cq(peer->queue, 1, &completion);
        CHECK(count >= 0);
        if (count == 0) {
            CHECK(time(NULL) < end);
            continue;
        }
        CHECK(completion.status == IBV_WC_SUCCESS);
        if ((completion.opcode & IBV_WC_RECV) == 0) {
            if (type == 0) {
                return 0;
            }
            continue;
        }
        peer->received++;
        const uint8_t *at = peer->messages + completion.wr_id * MESSAGE_BYTES;
        uint32_t body = (uint32_t)at[2] << 8 | at[3];
        CHECK(completion.byte_len == HEADER_BYTES + body && at[1] == 0);
        int found = at[0];
        if (found == type) {
            memcpy(message, at, HEADER_BYTES + body);
        }
        CHECK(post_receive(peer, completion.wr_id) == 0);
        if (found == type) {
            return 0;
        }
    }
}

static int transfer(struct peer *peer, enum ibv_wr_opcode opcode, uint32_t immediate) {
    struct ibv_sge place = {
        .addr = (uintptr_t)peer->scratch,
        .length = REGION_BYTES,
        .lkey = peer->scratch_key->lkey,
    };
    struct ibv_send_wr request = {
        .opcode = opcode,
        .sg_list = &place,
        .num_sge = 1,
        .imm_data = htobe32(immediate),
        .wr.rdma = {.remote_addr = peer->remote_address, .rkey = peer->remote_key},
    }, *bad;
    CHECK(ibv_post_send(peer->pair, &request, &bad) == 0);
    return await(peer, 0, NULL);
}

static int send_message(struct peer *peer, int type, const uint64_t *words, int count, const char *payload) {
    uint8_t *message = peer->messages + CREDITS * MESSAGE_BYTES;
    size_t body = (size_t)count * 8 + strlen(payload);
    memset(message, 0, HEADER_BYTES);
    message[0] = (uint8_t)type;
    message[2] = (uint8_t)(body >> 8);
    message[3] = (uint8_t)body;
    put32(message + 4, peer->received);
    uint8_t *at = message + HEADER_BYTES;
    for (int i = 0; i < count; i++) {
        at = put64(at, words[i]);
    }
    memcpy(at, payload, strlen(payload));
    struct ibv_sge place = {
        .addr = (uintptr_t)message,
        .length = (uint32_t)(HEADER_BYTES + body),
        .lkey = peer->messages_key->lkey,
    };
    struct ibv_send_wr request = {.opcode = IBV_WR_SEND, .sg_list = &place, .num_sge = 1}, *bad;
    CHECK(ibv_post_send(peer->pair, &request, &bad) == 0);
    return 0;
}

static int notify(struct peer *peer, const char *text) {
    uint64_t words[] = {peer->notified++, (uint64_t)strlen(text) << 32, 0};
    CHECK(send_message(peer, NOTIFICATION, words, 3, text) == 0);
    return await(peer, 0, NULL);
}

static int write_with_signal(struct peer *peer, uint64_t addend) {
    const uint64_t number = 5;
    uint64_t words[] = {number, peer->handle, peer->key, peer->epoch, 0, addend};
    CHECK(send_message(peer, DEFINE_SIGNAL, words, 6, "") == 0);
    CHECK(await(peer, 0, NULL) == 0);
    return transfer(peer, IBV_WR_RDMA_WRITE_WITH_IMM, number);
}

static int fetch_add(struct peer *peer, uint64_t addend, uint64_t *before) {
    uint64_t words[] = {peer->handle, peer->key, peer->epoch, 0, addend};
    uint8_t message[MESSAGE_BYTES];
    CHECK(send_message(peer, FETCH_ADD, words, 5, "") == 0);
    CHECK(await(peer, ANSWER, message) == 0);
    /* The number of the request, its status, the value. */
    CHECK(get64(message + HEADER_BYTES + 8) == 0);
    *before = get64(message + HEADER_BYTES + 16);
    return 0;
}

static int take_notification(struct peer *peer) {
    uint8_t message[MESSAGE_BYTES];
    CHECK(await(peer, NOTIFICATION, message) == 0);
    uint64_t place = get64(message + HEADER_BYTES + 8);
    size_t length = ((size_t)message[2] << 8 | message[3]) - 24;
    /* The test's are short: one fragment. */
    CHECK(place == (uint64_t)length << 32);
    CHECK(answer(peer, (int64_t)length) == 0);
    return write_all(peer->out, message + HEADER_BYTES + 24, length);
}

static int obey(struct peer *peer) {
    for (;;) {
        char command;
        uint64_t value;
        CHECK(read_all(peer->in, &command, 1) == 0);
        if (command == 'q') {
            return 0;
        }
        if (command == 'n') {
            CHECK(take_notification(peer) == 0);
            continue;
        }
        CHECK(operand(peer, &value) == 0);
        int64_t result = 0;
        switch (command) {
            case 'f':
                fill(peer->region, value);
                break;
            case 'c':
                result = first_wrong(peer->region, value);
                break;
            case 'W':
                fill(peer->scratch, value);
                CHECK(transfer(peer, IBV_WR_RDMA_WRITE, 0) == 0);
                CHECK(notify(peer, "written") == 0);
                break;
            case 'R':
                memset(peer->scratch, 0, REGION_BYTES);
                CHECK(transfer(peer, IBV_WR_RDMA_READ, 0) == 0);
                result = first_wrong(peer->scratch, value);
                break;
            case 'S':
                /* The word is the region's first. */
                memset(peer->scratch, 0, REGION_BYTES);
                CHECK(write_with_signal(peer, value) == 0);
                break;
            case 'A':
                CHECK(fetch_add(peer, value, &value) == 0);
                result = (int64_t)value;
                break;
            default:
                CHECK(!"a known command");
        }
        CHECK(answer(peer, result) == 0);
    }
}

static void give_back(struct peer *peer) {
    if (peer->pair != NULL) {
        ibv_destroy_qp(peer->pair);
    }
    if (peer->queue != NULL) {
        ibv_destroy_cq(peer->queue);
    }
    struct ibv_mr *keys[] = {peer->region_key, peer->scratch_key, peer->messages_key, peer->flush_word_key};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i] != NULL) {
            ibv_dereg_mr(keys[i]);
        }
    }
    if (peer->domain != NULL) {
        ibv_dealloc_pd(peer->domain);
    }
    if (peer->context != NULL) {
        ibv_close_device(peer->context);
    }
    free(peer->region);
    free(peer->scratch);
    free(peer->messages);
    free(peer->flush_word);
}

static int serve(struct peer *peer, const char *device, int gid_index) {
    union ibv_gid gid;
    uint8_t offer[OFFER_BYTES];
    CHECK(set_up(peer, device) == 0);
    CHECK(ibv_query_gid(peer->context, 1, gid_index, &gid) == 0);
    CHECK(send_offer(peer, &gid) == 0);
    CHECK(read_all(peer->in, offer, sizeof offer) == 0);
    CHECK(connect_to(peer, offer, (uint8_t)gid_index) == 0);
    CHECK(exchange_keys(peer) == 0);
    return obey(peer);
}

/* Runs the peer; gives 0 if it was told to end, and -1 if something went wrong, which it says on its standard error. */
int verbs_peer(int in, int out, const char *device, int gid_index) {
    struct peer peer = {.in = in, .out = out};
    int result = serve(&peer, device, gid_index);
    give_back(&peer);
    close(in);
    close(out);
    return result;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: verbs_peer DEVICE GID_INDEX\n");
        return 64;
    }
    return verbs_peer(STDIN_FILENO, STDOUT_FILENO, arguments[1], atoi(arguments[2])) == 0 ? 0 : 1;
}
