package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The plain C peer, {@code verbs_peer.c}: compiled by the machine's C compiler, and run in a process of its own; or in this one,
 * where the devices are the software adapter's.
 */
final class PlainPeer implements AutoCloseable {
    private static final String SOURCE = "/verbs_peer.c";

    /** Waits for its end, and gives its status. */
    private interface End {
        int await();
    }

    private final DataInputStream in;
    private final DataOutputStream out;
    private final End end;

    private PlainPeer(DataInputStream in, DataOutputStream out, End end) {
        this.in = in;
        this.out = out;
        this.end = end;
    }

    static PlainPeer start(Path folder, String device, int gidIndex) throws IOException {
        Path source = folder.resolve("verbs_peer.c");
        try (InputStream resource = PlainPeer.class.getResourceAsStream(SOURCE)) {
            assertThat(resource).as("the source of the C peer").isNotNull();
            Files.copy(resource, source);
        }
        return TestDevices.areInThisProcess()
                ? startInThisProcess(source, device, gidIndex)
                : startProcess(source, device, gidIndex);
    }

    private static void compile(Path source, String... more) throws IOException {
        String compiler = System.getenv().getOrDefault("CC", "cc");
        List<String> command = new ArrayList<>(
                List.of(compiler, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", source.toString()));
        command.addAll(List.of(more));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Patience.exit(process)).as(output).isZero();
    }

    private static PlainPeer startProcess(Path source, String device, int gidIndex) throws IOException {
        Path program = source.resolveSibling("verbs_peer");
        compile(source, "-o", program.toString(), "-l:libibverbs.so.1");
        Process process = new ProcessBuilder(program.toString(), device, Integer.toString(gidIndex))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new PlainPeer(
                new DataInputStream(process.getInputStream()), new DataOutputStream(process.getOutputStream()), () -> {
                    try {
                        return Patience.exit(process);
                    } finally {
                        process.destroyForcibly();
                    }
                });
    }

    private static PlainPeer startInThisProcess(Path source, String device, int gidIndex) throws IOException {
        Path library = source.resolveSibling("libverbspeer.so");
        compile(source, "-shared", "-fPIC", "-o", library.toString(), System.getProperty(Native.LIBRARY_PROPERTY));
        Linker linker = Linker.nativeLinker();
        MethodHandle run = linker.downcallHandle(
                SymbolLookup.libraryLookup(library, Arena.global()).findOrThrow("verbs_peer"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_INT));
        int[] commands = pipe(linker);
        int[] answers = pipe(linker);
        int[] status = {-1};
        Thread thread = Thread.ofPlatform().daemon().name("plain C peer").start(() -> {
            try (Arena arena = Arena.ofConfined()) {
                status[0] = (int) run.invokeExact(commands[0], answers[1], arena.allocateFrom(device), gidIndex);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        });
        DataInputStream in = new DataInputStream(Files.newInputStream(descriptor(answers[0])));
        DataOutputStream out = new DataOutputStream(Files.newOutputStream(descriptor(commands[1])));
        Sockets.close(answers[0]);
        Sockets.close(commands[1]);
        return new PlainPeer(in, out, () -> {
            Patience.join(thread);
            return status[0];
        });
    }

    private static Path descriptor(int number) {
        return Path.of("/proc/self/fd", Integer.toString(number));
    }

    /** The descriptors of a pipe: to read, and to write. */
    private static int[] pipe(Linker linker) {
        MethodHandle pipe = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("pipe"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(ValueLayout.JAVA_INT, 2);
            int result = (int) pipe.invokeExact(ends);
            assertThat(result).isZero();
            return ends.toArray(ValueLayout.JAVA_INT);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    byte[] read(int bytes) throws IOException {
        return in.readNBytes(bytes);
    }

    void write(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    void write(long word) throws IOException {
        out.writeLong(word);
        out.flush();
    }

    /** Gives a command whose answer is taken later. */
    void send(char command, long operand) throws IOException {
        out.write(command);
        out.writeLong(operand);
        out.flush();
    }

    long answer() throws IOException {
        return in.readLong();
    }

    long command(char command, long operand) throws IOException {
        send(command, operand);
        return answer();
    }

    /** The next notification that reaches it. */
    byte[] nextNotification() throws IOException {
        out.write('n');
        out.flush();
        return in.readNBytes((int) in.readLong());
    }

    /** Lets it end in order. */
    void end() throws IOException {
        out.write('q');
        out.flush();
        assertThat(end.await()).as("the C peer's status").isZero();
    }

    @Override
    public void close() {
        try {
            // the end of its input ends it
            out.close();
            in.close();
            end.await();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
