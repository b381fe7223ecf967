package io.sluice.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.comm.nccl.NcclBackendProvider;
import io.sluice.experts.ExpertRanks;
import io.sluice.experts.backend.CommBackendContract;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaLibrary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The contract over NCCL: a stand-in's, or that of {@code sluice.nccl.library}. */
class NcclBackendTest {
    abstract static class OverLibrary extends CommBackendContract {
        private static final LastingRanks RANKS = new LastingRanks();

        private final String library;

        OverLibrary(String library) {
            this.library = library;
        }

        @Override
        protected ExpertRanks form(int size) {
            CudaLibrary.load(System.getProperty("sluice.cuda.library"));
            assumeTrue(CudaDevice.count() >= size, "NCCL needs a GPU for each rank");
            return RANKS.form(size);
        }

        @Override
        protected void end(ExpertRanks formed) {
            RANKS.end(formed);
        }

        @AfterAll
        static void close() {
            RANKS.close();
        }

        @Override
        protected CommBackendProvider provider() {
            return new NcclBackendProvider(library);
        }
    }

    /** Of another library than the stand-ins. */
    @Nested
    class Real extends OverLibrary {
        Real() {
            super(System.getProperty("sluice.nccl.library", ""));
        }

        @Override
        protected ExpertRanks form(int size) {
            assumeTrue(System.getProperty("sluice.nccl.library") != null, "there is no NCCL");
            return super.form(size);
        }
    }

    abstract static class OverStandIn extends OverLibrary {
        private final String library;
        private long mistakes;
        private long communicators;
        private int size;

        OverStandIn(String library) {
            super(library);
            this.library = library;
        }

        private long count(String what) {
            return StandIns.count(library, "soft_nccl_count", what);
        }

        // before any rank has opened its back end
        @Override
        protected ExpertRanks form(int ranks) {
            assumeTrue(System.getProperty("sluice.nccl.library") == null, "the test is of another NCCL");
            size = ranks;
            mistakes = count("mistakes");
            communicators = count("communicators");
            return super.form(ranks);
        }

        @BeforeEach
        void eachRankHasACommunicator() {
            assertThat(count("communicators")).isEqualTo(communicators + size);
        }

        // when all ranks have closed theirs
        @Override
        protected void end(ExpertRanks formed) {
            try {
                assertThat(count("communicators")).isEqualTo(communicators);
                assertThat(count("mistakes")).isEqualTo(mistakes);
            } finally {
                super.end(formed);
            }
        }
    }

    /** Messages come late and in pieces, in any order. */
    @Nested
    class SendAndReceive extends OverStandIn {
        SendAndReceive() {
            super(StandIns.NCCL);
        }

        @BeforeEach
        void disturb() {
            StandIns.set(StandIns.NCCL, "soft_nccl_late", 300_000);
            StandIns.set(StandIns.NCCL, "soft_nccl_shuffle", 1);
        }

        @AfterEach
        void leaveAlone() {
            StandIns.set(StandIns.NCCL, "soft_nccl_late", 0);
            StandIns.set(StandIns.NCCL, "soft_nccl_shuffle", 0);
        }
    }

    /** What they carry the tests of expert buffers carry over them, too. */
    @Nested
    @Tag("soak")
    class Windows extends OverStandIn {
        Windows() {
            super(StandIns.NCCL_WITH_WINDOWS);
        }
    }
}
