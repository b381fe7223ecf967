package io.sluice.directory.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sluice.directory.DirectoryOptions;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisAddressTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://:hunter2 and a blank@127.0.0.1:6379",
                "redis://:hunter2%zz@127.0.0.1:6379",
                "redis://user:hunter2/slash@127.0.0.1:6379",
                "hunter2"
            })
    void whatIsNoAddressIsNotQuoted(String uri) {
        Throwable refused = catchThrowable(() -> RedisDirectory.open(uri, DirectoryOptions.defaults()));
        assertThat(refused).isInstanceOf(IllegalArgumentException.class).hasNoCause();
        assertThat(Throwables.getStackTrace(refused)).doesNotContain("hunter2");
    }
}
