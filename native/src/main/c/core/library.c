#include "sluice.h"

#if !defined(__linux__)
#error "Sluice's shim is for Linux"
#elif defined(__x86_64__) && defined(__LP64__)
#define PLATFORM "linux-x86_64"
#elif defined(__aarch64__) && defined(__LP64__)
#define PLATFORM "linux-aarch64"
#else
#error "Sluice's shim is for x86_64 and aarch64"
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *sluice_description(void) {
    return PLATFORM " " COMPILER;
}
