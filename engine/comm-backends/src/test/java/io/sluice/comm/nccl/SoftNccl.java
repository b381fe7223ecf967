package io.sluice.comm.nccl;

import io.sluice.comm.StandIns;
import io.sluice.testkit.Patience;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The transport finds NCCL's stand-in during a test, which leaves no communicator and no setting behind. */
final class SoftNccl implements BeforeEachCallback, AfterEachCallback {
    static final String LIBRARY = "sluice.nccl.library";

    private static final ExtensionContext.Namespace STORE = ExtensionContext.Namespace.create(SoftNccl.class);

    static void use(String library) {
        System.setProperty(LIBRARY, library);
    }

    static long count(String what) {
        return StandIns.count(StandIns.NCCL, "soft_nccl_count", what);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(STORE).put(LIBRARY, Optional.ofNullable(System.getProperty(LIBRARY)));
        use(StandIns.NCCL);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Optional<?> before = context.getStore(STORE).get(LIBRARY, Optional.class);
        before.ifPresentOrElse(each -> use(each.toString()), () -> System.clearProperty(LIBRARY));
        StandIns.set(StandIns.NCCL, "soft_nccl_fail_after", -1);
        Patience.until("all communicators have ended", () -> count("communicators") == 0);
    }
}
