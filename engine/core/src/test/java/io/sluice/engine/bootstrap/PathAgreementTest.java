package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * An accepting engine's choice with peers of this version, which support several paths, and with earlier ones, which do
 * not.
 */
class PathAgreementTest {
    private final TransferEngine engine = TransferEngine.open(
            PatientOptions.builder().transports(List.of("shm", "tcp")).build());

    @AfterEach
    void close() {
        Patience.await(engine.closeAsync());
    }

    private FieldReader welcome(RawPeer peer, FieldWriter hello) {
        peer.hello(hello.toBytes());
        return new FieldReader(peer.control().receive(MessageType.WELCOME).buffer());
    }

    /** The engine's reach, which its peers in this process share. */
    private String reach() {
        try (RawPeer peer = new RawPeer(engine.address())) {
            return welcome(peer, peer.helloFields()).text(Tag.TRANSPORTS_REACH);
        }
    }

    @Test
    void earlierVersionTakesTheTransportThatNeedsNoOther() {
        String reach = reach();
        try (RawPeer peer = new RawPeer(engine.address())) {
            FieldReader welcome = welcome(
                    peer,
                    peer.helloFields("shm,tcp").put(Tag.TRANSPORTS_REACH, reach).put(Tag.FEATURES, Features.DRAIN));
            assertThat(welcome.text(Tag.TRANSPORT)).isEqualTo("tcp");
            assertThat(welcome.optional(Tag.PATHS)).isNull();
        }
    }

    @Test
    void earlierVersionThatHasNoneIsRefused() {
        String reach = reach();
        try (RawPeer peer = new RawPeer(engine.address())) {
            peer.hello(peer.helloFields("shm").put(Tag.TRANSPORTS_REACH, reach).toBytes());
            FieldReader rejection =
                    new FieldReader(peer.control().receive(MessageType.REJECT).buffer());
            assertThat(rejection.number(Tag.CODE, 0, 255)).isEqualTo(Rejection.NO_COMMON_TRANSPORT);
        }
    }

    /** Values of a later version in addition to those that this one knows. */
    @Test
    void fieldThatIsNotKnownIsPassedOver() {
        try (RawPeer peer = new RawPeer(engine.address())) {
            FieldReader welcome = welcome(
                    peer, peer.helloFields("tcp").put(Short.MAX_VALUE, 7).put(Tag.LOOP_GROUP, 5));
            assertThat(welcome.text(Tag.TRANSPORT)).isEqualTo("tcp");
        }
    }

    @Test
    void thisVersionHasTcpAsSecondPathOfShmIfItOffersThat() {
        String reach = reach();
        for (String offered : List.of("shm,tcp", "shm")) {
            try (RawPeer peer = new RawPeer(engine.address())) {
                FieldReader welcome = welcome(
                        peer,
                        peer.helloFields("shm")
                                .put(Tag.TRANSPORTS_REACH, reach)
                                .put(Tag.FEATURES, Features.ALL)
                                .put(Tag.PATHS, offered));
                assertThat(welcome.text(Tag.TRANSPORT)).isEqualTo("shm");
                if (offered.contains("tcp")) {
                    assertThat(welcome.text(Tag.PATHS)).isEqualTo("tcp");
                } else {
                    assertThat(welcome.optional(Tag.PATHS)).isNull();
                }
            }
        }
    }
}
