package io.sluice.experts.sluice;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.experts.ExpertRanks;
import io.sluice.experts.backend.CommBackendContract;
import io.sluice.experts.backend.CommBackendProvider;
import org.junit.jupiter.api.Nested;

/** The built-in back end over each transport that is always there, and over one that reorders. */
class SluiceBackendTest {
    abstract static class OverTransport extends CommBackendContract {
        private final String transport;

        OverTransport(String transport) {
            this.transport = transport;
        }

        @Override
        protected ExpertRanks form(int size) {
            assumeTrue(
                    !transport.equals("verbs") || System.getProperty("sluice.verbs.library") != null,
                    "there is no software adapter");
            return ExpertRanks.form(transport, size);
        }

        @Override
        protected CommBackendProvider provider() {
            return new SluiceBackendProvider();
        }
    }

    @Nested
    class Shm extends OverTransport {
        Shm() {
            super("shm");
        }
    }

    @Nested
    class Tcp extends OverTransport {
        Tcp() {
            super("tcp");
        }
    }

    @Nested
    class SoftwareVerbs extends OverTransport {
        SoftwareVerbs() {
            super("verbs");
        }
    }

    @Nested
    class Reordering extends OverTransport {
        Reordering() {
            super("reordering");
        }
    }
}
