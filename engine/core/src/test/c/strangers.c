/*
 * Strangers for a target on 127.0.0.1, on one thread, until standard input ends: some say a wrong hello, so many a second as
 * far as the machine goes, and leave once they are refused; others say nothing, and come again soon after they have been
 * turned away. In C, as the sockets are to cost the target more than what makes them.
 *
 *   strangers PORT PROOF HELLOS ADDRESSES HELLO,HELLO... SILENT ADDRESSES
 *
 * HELLOS come a second, each in turn from the next of its ADDRESSES and with the next HELLO; one that is welcomed answers with
 * PROOF. SILENT ones are there at a time. Messages are in hexadecimal digits, addresses are separated by commas. At the end it
 * prints lines of a name and a number: "code N" counts the refusals of that code.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define AGAIN_NANOS (SECOND / 10)
#define MOST_UNDER_WAY 4096
#define MOST_BEGUN_A_TURN 64
#define MOST_EVENTS 256
#define MOST_ANSWER 2048
#define MOST_MESSAGE 1024
#define MOST_HELLOS 4
#define MOST_ADDRESSES 256

/* The header of a message: magic (2 bytes), version (1), type (1), length (4). Its fields: tag (2), length (2), value. */
#define HEADER 8
#define WELCOME 2
#define FIELD_HEADER 4
#define TAG_CODE 14
#define CODES 256

struct message {
    uint8_t bytes[MOST_MESSAGE];
    size_t length;
};

struct addresses {
    in_addr_t each[MOST_ADDRESSES];
    unsigned count;
};

struct stranger {
    int descriptor;
    int silent;
    int spoken;
    int told;
    in_addr_t from;
    size_t length;
    struct stranger *next;
    uint8_t answer[MOST_ANSWER];
};

struct return_time {
    int64_t at;
    in_addr_t from;
};

static struct sockaddr_in target = {.sin_family = AF_INET};
static struct message proof, hellos[MOST_HELLOS];
static unsigned hello_kinds;
static struct addresses hello_from, silent_from;
static int64_t hellos_a_second, silent;

static int poll;
static struct stranger *unused;
/* A ring: as many as are silent. */
static struct return_time *away;
static int64_t away_head, away_count;

static int64_t under_way, began, missed;
static int64_t codes[CODES], without_a_word, not_connected, silent_came;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now_nanos(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static struct message read_message(const char *digits) {
    struct message message = {.length = strlen(digits) / 2};
    if (message.length > MOST_MESSAGE) {
        errno = EMSGSIZE;
        fail("a message");
    }
    for (size_t i = 0; i < message.length; i++) {
        sscanf(digits + 2 * i, "%2hhx", &message.bytes[i]);
    }
    return message;
}

static void read_hellos(char *list) {
    for (char *each = strtok(list, ","); each && hello_kinds < MOST_HELLOS; each = strtok(NULL, ",")) {
        hellos[hello_kinds++] = read_message(each);
    }
}

static struct addresses read_addresses(char *list) {
    struct addresses addresses = {.count = 0};
    for (char *each = strtok(list, ","); each && addresses.count < MOST_ADDRESSES; each = strtok(NULL, ",")) {
        addresses.each[addresses.count++] = inet_addr(each);
    }
    return addresses;
}

static struct stranger *take_stranger(void) {
    struct stranger *stranger = unused;
    if (stranger) {
        unused = stranger->next;
    } else if (!(stranger = malloc(sizeof *stranger))) {
        fail("malloc");
    }
    return stranger;
}

static void come_back(int64_t at, in_addr_t from) {
    away[(away_head + away_count++) % silent] = (struct return_time){at, from};
}

static void end(struct stranger *stranger, int64_t *how) {
    close(stranger->descriptor);
    stranger->next = unused;
    unused = stranger;
    if (stranger->silent) {
        come_back(now_nanos() + AGAIN_NANOS, stranger->from);
        return;
    }
    under_way--;
    if (!stranger->told) {
        ++*how;
    }
}

static void send_message(struct stranger *stranger, const struct message *message) {
    ssize_t sent = send(stranger->descriptor, message->bytes, message->length, MSG_NOSIGNAL);
    stranger->spoken = sent == (ssize_t)message->length;
}

/* At once where the kernel has connected it within the call, as it mostly does. */
static void speak(struct stranger *stranger) {
    static unsigned turn;
    if (stranger->silent) {
        stranger->spoken = 1;
        return;
    }
    send_message(stranger, &hellos[turn % hello_kinds]);
    turn += stranger->spoken;
}

static void begin(in_addr_t from, int is_silent) {
    struct stranger *stranger = take_stranger();
    *stranger = (struct stranger){.from = from, .silent = is_silent};
    under_way += !is_silent;
    stranger->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (stranger->descriptor < 0) {
        fail("socket");
    }
    int yes = 1;
    /* The port is chosen by connect, which need not look for one that is free for all targets. */
    setsockopt(stranger->descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    if (!is_silent) {
        /* No port stays taken for a while. */
        struct linger reset = {.l_onoff = 1, .l_linger = 0};
        setsockopt(stranger->descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    }
    struct sockaddr_in source = {.sin_family = AF_INET, .sin_addr.s_addr = from};
    if (bind(stranger->descriptor, (struct sockaddr *)&source, sizeof source) < 0 ||
        (connect(stranger->descriptor, (struct sockaddr *)&target, sizeof target) < 0 && errno != EINPROGRESS)) {
        end(stranger, &not_connected);
        return;
    }
    speak(stranger);
    struct epoll_event event = {.events = EPOLLIN | (stranger->spoken ? 0 : EPOLLOUT), .data.ptr = stranger};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, stranger->descriptor, &event) < 0) {
        fail("epoll_ctl");
    }
}

static int begin_some(int64_t start, int64_t now) {
    for (int i = 0; i < MOST_BEGUN_A_TURN && away_count > 0 && away[away_head].at <= now; i++) {
        in_addr_t from = away[away_head].from;
        away_head = (away_head + 1) % silent;
        away_count--;
        silent_came++;
        begin(from, 1);
    }
    int64_t due = (now - start) * hellos_a_second / SECOND - missed;
    for (int i = 0; i < MOST_BEGUN_A_TURN && began < due && under_way < MOST_UNDER_WAY; i++) {
        begin(hello_from.each[began % hello_from.count], 0);
        began++;
    }
    /* Time that the machine withheld is not made up for. */
    int64_t late = due - began - hellos_a_second / 100;
    missed += late > 0 ? late : 0;
    return began < due && under_way < MOST_UNDER_WAY;
}

static unsigned number(const uint8_t *bytes, int count) {
    unsigned value = 0;
    for (int i = 0; i < count; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static void refused(struct stranger *stranger, const uint8_t *fields, size_t length) {
    size_t at = 0;
    while (at + FIELD_HEADER <= length && number(fields + at, 2) != TAG_CODE) {
        at += FIELD_HEADER + number(fields + at + 2, 2);
    }
    if (!stranger->told && !stranger->silent && at + FIELD_HEADER + 8 <= length) {
        codes[number(fields + at + FIELD_HEADER + 4, 4) % CODES]++;
        stranger->told = 1;
    }
}

static void heard(struct stranger *stranger) {
    size_t length;
    while (stranger->length >= HEADER &&
           stranger->length >= (length = HEADER + (size_t)number(stranger->answer + 4, 4))) {
        if (stranger->answer[3] == WELCOME) {
            send_message(stranger, &proof);
        } else {
            refused(stranger, stranger->answer + HEADER, length - HEADER);
        }
        stranger->length -= length;
        memmove(stranger->answer, stranger->answer + length, stranger->length);
    }
}

static void proceed(struct stranger *stranger, uint32_t events) {
    if (!stranger->spoken) {
        if (!(events & EPOLLOUT) || events & (EPOLLERR | EPOLLHUP)) {
            end(stranger, &not_connected);
            return;
        }
        speak(stranger);
        if (!stranger->spoken) {
            return;
        }
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = stranger};
        epoll_ctl(poll, EPOLL_CTL_MOD, stranger->descriptor, &event);
    }
    for (;;) {
        ssize_t count = recv(stranger->descriptor, stranger->answer + stranger->length, MOST_ANSWER - stranger->length, 0);
        if (count < 0 && errno == EAGAIN) {
            return;
        }
        if (count <= 0) {
            end(stranger, &without_a_word);
            return;
        }
        stranger->length += count;
        heard(stranger);
    }
}

int main(int count, char **arguments) {
    if (count != 8) {
        return 2;
    }
    target.sin_port = htons(atoi(arguments[1]));
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    proof = read_message(arguments[2]);
    hellos_a_second = atoll(arguments[3]);
    hello_from = read_addresses(arguments[4]);
    read_hellos(arguments[5]);
    silent = atoll(arguments[6]);
    silent_from = read_addresses(arguments[7]);

    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event input = {.events = EPOLLIN, .data.ptr = NULL};
    if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, STDIN_FILENO, &input) < 0) {
        fail("epoll");
    }
    int64_t start = now_nanos();
    away = calloc(silent + 1, sizeof *away);
    for (int64_t i = 0; i < silent; i++) {
        come_back(start, silent_from.each[i % silent_from.count]);
    }
    struct epoll_event events[MOST_EVENTS];
    for (int stopping = 0; !stopping;) {
        int more = begin_some(start, now_nanos());
        int ready = epoll_wait(poll, events, MOST_EVENTS, more ? 0 : 1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.ptr) {
                proceed(events[i].data.ptr, events[i].events);
            } else {
                stopping = 1;
            }
        }
    }
    printf("nanos %lld\nbegan %lld\nsilent-came %lld\nwithout-a-word %lld\nnot-connected %lld\n",
           (long long)(now_nanos() - start), (long long)began, (long long)silent_came, (long long)without_a_word,
           (long long)not_connected);
    for (int i = 0; i < CODES; i++) {
        if (codes[i]) {
            printf("code %d %lld\n", i, (long long)codes[i]);
        }
    }
    return 0;
}
