package io.sluice.fuzz;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/**
 * Lets <a href="https://github.com/CodeIntelligenceTesting/jazzer">Jazzer</a>, whose inputs follow the branches that they take,
 * drive the parser of one fuzz test: {@code engine/testkit/jazzer} starts it.
 */
public final class JazzerTarget {
    private static @Nullable ParserFuzz target;

    private JazzerTarget() {}

    /**
     * Writes a test's valid inputs to files.
     *
     * @param arguments the test's class, its method, the folder
     * @throws IOException if a file cannot be written
     */
    public static void main(String[] arguments) throws IOException {
        fuzzerInitialize(arguments);
        Path folder = Files.createDirectories(Path.of(arguments[2]));
        List<byte[]> seeds = Objects.requireNonNull(target).seeds();
        for (int i = 0; i < seeds.size(); i++) {
            Files.write(folder.resolve("seed-" + i), seeds.get(i));
        }
        System.exit(0);
    }

    /**
     * Called by Jazzer once.
     *
     * @param arguments the test's class and method
     */
    public static void fuzzerInitialize(String[] arguments) {
        ParserFuzz.driveBy(found -> target = found);
        try {
            Constructor<?> test = Class.forName(arguments[0]).getDeclaredConstructor();
            test.setAccessible(true);
            Object instance = test.newInstance();
            for (Method method : instance.getClass().getDeclaredMethods()) {
                if (method.isAnnotationPresent(BeforeEach.class)) {
                    method.setAccessible(true);
                    method.invoke(instance);
                }
            }
            Method method = instance.getClass().getDeclaredMethod(arguments[1]);
            method.setAccessible(true);
            method.invoke(instance);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(String.join(" ", arguments) + " is no fuzz test", e);
        }
    }

    /**
     * Called by Jazzer for each input.
     *
     * @param input what the parser reads
     * @throws Exception what the parser throws that is no refusal
     */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        Objects.requireNonNull(target).give(input);
    }
}
