#include "io_sluice_jni_VerbsQueuePair.h"
#include "jni_support.h"
#include "sluice_verbs.h"

#include <infiniband/verbs.h>

#define SAME(constant, value) SAME_IN(VerbsQueuePair, constant, value)
#define OFFSET(constant, record, member) SAME(constant, offsetof(struct sluice_verbs_##record, member))

SAME(RECORD_BYTES, sizeof(struct sluice_verbs_work_request));
OFFSET(RECORD_QUEUE_PAIR_OFFSET, work_request, queue_pair);
OFFSET(RECORD_ID_OFFSET, work_request, id);
OFFSET(RECORD_LOCAL_ADDRESS_OFFSET, work_request, local_address);
OFFSET(RECORD_REMOTE_ADDRESS_OFFSET, work_request, remote_address);
OFFSET(RECORD_OPERAND_OFFSET, work_request, operand);
OFFSET(RECORD_SWAP_OFFSET, work_request, swap);
OFFSET(RECORD_LENGTH_OFFSET, work_request, length);
OFFSET(RECORD_LOCAL_KEY_OFFSET, work_request, local_key);
OFFSET(RECORD_REMOTE_KEY_OFFSET, work_request, remote_key);
OFFSET(RECORD_IMMEDIATE_OFFSET, work_request, immediate);
OFFSET(RECORD_OPCODE_OFFSET, work_request, opcode);
OFFSET(RECORD_FLAGS_OFFSET, work_request, flags);
OFFSET(RECORD_PIECES_OFFSET, work_request, pieces);

SAME(PIECE_BYTES, sizeof(struct sluice_verbs_piece));
OFFSET(PIECE_ADDRESS_OFFSET, piece, address);
OFFSET(PIECE_LENGTH_OFFSET, piece, length);
OFFSET(PIECE_LOCAL_KEY_OFFSET, piece, local_key);

SAME(WRITE, IBV_WR_RDMA_WRITE);
SAME(WRITE_WITH_IMMEDIATE, IBV_WR_RDMA_WRITE_WITH_IMM);
SAME(SEND, IBV_WR_SEND);
SAME(SEND_WITH_IMMEDIATE, IBV_WR_SEND_WITH_IMM);
SAME(READ, IBV_WR_RDMA_READ);
SAME(COMPARE_AND_SWAP, IBV_WR_ATOMIC_CMP_AND_SWP);
SAME(FETCH_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD);

SAME(FENCE, IBV_SEND_FENCE);
SAME(SIGNALED, IBV_SEND_SIGNALED);
SAME(SOLICITED, IBV_SEND_SOLICITED);
SAME(INLINE, IBV_SEND_INLINE);

SAME(PATH_BYTES, sizeof(struct sluice_verbs_path_record));
OFFSET(PATH_MTU_BYTES_OFFSET, path_record, mtu_bytes);
OFFSET(PATH_DESTINATION_QUEUE_PAIR_OFFSET, path_record, destination_queue_pair);
OFFSET(PATH_RECEIVE_SEQUENCE_OFFSET, path_record, receive_sequence);
OFFSET(PATH_MAX_READ_DEPTH_AS_TARGET_OFFSET, path_record, max_read_depth_as_target);
OFFSET(PATH_MINIMUM_RNR_TIMER_OFFSET, path_record, minimum_rnr_timer);
OFFSET(PATH_PORT_OFFSET, path_record, port);
OFFSET(PATH_SOURCE_GID_INDEX_OFFSET, path_record, source_gid_index);
OFFSET(PATH_HOP_LIMIT_OFFSET, path_record, hop_limit);
OFFSET(PATH_TRAFFIC_CLASS_OFFSET, path_record, traffic_class);
OFFSET(PATH_SERVICE_LEVEL_OFFSET, path_record, service_level);
OFFSET(PATH_DESTINATION_LID_OFFSET, path_record, destination_lid);
OFFSET(PATH_IS_GLOBAL_OFFSET, path_record, is_global);
OFFSET(PATH_DESTINATION_GID_OFFSET, path_record, destination_gid);

SAME(STATE_RESET, IBV_QPS_RESET);
SAME(STATE_INITIALISED, IBV_QPS_INIT);
SAME(STATE_READY_TO_RECEIVE, IBV_QPS_RTR);
SAME(STATE_READY_TO_SEND, IBV_QPS_RTS);
SAME(STATE_SEND_QUEUE_DRAINED, IBV_QPS_SQD);
SAME(STATE_SEND_QUEUE_ERROR, IBV_QPS_SQE);
SAME(STATE_ERROR, IBV_QPS_ERR);

JNIEXPORT jlong JNICALL Java_io_sluice_jni_VerbsQueuePair_create(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong domain, jlong completion_queue, jlong receive_queue,
        jint send_depth, jint pieces, jint inline_bytes) {
    return sluice_verbs_queue_pair_create(
            sluice_pointer(domain), sluice_pointer(completion_queue), sluice_pointer(receive_queue), send_depth,
            pieces, inline_bytes);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_number(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair) {
    return sluice_verbs_queue_pair_number(sluice_pointer(queue_pair));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_sendDepth(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair) {
    return sluice_verbs_queue_pair_send_depth(sluice_pointer(queue_pair));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_inlineBytes(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair) {
    return sluice_verbs_queue_pair_inline_bytes(sluice_pointer(queue_pair));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_initialise(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair, jint port, jint partition_key_index, jint access) {
    return sluice_verbs_queue_pair_initialise(sluice_pointer(queue_pair), port, partition_key_index, access);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_readyToReceive(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair, jlong record) {
    return sluice_verbs_queue_pair_ready_to_receive(sluice_pointer(queue_pair), sluice_pointer(record));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_readyToSend(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair, jint timeout, jint retries, jint rnr_retries,
        jint send_sequence, jint max_read_depth_as_initiator) {
    return sluice_verbs_queue_pair_ready_to_send(
            sluice_pointer(queue_pair), timeout, retries, rnr_retries, send_sequence, max_read_depth_as_initiator);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_toError(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair) {
    return sluice_verbs_queue_pair_to_error(sluice_pointer(queue_pair));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_toReset(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair) {
    return sluice_verbs_queue_pair_to_reset(sluice_pointer(queue_pair));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_state(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair) {
    return sluice_verbs_queue_pair_state(sluice_pointer(queue_pair));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_destroy(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue_pair) {
    return sluice_verbs_queue_pair_destroy(sluice_pointer(queue_pair));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsQueuePair_post(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong records, jint count) {
    return sluice_verbs_queue_pair_post(sluice_pointer(records), count);
}
