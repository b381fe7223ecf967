package io.sluice.directory.contract;

import io.sluice.directory.Advertisement;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;

/** A store for all tests of a class, in which each test has its own names. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway") // JUnit fills in the field.
abstract class StoreFixture {
    static final AtomicLong NUMBERS = new AtomicLong();

    DirectoryUnderTest store;

    /**
     * Starts the store, or aborts the tests where it is not available.
     *
     * @return the empty store
     */
    protected abstract DirectoryUnderTest startStore();

    @BeforeAll
    void start() {
        store = startStore();
    }

    @AfterAll
    void stop() {
        if (store != null) {
            store.close();
        }
    }

    /** Returns a name that no other test has. */
    static String uniqueName(String prefix, TestInfo test) {
        return prefix + "/" + test.getTestMethod().orElseThrow().getName() + "/" + NUMBERS.incrementAndGet();
    }

    /** Advertises an engine that does not exist. */
    static Advertisement advertisement(String name, int regions) {
        EngineId engine = EngineId.random();
        long epoch = ThreadLocalRandom.current().nextLong();
        return new Advertisement(
                name,
                new EngineAddress("127.0.0.1", 7_000, engine),
                epoch,
                ContractRegions.many(engine, epoch, regions));
    }
}
