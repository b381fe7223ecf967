package io.sluice.experts;

import io.sluice.comm.StandIns;
import io.sluice.comm.nccl.NcclBackendProvider;
import io.sluice.experts.backend.CommBackend;
import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.backend.CommSettings;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The back ends over the stand-ins, by names of their own, found by them. */
final class TestedBackends {
    private TestedBackends() {}

    /** Another one by another name. */
    abstract static class Named implements CommBackendProvider {
        private final String name;
        private final CommBackendProvider wrapped;

        Named(String name, CommBackendProvider wrapped) {
            this.name = name;
            this.wrapped = wrapped;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public byte[] uniqueId() {
            return wrapped.uniqueId();
        }

        @Override
        public CompletableFuture<CommBackend> open(CommSettings settings) {
            return wrapped.open(settings);
        }
    }

    /** NCCL without windows. */
    public static final class Nccl extends Named {
        static final String NAME = "stand-in-nccl";

        public Nccl() {
            super(NAME, new NcclBackendProvider(StandIns.NCCL));
        }
    }

    /** NCCL with windows. */
    public static final class NcclWindows extends Named {
        static final String NAME = "stand-in-nccl-windows";

        public NcclWindows() {
            super(NAME, new NcclBackendProvider(StandIns.NCCL_WITH_WINDOWS));
        }
    }

    /** NVSHMEM, a copy a rank. */
    public static final class Nvshmem extends Named {
        static final String NAME = "stand-in-nvshmem";
        // a process that is one rank needs no copy
        private static volatile List<String> copies = Collections.nCopies(8, StandIns.NVSHMEM);

        public Nvshmem() {
            super(NAME, new StandIns.RankedNvshmem(NAME, copies));
        }

        /** Draws copies for new ranks: those that there are may belong to others, or be broken. */
        static List<String> renew(int ranks) {
            copies = StandIns.copiesOfNvshmem(ranks);
            return copies;
        }
    }
}
