package io.sluice.engine.bootstrap;

import io.sluice.engine.AuthenticationException;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.control.PeerText;
import java.nio.ByteBuffer;

/** Why an acceptor does not want a connection. */
final class Rejection {
    static final int AUTHENTICATION = 1;
    static final int NO_COMMON_TRANSPORT = 2;
    static final int WRONG_ENGINE = 3;
    static final int BUSY = 4;
    static final int MALFORMED = 5;
    static final int UNABLE = 6;
    static final int RATE = 7;
    static final int HALF_OPEN = 8;
    static final int INTEGRITY = 16;
    static final int SHUTTING_DOWN = 17;
    // 9 to 15: authentication
    static final int NOT_AUTHORIZED = 9;
    static final int TLS_MISMATCH = 10;

    private Rejection() {}

    static byte[] write(int code, String message) {
        return new FieldWriter()
                .put(Tag.CODE, code)
                .put(Tag.MESSAGE, PeerText.write(message))
                .toBytes();
    }

    /** The reason under which the metrics count a rejection. */
    static RefusalReason reason(int code) {
        return switch (code) {
            case AUTHENTICATION, NOT_AUTHORIZED, TLS_MISMATCH -> RefusalReason.AUTHENTICATION;
            case NO_COMMON_TRANSPORT, UNABLE -> RefusalReason.TRANSPORT;
            case WRONG_ENGINE -> RefusalReason.WRONG_ENGINE;
            case BUSY -> RefusalReason.CONNECTIONS;
            case RATE -> RefusalReason.RATE;
            case HALF_OPEN -> RefusalReason.HALF_OPEN;
            case SHUTTING_DOWN -> RefusalReason.SHUTTING_DOWN;
            case INTEGRITY -> RefusalReason.INTEGRITY;
            default -> RefusalReason.MALFORMED;
        };
    }

    /** Whether it may come before TLS, to a peer that expects it; such a one is let in at another time. */
    static boolean mayComeBeforeTls(int code) {
        return code == RATE || code == HALF_OPEN;
    }

    /** Why a lane was not taken; the connection that it belongs to fails with it. */
    static ConnectFailedException ofLane(ByteBuffer body, int index) {
        FieldReader fields = new FieldReader(body);
        String message = "lane " + index + " could not be opened: the peer rejects it: "
                + PeerText.read(fields.bytes(Tag.MESSAGE));
        return isLimit((int) fields.number(Tag.CODE, 0, Integer.MAX_VALUE))
                ? new LimitExceededException(message)
                : new ConnectFailedException(message);
    }

    private static boolean isLimit(int code) {
        return code == BUSY || code == RATE || code == HALF_OPEN;
    }

    static SluiceException read(ByteBuffer body, EngineAddress from) {
        FieldReader fields = new FieldReader(body);
        String message = from + " rejects the connection: " + PeerText.read(fields.bytes(Tag.MESSAGE));
        return switch ((int) fields.number(Tag.CODE, 0, Integer.MAX_VALUE)) {
            case AUTHENTICATION, NOT_AUTHORIZED, TLS_MISMATCH -> new AuthenticationException(message);
            case NO_COMMON_TRANSPORT -> new TransportUnavailableException(message);
            case BUSY, RATE, HALF_OPEN -> new LimitExceededException(message);
            case UNABLE -> new ConnectFailedException(message, new TransportUnavailableException(message));
            default -> new ConnectFailedException(message);
        };
    }
}
