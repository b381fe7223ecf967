package io.sluice.samples.command;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.jni.MachineFacts;
import java.io.UncheckedIOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What kind of machine this is. What the machine does not tell is {@code null}.
 *
 * @param kernel release of the kernel
 * @param cpuModel name of the processor
 * @param processors processors that are online
 * @param processorsUsable processors that this process may use
 * @param memoryBytes memory of the machine
 * @param lockedMemoryLimitBytes how much memory this process may lock, -1 for no limit
 * @param pageBytes size of a page of memory
 * @param jvm name and version of the virtual machine
 */
record MachineReport(
        @JsonProperty("kernel") String kernel,
        @JsonProperty("cpu_model") @Nullable String cpuModel,
        @JsonProperty("processors") int processors,
        @JsonProperty("processors_usable") int processorsUsable,
        @JsonProperty("memory_bytes") @Nullable Long memoryBytes,
        @JsonProperty("locked_memory_limit_bytes") @Nullable Long lockedMemoryLimitBytes,
        @JsonProperty("page_bytes") @Nullable Integer pageBytes,
        @JsonProperty("jvm") String jvm) {

    /** Stands for a limit that is none. */
    static final long NO_LIMIT = -1;

    static MachineReport current() {
        return new MachineReport(
                MachineFacts.kernelRelease(),
                ifTold(MachineFacts::cpuModel),
                MachineFacts.onlineProcessors(),
                Runtime.getRuntime().availableProcessors(),
                ifTold(MachineFacts::totalMemory),
                ifTold(MachineFacts::lockedMemoryLimit),
                ifTold(MachineFacts::pageSize),
                System.getProperty("java.vm.name") + " " + Runtime.version());
    }

    private static <T> @Nullable T ifTold(Supplier<T> fact) {
        try {
            return fact.get();
        } catch (UncheckedIOException | IllegalStateException e) {
            // Some sandboxes hide /proc, and the page size needs the native library: the rest is worth showing.
            return null;
        }
    }
}
