package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** All forms of calls bring the same bits over each back end: those of the reference, row by row and sum by sum. */
class BackendsAgreeTest {
    private static final int RANKS = 3;
    private static CrossRanks ranks;

    @BeforeAll
    static void form() {
        TestedBackends.Nvshmem.renew(RANKS);
        ranks = CrossRanks.form("shm", RANKS);
    }

    @AfterAll
    static void close() {
        ranks.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"sluice", TestedBackends.Nccl.NAME, TestedBackends.NcclWindows.NAME, TestedBackends.Nvshmem.NAME
            })
    void dispatchAndCombineAreThoseOfTheReference(String backend) {
        // the second one is opened where the first one was
        for (int buffer = 0; buffer < 2; buffer++) {
            ranks.createBuffers(ExpertOptions.experts(6)
                    .hidden(512)
                    .maxTokensPerRank(10)
                    .topK(3)
                    .backend(backend));
            assertThat(backend).contains(ranks.buffer(0).backend());
            for (ExpertCross.Variant variant : ExpertCross.Variant.values()) {
                Workload work = EveryFormTest.work(ranks, Workload.Mask.SOME, variant.ordinal());
                ExpertCross.Encoding encoding = ExpertCross.Encoding.values()[variant.ordinal()];
                if (buffer == 0) {
                    new LowLatencyRun(ranks, backend + ", low latency, " + variant, work, encoding, variant).round();
                } else {
                    new NormalRun(ranks, backend + ", normal mode, " + variant, work, encoding, variant).round();
                }
            }
        }
    }
}
