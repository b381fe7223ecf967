package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

class ErrorKindTest {
    @Test
    void eachErrorHasTheKindOfItsOwnClass() {
        assertThat(ErrorKind.of(new RemoteAccessException(RemoteAccessException.Reason.BAD_KEY, "")))
                .isEqualTo(ErrorKind.REMOTE_ACCESS);
        assertThat(ErrorKind.of(new RegionClosedException(""))).isEqualTo(ErrorKind.REGION);
        assertThat(ErrorKind.of(new RegionNotFoundException(""))).isEqualTo(ErrorKind.REGION);
        assertThat(ErrorKind.of(new ConnectionLostException(""))).isEqualTo(ErrorKind.CONNECTION_LOST);
        assertThat(ErrorKind.of(new ConnectionClosedException(""))).isEqualTo(ErrorKind.CONNECTION_CLOSED);
        assertThat(ErrorKind.of(new OutcomeUnknownException(""))).isEqualTo(ErrorKind.OUTCOME_UNKNOWN);
        assertThat(ErrorKind.of(new TransferTimeoutException(""))).isEqualTo(ErrorKind.TIMEOUT);
        assertThat(ErrorKind.of(new IntegrityException(""))).isEqualTo(ErrorKind.INTEGRITY);
        assertThat(ErrorKind.of(new StartEventException(""))).isEqualTo(ErrorKind.START_EVENT);
        assertThat(ErrorKind.of(new ElementsFailedException(1, 2, new ConnectionLostException(""))))
                .as("the first of a vectored transfer's")
                .isEqualTo(ErrorKind.CONNECTION_LOST);
        BitSet pages = BitSet.valueOf(new long[] {6});
        assertThat(ErrorKind.of(new PagesFailedException(pages, 3, new TransferTimeoutException(""))))
                .as("the first of pages")
                .isEqualTo(ErrorKind.TIMEOUT);
        assertThat(ErrorKind.of(new ProtocolException(""))).isEqualTo(ErrorKind.OTHER);
    }
}
