#define _GNU_SOURCE
#include "signal_handlers.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel has 64 signals; the remaining bits of the C library's sets are undefined. */
#define MASK_BYTES (64 / 8)
#define BIT(signal) (UINT32_C(1) << (signal))
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGABRT))

static bool is_same(const struct sigaction *one, const struct sigaction *other) {
    return one->sa_sigaction == other->sa_sigaction && one->sa_flags == other->sa_flags
            && memcmp(&one->sa_mask, &other->sa_mask, MASK_BYTES) == 0;
}

static void *address_of(const struct sigaction *action) {
    void *address;
    memcpy(&address, &action->sa_sigaction, sizeof address);
    return address;
}

static void add_claim(struct signal_claim *claim, int signal, void *handler) {
    claim->signals |= BIT(signal);
    /* SIG_DFL and SIG_IGN belong to no library. */
    if (claim->handler == NULL && (uintptr_t)handler > 1) {
        claim->handler = handler;
    }
}

void signal_handlers_keep(struct signal_handlers *handlers) {
    handlers->kept = 0;
    for (int signal = 1; signal < SIGNAL_HANDLERS; signal++) {
        struct sigaction *action = &handlers->of[signal];
        if (sigaction(signal, NULL, action) == 0 && (action->sa_handler != SIG_DFL || (FAULTS & BIT(signal)))) {
            handlers->kept |= BIT(signal);
        }
    }
}

void signal_handlers_restore(const struct signal_handlers *handlers, bool was_guarded, struct signal_claim *claim) {
    uint32_t looked_at = was_guarded ? handlers->kept & FAULTS : handlers->kept;
    for (int signal = 1; signal < SIGNAL_HANDLERS; signal++) {
        struct sigaction now;
        if ((looked_at & BIT(signal)) && sigaction(signal, NULL, &now) == 0 && !is_same(&now, &handlers->of[signal])) {
            sigaction(signal, &handlers->of[signal], NULL);
            add_claim(claim, signal, address_of(&now));
        }
    }
}

/* With older headers only comparing and restoring remains. */
#if defined(SECCOMP_FILTER_FLAG_NEW_LISTENER) && defined(SECCOMP_USER_NOTIF_FLAG_CONTINUE)

#if defined(__x86_64__)
#define NATIVE_CALLS AUDIT_ARCH_X86_64
#else
#define NATIVE_CALLS AUDIT_ARCH_AARCH64
#endif

#define DATA(member) (offsetof(struct seccomp_data, member))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
/* How many instructions to skip on a match and otherwise. */
#define IF_EQUAL(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (then), (otherwise))

int signal_guard_begin(uint32_t signals) {
    struct sock_filter program[] = {
        LOAD(DATA(arch)),
        IF_EQUAL(NATIVE_CALLS, 0, 12),
        LOAD(DATA(nr)),
        IF_EQUAL(__NR_rt_sigaction, 0, 10),
        /*
         * Both halves of the pointer to the new handler; a null pointer only queries. Both architectures are
         * little-endian.
         */
        LOAD(DATA(args[1])),
        IF_EQUAL(0, 0, 2),
        LOAD(DATA(args[1]) + 4),
        IF_EQUAL(0, 6, 0),
        LOAD(DATA(args[0])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SIGNAL_HANDLERS, 4, 0),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_IMM, signals),
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_X, 0),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog filter = {sizeof program / sizeof program[0], program};
    /* For this thread only. Without it the kernel requires a privilege. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -errno;
    }
    /* Without this flag, older kernels slow down threads that have a filter. */
    unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    return sluice_result((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter));
}

/* Answers a thread that must not set a handler: success, and the handler in place. */
static int pretend(const struct seccomp_data *call, struct signal_claim *claim) {
    void *handler;
    /*
     * The handler is the first member of the kernel's structure. Copied by the kernel, because the pointer may be
     * invalid.
     */
    if (sluice_copy_by_kernel(&handler, 0, (void *)(uintptr_t)call->args[1], 0, sizeof handler) != 0) {
        return -EFAULT;
    }
    int signal = (int)call->args[0];
    add_claim(claim, signal, handler);
    void *before = (void *)(uintptr_t)call->args[2];
    return sluice_result((int)syscall(SYS_rt_sigaction, signal, NULL, before, call->args[3]));
}

void signal_guard_answer(int guard, struct signal_claim *claim) {
    /* The kernel's structures may be longer than those of the headers and must be zeroed. */
    union {
        struct seccomp_notif question;
        char room[256];
    } asked = {.room = {0}};
    union {
        struct seccomp_notif_resp answer;
        char room[256];
    } told = {.room = {0}};
    if (ioctl(guard, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
        /* A signal interrupted the call; the thread will repeat it. */
        return;
    }
    told.answer.id = asked.question.id;
    /* A child process inherits the filter, but has its own handlers and usually its own memory. */
    if (syscall(SYS_tgkill, getpid(), asked.question.pid, 0) == 0) {
        told.answer.error = pretend(&asked.question.data, claim);
    } else {
        told.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    if (ioctl(guard, SECCOMP_IOCTL_NOTIF_SEND, &told) != 0 && errno == EINVAL) {
        /* Before Linux 5.5 a call cannot be allowed to continue. */
        told.answer.flags = 0;
        told.answer.error = -ENOSYS;
        ioctl(guard, SECCOMP_IOCTL_NOTIF_SEND, &told);
    }
}

#else

int signal_guard_begin(uint32_t signals) {
    (void)signals;
    return -ENOSYS;
}

void signal_guard_answer(int guard, struct signal_claim *claim) {
    (void)guard;
    (void)claim;
}

#endif
