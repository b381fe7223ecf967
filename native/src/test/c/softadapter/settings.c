#include "adapter.h"

#include <stdlib.h>

static uint64_t number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') {
        return otherwise;
    }
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    return *end == '\0' ? value : otherwise;
}

int settings_devices(void) {
    uint64_t count = number("SOFT_ADAPTER_DEVICES", 2);
    return count > MAXIMUM_DEVICES ? MAXIMUM_DEVICES : (int)count;
}

uint64_t settings_delay(void) {
    return number("SOFT_ADAPTER_DELAY_NANOS", 0);
}

bool settings_port_down(int device) {
    const char *text = getenv("SOFT_ADAPTER_PORTS_DOWN");
    while (text != NULL && *text != '\0') {
        char *end;
        if (strtol(text, &end, 10) == device && end != text) {
            return true;
        }
        text = *end == ',' ? end + 1 : NULL;
    }
    return false;
}

void settings_read(struct settings *settings) {
    settings->null_mode = number("SOFT_ADAPTER_NULL", 0) == 1;
    settings->locked_bytes = number("SOFT_ADAPTER_LOCKED_BYTES", UINT64_MAX);
    uint64_t scatter = number("SOFT_ADAPTER_SCATTER", MAXIMUM_SCATTER);
    settings->scatter = scatter < MAXIMUM_SCATTER ? (uint32_t)scatter : MAXIMUM_SCATTER;
    settings->elements = number("SOFT_ADAPTER_ELEMENTS", UINT64_MAX);
    settings->queue_pairs = number("SOFT_ADAPTER_QUEUE_PAIRS", MAXIMUM_QUEUE_PAIRS);
}
