package io.sluice.experts;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sluice.comm.StandIns;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A library that fails in the middle of dispatches and combines, though no rank is lost. */
class FailedLibraryTest {
    private static final int RANKS = 3;
    private static final int GROUPS_BEFORE = 20;
    private static final int ROUNDS_AFTER = 5;

    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final ExpertRanks ranks = ExpertRanks.form("shm", RANKS);

    private static Logger root() {
        return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    @BeforeEach
    void listen() {
        logged.start();
        root().addAppender(logged);
    }

    @AfterEach
    void close() {
        root().detachAppender(logged);
        StandIns.set(StandIns.NCCL, "soft_nccl_fail_after", -1);
        ranks.close();
    }

    private List<ExpertBuffer> create() {
        return ranks.create(KilledExpertRankTest.OPTIONS.backend(TestedBackends.Nccl.NAME)).stream()
                .map(Patience::await)
                .toList();
    }

    private List<CompletableFuture<Void>> run(List<ExpertBuffer> buffers, int most) {
        return ranks.each(rank -> {
            int[] done = new int[1];
            return ExpertRankMain.call(
                    ExpertRankMain.Mode.LOW_LATENCY, ranks.engine(rank), buffers.get(rank), () -> ++done[0] < most);
        });
    }

    @Test
    void allBuffersEndWithItsErrorAndTheTeamHasOthers() {
        List<ExpertBuffer> buffers = create();
        StandIns.set(StandIns.NCCL, "soft_nccl_fail_after", GROUPS_BEFORE);
        run(buffers, Integer.MAX_VALUE)
                .forEach(each -> assertThat(failure(each, SluiceException.class))
                        .isNotInstanceOf(ExpertsLostException.class)
                        .hasMessageContaining("close the buffer and create another one"));
        buffers.stream().map(ExpertBuffer::closeAsync).toList().forEach(Patience::await);
        // none of their loops has stumbled over it
        assertThat(logged.list)
                .filteredOn(event -> event.getLevel().equals(Level.ERROR))
                .isEmpty();
        List<ExpertBuffer> others = create();
        run(others, ROUNDS_AFTER).forEach(each -> await(each));
        others.stream().map(ExpertBuffer::closeAsync).toList().forEach(Patience::await);
    }
}
