package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.link.Link;
import io.sluice.collectives.link.LinkLayout;
import io.sluice.collectives.run.TeamLoop;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A message fails once the rank that it is for has left, which no collective has noticed. */
class FailedChunkTest {
    private static final RegionOptions SHARED = RegionOptions.readWrite().named("own");

    @Test
    void onlyOneThatIsNotCopiedIsStillNeeded() {
        LinkLayout layout = new LinkLayout(2, 2, 1 << 20);
        try (TransferEngine engine = TransferEngine.open(
                PatientOptions.builder().transports(List.of("tcp")).build())) {
            MemoryRegion own = engine.allocate(layout.bytes(), SHARED);
            MemoryRegion staging = engine.allocate(Link.stagingBytes(layout), RegionOptions.local());
            Connection connection = await(engine.connect(engine.address()));
            RemoteRegion remote = await(connection.lookup("own").thenCompose(connection::attach));
            @Nullable RemoteRegion[] remotes = {null, remote};
            TeamLoop team =
                    new TeamLoop("team", connection.loop(), layout, 0, remotes, own, staging, new TypedErrors("team"));
            team.start();
            Link link = new Link(layout, 0, 1, 0, remote, null, own, staging, team);
            SluiceException lost = new OutcomeUnknownException("the connection has ended");
            CompletableFuture<Void> copied = new CompletableFuture<>();
            connection.loop().execute(() -> {
                team.failed().add(1);
                int slot = link.nextSlot();
                link.sendSmall(0, 0, staging.segment(), 0, 8);
                team.sendEnded(link, slot, lost);
                copied.complete(null);
            });
            await(copied);
            assertThat(team.failure()).isNull();
            connection.loop().execute(() -> {
                int slot = link.nextSlot();
                link.send(staging, 0, 8, TransferOptions.defaults());
                team.sendEnded(link, slot, lost);
            });
            assertThat(failure(team.ended(), RankFailedException.class).ranks()).containsExactly(1);
            await(team.close());
        }
    }
}
