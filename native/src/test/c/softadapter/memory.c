#include "adapter.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define REMOTE_RIGHTS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define KNOWN_RIGHTS (IBV_ACCESS_LOCAL_WRITE | REMOTE_RIGHTS | IBV_ACCESS_MW_BIND | IBV_ACCESS_HUGETLB)

struct region {
    struct ibv_mr base;
    uint32_t slot;
    int access;
    /* The client's address of its first byte, and where that lies. */
    uint64_t address;
    char *start;
    uint64_t locked;
    /* The mapping of a DMA buffer. */
    void *mapping;
    size_t mapping_bytes;
};

/*
 * A key is a slot, whether it is the remote one, and a tag that changes each time the slot is used. The table is that
 * of all devices: a key of another device's region fails for its protection domain. It never shrinks; under the world.
 */
struct slot {
    struct region *region;
    uint32_t next_free;
    uint8_t tag;
};

#define NO_SLOT UINT32_MAX
#define FIRST_KEY UINT32_C(0x000101)

static struct slot *slots;
static uint32_t slot_count;
static uint32_t slot_capacity;
static uint32_t free_slot = NO_SLOT;
static uint64_t locked_bytes;

static uint32_t key_of(uint32_t slot, bool remote) {
    uint8_t tag = (uint8_t)(slots[slot].tag + (remote ? 0x5b : 0));
    return (FIRST_KEY + slot * 2 + (remote ? 1 : 0)) << 8 | tag;
}

static int take_slot(uint32_t *slot) {
    if (free_slot != NO_SLOT) {
        *slot = free_slot;
        free_slot = slots[*slot].next_free;
        slots[*slot].tag++;
        return 0;
    }
    if (slot_count == MAXIMUM_REGIONS) {
        return ENOMEM;
    }
    if (slot_count == slot_capacity) {
        uint32_t capacity = slot_capacity == 0 ? 64 : slot_capacity * 2;
        struct slot *larger = realloc(slots, capacity * sizeof *slots);
        if (larger == NULL) {
            return ENOMEM;
        }
        slots = larger;
        slot_capacity = capacity;
    }
    *slot = slot_count++;
    slots[*slot] = (struct slot){.tag = (uint8_t)(0x11 + *slot * 7)};
    return 0;
}

static void give_slot_back(uint32_t slot) {
    slots[slot].region = NULL;
    slots[slot].next_free = free_slot;
    free_slot = slot;
}

static void *resolve(
        const struct ibv_pd *domain, uint32_t key, bool remote, uint64_t address, uint64_t length, int access) {
    uint32_t index = (key >> 8) - FIRST_KEY;
    uint32_t slot = index / 2;
    if (key >> 8 < FIRST_KEY || slot >= slot_count || key != key_of(slot, remote)) {
        return NULL;
    }
    const struct region *region = slots[slot].region;
    if (region == NULL || region->base.pd != domain || (region->access & access) != access) {
        return NULL;
    }
    if (address < region->address || length > region->base.length
            || address - region->address > region->base.length - length) {
        return NULL;
    }
    return region->start + (address - region->address);
}

void *memory_local(const struct ibv_pd *domain, uint32_t key, uint64_t address, uint64_t length, int access) {
    return resolve(domain, key, false, address, length, access);
}

void *memory_remote(const struct ibv_pd *domain, uint32_t key, uint64_t address, uint64_t length, int access) {
    return resolve(domain, key, true, address, length, access);
}

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
    if (atomic_load(&device_of(context)->removed) || context_of(context)->dead) {
        errno = EIO;
        return NULL;
    }
    struct domain *domain = calloc(1, sizeof *domain);
    if (domain == NULL) {
        return NULL;
    }
    domain->base.context = context;
    atomic_fetch_add(&context_of(context)->objects, 1);
    COUNT(domains, 1);
    return &domain->base;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *base) {
    struct domain *domain = container_of(base, struct domain, base);
    if (atomic_load(&domain->objects) != 0) {
        return EBUSY;
    }
    atomic_fetch_sub(&context_of(base->context)->objects, 1);
    free(domain);
    COUNT(domains, -1);
    return 0;
}

static int check_access(struct ibv_pd *domain, unsigned int access) {
    /* Optional rights may be ignored. */
    access &= ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
    if (access & IBV_ACCESS_ON_DEMAND) {
        return EOPNOTSUPP;
    }
    if (access & ~(unsigned int)KNOWN_RIGHTS) {
        return EINVAL;
    }
    if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) && !(access & IBV_ACCESS_LOCAL_WRITE)) {
        return EINVAL;
    }
    return context_of(domain->context)->dead ? EIO : 0;
}

static int enter(struct region *region) {
    uint64_t limit = context_of(region->base.context)->settings.locked_bytes;
    if (region->locked > limit || locked_bytes > limit - region->locked) {
        return ENOMEM;
    }
    int result = take_slot(&region->slot);
    if (result != 0) {
        return result;
    }
    slots[region->slot].region = region;
    region->base.handle = region->slot;
    region->base.lkey = key_of(region->slot, false);
    region->base.rkey = key_of(region->slot, true);
    locked_bytes += region->locked;
    return 0;
}

static struct ibv_mr *enter_or_free(struct region *region) {
    world_write();
    int result = enter(region);
    world_release();
    if (result != 0) {
        if (region->mapping != NULL) {
            munmap(region->mapping, region->mapping_bytes);
        }
        free(region);
        errno = result;
        return NULL;
    }
    atomic_fetch_add(&container_of(region->base.pd, struct domain, base)->objects, 1);
    COUNT(registrations, 1);
    COUNT(regions, 1);
    COUNT(region_bytes, region->base.length);
    return &region->base;
}

static struct region *make(struct ibv_pd *domain, size_t length, uint64_t address, unsigned int access) {
    struct region *region = calloc(1, sizeof *region);
    if (region == NULL) {
        return NULL;
    }
    region->base.context = domain->context;
    region->base.pd = domain;
    region->base.length = length;
    region->access = (int)(access & KNOWN_RIGHTS);
    region->address = address;
    return region;
}

static uint64_t page_bytes(void) {
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of the pages that a range touches. */
static uint64_t locked_by(uint64_t address, uint64_t length) {
    uint64_t mask = page_bytes() - 1;
    return ((address + length + mask) & ~mask) - (address & ~mask);
}

static struct ibv_mr *register_memory(
        struct ibv_pd *domain, void *start, size_t length, uint64_t address, unsigned int access) {
    int result = check_access(domain, access);
    uint64_t from = (uintptr_t)start;
    if (result == 0 && (length == 0 || from + length < from || address + length < address)) {
        result = EINVAL;
    }
    if (result == 0) {
        result = mappings_check(from, length, access & IBV_ACCESS_LOCAL_WRITE);
    }
    if (result != 0) {
        errno = result;
        return NULL;
    }
    struct region *region = make(domain, length, address, access);
    if (region == NULL) {
        return NULL;
    }
    region->base.addr = start;
    region->start = start;
    region->locked = locked_by(from, length);
    return enter_or_free(region);
}

#undef ibv_reg_mr
EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *domain, void *start, size_t length, int access) {
    return register_memory(domain, start, length, (uintptr_t)start, (unsigned int)access);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(
        struct ibv_pd *domain, void *start, size_t length, uint64_t address, unsigned int access) {
    return register_memory(domain, start, length, address, access);
}

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(
        struct ibv_pd *domain, uint64_t offset, size_t length, uint64_t address, int descriptor, int access) {
    uint64_t mask = page_bytes() - 1;
    int result = check_access(domain, (unsigned int)access);
    if (result == 0
            && (length == 0 || offset + length < offset || address + length < address
                    || (offset & mask) != (address & mask))) {
        result = EINVAL;
    }
    if (result != 0) {
        errno = result;
        return NULL;
    }
    struct region *region = make(domain, length, address, (unsigned int)access);
    if (region == NULL) {
        return NULL;
    }
    int protection = PROT_READ | (access & IBV_ACCESS_LOCAL_WRITE ? PROT_WRITE : 0);
    region->mapping = dma_buffer_map(descriptor, offset, length, protection, &region->mapping_bytes);
    if (region->mapping == NULL) {
        result = errno;
        free(region);
        errno = result;
        return NULL;
    }
    region->start = (char *)region->mapping + (offset & mask);
    /* The exporter of the buffer locks its memory. */
    region->locked = 0;
    return enter_or_free(region);
}

EXPORT int ibv_dereg_mr(struct ibv_mr *base) {
    struct region *region = container_of(base, struct region, base);
    /* Not before a copy under way has ended. */
    world_write();
    give_slot_back(region->slot);
    locked_bytes -= region->locked;
    world_release();
    if (region->mapping != NULL) {
        munmap(region->mapping, region->mapping_bytes);
    }
    atomic_fetch_sub(&container_of(base->pd, struct domain, base)->objects, 1);
    COUNT(regions, -1);
    COUNT(region_bytes, -(int64_t)base->length);
    free(region);
    return 0;
}
