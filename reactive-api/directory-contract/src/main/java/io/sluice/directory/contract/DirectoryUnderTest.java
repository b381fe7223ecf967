package io.sluice.directory.contract;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import java.time.Duration;
import java.util.OptionalInt;

/** A store that was started for the contract, and everything in it that was made for it. */
public interface DirectoryUnderTest extends AutoCloseable {
    /**
     * Opens one more directory over the store, as another process would.
     *
     * @param options times
     * @return the directory; the contract closes it
     */
    Directory open(DirectoryOptions options);

    /**
     * Where clients reach the store, if that is a port on loopback.
     *
     * @return the port; empty if {@link #openAt} does not work
     */
    default OptionalInt port() {
        return OptionalInt.empty();
    }

    /**
     * Opens one more directory over the store, which is reached at another port, such as a {@link Wire}'s.
     *
     * @param port on loopback
     * @param options times
     * @return the directory; the contract closes it
     */
    default Directory openAt(int port, DirectoryOptions options) {
        throw new UnsupportedOperationException("this store has no port");
    }

    /**
     * Starts a process, or what comes closest, with an engine that has a region and publishes both.
     *
     * @param name under which
     * @param lease how long its entry outlives it; stores may round it up
     * @return when it is published
     */
    ContractPublisher startPublisher(String name, Duration lease);

    /**
     * Whether the store can be made to answer no request.
     *
     * @return true if {@link #interrupt()} and {@link #resume()} work
     */
    boolean canBeInterrupted();

    /** From now on the store neither answers nor refuses requests. */
    void interrupt();

    /** Ends what {@link #interrupt()} began. */
    void resume();

    /**
     * Whether the store can be killed and started again.
     *
     * @return true if {@link #stop()} and {@link #startEmpty()} work
     */
    boolean canBeStopped();

    /** Kills the store: it refuses all requests. */
    void stop();

    /** Starts it again after {@link #stop()}, at the same place, with nothing in it. */
    void startEmpty();

    /**
     * What one entry takes in the store.
     *
     * @param name of the engine
     * @return bytes of all its keys and values
     */
    long storedBytes(String name);

    @Override
    void close();
}
