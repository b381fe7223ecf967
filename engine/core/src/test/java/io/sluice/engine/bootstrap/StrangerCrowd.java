package io.sluice.engine.bootstrap;

import io.sluice.engine.control.Frame;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Strangers on one thread, until they are closed: some say a wrong hello, so many a second as far as the machine goes, and leave
 * once they are refused; others say nothing, and come again soon after they have been turned away.
 */
final class StrangerCrowd implements AutoCloseable {
    private static final int MOST_UNDER_WAY = 4096;
    private static final int MOST_BEGUN_A_TURN = 64;
    private static final int MOST_ANSWER = 2048;
    private static final long SECOND = 1_000_000_000L;
    private static final long AGAIN_NANOS = SECOND / 10;
    private static final byte[] WRONG_PROOF = MessageSocket.encode(
            MessageType.AUTHENTICATE,
            new FieldWriter()
                    .put(Tag.PROOF, new byte[SessionSecret.PROOF_BYTES])
                    .put(Tag.OFFER, new byte[6])
                    .toBytes());

    /** The plan of a crowd: source addresses, number and messages. */
    record Plan(
            List<String> helloFrom, int hellosASecond, Supplier<byte[]> hello, List<String> silentFrom, int silent) {}

    /** The outcomes of the hellos, and how often a silent one came. */
    static final class Tally {
        long began;
        long authentication;
        long rate;
        long halfOpen;
        long other;
        long withoutAWord;
        long notConnected;
        long silentCame;

        long refused() {
            return authentication + rate + halfOpen + other;
        }
    }

    private record Return(long at, String from) {}

    private static final class Stranger {
        private final SocketChannel channel;
        private final String from;
        private final boolean silent;
        private final ByteBuffer answer = ByteBuffer.allocate(MOST_ANSWER);
        private boolean told;

        Stranger(SocketChannel channel, String from, boolean silent) {
            this.channel = channel;
            this.from = from;
            this.silent = silent;
        }
    }

    private final InetSocketAddress target;
    private final Plan plan;
    private final Selector selector;
    private final Thread thread;
    private final Tally tally = new Tally();
    private final ArrayDeque<Return> away = new ArrayDeque<>();
    private final long start = System.nanoTime();
    private int underWay;
    private long missed;
    private long elapsed;
    private volatile boolean stopping;
    private volatile @Nullable Throwable failure;

    StrangerCrowd(InetSocketAddress target, Plan plan) {
        this.target = target;
        this.plan = plan;
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        thread = Thread.ofPlatform().daemon().name("strangers").start(this::run);
    }

    /** The outcomes, once all are closed. */
    Tally tally() {
        return tally;
    }

    /** Hellos in a second, as many as it came to. */
    long reachedASecond() {
        return tally.began * SECOND / Math.max(1, elapsed);
    }

    private void run() {
        try {
            for (int i = 0; i < plan.silent(); i++) {
                away.add(new Return(
                        start, plan.silentFrom().get(i % plan.silentFrom().size())));
            }
            while (!stopping) {
                long now = System.nanoTime();
                beginSome(now);
                selector.select(key -> proceed((Stranger) key.attachment()), 1);
            }
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        } finally {
            elapsed = System.nanoTime() - start;
            leave();
        }
    }

    private void beginSome(long now) throws IOException {
        for (int i = 0;
                i < MOST_BEGUN_A_TURN && !away.isEmpty() && away.getFirst().at() - now <= 0;
                i++) {
            begin(away.removeFirst().from(), true);
            tally.silentCame++;
        }
        long due = (now - start) * plan.hellosASecond() / SECOND - missed;
        for (int i = 0; i < MOST_BEGUN_A_TURN && tally.began < due && underWay < MOST_UNDER_WAY; i++) {
            List<String> from = plan.helloFrom();
            begin(from.get((int) (tally.began % from.size())), false);
            tally.began++;
        }
        // what the machine did not give is not made up for
        missed += Math.max(0, due - tally.began - plan.hellosASecond() / 100);
    }

    private void begin(String from, boolean silent) throws IOException {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        Stranger stranger = new Stranger(channel, from, silent);
        if (!silent) {
            underWay++;
            // no port stays taken for a while
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
        try {
            channel.bind(new InetSocketAddress(from, 0));
            boolean connected = channel.connect(target);
            channel.register(selector, connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, stranger);
            if (connected) {
                speak(stranger);
            }
        } catch (IOException e) {
            end(stranger, Code.NOT_CONNECTED);
        }
    }

    private void speak(Stranger stranger) throws IOException {
        if (!stranger.silent) {
            write(stranger, plan.hello().get());
        }
    }

    private static void write(Stranger stranger, byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        stranger.channel.write(buffer);
        if (buffer.hasRemaining()) {
            throw new IOException("a new socket takes a whole message");
        }
    }

    private void proceed(Stranger stranger) {
        SelectionKey key = stranger.channel.keyFor(selector);
        try {
            if (key.isConnectable()) {
                if (stranger.channel.finishConnect()) {
                    key.interestOps(SelectionKey.OP_READ);
                    speak(stranger);
                }
                return;
            }
        } catch (IOException e) {
            end(stranger, Code.NOT_CONNECTED);
            return;
        }
        try {
            int count = stranger.channel.read(stranger.answer);
            if (count > 0) {
                heard(stranger);
            } else {
                end(stranger, stranger.told ? Code.TOLD : Code.WITHOUT_A_WORD);
            }
        } catch (IOException e) {
            end(stranger, stranger.told ? Code.TOLD : Code.WITHOUT_A_WORD);
        }
    }

    private void heard(Stranger stranger) throws IOException {
        ByteBuffer answer = stranger.answer;
        if (answer.position() < Frame.HEADER || answer.position() < Frame.HEADER + answer.getInt(4)) {
            return;
        }
        int type = answer.get(3);
        ByteBuffer body = answer.slice(Frame.HEADER, answer.getInt(4));
        answer.clear();
        if (type == MessageType.WELCOME) {
            write(stranger, WRONG_PROOF);
        } else if (!stranger.told) {
            stranger.told = true;
            if (!stranger.silent) {
                count(new FieldReader(body).number(Tag.CODE, 0, 255));
            }
        }
    }

    private void count(long code) {
        switch ((int) code) {
            case Rejection.AUTHENTICATION -> tally.authentication++;
            case Rejection.RATE -> tally.rate++;
            case Rejection.HALF_OPEN -> tally.halfOpen++;
            default -> tally.other++;
        }
    }

    private enum Code {
        TOLD,
        WITHOUT_A_WORD,
        NOT_CONNECTED
    }

    private void end(Stranger stranger, Code how) {
        try {
            stranger.channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (stranger.silent) {
            away.add(new Return(System.nanoTime() + AGAIN_NANOS, stranger.from));
            return;
        }
        underWay--;
        switch (how) {
            case TOLD -> {}
            case WITHOUT_A_WORD -> tally.withoutAWord++;
            case NOT_CONNECTED -> tally.notConnected++;
        }
    }

    private void leave() {
        try {
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes all sockets. */
    @Override
    public void close() {
        stopping = true;
        selector.wakeup();
        Patience.join(thread);
        Throwable why = failure;
        if (why != null) {
            throw new AssertionError("the strangers have failed", why);
        }
    }
}
