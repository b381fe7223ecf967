package io.sluice.engine.control;

/** The messages of bootstrap and control channel, as numbers on the wire. */
public final class MessageType {
    // bootstrap
    public static final int HELLO = 1;
    public static final int WELCOME = 2;
    public static final int AUTHENTICATE = 3;
    public static final int ACCEPT = 4;
    public static final int REJECT = 5;
    public static final int READY = 6;
    public static final int LANE = 7;
    public static final int LANE_ACCEPT = 8;

    // control channel
    public static final int HEARTBEAT = 16;
    public static final int ATTACH = 17;
    public static final int ATTACH_RESULT = 18;
    public static final int DETACH = 19;
    public static final int DETACH_RESULT = 20;
    public static final int LOOKUP = 21;
    public static final int LOOKUP_RESULT = 22;
    public static final int NOTIFY = 23;
    public static final int NOTIFY_PROGRESS = 24;
    public static final int GOODBYE = 25;
    public static final int GIVE_UP = 26;
    /** From endpoint to endpoint. */
    public static final int TRANSPORT = 27;
    /** The sender is going to close, and takes nothing new; the receiver is not to begin anything either. */
    public static final int DRAIN = 28;
    /** The answer: nothing of this side is under way any more. */
    public static final int DRAINED = 29;

    public static final int CHECKSUM = 40;
    public static final int CHECKSUM_RESULT = 41;

    private MessageType() {}
}
