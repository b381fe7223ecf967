package io.sluice.directory.etcd;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.abort;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

class EtcdAddressTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://2001:db8::17:2379",
                "2001:db8::17:2379",
                "10.0.0.1:2379",
                "https://10.0.0.1:2379",
                "http://",
                ""
            })
    void anEndpointOfAnotherFormIsRefusedAndTheRightOneShown(String endpoint) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EtcdDirectory.open(List.of(endpoint), DirectoryOptions.defaults()))
                .withMessageContaining("'" + endpoint + "'")
                .withMessageContaining("http://[2001:db8::17]:2379");
    }

    @Test
    void anIpv6AddressInBracketsIsConnectedTo() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.ofLiteral("::1"))) {
            server.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
            Directory directory =
                    EtcdDirectory.open(List.of("http://[::1]:" + server.getLocalPort()), DirectoryOptions.defaults());
            Disposable search = directory.find("a").subscribe(found -> {}, error -> {});
            server.accept().close();
            search.dispose();
            directory.close().block(Patience.BOUND);
        } catch (SocketException e) {
            abort("this machine has no IPv6");
        }
    }
}
