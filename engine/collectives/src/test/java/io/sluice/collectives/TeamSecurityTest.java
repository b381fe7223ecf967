package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.AuthenticationException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The ranks of a team trust each other as their engines do. */
class TeamSecurityTest {
    private static TransferEngine engine(String token) {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("tcp"))
                .token(token.getBytes(StandardCharsets.UTF_8))
                .build());
    }

    private static CompletableFuture<Team> form(TransferEngine engine, int rank, TransferEngine zero, Duration time) {
        return Team.form(
                engine, TeamOptions.rank(rank).of(2).rendezvous(zero.address()).formTimeout(time));
    }

    @Test
    void onlyRanksWithTheTokenFormATeam() {
        try (TransferEngine zero = engine("the token of the team");
                TransferEngine one = engine("the token of the team");
                TransferEngine stranger = engine("the token of a stranger")) {
            CompletableFuture<Team> first = form(zero, 0, zero, Patience.BOUND);
            Patience.failure(form(stranger, 1, zero, Patience.BOUND), AuthenticationException.class);
            assertThat(first).isNotDone();
            CompletableFuture<Team> second = form(one, 1, zero, Patience.BOUND);
            List<Team> teams = List.of(await(first), await(second));
            List<CompletableFuture<Void>> ended =
                    teams.stream().map(TeamSecurityTest::barrier).toList();
            ended.forEach(Patience::await);
            teams.forEach(team -> await(team.closeAsync()));
        }
    }

    private static CompletableFuture<Void> barrier(Team team) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        team.barrier(CollectiveOptions.defaults(), (called, error) -> {
            if (error == null) {
                ended.complete(null);
            } else {
                ended.completeExceptionally(error);
            }
        });
        return ended;
    }
}
