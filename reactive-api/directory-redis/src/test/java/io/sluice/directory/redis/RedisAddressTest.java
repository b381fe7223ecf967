package io.sluice.directory.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://2001:db8::17:6379",
                "redis://:hunter2@2001:db8::17",
                "redis-sentinel://10.0.0.1:26379,2001:db8::17:26379#primary"
            })
    void anIpv6AddressWithoutBracketsIsRefusedAndTheRightFormShown(String uri) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisDirectory.open(uri, DirectoryOptions.defaults()))
                .withMessageContaining("redis://[2001:db8::17]:6379")
                .withMessageNotContaining("hunter2");
    }

    @Test
    void anIpv6AddressInBracketsIsConnectedTo() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.ofLiteral("::1"))) {
            server.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
            Directory directory =
                    RedisDirectory.open("redis://[::1]:" + server.getLocalPort(), DirectoryOptions.defaults());
            Disposable search = directory.find("a").subscribe(found -> {}, error -> {});
            server.accept().close();
            search.dispose();
            directory.close().block(Patience.BOUND);
        } catch (SocketException e) {
            abort("this machine has no IPv6");
        }
    }
}
