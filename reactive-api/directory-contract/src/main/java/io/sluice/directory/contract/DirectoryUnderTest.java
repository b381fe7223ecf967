package io.sluice.directory.contract;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import java.time.Duration;
import java.util.OptionalInt;

/** A store started for the contract, with everything created in it. */
public interface DirectoryUnderTest extends AutoCloseable {
    /**
     * Opens a directory over the store, as another process would.
     *
     * @param options the directory's options
     * @return the directory; the contract closes it
     */
    Directory open(DirectoryOptions options);

    /**
     * Returns the port on loopback where clients reach the store, if there is one.
     *
     * @return the port; empty if {@link #openAt} is not supported
     */
    default OptionalInt port() {
        return OptionalInt.empty();
    }

    /**
     * Opens a directory over the store through another port, such as that of a {@link Wire}.
     *
     * @param port a port on loopback
     * @param options the directory's options
     * @return the directory; the contract closes it
     */
    default Directory openAt(int port, DirectoryOptions options) {
        throw new UnsupportedOperationException("this store has no port");
    }

    /**
     * Starts a process, or the closest equivalent, with an engine that has a region and publishes both.
     *
     * @param name the name to publish
     * @param lease how long the entry outlives the engine; stores may round it up
     * @return the publisher, once published
     */
    ContractPublisher startPublisher(String name, Duration lease);

    /**
     * Returns whether the store can be made unresponsive.
     *
     * @return true if {@link #interrupt()} and {@link #resume()} work
     */
    boolean canBeInterrupted();

    /** Makes the store neither answer nor refuse requests. */
    void interrupt();

    /** Ends {@link #interrupt()}. */
    void resume();

    /**
     * Returns whether the store can be killed and restarted.
     *
     * @return true if {@link #stop()} and {@link #startEmpty()} work
     */
    boolean canBeStopped();

    /** Kills the store: it refuses all requests. */
    void stop();

    /** Restarts the store empty at the same address after {@link #stop()}. */
    void startEmpty();

    /**
     * Returns the size of one entry in the store.
     *
     * @param name the engine's name
     * @return bytes of all its keys and values
     */
    long storedBytes(String name);

    @Override
    void close();
}
