package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The host that an engine announces to its peers when it listens on all interfaces. */
class AdvertisedHostTest {
    /** A machine whose name, routes and interfaces the test makes up. */
    private record Machine(@Nullable String name, List<String> routes, List<String> interfaces)
            implements LocalNetwork {
        /** Lists are separated by blanks. */
        static Machine of(@Nullable String name, @Nullable String routes, String interfaces) {
            return new Machine(name, split(routes), split(interfaces));
        }

        private static List<String> split(@Nullable String list) {
            return list == null ? List.of() : Arrays.asList(list.split(" "));
        }

        private static Stream<InetAddress> literals(List<String> texts) {
            return texts.stream().map(InetAddress::ofLiteral);
        }

        @Override
        public @Nullable InetAddress addressOfName() {
            return name == null ? null : InetAddress.ofLiteral(name);
        }

        @Override
        public @Nullable InetAddress sourceTowards(InetAddress destination) {
            return literals(routes)
                    .filter(source -> source instanceof Inet4Address == destination instanceof Inet4Address)
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public List<InetAddress> addresses() {
            return literals(interfaces).toList();
        }
    }

    @ParameterizedTest
    @CsvSource({
        // Debian's default: the name is loopback, the default route knows
        "0.0.0.0, 127.0.1.1, 10.1.2.3, 127.0.0.1 172.17.0.1 10.1.2.3, 10.1.2.3",
        // a name that nothing knows
        "0.0.0.0, , 10.1.2.3, 127.0.0.1 10.1.2.3, 10.1.2.3",
        // a name that stands for an address of this machine says which one
        "0.0.0.0, 10.9.9.9, 10.1.2.3, 127.0.0.1 10.1.2.3 10.9.9.9, 10.9.9.9",
        // a name that stands for another machine's does not
        "0.0.0.0, 203.0.113.7, 10.1.2.3, 127.0.0.1 10.1.2.3, 10.1.2.3",
        // no default route
        "0.0.0.0, 127.0.1.1, , 127.0.0.1 169.254.7.7 10.1.2.3 10.9.9.9, 10.1.2.3",
        "0.0.0.0, 127.0.1.1, 127.0.0.1, 127.0.0.1 10.1.2.3, 10.1.2.3",
        "0.0.0.0, 127.0.1.1, , 127.0.0.1 169.254.7.7, 169.254.7.7",
        // a socket of IPv4 takes no peers of IPv6
        "0.0.0.0, 2001:db8::9, 2001:db8::9, 127.0.0.1 2001:db8::9 10.1.2.3, 10.1.2.3",
        "0.0.0.0, ::1, 2001:db8::9, 127.0.0.1 ::1 2001:db8::9, 127.0.0.1",
        // a socket of IPv6 takes both
        "::, 127.0.1.1, 2001:db8::9 10.1.2.3, 127.0.0.1 ::1 2001:db8::9 10.1.2.3, 10.1.2.3",
        "::, 127.0.1.1, 2001:db8::9, ::1 fe80::1 2001:db8::9, 2001:db8:0:0:0:0:0:9",
        "::, 2001:db8::9, 10.1.2.3, ::1 2001:db8::9 10.1.2.3, 2001:db8:0:0:0:0:0:9",
        "::, ::1, , ::1 fe80::1 2001:db8::9, 2001:db8:0:0:0:0:0:9",
        // only loopback, or what only this machine can name
        "0.0.0.0, 127.0.1.1, , 127.0.0.1, 127.0.0.1",
        "::, , , 127.0.0.1 ::1 fe80::1, 127.0.0.1",
        "::, , , ::1 fe80::1, 0:0:0:0:0:0:0:1"
    })
    void theBestAddressIsTold(
            String bound, @Nullable String name, @Nullable String routes, String interfaces, String told) {
        assertThat(AdvertisedHost.of(bound, InetAddress.ofLiteral(bound), Machine.of(name, routes, interfaces)))
                .isEqualTo(told);
    }

    @Test
    void withoutADefaultRouteTheOthersAreNamed() {
        Machine machine = Machine.of("127.0.1.1", null, "127.0.0.1 10.1.2.3 10.9.9.9 2001:db8::9");
        assertThat(AdvertisedHost.choose(InetAddress.ofLiteral("::"), machine).origin())
                .isEqualTo("an interface's address, as there is no default route; others are 10.9.9.9,"
                        + " 2001:db8:0:0:0:0:0:9");
    }

    @Test
    void anAddressThatWasAskedForIsTold() {
        Machine machine = Machine.of("127.0.1.1", "10.1.2.3", "127.0.0.1 10.1.2.3");
        for (String bound : List.of("127.0.0.1", "127.0.1.1", "10.9.9.9")) {
            assertThat(AdvertisedHost.of("some-name", InetAddress.ofLiteral(bound), machine))
                    .isEqualTo(bound);
        }
    }

    @Test
    void theLogSaysWhichAddressAndWarnsOfLoopback() {
        InetAddress wildcard = InetAddress.ofLiteral("0.0.0.0");
        try (CapturedLog log = CapturedLog.everything()) {
            AdvertisedHost.of("0.0.0.0", wildcard, Machine.of("127.0.1.1", "10.1.2.3", "127.0.0.1 10.1.2.3"));
            assertThat(log.ownLines()).singleElement(STRING).contains("INFO", "10.1.2.3", "SLUICE_ADVERTISE");
        }
        try (CapturedLog log = CapturedLog.everything()) {
            AdvertisedHost.of("0.0.0.0", wildcard, Machine.of(null, null, "127.0.0.1"));
            assertThat(log.ownLines()).singleElement(STRING).contains("WARN", "127.0.0.1", "SLUICE_ADVERTISE");
        }
    }

    @Test
    void aNameThatStandsForLoopbackIsWarnedOf() {
        InetAddress bound = InetAddress.ofLiteral("127.0.1.1");
        LocalNetwork machine = Machine.of("127.0.1.1", "10.1.2.3", "127.0.0.1 10.1.2.3");
        try (CapturedLog log = CapturedLog.everything()) {
            for (String asked : List.of("127.0.1.1", "localhost", "ip6-localhost")) {
                AdvertisedHost.of(asked, bound, machine);
            }
            assertThat(log.ownLines()).isEmpty();
            AdvertisedHost.of("node-7", bound, machine);
            assertThat(log.ownLines()).singleElement(STRING).contains("WARN", "node-7", "127.0.1.1");
        }
    }

    @Test
    void anEngineOnAllInterfacesCanBeReachedWhereItSays() {
        EngineOptions.Builder options = PatientOptions.builder()
                .transports(List.of("tcp"))
                .allowUnauthenticatedPeers(true)
                .listen("0.0.0.0", 0);
        boolean others = LocalNetwork.system().addresses().stream()
                .anyMatch(address -> address instanceof Inet4Address && !address.isLoopbackAddress());
        try (TransferEngine engine = TransferEngine.open(options.build());
                TransferEngine told =
                        TransferEngine.open(options.advertise("node.example", 0).build())) {
            assertThat(InetAddress.ofLiteral(engine.address().host()).isLoopbackAddress())
                    .isNotEqualTo(others);
            Patience.await(engine.connect(engine.address()));
            assertThat(told.address().host()).isEqualTo("node.example");
        }
    }
}
