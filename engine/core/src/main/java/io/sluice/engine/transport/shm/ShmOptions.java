package io.sluice.engine.transport.shm;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Environment;
import io.sluice.engine.transport.TransportOptions;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the shared-memory transport, for {@link EngineOptions.Builder#transport}. Immutable. Each method of
 * {@link Builder} documents its default and its variable.
 */
public final class ShmOptions implements TransportOptions {
    static final String VARIABLES = "SLUICE_SHM_";
    private static final int MOST_CALLER_THREAD_BYTES = 1 << 20;
    // a Unix socket's path has 107 bytes, of which the file's name takes these
    private static final int MOST_DIRECTORY_BYTES = 60;

    private final Builder settings;

    private ShmOptions(Builder settings) {
        this.settings = new Builder(settings);
    }

    /**
     * Returns a builder with the defaults.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the options given to the engine, or those of its variables. */
    static ShmOptions of(EngineOptions options) {
        ShmOptions given = options.transport(ShmOptions.class);
        return given != null
                ? given
                : builder().environment(options.variables(VARIABLES)).build();
    }

    boolean hugePages() {
        return settings.hugePages;
    }

    boolean trustHugePages() {
        return settings.trustHugePages;
    }

    boolean prefault() {
        return settings.prefault;
    }

    boolean crossMemoryAttach() {
        return settings.crossMemoryAttach;
    }

    @Nullable
    String directory() {
        return settings.directory;
    }

    int callerThreadBytes() {
        return settings.callerThreadBytes;
    }

    /** Builds options. Not thread-safe. */
    public static final class Builder {
        private boolean hugePages;
        private boolean trustHugePages;
        private boolean prefault = true;
        private boolean crossMemoryAttach;
        private @Nullable String directory;
        private int callerThreadBytes = 64 << 10;

        private Builder() {}

        private Builder(Builder other) {
            hugePages = other.hugePages;
            trustHugePages = other.trustHugePages;
            prefault = other.prefault;
            crossMemoryAttach = other.crossMemoryAttach;
            directory = other.directory;
            callerThreadBytes = other.callerThreadBytes;
        }

        /**
         * Sets whether regions that the engine allocates use huge pages. If the host has none free, a warning is logged
         * and the region has ordinary pages. Peers map huge pages only if they {@linkplain #trustHugePages trust} this
         * side, and otherwise use tcp. Default false; {@code SLUICE_SHM_HUGE_PAGES}.
         *
         * @param on true for huge pages
         * @return this
         */
        public Builder hugePages(boolean on) {
            this.hugePages = on;
            return this;
        }

        /**
         * Sets whether to map regions of huge pages that peers offer. A peer can remove such pages while they are
         * mapped, and the next access then ends this process with SIGBUS, so enable this only if every peer is trusted.
         * Default false; {@code SLUICE_SHM_TRUST_HUGE_PAGES}.
         *
         * @param on true to map them
         * @return this
         */
        public Builder trustHugePages(boolean on) {
            this.trustHugePages = on;
            return this;
        }

        /**
         * Sets whether {@code allocate} commits every page immediately, so that a lack of memory is an exception there
         * and no transfer waits for a page. Default true; {@code SLUICE_SHM_PREFAULT}.
         *
         * @param on false to commit pages at the first access
         * @return this
         */
        public Builder prefault(boolean on) {
            this.prefault = on;
            return this;
        }

        /**
         * Sets whether registered regions may be reached by cross-memory attach ({@code process_vm_readv(2)} and {@code
         * process_vm_writev(2)}), which both engines and the kernel must allow. The {@code close} of such a region
         * waits for the peer's confirmation or its end, however long that takes, as nothing else prevents a stopped
         * peer from writing later. Otherwise these regions use tcp. Default false; {@code
         * SLUICE_SHM_CROSS_MEMORY_ATTACH}.
         *
         * @param on true to allow it
         * @return this
         */
        public Builder crossMemoryAttach(boolean on) {
            this.crossMemoryAttach = on;
            return this;
        }

        /**
         * Sets a directory shared with peers in other network namespaces (containers of one host), where the engines
         * meet at a socket. Peers in the same network namespace need none. An engine that opens removes sockets that
         * killed processes left there more than an hour ago, if its user may delete them. Default none; {@code
         * SLUICE_SHM_DIRECTORY}.
         *
         * @param path an absolute path of at most 60 bytes, in UTF-8
         * @return this
         */
        public Builder directory(String path) {
            Objects.requireNonNull(path, "path");
            if (!path.startsWith("/") || path.getBytes(StandardCharsets.UTF_8).length > MOST_DIRECTORY_BYTES) {
                throw new IllegalArgumentException("the directory is an absolute path of at most "
                        + MOST_DIRECTORY_BYTES + " bytes, not '" + path + "'");
            }
            this.directory = path;
            return this;
        }

        /**
         * Sets the largest write or read that the calling thread executes, if no transfer waits before it and the
         * window allows. Its callback then runs inside the call. Default 65,536; {@code
         * SLUICE_SHM_CALLER_THREAD_BYTES}.
         *
         * @param bytes 0 (never) to 1 MiB
         * @return this
         */
        public Builder callerThreadBytes(int bytes) {
            if (bytes < 0 || bytes > MOST_CALLER_THREAD_BYTES) {
                throw new IllegalArgumentException(
                        "the caller's thread transfers 0 to " + MOST_CALLER_THREAD_BYTES + " bytes, not " + bytes);
            }
            this.callerThreadBytes = bytes;
            return this;
        }

        /**
         * Overrides settings with the variables that are set.
         *
         * @param variables the variables by name
         * @return this
         * @throws IllegalArgumentException if a variable is invalid; the message names it
         */
        public Builder environment(Map<String, String> variables) {
            // the usual case: the JVM need not load the code that reads each variable
            if (variables.isEmpty()) {
                return this;
            }
            Environment environment = new Environment(variables);
            environment.flag(VARIABLES + "HUGE_PAGES", this::hugePages);
            environment.flag(VARIABLES + "TRUST_HUGE_PAGES", this::trustHugePages);
            environment.flag(VARIABLES + "PREFAULT", this::prefault);
            environment.flag(VARIABLES + "CROSS_MEMORY_ATTACH", this::crossMemoryAttach);
            environment.text(VARIABLES + "DIRECTORY", this::directory);
            environment.number(VARIABLES + "CALLER_THREAD_BYTES", this::callerThreadBytes);
            return this;
        }

        /**
         * Builds the options.
         *
         * @return the options
         */
        public ShmOptions build() {
            return new ShmOptions(this);
        }
    }
}
