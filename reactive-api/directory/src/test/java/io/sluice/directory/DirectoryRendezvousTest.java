package io.sluice.directory;

import static io.sluice.testkit.Patience.BOUND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Ranks that find each other in a directory, or do not. */
class DirectoryRendezvousTest {
    private final Directory directory = Directory.inProcess();
    private final List<TransferEngine> engines = new ArrayList<>();

    @AfterEach
    void close() {
        engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
        directory.close().block(BOUND);
    }

    private CompletableFuture<Team> form(int rank, int size, String name, Duration timeout) {
        TransferEngine engine = TransferEngine.open(
                PatientOptions.builder().livenessTimeout(BOUND).build());
        engines.add(engine);
        return Team.form(
                engine,
                TeamOptions.rank(rank)
                        .of(size)
                        .name(name)
                        .rendezvous(DirectoryRendezvous.in(directory))
                        .timeout(BOUND)
                        .formTimeout(timeout));
    }

    @Test
    void theTimeOutNamesTheRanksThatAreMissing() {
        CompletableFuture<Team> two = form(2, 4, "short", BOUND);
        Patience.until("rank 2 is in the directory", () -> isThere("sluice-team/short/2"));
        CompletableFuture<Team> zero = form(0, 4, "short", Patience.scaled(Duration.ofSeconds(1)));
        assertThatThrownBy(() -> Patience.await(zero))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("1, 3]");
        assertThat(two).isNotDone();
        Patience.until("the entry of rank 0 is withdrawn", () -> !isThere("sluice-team/short/0"));
    }

    private boolean isThere(String name) {
        return directory
                .find(name)
                .map(entry -> true)
                .onErrorReturn(EngineNotFoundException.class, false)
                .block(BOUND);
    }

    @Test
    void anEntryThatADeadRankHasLeftIsReplaced() throws Exception {
        EngineAddress dead = new EngineAddress("127.0.0.1", FreePort.any(), EngineId.random());
        directory
                .publish(new Advertisement("sluice-team/again/0", dead, 1, new TreeMap<>()))
                .block(BOUND);
        CompletableFuture<Team> one = form(1, 2, "again", BOUND);
        CompletableFuture<Team> zero = form(0, 2, "again", BOUND);
        assertThat(Patience.await(zero).size()).isEqualTo(2);
        assertThat(Patience.await(one).rank()).isEqualTo(1);
    }

    @Test
    void anyNameOfATeamWillDo() {
        String name = "Mannschaft Ä/0 *";
        CompletableFuture<Team> zero = form(0, 2, name, BOUND);
        CompletableFuture<Team> one = form(1, 2, name, BOUND);
        assertThat(Patience.await(zero).name()).isEqualTo(name);
        Patience.await(one);
    }
}
