package io.sluice.samples.command;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.engine.TransportStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a transport can be used here.
 *
 * @param name as {@code --transport} takes it
 * @param available whether nothing is in the way
 * @param reason why not and what to do, or {@code null}
 * @param devices what it finds to use
 */
record TransportReport(
        @JsonProperty("name") String name,
        @JsonProperty("available") boolean available,
        @JsonProperty("reason") @Nullable String reason,
        @JsonProperty("devices") List<String> devices) {

    static TransportReport of(TransportStatus status) {
        return new TransportReport(status.name(), status.isAvailable(), status.unavailable(), status.devices());
    }
}
