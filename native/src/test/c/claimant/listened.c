/*
 * Runs a program under a filter of system calls that has a listener and lets everything pass, as some containers' runtimes
 * give their processes. A thread can have but one listener, so the program can have none. Ends with 3 where this kernel or
 * sandbox gives no such filter.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {1, &allow};
    if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return 3;
    }
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    /* There is a listener as long as its descriptor is open. */
    if (listener < 0 || fcntl(listener, F_SETFD, 0) != 0) {
        return 3;
    }
    execvp(arguments[1], arguments + 1);
    return 4;
}
