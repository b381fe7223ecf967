package io.sluice.engine.session;

/** The messages of bootstrap and control channel, as numbers on the wire. */
final class MessageType {
    // bootstrap
    static final int HELLO = 1;
    static final int WELCOME = 2;
    static final int AUTHENTICATE = 3;
    static final int ACCEPT = 4;
    static final int REJECT = 5;
    static final int READY = 6;
    static final int LANE = 7;
    static final int LANE_ACCEPT = 8;

    // control channel
    static final int HEARTBEAT = 16;
    static final int ATTACH = 17;
    static final int ATTACH_RESULT = 18;
    static final int DETACH = 19;
    static final int DETACH_RESULT = 20;
    static final int LOOKUP = 21;
    static final int LOOKUP_RESULT = 22;
    static final int NOTIFY = 23;
    static final int NOTIFY_PROGRESS = 24;
    static final int GOODBYE = 25;
    static final int GIVE_UP = 26;
    /** From endpoint to endpoint. */
    static final int TRANSPORT = 27;
    /** The sender is going to close, and takes nothing new; the receiver is not to begin anything either. */
    static final int DRAIN = 28;
    /** The answer: nothing of this side is under way any more. */
    static final int DRAINED = 29;

    static final int CHECKSUM = 40;
    static final int CHECKSUM_RESULT = 41;

    private MessageType() {}
}
