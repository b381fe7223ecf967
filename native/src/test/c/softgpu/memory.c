#define _GNU_SOURCE
#include "gpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANGE_BYTES ((size_t)1 << 38)
#define NAME_FORMAT "softgpu:%d:%zu:%d:%d"

static pthread_rwlock_t world;
static pthread_once_t set_up_once = PTHREAD_ONCE_INIT;
static char *range_begin;
/* What the virtual-memory API has mapped lies here for the host as it does in the range for devices. */
static char *shadow_begin;
static struct mapping *mappings;
static atomic_uint_fast64_t next_buffer_id = 1;

struct range {
    struct range *next;
    cuda_address address;
    size_t bytes;
};

/* Taken ones, by address. */
static struct range *ranges;

static void set_up(void) {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    /* Else the streams' threads would keep a writer out for ever. */
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&world, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    char *begin = mmap(NULL, RANGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *shadow = mmap(NULL, RANGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin != MAP_FAILED && shadow != MAP_FAILED) {
        range_begin = (char *)(((uintptr_t)begin + GRANULE - 1) & ~(GRANULE - 1));
        shadow_begin = shadow;
    }
}

void world_read(void) {
    pthread_once(&set_up_once, set_up);
    pthread_rwlock_rdlock(&world);
}

void world_write(void) {
    pthread_once(&set_up_once, set_up);
    pthread_rwlock_wrlock(&world);
}

void world_release(void) {
    pthread_rwlock_unlock(&world);
}

/* ---- ranges of addresses ---- */

cuda_address range_take(size_t bytes, size_t alignment) {
    if (range_begin == NULL || bytes == 0 || bytes > RANGE_BYTES) {
        return 0;
    }
    cuda_address at = (cuda_address)(uintptr_t)range_begin;
    cuda_address end = at + RANGE_BYTES - GRANULE;
    struct range **link = &ranges;
    while (*link != NULL && (*link)->address < at + bytes) {
        at = ((*link)->address + (*link)->bytes + alignment - 1) & ~(cuda_address)(alignment - 1);
        link = &(*link)->next;
    }
    if (at + bytes > end) {
        return 0;
    }
    struct range *taken = malloc(sizeof *taken);
    if (taken == NULL) {
        return 0;
    }
    *taken = (struct range){.next = *link, .address = at, .bytes = bytes};
    *link = taken;
    return at;
}

static bool is_range(cuda_address address, size_t bytes) {
    for (struct range *range = ranges; range != NULL; range = range->next) {
        if (address >= range->address && address + bytes <= range->address + range->bytes) {
            return true;
        }
    }
    return false;
}

bool range_of(cuda_address address, cuda_address *start, size_t *bytes) {
    for (struct range *range = ranges; range != NULL; range = range->next) {
        if (address >= range->address && address - range->address < range->bytes) {
            *start = range->address;
            *bytes = range->bytes;
            return true;
        }
    }
    return false;
}

static char *shadow_of(cuda_address address) {
    return shadow_begin + (address - (cuda_address)(uintptr_t)range_begin);
}

bool shadow_map(cuda_address address, size_t bytes, const struct allocation *allocation) {
    return mmap(shadow_of(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, allocation->fd, 0)
            != MAP_FAILED;
}

void shadow_unmap(cuda_address address, size_t bytes) {
    mmap(shadow_of(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void range_give_back(cuda_address address, size_t bytes) {
    for (struct range **link = &ranges; *link != NULL; link = &(*link)->next) {
        if ((*link)->address == address && (*link)->bytes == bytes) {
            struct range *gone = *link;
            *link = gone->next;
            free(gone);
            return;
        }
    }
}

/* ---- allocations ---- */

static cuda_result map_here(struct allocation *allocation) {
    char *here = mmap(NULL, allocation->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, allocation->fd, 0);
    if (here == MAP_FAILED) {
        return CUDA_OUT_OF_MEMORY;
    }
    allocation->bytes_here = here;
    allocation->references = 1;
    allocation->buffer_id = atomic_fetch_add(&next_buffer_id, 1);
    COUNT(allocations, 1);
    return CUDA_SUCCESS;
}

cuda_result allocation_make(int device, size_t bytes, bool is_virtual, struct allocation **made) {
    struct device *owner = device_at(ordinal_of(device));
    struct allocation *allocation = calloc(1, sizeof *allocation);
    char name[128];
    if (allocation == NULL || owner == NULL || owner->used + bytes > device_memory()) {
        free(allocation);
        return CUDA_OUT_OF_MEMORY;
    }
    allocation->bytes = bytes;
    allocation->device = device;
    allocation->is_virtual = is_virtual;
    allocation->handle_types = is_virtual ? CUDA_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
    allocation->is_rdma_capable = true;
    allocation->is_pooled = !is_virtual && atomic_load(&pools);
    snprintf(name, sizeof name, NAME_FORMAT, device, bytes, allocation->handle_types, allocation->is_rdma_capable);
    allocation->fd = memfd_create(name, MFD_CLOEXEC);
    cuda_result result = allocation->fd < 0 || ftruncate(allocation->fd, (off_t)bytes) != 0 ? CUDA_OUT_OF_MEMORY
                                                                                            : map_here(allocation);
    if (result != CUDA_SUCCESS) {
        if (allocation->fd >= 0) {
            close(allocation->fd);
        }
        free(allocation);
        return result;
    }
    owner->used += bytes;
    *made = allocation;
    return CUDA_SUCCESS;
}

/* Of another process: the descriptor's name tells what it is. The descriptor is this one's from here on. */
cuda_result allocation_adopt(int fd, struct allocation **made) {
    char path[64];
    char link[256];
    int device;
    size_t bytes;
    int handle_types;
    int rdma;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, link, sizeof link - 1);
    link[length < 0 ? 0 : length] = '\0';
    if (sscanf(link, "/memfd:" NAME_FORMAT, &device, &bytes, &handle_types, &rdma) != 4) {
        return CUDA_INVALID_VALUE;
    }
    struct allocation *allocation = calloc(1, sizeof *allocation);
    if (allocation == NULL) {
        return CUDA_OUT_OF_MEMORY;
    }
    allocation->fd = fd;
    allocation->bytes = bytes;
    allocation->device = device;
    allocation->handle_types = handle_types;
    allocation->is_virtual = handle_types != 0;
    allocation->is_rdma_capable = rdma != 0;
    allocation->is_imported = true;
    cuda_result result = map_here(allocation);
    if (result != CUDA_SUCCESS) {
        free(allocation);
        return result;
    }
    COUNT(imports, 1);
    *made = allocation;
    return CUDA_SUCCESS;
}

void allocation_release(struct allocation *allocation) {
    if (--allocation->references > 0) {
        return;
    }
    struct device *owner = device_at(ordinal_of(allocation->device));
    if (owner != NULL && !allocation->is_imported) {
        owner->used -= allocation->bytes;
    }
    munmap(allocation->bytes_here, allocation->bytes);
    close(allocation->fd);
    free(allocation);
    COUNT(allocations, -1);
}

/* ---- mappings ---- */

struct mapping *mapping_of(cuda_address address) {
    for (struct mapping *mapping = mappings; mapping != NULL; mapping = mapping->next) {
        if (address >= mapping->address && address - mapping->address < mapping->bytes) {
            return mapping;
        }
    }
    return NULL;
}

bool overlaps(cuda_address address, size_t bytes) {
    for (struct mapping *mapping = mappings; mapping != NULL; mapping = mapping->next) {
        if (address < mapping->address + mapping->bytes && mapping->address < address + bytes) {
            return true;
        }
    }
    return false;
}

struct mapping *mapping_add(
        cuda_address address, size_t bytes, size_t offset, struct allocation *allocation, enum mapping_kind kind,
        unsigned access) {
    struct mapping *mapping = malloc(sizeof *mapping);
    if (mapping == NULL) {
        return NULL;
    }
    *mapping = (struct mapping){
        .next = mappings,
        .address = address,
        .bytes = bytes,
        .offset = offset,
        .allocation = allocation,
        .kind = kind,
        .access = access,
    };
    mappings = mapping;
    COUNT(mappings, 1);
    return mapping;
}

void mapping_remove(struct mapping *mapping) {
    struct mapping **link = &mappings;
    while (*link != mapping) {
        link = &(*link)->next;
    }
    *link = mapping->next;
    free(mapping);
    COUNT(mappings, -1);
}

static bool may_reach(int ordinal, const struct mapping *mapping) {
    if (mapping->access >> ordinal & 1) {
        return true;
    }
    struct device *device = device_at(ordinal);
    return mapping->kind == LEGACY && !mapping->allocation->is_pooled && device != NULL
            && device->reaches[mapping->allocation->device];
}

/* Whether mappings of a kind, side by side, have all of a range, and an ordinal may reach them; -1 for any. */
static bool cover(enum mapping_kind kind, int ordinal, cuda_address address, size_t bytes) {
    for (;;) {
        struct mapping *mapping = mapping_of(address);
        if (mapping == NULL || mapping->kind != kind || (ordinal >= 0 && !may_reach(ordinal, mapping))) {
            return false;
        }
        size_t here = mapping->bytes - (size_t)(address - mapping->address);
        if (bytes <= here) {
            return true;
        }
        address += here;
        bytes -= here;
    }
}

/* Registrations of the host's memory that follow each other are one range for kernels alone. */
bool is_one_range(cuda_address address, size_t bytes) {
    struct mapping *mapping = mapping_of(address);
    return mapping != NULL
            && (bytes <= mapping->bytes - (address - mapping->address)
                || (mapping->kind == VIRTUAL && cover(VIRTUAL, -1, address, bytes)));
}

void *reach(int ordinal, cuda_address address, size_t bytes) {
    struct mapping *mapping = mapping_of(address);
    if (mapping != NULL && mapping->kind == HOST) {
        return cover(HOST, -1, address, bytes) ? (char *)(uintptr_t)(address & ~HOST_BIT) : NULL;
    }
    if (mapping != NULL && mapping->kind == VIRTUAL) {
        return cover(VIRTUAL, ordinal, address, bytes) ? shadow_of(address) : NULL;
    }
    if (mapping == NULL || bytes > mapping->bytes - (address - mapping->address) || !may_reach(ordinal, mapping)) {
        return NULL;
    }
    size_t at = (size_t)(address - mapping->address);
    return mapping->allocation->bytes_here + mapping->offset + at;
}

/* ---- memory of one call ---- */

EXPORT cuda_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    CONTEXT(context)
    world_read();
    *total = device_memory();
    *free_bytes = *total - context->device->used;
    world_release();
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuMemAlloc_v2(cuda_address *address, size_t bytes) {
    CONTEXT(context)
    struct allocation *allocation;
    if (bytes == 0) {
        return CUDA_INVALID_VALUE;
    }
    world_write();
    cuda_result result = allocation_make(context->device->index, bytes, false, &allocation);
    if (result == CUDA_SUCCESS) {
        size_t taken = (bytes + LEGACY_ALIGNMENT - 1) & ~(LEGACY_ALIGNMENT - 1);
        *address = range_take(taken, LEGACY_ALIGNMENT);
        if (*address == 0
                || mapping_add(*address, bytes, 0, allocation, LEGACY, 1u << context->ordinal) == NULL) {
            allocation_release(allocation);
            result = CUDA_OUT_OF_MEMORY;
        }
    }
    world_release();
    return result;
}

EXPORT cuda_result cuMemFree_v2(cuda_address address) {
    CONTEXT(context)
    streams_await(context->ordinal);
    world_write();
    struct mapping *mapping = mapping_of(address);
    bool is_base = mapping != NULL && mapping->kind == LEGACY && mapping->address == address;
    if (is_base) {
        struct allocation *allocation = mapping->allocation;
        size_t taken = (mapping->bytes + LEGACY_ALIGNMENT - 1) & ~(LEGACY_ALIGNMENT - 1);
        mapping_remove(mapping);
        range_give_back(address, taken);
        allocation_release(allocation);
    }
    world_release();
    return is_base ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

/* ---- the virtual-memory API: an allocation's handle is its address ---- */

EXPORT cuda_result cuMemGetAllocationGranularity(
        size_t *bytes, const struct cuda_allocation_properties *properties, int option) {
    STICKY();
    (void)option;
    *bytes = GRANULE;
    return properties->type == CUDA_ALLOCATION_PINNED ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

EXPORT cuda_result cuMemCreate(
        cuda_allocation *handle, size_t bytes, const struct cuda_allocation_properties *properties,
        unsigned long long flags) {
    STICKY();
    struct device *device = device_at(properties->location.id);
    struct allocation *allocation;
    if (device == NULL || bytes == 0 || bytes % GRANULE != 0 || flags != 0) {
        return CUDA_INVALID_VALUE;
    }
    world_write();
    cuda_result result = allocation_make(device->index, bytes, true, &allocation);
    if (result == CUDA_SUCCESS) {
        allocation->handle_types = properties->handle_types;
        *handle = (cuda_allocation)(uintptr_t)allocation;
    }
    world_release();
    return result;
}

EXPORT cuda_result cuMemRelease(cuda_allocation handle) {
    if (handle == 0) {
        return CUDA_INVALID_VALUE;
    }
    world_write();
    allocation_release((struct allocation *)(uintptr_t)handle);
    world_release();
    return CUDA_SUCCESS;
}

EXPORT cuda_result cuMemAddressReserve(
        cuda_address *address, size_t bytes, size_t alignment, cuda_address wish, unsigned long long flags) {
    STICKY();
    (void)wish;
    if (bytes % GRANULE != 0 || flags != 0) {
        return CUDA_INVALID_VALUE;
    }
    world_write();
    *address = range_take(bytes, alignment > GRANULE ? alignment : GRANULE);
    world_release();
    return *address == 0 ? CUDA_OUT_OF_MEMORY : CUDA_SUCCESS;
}

EXPORT cuda_result cuMemAddressFree(cuda_address address, size_t bytes) {
    world_write();
    bool is_free = is_range(address, bytes) && !overlaps(address, bytes);
    if (is_free) {
        range_give_back(address, bytes);
    }
    world_release();
    return is_free ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

EXPORT cuda_result cuMemMap(
        cuda_address address, size_t bytes, size_t offset, cuda_allocation handle, unsigned long long flags) {
    STICKY();
    struct allocation *allocation = (struct allocation *)(uintptr_t)handle;
    if (handle == 0 || flags != 0 || offset != 0 || bytes > allocation->bytes) {
        return CUDA_INVALID_VALUE;
    }
    world_write();
    bool can = is_range(address, bytes) && !overlaps(address, bytes) && shadow_map(address, bytes, allocation)
            && mapping_add(address, bytes, offset, allocation, VIRTUAL, 0) != NULL;
    if (can) {
        allocation->references++;
    }
    world_release();
    return can ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

EXPORT cuda_result cuMemUnmap(cuda_address address, size_t bytes) {
    kernels_await_locked(-1);
    world_write();
    struct mapping *mapping = mapping_of(address);
    bool is_mapped = mapping != NULL && mapping->kind == VIRTUAL && mapping->address == address && mapping->bytes == bytes;
    if (is_mapped) {
        struct allocation *allocation = mapping->allocation;
        mapping_remove(mapping);
        shadow_unmap(address, bytes);
        allocation_release(allocation);
    }
    world_release();
    return is_mapped ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

EXPORT cuda_result cuMemSetAccess(
        cuda_address address, size_t bytes, const struct cuda_access *access, size_t count) {
    STICKY();
    world_write();
    struct mapping *mapping = mapping_of(address);
    cuda_result result = mapping == NULL || mapping->kind != VIRTUAL || mapping->bytes != bytes ? CUDA_INVALID_VALUE
                                                                                               : CUDA_SUCCESS;
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++) {
        struct device *device = device_at(access[i].location.id);
        if (device == NULL || (device->index != mapping->allocation->device && !devices_are_peers())) {
            result = CUDA_INVALID_DEVICE;
        } else {
            mapping->access |= 1u << access[i].location.id;
        }
    }
    world_release();
    return result;
}

EXPORT cuda_result cuMemRetainAllocationHandle(cuda_allocation *handle, void *address) {
    STICKY();
    world_write();
    struct mapping *mapping = mapping_of((cuda_address)(uintptr_t)address);
    bool is_virtual = mapping != NULL && mapping->kind == VIRTUAL;
    if (is_virtual) {
        mapping->allocation->references++;
        *handle = (cuda_allocation)(uintptr_t)mapping->allocation;
    }
    world_release();
    return is_virtual ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

EXPORT cuda_result cuMemGetAllocationPropertiesFromHandle(
        struct cuda_allocation_properties *properties, cuda_allocation handle) {
    STICKY();
    struct allocation *allocation = (struct allocation *)(uintptr_t)handle;
    *properties = (struct cuda_allocation_properties){
        .type = CUDA_ALLOCATION_PINNED,
        .handle_types = allocation->handle_types,
        .location = {.type = CUDA_LOCATION_DEVICE, .id = ordinal_of(allocation->device)},
        .is_gpu_direct_rdma_capable = allocation->is_rdma_capable,
    };
    return CUDA_SUCCESS;
}
