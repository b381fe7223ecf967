#include "verbs_library.h"

#define KNOWN \
    (SLUICE_VERBS_LOCAL_WRITE | SLUICE_VERBS_REMOTE_WRITE | SLUICE_VERBS_REMOTE_READ | SLUICE_VERBS_REMOTE_ATOMIC \
     | SLUICE_VERBS_RELAXED_ORDERING | SLUICE_VERBS_ON_DEMAND)

int verbs_access(int access) {
    if ((access & ~KNOWN) != 0) {
        return -EINVAL;
    }
    return (access & SLUICE_VERBS_LOCAL_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0)
            | (access & SLUICE_VERBS_REMOTE_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0)
            | (access & SLUICE_VERBS_REMOTE_READ ? IBV_ACCESS_REMOTE_READ : 0)
            | (access & SLUICE_VERBS_REMOTE_ATOMIC ? IBV_ACCESS_REMOTE_ATOMIC : 0)
            | (access & SLUICE_VERBS_RELAXED_ORDERING ? (int)IBV_ACCESS_RELAXED_ORDERING : 0)
            | (access & SLUICE_VERBS_ON_DEMAND ? IBV_ACCESS_ON_DEMAND : 0);
}

int64_t sluice_verbs_memory_register(void *domain, void *address, int64_t length, int access) {
    int flags = verbs_access(access);
    if (domain == NULL || address == NULL || length < 1 || flags < 0) {
        return -EINVAL;
    }
    errno = 0;
    /* Flags in the optional range are hints, which only the newer function accepts and ignores where unsupported. */
    if ((flags & (int)IBV_ACCESS_OPTIONAL_RANGE) != 0 && verbs.reg_mr_iova2 != NULL) {
        return verbs_handle(verbs.reg_mr_iova2(
                domain, address, (size_t)length, (uint64_t)(uintptr_t)address, (unsigned int)flags));
    }
    return verbs_handle((verbs.reg_mr)(domain, address, (size_t)length, flags & ~(int)IBV_ACCESS_OPTIONAL_RANGE));
}

int64_t sluice_verbs_memory_register_dmabuf(
        void *domain, int descriptor, int64_t offset, int64_t length, uint64_t virtual_address, int access) {
    int flags = verbs_access(access);
    if (domain == NULL || offset < 0 || length < 1 || flags < 0) {
        return -EINVAL;
    }
    if (verbs.reg_dmabuf_mr == NULL) {
        return -EOPNOTSUPP;
    }
    errno = 0;
    return verbs_handle(verbs.reg_dmabuf_mr(
            domain, (uint64_t)offset, (size_t)length, virtual_address, descriptor, flags));
}

int sluice_verbs_memory_local_key(void *region) {
    return region == NULL ? 0 : (int)((struct ibv_mr *)region)->lkey;
}

int sluice_verbs_memory_remote_key(void *region) {
    return region == NULL ? 0 : (int)((struct ibv_mr *)region)->rkey;
}

int sluice_verbs_memory_deregister(void *region) {
    errno = 0;
    return region == NULL ? -EINVAL : verbs_result(verbs.dereg_mr(region));
}
