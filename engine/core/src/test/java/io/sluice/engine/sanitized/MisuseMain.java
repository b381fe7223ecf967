package io.sluice.engine.sanitized;

import io.sluice.jni.Epoll;
import io.sluice.jni.EventDescriptor;
import io.sluice.jni.MemoryCopy;
import io.sluice.jni.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/** Misuses the library on purpose, to see whether the sanitizers are really at work. */
final class MisuseMain {
    /** The last line of the output if no sanitizer has stopped the process. */
    static final String UNNOTICED = "not noticed";

    private MisuseMain() {}

    public static void main(String[] arguments) throws IOException {
        System.out.println(NativeLibrary.version());
        Files.readAllLines(Path.of("/proc/self/maps")).forEach(System.out::println);
        switch (arguments[0]) {
            case "nothing" -> {}
            case "overflow" -> leaveTheBlock();
            case "undefined" -> leaveTheAddressSpace();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println(UNNOTICED);
    }

    /** Two descriptors are ready, and there is room for the record of one. */
    private static void leaveTheBlock() {
        int epoll = Epoll.create();
        for (int i = 0; i < 2; i++) {
            int event = EventDescriptor.create();
            EventDescriptor.signal(event);
            Epoll.add(epoll, event, Epoll.READABLE, i);
        }
        try (Arena arena = Arena.ofConfined()) {
            Epoll.await(epoll, arena.allocate(Epoll.RECORD_BYTES).address(), 2, 0);
        }
    }

    /** No byte is copied, but the address that it would be copied to lies beyond the last. */
    private static void leaveTheAddressSpace() {
        MemorySegment last = MemorySegment.ofAddress(-16).reinterpret(64);
        MemoryCopy.copy(last, 32, last, 0, 0);
    }
}
