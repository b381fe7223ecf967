#include "fixture.h"

static void the_list_has_as_many_devices_as_the_environment_says(void) {
    const char *const values[] = {"0", "1", "8", "99", "x", NULL};
    const int counts[] = {0, 1, 8, 8, 2, 2};
    for (int i = 0; i < 6; i++) {
        if (values[i] == NULL) {
            unsetenv("SOFT_ADAPTER_DEVICES");
        } else {
            setenv("SOFT_ADAPTER_DEVICES", values[i], 1);
        }
        int count = -1;
        struct ibv_device **list = ibv_get_device_list(&count);
        CHECK(list != NULL);
        CHECK_SAME(count, counts[i]);
        CHECK(list[count] == NULL);
        for (int each = 0; each < count; each++) {
            char name[] = "soft0";
            name[4] = (char)('0' + each);
            CHECK(strcmp(ibv_get_device_name(list[each]), name) == 0);
        }
        ibv_free_device_list(list);
    }
}

static void attributes_are_told(struct ibv_context *context) {
    struct ibv_device_attr attributes;
    memset(&attributes, 0xff, sizeof attributes);
    CHECK_SAME(ibv_query_device(context, &attributes), 0);
    CHECK_SAME(attributes.max_qp_rd_atom, 16);
    CHECK_SAME(attributes.max_qp_init_rd_atom, 16);
    CHECK_SAME(attributes.max_cqe, 65535);
    CHECK_SAME(attributes.phys_port_cnt, 1);
    CHECK_SAME(attributes.atomic_cap, IBV_ATOMIC_HCA);
    CHECK(attributes.max_mr_size > UINT64_C(1) << 40);
    CHECK(attributes.max_srq > 0 && attributes.max_srq_wr > 1000 && attributes.max_sge > 1);

    struct ibv_device_attr_ex extended;
    memset(&extended, 0xff, sizeof extended);
    CHECK_SAME(ibv_query_device_ex(context, NULL, &extended), 0);
    CHECK_SAME(extended.orig_attr.node_guid, attributes.node_guid);
    CHECK_SAME(extended.odp_caps.general_caps, 0);
    CHECK_SAME(extended.phys_port_cnt_ex, 1);
    struct ibv_query_device_ex_input input = {.comp_mask = 1};
    CHECK_SAME(ibv_query_device_ex(context, &input, &extended), EINVAL);
}

static void the_port_is_told(struct ibv_context *context) {
    struct ibv_port_attr port;
    memset(&port, 0xff, sizeof port);
    CHECK_SAME(ibv_query_port(context, 1, &port), 0);
    CHECK_SAME(port.state, IBV_PORT_ACTIVE);
    CHECK_SAME(port.active_mtu, IBV_MTU_4096);
    CHECK_SAME(port.link_layer, IBV_LINK_LAYER_ETHERNET);
    CHECK_SAME(port.max_msg_sz, 1 << 30);
    CHECK_SAME(port.port_cap_flags2, 0);
    CHECK_SAME(ibv_query_port(context, 0, &port), EINVAL);
    CHECK_SAME(ibv_query_port(context, 2, &port), EINVAL);

    /* The library's own function, for clients that don't know the last field. */
    struct ibv_port_attr older;
    memset(&older, 0x77, sizeof older);
    CHECK_SAME((ibv_query_port)(context, 1, (struct _compat_ibv_port_attr *)&older), 0);
    CHECK_SAME(older.link_layer, IBV_LINK_LAYER_ETHERNET);
    CHECK_SAME(older.port_cap_flags2, 0x7777);
}

static void addresses_are_told(struct ibv_context *context, struct ibv_context *second) {
    union ibv_gid seen[4];
    for (int i = 0; i < 4; i++) {
        struct ibv_gid_entry entry;
        struct ibv_context *one = i < 2 ? context : second;
        CHECK_SAME(ibv_query_gid_ex(one, 1, (uint32_t)i % 2, &entry, 0), 0);
        CHECK_SAME(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
        CHECK_SAME(entry.gid_index, i % 2);
        CHECK_SAME(entry.port_num, 1);
        CHECK_SAME(ibv_query_gid(one, 1, i % 2, &seen[i]), 0);
        CHECK(memcmp(&seen[i], &entry.gid, sizeof entry.gid) == 0);
        CHECK_SAME(seen[i].raw[0], i % 2 == 0 ? 0xfe : 0);
        for (int before = 0; before < i; before++) {
            CHECK(memcmp(&seen[i], &seen[before], sizeof seen[i]) != 0);
        }
    }
    struct ibv_gid_entry entry;
    union ibv_gid empty;
    const union ibv_gid zero = {{0}};
    CHECK_SAME(ibv_query_gid_ex(context, 1, 2, &entry, 0), ENODATA);
    CHECK_SAME(ibv_query_gid_ex(context, 1, 16, &entry, 0), EINVAL);
    CHECK_SAME(ibv_query_gid_ex(context, 2, 0, &entry, 0), EINVAL);
    CHECK_SAME(ibv_query_gid(context, 1, 15, &empty), 0);
    CHECK(memcmp(&empty, &zero, sizeof zero) == 0);
    CHECK_SAME(ibv_query_gid(context, 1, 16, &empty), -1);
    CHECK_SAME(ibv_query_gid(context, 1, -1, &empty), -1);
}

static void a_device_is_closed_when_nothing_is_left(void) {
    struct side side;
    open_side(&side, usual());
    CHECK_SAME(ibv_close_device(side.context), -1);
    CHECK_SAME(errno, EBUSY);
    CHECK_SAME(ibv_dealloc_pd(side.domain), EBUSY);
    CHECK_SAME(ibv_destroy_cq(side.queue), EBUSY);
    CHECK_SAME(ibv_destroy_comp_channel(side.channel), EBUSY);
    close_side(&side);
    const char *const names[] = {"contexts", "domains", "regions", "region_bytes", "completion_queues", "channels",
            "receive_queues", "queue_pairs"};
    for (int i = 0; i < 8; i++) {
        CHECK_SAME(soft_adapter_counter(names[i]), 0);
    }
    CHECK_SAME(soft_adapter_counter("unknown"), -1);
}

static void texts_are_told(void) {
    CHECK(strcmp(ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR), "transport retry counter exceeded") == 0);
    CHECK(strcmp(ibv_wc_status_str((enum ibv_wc_status)1000), "unknown") == 0);
    for (int i = 0; i <= IBV_WC_TM_RNDV_INCOMPLETE; i++) {
        CHECK(strlen(ibv_wc_status_str((enum ibv_wc_status)i)) > 0);
    }
    CHECK_SAME(ibv_fork_init(), 0);
}

void test_devices(void) {
    the_list_has_as_many_devices_as_the_environment_says();
    struct ibv_context *context = open_device(0);
    struct ibv_context *second = open_device(1);
    attributes_are_told(context);
    the_port_is_told(context);
    addresses_are_told(context, second);
    CHECK_SAME(ibv_close_device(second), 0);
    CHECK_SAME(ibv_close_device(context), 0);
    a_device_is_closed_when_nothing_is_left();
    texts_are_told();
}
