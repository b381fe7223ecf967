package io.sluice.engine.control;

import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.Deadline;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Announces the close on a control channel and waits briefly for the peer to close as well: closing immediately, with
 * the peer's last bytes unread, would make the kernel reset the connection, and the peer might miss the announcement.
 */
public final class GracefulClose extends Deadline implements FramedSocket.Handler, PendingSocket {
    private static final long PATIENCE_NANOS = 1_000_000_000L;

    private final UnfinishedWork unfinished;
    private final Poller loop;
    private final FramedSocket control;

    private GracefulClose(UnfinishedWork unfinished, Poller loop, FramedSocket control) {
        this.unfinished = unfinished;
        this.loop = loop;
        this.control = control;
    }

    public static void say(UnfinishedWork unfinished, Poller loop, FramedSocket control, String reason) {
        GracefulClose farewell = new GracefulClose(unfinished, loop, control);
        control.handler(farewell, 1 << 21, false);
        control.send(MessageType.GOODBYE, PeerText.write(reason));
        control.flushNow();
        if (!control.isClosed()) {
            loop.arm(farewell, loop.now() + PATIENCE_NANOS);
            unfinished.begun(farewell);
        }
    }

    @Override
    public void message(int type, ByteBuffer body) {
        // nothing that the peer says now matters, but that it closes as well
        if (type == MessageType.GOODBYE) {
            expired();
        }
    }

    @Override
    public void broken(String reason, @Nullable Throwable cause) {
        finish();
    }

    @Override
    protected void expired() {
        control.close();
        finish();
    }

    private void finish() {
        loop.disarm(this);
        unfinished.finished(this);
    }

    @Override
    public Poller poller() {
        return loop;
    }

    @Override
    public void abort() {
        // its patience is short enough, as long as there is a clock to bound it
        if (!loop.isRunning()) {
            expired();
        }
    }
}
