package io.sluice.samples.command;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.RegionDescriptor;
import io.sluice.samples.report.JsonText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The contents of the ready file of a process. The file appears, complete, once the process listens.
 *
 * @param address the same with the engine's identity: {@link EngineAddress#toBytes()} in base64
 * @param region the region that is offered: {@link RegionDescriptor#toBytes()} in base64; {@code null} if there is none
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record ReadyFile(
        String host, int port, String address, @Nullable String region) {
    private static final ObjectMapper JSON = new ObjectMapper();

    static ReadyFile of(EngineAddress address) {
        return of(address, null);
    }

    static ReadyFile of(EngineAddress address, @Nullable RegionDescriptor region) {
        return new ReadyFile(
                address.host(),
                address.port(),
                base64(address.toBytes()),
                region == null ? null : base64(region.toBytes()));
    }

    static ReadyFile read(Path file) throws IOException {
        return JSON.readValue(file.toFile(), ReadyFile.class);
    }

    EngineAddress engineAddress() {
        return EngineAddress.fromBytes(Base64.getDecoder().decode(address));
    }

    private static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** Writes a ready file, and deletes it once its contents are no longer true. */
    static final class Writer implements AutoCloseable {
        private final @Nullable Path file;

        /**
         * Removes what an earlier process may have left.
         *
         * @param file where it goes; {@code null} for none
         */
        Writer(@Nullable Path file) throws IOException {
            this.file = file;
            if (file != null) {
                WholeFile.require("--ready-file", file);
                Files.deleteIfExists(file);
            }
        }

        /** Writes the contents as one line of JSON, in one step. */
        void set(Record contents) throws IOException {
            if (file != null) {
                // Only this user can read it: a descriptor gives access.
                WholeFile.writePrivate(file, JsonText.of(contents) + "\n");
            }
        }

        @Override
        public void close() throws IOException {
            if (file != null) {
                Files.deleteIfExists(file);
            }
        }
    }
}
