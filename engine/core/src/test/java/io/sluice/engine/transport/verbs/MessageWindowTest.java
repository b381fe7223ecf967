package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessageWindowTest {
    private static final int CREDITS = 4;

    private final List<VerbsMessage> freed = new ArrayList<>();
    private final MessageWindow window = new MessageWindow(freed::add);

    MessageWindowTest() {
        window.credits(CREDITS);
        for (int i = 0; i < 3 * CREDITS; i++) {
            window.add(new VerbsMessage());
        }
    }

    private List<VerbsMessage> sendAll() {
        List<VerbsMessage> sent = new ArrayList<>();
        VerbsMessage next;
        while ((next = window.pollSendable()) != null) {
            window.sent(next);
            sent.add(next);
        }
        return sent;
    }

    /** Two sides that have used all of theirs could not give each other new ones. */
    @Test
    void lastCreditIsKeptForReports() {
        assertThat(sendAll()).hasSize(CREDITS - 1);
        assertThat(window.hasCreditForReport()).isTrue();
        window.sent(new VerbsMessage());
        assertThat(window.hasCreditForReport()).isFalse();
        assertThat(window.receivedByPeer(1)).isTrue();
        assertThat(window.hasCreditForReport()).isTrue();
        assertThat(sendAll()).isEmpty();
    }

    @Test
    void whatThePeerHasReceivedIsFreedAndMakesRoom() {
        List<VerbsMessage> sent = sendAll();
        assertThat(window.receivedByPeer(2)).isTrue();
        assertThat(freed).containsExactly(sent.get(0), sent.get(1));
        assertThat(window.receivedByPeer(2)).as("no news").isFalse();
        assertThat(sendAll()).hasSize(2);
    }

    @Test
    void aBreakLosesNoCredit() {
        List<VerbsMessage> sent = sendAll();
        List<VerbsMessage> arrived = new ArrayList<>();
        assertThat(window.settle(1, arrived::add)).containsExactly(sent.get(1), sent.get(2));
        assertThat(arrived).containsExactly(sent.get(0));
        assertThat(freed).containsExactly(sent.get(0));
        assertThat(sendAll()).as("as many as in the beginning").hasSize(CREDITS - 1);
    }

    /** A report is due before the peer has only its last credit left. */
    @Test
    void receiptsAreToldWhileThePeerHasCredits() {
        for (int i = 0; i < CREDITS / 2; i++) {
            assertThat(window.isReceiptDue()).isFalse();
            window.received();
        }
        assertThat(window.isReceiptDue()).isTrue();
        window.receiptTold();
        assertThat(window.isReceiptDue()).isFalse();
        assertThat(window.totalReceived()).isEqualTo(CREDITS / 2);
    }
}
