package io.sluice.samples.compare;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * A program of two processes that puts or gets through JUCX, UCX's Java binding, and prints how many of them were done in how
 * long. Both poll all the time, as {@code ucx_perftest} does. The target's address and key go to the initiator through a
 * socket of their own, which tells the target of the end, too.
 */
final class JucxProcess {
    private static final int MOST_ADDRESS_BYTES = 1 << 16;
    private static final int POLLS_A_LOOK = 1 << 10;

    private JucxProcess() {}

    /**
     * Takes {@code target PORT BYTES}, or {@code put|get PORT BYTES OUTSTANDING WARMUP_MILLIS DURATION_MILLIS}.
     *
     * @throws Exception if JUCX cannot be used here, or fails
     */
    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[1]);
        int bytes = Integer.parseInt(arguments[2]);
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        try (UcpContext context = new UcpContext(new UcpParams().requestRmaFeature());
                UcpWorker worker = context.newWorker(new UcpWorkerParams());
                UcpMemory memory = context.registerMemory(ByteBuffer.allocateDirect(bytes))) {
            if (arguments[0].equals("target")) {
                serve(address, worker, memory);
            } else {
                measure(
                        arguments[0].equals("put"),
                        address,
                        worker,
                        memory,
                        Integer.parseInt(arguments[3]),
                        Long.parseLong(arguments[4]),
                        Long.parseLong(arguments[5]));
            }
        }
    }

    // ---- the target ----

    private static void serve(InetSocketAddress address, UcpWorker worker, UcpMemory memory) throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(address);
                SocketChannel initiator = listener.accept()) {
            ByteBuffer fixed = ByteBuffer.allocate(Long.BYTES).putLong(0, memory.getAddress());
            send(initiator, fixed);
            send(initiator, memory.getRemoteKeyBuffer());
            send(initiator, worker.getAddress());
            initiator.configureBlocking(false);
            ByteBuffer end = ByteBuffer.allocate(1);
            do {
                for (int i = 0; i < POLLS_A_LOOK; i++) {
                    worker.progress();
                }
            } while (initiator.read(end) == 0);
        }
    }

    private static void send(SocketChannel to, ByteBuffer bytes) throws IOException {
        ByteBuffer copy = bytes.duplicate();
        ByteBuffer framed = ByteBuffer.allocate(Integer.BYTES + copy.remaining());
        framed.putInt(copy.remaining()).put(copy).flip();
        while (framed.hasRemaining()) {
            to.write(framed);
        }
    }

    // ---- the initiator ----

    private static void measure(
            boolean put,
            InetSocketAddress address,
            UcpWorker worker,
            UcpMemory memory,
            int outstanding,
            long warmupMillis,
            long durationMillis)
            throws Exception {
        try (SocketChannel target = SocketChannel.open(address)) {
            long remoteAddress = receive(target).getLong();
            ByteBuffer key = receive(target);
            UcpEndpoint endpoint = worker.newEndpoint(new UcpEndpointParams().setUcpAddress(receive(target)));
            try (UcpRemoteKey remoteKey = endpoint.unpackRemoteKey(key)) {
                Transfer transfer = put
                        ? counter -> endpoint.putNonBlocking(
                                memory.getAddress(), memory.getLength(), remoteAddress, remoteKey, counter)
                        : counter -> endpoint.getNonBlocking(
                                remoteAddress, remoteKey, memory.getAddress(), memory.getLength(), counter);
                run(worker, transfer, outstanding, warmupMillis);
                long began = System.nanoTime();
                long operations = run(worker, transfer, outstanding, durationMillis);
                System.out.println(BaselineRun.BaselineOutput.toJson(System.nanoTime() - began, operations));
            }
            // the worker's end is the endpoint's, too
        }
    }

    private static ByteBuffer receive(SocketChannel from) throws IOException {
        int length = read(from, Integer.BYTES).getInt();
        if (length < 1 || length > MOST_ADDRESS_BYTES) {
            throw new IOException("the target's description has an impossible length of " + length + " bytes");
        }
        // the binding takes the address of direct buffers alone
        return read(from, length);
    }

    private static ByteBuffer read(SocketChannel from, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocateDirect(length);
        while (bytes.hasRemaining()) {
            if (from.read(bytes) < 0) {
                throw new IOException("the target is gone");
            }
        }
        return bytes.flip();
    }

    /** Starts one, of whose end the counter is told. */
    private interface Transfer {
        void start(Counter counter);
    }

    private static final class Counter extends UcxCallback {
        private int outstanding;
        private long done;
        private @Nullable String failure;

        @Override
        public void onSuccess(UcpRequest request) {
            outstanding--;
            done++;
        }

        @Override
        public void onError(int status, String message) {
            // told later: this is called from C
            outstanding--;
            failure = message;
        }

        void check() {
            if (failure != null) {
                throw new UcxException("a transfer has failed: " + failure);
            }
        }
    }

    /** Keeps so many outstanding for a time; returns how many were done when the last of them was, at the target, too. */
    private static long run(UcpWorker worker, Transfer transfer, int outstanding, long millis) throws Exception {
        Counter counter = new Counter();
        long began = System.nanoTime();
        long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() - began < nanos) {
            // one that is done at once does not count as outstanding, but others have to get on, too
            for (int i = 0; i < outstanding && counter.outstanding < outstanding; i++) {
                counter.outstanding++;
                transfer.start(counter);
            }
            worker.progress();
            counter.check();
        }
        while (counter.outstanding > 0) {
            worker.progress();
        }
        counter.check();
        worker.progressRequest(worker.flushNonBlocking(null));
        return counter.done;
    }
}
