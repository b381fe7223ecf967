package io.sluice.jni;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** All native methods, so that none can lack its C function or fall out with {@code -Xcheck:jni} unseen. */
final class EveryNativeMethod {
    static final List<Class<?>> CLASSES = List.of(
            CudaDevice.class,
            CudaGraph.class,
            CudaLibrary.class,
            CudaMemory.class,
            CudaModule.class,
            CudaStream.class,
            DynamicLibrary.class,
            Epoll.class,
            Errno.class,
            EventDescriptor.class,
            LocalSockets.class,
            MachineFacts.class,
            Memory.class,
            PeerMemory.class,
            Reduce.class,
            SharedMemory.class,
            Shim.class,
            Sockets.class,
            ThreadSchedule.class,
            VerbsCompletionQueue.class,
            VerbsDevice.class,
            VerbsLibrary.class,
            VerbsMemory.class,
            VerbsQueuePair.class,
            VerbsReceiveQueue.class);

    private EveryNativeMethod() {}

    static Stream<Method> all() {
        return CLASSES.stream()
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> Modifier.isNative(method.getModifiers()));
    }

    /** Calls each with a file descriptor, a size or a number that is none, so that it only reports an error. */
    static void callWithoutEffect() throws ReflectiveOperationException {
        for (Method method : all().toList()) {
            method.setAccessible(true);
            Object[] arguments = Arrays.stream(method.getParameterTypes())
                    .map(EveryNativeMethod::none)
                    .toArray();
            method.invoke(null, arguments);
        }
    }

    private static Object none(Class<?> type) {
        if (type == int.class) {
            return -1;
        }
        if (type == long.class) {
            return 0L;
        }
        if (type == boolean.class) {
            return false;
        }
        if (type == byte[].class) {
            return new byte[4];
        }
        throw new IllegalArgumentException("no native method took a " + type + " before");
    }
}
