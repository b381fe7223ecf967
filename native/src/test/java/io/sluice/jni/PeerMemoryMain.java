package io.sluice.jni;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Has memory for its parent to read and to write. Ends with its standard input. */
final class PeerMemoryMain {
    /** The byte at an offset, to begin with. */
    static byte content(long offset) {
        return (byte) (offset * 31 + 7);
    }

    private PeerMemoryMain() {}

    /** The argument is how many bytes; writes the address, and a byte of it for each line with an offset. */
    public static void main(String[] arguments) throws IOException {
        long bytes = Long.parseLong(arguments[0]);
        MemorySegment memory = MemorySegment.ofAddress(Memory.map(bytes, true)).reinterpret(bytes);
        for (long i = 0; i < bytes; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, content(i));
        }
        System.out.println(memory.address());
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(memory.get(ValueLayout.JAVA_BYTE, Long.parseLong(line)));
        }
    }
}
