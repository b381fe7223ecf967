#define _GNU_SOURCE
#include "check.h"
#include "foreign_library.h"
#include "signal_handlers.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES (1 << 16)

/* How the handlers are kept. */
enum way { GUARDED, COMPARED, WITHOUT_THREAD };

struct foreign {
    struct sigaction before;
    struct sigaction meanwhile;
    bool child_has_its_own;
};

static void ours(int signal) {
    (void)signal;
}

static void theirs(int signal) {
    (void)signal;
}

static struct sigaction set(int signal, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction before = {0};
    sigaddset(&action.sa_mask, SIGUSR1);
    CHECK_SAME(sigaction(signal, &action, &before), 0);
    return before;
}

static struct sigaction handler_of(int signal) {
    struct sigaction now = {0};
    CHECK_SAME(sigaction(signal, NULL, &now), 0);
    return now;
}

/* A child process may set handlers of its own. */
static bool child_can_set(void) {
    int status = -1;
    int child = fork();
    if (child == 0) {
        set(SIGSEGV, theirs, 0);
        _exit(handler_of(SIGSEGV).sa_handler == theirs ? 0 : 1);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

static void behave_badly(void *argument) {
    struct foreign *foreign = argument;
    foreign->before = set(SIGSEGV, theirs, SA_RESETHAND);
    foreign->meanwhile = handler_of(SIGSEGV);
    set(SIGABRT, theirs, 0);
    set(SIGTERM, theirs, 0);
    set(SIGVTALRM, theirs, 0);
    /* Mapped, as the sanitizers' runtime unmaps it with the thread. */
    void *memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    const stack_t stack = {.ss_sp = memory, .ss_size = STACK_BYTES};
    CHECK_SAME(sigaltstack(&stack, NULL), 0);
    CHECK_SAME(syscall(SYS_rt_sigaction, SIGSEGV, 8, NULL, 8), -1);
    CHECK_SAME(errno, EFAULT);
    foreign->child_has_its_own = child_can_set();
}

static void check_kept(enum way way) {
    stack_t stack_before;
    stack_t stack_after;
    set(SIGSEGV, ours, SA_ONSTACK | SA_NODEFER);
    set(SIGTERM, ours, SA_RESTART);
    const struct sigaction fault = handler_of(SIGSEGV);
    CHECK_SAME(sigaltstack(NULL, &stack_before), 0);

    struct foreign foreign = {0};
    static struct foreign_claim claim;
    foreign_library_run(behave_badly, &foreign, &claim);

    const struct sigaction now = handler_of(SIGSEGV);
    CHECK(now.sa_handler == ours);
    CHECK_SAME(now.sa_flags, fault.sa_flags);
    CHECK(memcmp(&now.sa_mask, &fault.sa_mask, 8) == 0);
    CHECK(handler_of(SIGABRT).sa_handler == SIG_DFL);
    CHECK(handler_of(SIGTERM).sa_handler == ours);
    /* Nothing had that one. */
    CHECK(handler_of(SIGVTALRM).sa_handler == theirs);
    CHECK_SAME(sigaltstack(NULL, &stack_after), 0);
    CHECK(stack_before.ss_sp == stack_after.ss_sp);

    CHECK_SAME(claim.signals, 1u << SIGSEGV | 1u << SIGABRT | 1u << SIGTERM);
    CHECK(strstr(claim.library, "driver") != NULL);
    CHECK(foreign.before.sa_handler == ours);
    CHECK(foreign.meanwhile.sa_handler == (way == GUARDED ? ours : theirs));
    CHECK(foreign.child_has_its_own);
}

static void check_variables(void) {
    CHECK(strcmp(getenv("IPATH_NO_BACKTRACE"), "1") == 0);
    CHECK(strcmp(getenv("HFI_NO_BACKTRACE"), "theirs") == 0);
    CHECK(strcmp(getenv("UCX_HANDLE_ERRORS"), "none") == 0);
    CHECK_SAME(setenv("SLUICE_AFTER", "1", 1), 0);
    CHECK(strcmp(getenv("SLUICE_AFTER"), "1") == 0);
}

static void behave_well(void *argument) {
    *(bool *)argument = true;
}

/* A listener that is there already leaves no room for a guard. */
static int listen_to_nothing(void) {
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {1, &allow};
    CHECK_SAME(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
}

static void in_a_child(enum way way) {
    fflush(stdout);
    int child = fork();
    if (child == 0) {
        alarm(60);
        if (way == COMPARED) {
            CHECK(listen_to_nothing() >= 0);
        } else if (way == WITHOUT_THREAD) {
            const struct rlimit none = {0, 0};
            CHECK_SAME(setrlimit(RLIMIT_NOFILE, &none), 0);
        }
        CHECK_SAME(setenv("HFI_NO_BACKTRACE", "theirs", 1), 0);
        check_kept(way);
        check_variables();
        bool has_run = false;
        static struct foreign_claim claim;
        foreign_library_run(behave_well, &has_run, &claim);
        CHECK(has_run);
        CHECK_SAME(claim.signals, 0);
        CHECK(claim.library[0] == '\0');
        fflush(NULL);
        _exit(0);
    }
    await_child(child);
}

static bool can_guard(void) {
    int status = -1;
    int child = fork();
    if (child == 0) {
        _exit(signal_guard_begin(1u << SIGUSR2) >= 0 ? 0 : 1);
    }
    CHECK_SAME(waitpid(child, &status, 0), child);
    return status == 0;
}

void test_foreign_library(void) {
    if (can_guard()) {
        in_a_child(GUARDED);
        in_a_child(COMPARED);
    } else {
        puts("skipped: this kernel or sandbox gives no listener for system calls");
    }
    in_a_child(WITHOUT_THREAD);
}
