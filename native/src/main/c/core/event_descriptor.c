#include "sluice.h"

#include <sys/eventfd.h>
#include <unistd.h>

int sluice_event_create(void) {
    return sluice_result(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

int sluice_event_signal(int fd) {
    const uint64_t one = 1;
    int result;
    do {
        result = sluice_result((int)write(fd, &one, sizeof one));
    } while (result == -EINTR);
    /* With a full counter the descriptor is readable already. */
    return result >= 0 || result == -EAGAIN ? 0 : result;
}

int sluice_event_drain(int fd) {
    uint64_t count;
    int result;
    do {
        result = sluice_result((int)read(fd, &count, sizeof count));
    } while (result == -EINTR);
    if (result == -EAGAIN) {
        return 0;
    }
    return result < 0 ? result : 1;
}
