package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;

/** The decode side of a replay, for as long as the replay needs it. */
interface DecodeSide extends AutoCloseable {

    /** Where to connect. */
    EngineAddress address();

    /**
     * What to say of an error that a transfer to it has ended with.
     *
     * @return the error itself, or one that knows more
     */
    default RuntimeException explain(SluiceException error) {
        return error;
    }

    /** Lets it go. */
    @Override
    void close();

    /** One that somebody else has started, and will end. */
    static DecodeSide elsewhere(EngineAddress address) {
        return new DecodeSide() {
            @Override
            public EngineAddress address() {
                return address;
            }

            @Override
            public void close() {}
        };
    }
}
