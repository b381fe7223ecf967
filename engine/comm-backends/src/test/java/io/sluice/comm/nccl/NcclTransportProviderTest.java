package io.sluice.comm.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.comm.StandIns;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether the transport says that it can be used, and what asking it does to the process: nothing. */
class NcclTransportProviderTest {
    private static final String VARIABLE = "NCCL_COMM_BLOCKING";

    private static MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker()
                .downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow(name), type);
    }

    private static String variable() throws Throwable {
        MemorySegment text =
                (MemorySegment) function("getenv", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS))
                        .invokeExact(Arena.global().allocateFrom(VARIABLE));
        return text.equals(MemorySegment.NULL) ? "" : text.reinterpret(64).getString(0);
    }

    private static void set(String value) throws Throwable {
        int result = (int) function(
                        "setenv",
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT))
                .invokeExact(
                        Arena.global().allocateFrom(VARIABLE), Arena.global().allocateFrom(value), 1);
        assertThat(result).isZero();
    }

    private static NcclTransportProvider of(String file) {
        return new NcclTransportProvider(() -> file);
    }

    @Test
    void whatTheLibraryIsToSeeIsSetWhenATransportIsOpened(@TempDir Path folder) throws Throwable {
        StandIns.count(StandIns.NCCL, "soft_nccl_count", "groups");
        // another file is another library, which nothing has opened before
        Path copy = Files.copy(Path.of(StandIns.NCCL), folder.resolve("libnccl.so"));
        NcclTransportProvider provider = of(copy.toString());
        String before = variable();
        set("7");
        try {
            TransportStatus status = provider.status();
            assertThat(status.unavailable()).isNull();
            assertThat(status.devices()).containsExactly("NCCL of " + copy);
            assertThat(variable()).isEqualTo("7");
            provider.open(EngineOptions.builder().build()).close();
            assertThat(variable()).isEqualTo("0");
            assertThat(provider.status().devices()).containsExactly("NCCL 2.28.9");
        } finally {
            set(before);
        }
    }

    private static void refuses(NcclTransportProvider provider, String reason) {
        TransportStatus status = provider.status();
        assertThat(status.isAvailable()).isFalse();
        assertThat(status.unavailable()).contains(reason);
        assertThatThrownBy(() -> provider.open(EngineOptions.builder().build()))
                .isInstanceOf(TransportUnavailableException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void aLibraryThatIsAbsentOrAnotherOrThrowsIsNotAvailable() {
        refuses(of("/no/such/folder/libnccl.so.2"), "/no/such/folder/libnccl.so.2");
        refuses(of(StandIns.NVSHMEM), "lacks the function ncclGetVersion");
        for (Supplier<String> file : List.<Supplier<String>>of(
                () -> {
                    throw new IllegalStateException("thrown on purpose");
                },
                () -> {
                    throw new UnsatisfiedLinkError("thrown on purpose");
                })) {
            refuses(new NcclTransportProvider(file), "thrown on purpose");
        }
    }

    @Test
    void aSettingWithoutSenseIsNotTakenForALackOfTheMachine() {
        assertThatThrownBy(() -> of(StandIns.NCCL)
                        .open(EngineOptions.builder()
                                .environment(Map.of("SLUICE_NCCL_GPU", "first"))
                                .build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("SLUICE_NCCL_GPU");
    }

    /** Prints whether it is available in a process without a driver for GPUs. */
    static final class WithoutGpu {
        private WithoutGpu() {}

        @SuppressWarnings("SystemOut")
        public static void main(String[] arguments) {
            TransportStatus status = of(arguments[0]).status();
            System.out.println("STATUS " + status.isAvailable() + " " + status.unavailable());
        }
    }

    @Test
    @Tag("soak")
    void withoutAGpuItIsNotAvailable() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dsluice.cuda.library=/no/such/folder/libcuda.so.1"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), WithoutGpu.class.getName(), StandIns.NCCL));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Patience.exit(process)).isZero();
        assertThat(Stream.of(printed.split("\n")).filter(line -> line.startsWith("STATUS ")))
                .singleElement()
                .asString()
                .startsWith("STATUS false ")
                .contains("/no/such/folder/libcuda.so.1");
    }
}
