package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class NativeMethodsTest {
    @Test
    void the_list_of_classes_with_native_methods_is_complete() throws IOException {
        try (Stream<Path> files = Files.list(ChildJvm.classes().resolve("io/sluice/jni"))) {
            assertThat(files.map(file -> file.getFileName().toString())
                            .filter(name -> name.endsWith(".class") && !name.startsWith("package-info"))
                            .<Class<?>>map(name -> type(name.replace(".class", "")))
                            .filter(NativeMethodsTest::hasNativeMethods))
                    .containsExactlyInAnyOrderElementsOf(EveryNativeMethod.CLASSES);
        }
    }

    @Test
    void every_native_method_is_static() {
        assertThat(EveryNativeMethod.all().map(Method::getModifiers)).allMatch(Modifier::isStatic);
    }

    private static boolean hasNativeMethods(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods()).anyMatch(method -> Modifier.isNative(method.getModifiers()));
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName("io.sluice.jni." + name, false, NativeMethodsTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }
}
