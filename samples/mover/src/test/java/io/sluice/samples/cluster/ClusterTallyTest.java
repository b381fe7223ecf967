package io.sluice.samples.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ClusterTallyTest {

    private static final long SECOND = 1_000_000_000L;

    private long now;
    private final ClusterTally tally = new ClusterTally(() -> now);

    @Test
    void aRunInWhichAPeerComesBackHasNoComplaints() throws IOException {
        at(1).moved("prefill/0", "run-1", "shm", 4, 400);
        at(2).moved("prefill/1", "run-2", "tcp", 4, 400);
        at(3).killed("prefill/0", "run-1");
        at(4).failed("peer-lost", 0);
        tally.retried();
        at(7).moved("prefill/1", "run-2", "shm", 4, 400);
        at(8).restarted();
        // had begun before the kill, or is told late
        at(9).moved("prefill/0", "run-1", "shm", 1, 100);
        assertThat(tally.servedAfterRestart()).isFalse();
        at(10).moved("prefill/0", "run-3", "shm", 4, 400);
        at(11).moved("prefill/0", "run-3", "shm", 4, 400);
        at(12);

        ClusterSummary summary = tally.summary("m", false);
        assertThat(summary.complaints()).isEmpty();
        assertThat(summary.moves()).isEqualTo(6);
        assertThat(summary.blocks()).isEqualTo(21);
        assertThat(summary.bytes()).isEqualTo(2100);
        assertThat(summary.otherMoves()).isEqualTo(1);
        assertThat(summary.restartedMoves()).isEqualTo(2);
        assertThat(summary.longestPauseSeconds()).isEqualTo(5);
        assertThat(summary.secondsWithoutKilledPeer()).isEqualTo(7);
        assertThat(summary.secondsFromRestart()).isEqualTo(2);

        JsonNode json = new ObjectMapper().readTree(summary.toJson());
        assertThat(json.path("corrupted_pages").asLong(-1)).isZero();
        assertThat(json.path("peers")).hasSize(2);
        assertThat(json.at("/peers/0/peer").asText()).isEqualTo("prefill/0");
        assertThat(json.at("/failures/peer-lost").asLong()).isEqualTo(1);
        assertThat(json.path("retries").asLong()).isEqualTo(1);
        assertThat(json.path("transports")).hasSize(2);
        assertThat(json.path("seconds").asDouble()).isEqualTo(12);
        assertThat(json.has("complaints")).isFalse();

        assertThat(ClusterSummary.ClusterSummaryTable.render(summary))
                .contains("from prefill/0", "1 peer-lost", "corrupted pages      0", "7.000 s");
    }

    @Test
    void aCorruptedPageIsAComplaint() {
        tally.killed("prefill/0", "run-1");
        tally.failed("corrupted-pages", 3);
        tally.moved("prefill/1", "run-2", null, 4, 400);
        tally.restarted();
        tally.moved("prefill/0", "run-3", "shm", 4, 400);
        assertThat(tally.summary("m", false).complaints())
                .singleElement()
                .asString()
                .contains("corrupted pages: 3");
    }

    @Test
    void whatDoesNotComeIsAComplaint() {
        assertThat(tally.summary("m", false).complaints()).containsExactly("no peer was killed");
        assertThat(tally.summary("m", true).complaints()).isEmpty();
        tally.moved("prefill/0", "run-1", "shm", 4, 400);
        tally.killed("prefill/0", "run-1");
        tally.restarted();
        tally.moved("prefill/1", "run-2", "shm", 4, 400);
        tally.gaveUp(2);
        ClusterSummary summary = tally.summary("m", false);
        assertThat(summary.complaints()).hasSize(3);
        assertThat(summary.secondsWithoutKilledPeer()).isNull();
        assertThat(ClusterSummary.ClusterSummaryTable.render(summary)).contains("it did not come back");
    }

    @Test
    void aMoveOfNoBlocksIsNoTraffic() {
        tally.moved("prefill/0", "run-1", "shm", 4, 400);
        tally.killed("prefill/0", "run-1");
        tally.moved("prefill/1", "run-2", "tcp", 0, 0);
        tally.restarted();
        tally.moved("prefill/0", "run-3", "tcp", 0, 0);
        assertThat(tally.moves()).isEqualTo(1);
        assertThat(tally.servedByTwo()).isFalse();
        assertThat(tally.servedMeanwhile()).isFalse();
        assertThat(tally.servedAfterRestart()).isFalse();
        assertThat(tally.summary("m", false).transports()).containsExactly("shm");
        tally.moved("prefill/0", "run-3", "shm", 1, 100);
        assertThat(tally.servedAfterRestart()).isTrue();
    }

    private ClusterTally at(long second) {
        now = second * SECOND;
        return tally;
    }
}
