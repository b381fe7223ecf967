package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;

/**
 * A process without an engine that has memory of each of two GPUs, as one of PyTorch's has. It prints the ids of the GPUs and the
 * handles of their allocations; then obeys commands: {@code sum GPU OFFSET LENGTH}, and {@code descriptor SOCKET}, which sends a
 * descriptor of memory of the virtual-memory API of the first GPU, whose sum {@code sum 2 …} gives.
 */
final class OwnerMain {
    static final int BYTES = 8 << 20;

    private OwnerMain() {}

    /** The initial contents of the memory. */
    static byte[] pattern(int allocation) {
        byte[] pattern = new byte[BYTES];
        new Random(allocation).nextBytes(pattern);
        return pattern;
    }

    /** The driver's handle of an allocation of this process. */
    static byte[] handle(int ordinal, long address) {
        long device = CudaException.check(CudaDevice.open(ordinal), "no GPU");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(CudaMemory.IPC_HANDLE_BYTES, 8);
            CudaException.check(CudaMemory.ipcHandle(device, address, handle.address()), "no handle");
            return handle.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) throws Exception {
        SoftGpu.load();
        long[] addresses = new long[3];
        StringBuilder ready = new StringBuilder("READY");
        for (int i = 0; i < 2; i++) {
            addresses[i] = SoftGpu.malloc(i, BYTES);
            ready.append(' ')
                    .append(SoftGpu.id(i))
                    .append(' ')
                    .append(HexFormat.of().formatHex(handle(i, addresses[i])));
        }
        long device = CudaException.check(CudaDevice.open(0), "no GPU");
        addresses[2] = CudaException.check(CudaMemory.allocate(device, BYTES), "no memory");
        for (int i = 0; i < addresses.length; i++) {
            SoftGpu.write(i % 2, addresses[i], pattern(i));
        }
        System.out.println(ready);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("descriptor")) {
                send(words[1], (int) CudaException.check(CudaMemory.export(device, addresses[2]), "no descriptor"));
                System.out.println("SENT");
            } else {
                int index = Integer.parseInt(words[1]);
                byte[] bytes = SoftGpu.read(
                        index % 2, addresses[index] + Long.parseLong(words[2]), Integer.parseInt(words[3]));
                System.out.println("SUM " + Arrays.hashCode(bytes));
            }
        }
    }

    private static void send(String name, int descriptor) {
        int socket = LocalSockets.connect(("\0" + name).getBytes(StandardCharsets.US_ASCII));
        assertThat(socket).isNotNegative();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment passed = arena.allocate(8, 8);
            passed.set(ValueLayout.JAVA_INT, 0, descriptor);
            MemorySegment message = arena.allocate(8, 8);
            assertThat(LocalSockets.send(socket, message.address(), 1, passed.address(), 1))
                    .isNotNegative();
        }
        Sockets.close(socket);
        Sockets.close(descriptor);
    }

    /** The other end: a descriptor that the owner sends to a socket that listens. */
    static int receive(int listener) {
        int socket = LocalSockets.accept(listener);
        assertThat(socket).isNotNegative();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment passed = arena.allocate(8, 8);
            MemorySegment message = arena.allocate(8, 8);
            assertThat(LocalSockets.receive(socket, message.address(), 8, passed.address(), 1))
                    .isEqualTo(1L << 32 | 1);
            return passed.get(ValueLayout.JAVA_INT, 0);
        } finally {
            Sockets.close(socket);
        }
    }
}
