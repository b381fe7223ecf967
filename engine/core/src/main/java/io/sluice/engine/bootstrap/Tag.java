package io.sluice.engine.bootstrap;

/** The fields of bootstrap messages, as numbers on the wire. A reader passes over those that it does not know. */
final class Tag {
    static final int ENGINE_ID = 1;
    static final int EPOCH = 2;
    static final int NONCE = 3;
    static final int TRANSPORTS = 4;
    static final int TRANSPORT = 5;
    static final int NOTIFICATION_CREDITS = 6;
    static final int MAX_NOTIFICATION_BYTES = 7;
    static final int LIVENESS_MILLIS = 8;
    static final int EXPECTED_ENGINE_ID = 9;
    static final int AUTHENTICATION = 10;
    static final int CONNECTION_ID = 11;
    static final int PROOF = 12;
    static final int OFFER = 13;
    static final int CODE = 14;
    static final int MESSAGE = 15;
    static final int LANE_INDEX = 16;
    static final int TRANSPORTS_LACKING = 17;
    static final int TRANSPORTS_REACH = 18;
    static final int INTEGRITY = 32;
    static final int FEATURES = 33;
    static final int LOOP_GROUP = 34;
    /**
     * In HELLO: the transports that the sender supports for paths; in WELCOME: the connection's paths after its first.
     */
    static final int PATHS = 35;

    static final int PATH_OFFERS = 36;
    /** In HELLO: transports that have refused memory of the sender's, which only others reach. */
    static final int TRANSPORTS_REFUSING = 37;

    // authentication
    static final int TOKEN_HINT = 48;

    private Tag() {}
}
