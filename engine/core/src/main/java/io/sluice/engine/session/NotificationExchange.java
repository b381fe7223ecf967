package io.sluice.engine.session;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.flow.ConnectionFlow;
import io.sluice.engine.flow.FlowCounter;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.transport.EventLoop;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The peer's notifications, and the credits that go back for them. On the connection's loop. */
final class NotificationExchange {
    private final EventLoop loop;
    private final FramedSocket control;
    private final ConnectionFlow flow;
    private final FlowCounters counters;
    private final int maxBytes;
    private final NotificationInbox inbox;
    private final Runnable sendProgress = this::sendProgress;
    private boolean progressDue;
    private boolean ended;

    NotificationExchange(
            EventLoop loop, FramedSocket control, ConnectionFlow flow, FlowCounters counters, EngineOptions options) {
        this.loop = loop;
        this.control = control;
        this.flow = flow;
        this.counters = counters;
        this.maxBytes = options.maxNotificationBytes();
        this.inbox = new NotificationInbox(options.notificationCredits(), this::progress);
    }

    NotificationInbox inbox() {
        return inbox;
    }

    void received(ByteBuffer body) {
        byte[] payload = new byte[body.remaining()];
        body.get(payload);
        received(payload);
    }

    void received(byte[] payload) {
        if (payload.length > maxBytes) {
            throw new ProtocolException("a notification of " + payload.length + " bytes");
        }
        counters.add(FlowCounter.NOTIFICATIONS_RECEIVED, 1);
        if (!inbox.received(payload)) {
            throw new ProtocolException("the peer sent a notification without a credit");
        }
    }

    /** The peer has taken notifications of this side's, or grants more of them. */
    void progressed(ByteBuffer body) {
        if (body.remaining() != 8) {
            throw new ProtocolException("a control message is cut short");
        }
        int acknowledged = body.getInt();
        int granted = body.getInt();
        if (acknowledged < 0 || !flow.notificationsAcknowledged(acknowledged)) {
            throw new ProtocolException("the peer acknowledged notifications that were not sent");
        }
        if (granted < 0 || !flow.grantNotifications(granted)) {
            throw new ProtocolException("the peer grants credits that it never had");
        }
    }

    private void progress() {
        if (!progressDue && !ended) {
            progressDue = true;
            loop.atEndOfCycle(sendProgress);
        }
    }

    /** Sends the acknowledgements that wait for the end of the cycle: this side closes, and has taken those notifications. */
    void sendDueProgress() {
        if (progressDue) {
            sendProgress();
        }
    }

    private void sendProgress() {
        if (progressDue && !ended) {
            progressDue = false;
            control.send(
                    MessageType.NOTIFY_PROGRESS,
                    ByteBuffer.allocate(8)
                            .putInt(inbox.takeAcknowledged())
                            .putInt(inbox.takeGranted())
                            .array());
            // this runs at the end of a cycle, when the socket's own flush may already have run
            control.flushNow();
        }
    }

    /** The connection is over, with an error if the peer was lost. */
    void end(@Nullable SluiceException error) {
        ended = true;
        inbox.end(error);
    }
}
