package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ErrnoTest {
    @Test
    void an_error_is_described_from_either_sign() {
        assertThat(Errno.message(Errno.ECONNREFUSED)).isEqualTo("Connection refused");
        assertThat(Errno.message(-Errno.ECONNREFUSED)).isEqualTo("Connection refused");
    }

    @Test
    void an_unknown_error_is_described_too() {
        assertThat(Errno.message(4095)).contains("4095");
        assertThat(Errno.message(Integer.MIN_VALUE)).isNotEmpty();
    }

    @Test
    void every_constant_is_an_error_of_its_own() throws IllegalAccessException {
        Set<Integer> values = new HashSet<>();
        for (Field field : Errno.class.getFields()) {
            assertThat(values.add(field.getInt(null))).as(field.getName()).isTrue();
            assertThat(Errno.message(field.getInt(null))).doesNotContain("Unknown");
        }
        assertThat(values).hasSameSizeAs(Arrays.asList(Errno.class.getFields()));
    }
}
