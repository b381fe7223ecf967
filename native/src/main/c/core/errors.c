#include "sluice.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

/* Without _GNU_SOURCE, strerror_r is the POSIX variant, which returns an int and fills the buffer. */

void sluice_error_message(int error, char message[SLUICE_ERROR_MESSAGE_BYTES]) {
    if (error < 0 && error != INT_MIN) {
        error = -error;
    }
    /* English in every locale, for the readers of logs; and only ASCII is certain to be valid for the JVM. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain == (locale_t)0 ? (locale_t)0 : uselocale(plain);
    message[0] = '\0';
    strerror_r(error, message, SLUICE_ERROR_MESSAGE_BYTES);
    if (before != (locale_t)0) {
        uselocale(before);
    }
    if (plain != (locale_t)0) {
        freelocale(plain);
    }
    if (message[0] == '\0') {
        snprintf(message, SLUICE_ERROR_MESSAGE_BYTES, "Unknown error %d", error);
    }
}
