package io.sluice.engine.contract;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The program of a peer in a process of its own. At {@code begin} with the sizes of regions, each readable and writable, and
 * with variables for the engine as {@code name=value}, it opens an engine and prints {@code @READY address descriptor…}. Then
 * it obeys one command a line and answers each with one line that begins with {@code @}; all other output is the virtual
 * machine's. At {@code end} it closes the engine and may be told to begin again. It ends when its input does, so it never
 * outlives the tests that started it.
 */
final class ContractPeer {
    /** The first character of answers. */
    static final char ANSWER = '@';

    /** The answer to {@code end}, when the engine is closed. */
    static final String ENDED = "ENDED";

    /** Registered where the test asks for it: the words of such memory the peer's processors change, on every transport. */
    private final ContractMemory memory;

    private final TransferEngine engine;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final List<Connection> accepted = new CopyOnWriteArrayList<>();
    private final RecordingListener notifications = new RecordingListener();

    private CompletableFuture<Integer> armed = new CompletableFuture<>();

    private ContractPeer(TransferEngine engine, boolean registers) {
        this.engine = engine;
        this.memory = registers ? HostMemory.registered() : HostMemory.allocated();
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null && line.startsWith("begin"); line = in.readLine()) {
            serve(line.strip().split(" "), in, out);
            out.println(ANSWER + ENDED);
        }
    }

    private static void serve(String[] begin, BufferedReader in, PrintStream out) throws IOException {
        Map<String, String> variables = new HashMap<>(System.getenv());
        List<Long> sizes = new ArrayList<>();
        for (String word : begin) {
            int equals = word.indexOf('=');
            if (equals > 0) {
                variables.put(word.substring(0, equals), word.substring(equals + 1));
            } else if (!word.equals("begin")) {
                sizes.add(Long.parseLong(word));
            }
        }
        try (TransferEngine engine = TransferEngine.open(
                PatientOptions.builder().environment(variables).build())) {
            ContractPeer peer = new ContractPeer(engine, variables.containsKey("CONTRACT_REGISTERS_MEMORY"));
            engine.onConnection(peer.accepted::add);
            StringBuilder ready = new StringBuilder("READY ").append(engine.address());
            for (long bytes : sizes) {
                ready.append(' ').append(peer.allocate(bytes));
            }
            out.println(ANSWER + ready.toString());
            for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
                out.println(ANSWER + peer.answer(line.split(" ")));
            }
        }
    }

    private String answer(String[] words) {
        try {
            return "OK " + obey(words);
        } catch (RuntimeException | Error e) {
            return "ERROR " + e.toString().replaceAll("\\R", " ");
        }
    }

    private String obey(String[] words) {
        switch (words[0]) {
            case "fill":
                BytePattern.fill(memory.bytes(region(words[1])), Long.parseLong(words[2]));
                return "";
            case "checksum":
                return Integer.toHexString(BytePattern.checksum(
                        memory.bytes(region(words[1])).slice(Long.parseLong(words[2]), Long.parseLong(words[3]))));
            case "allocate":
                return allocate(Long.parseLong(words[1]));
            case "close":
                Patience.await(region(words[1]).close());
                return "";
            case "connections":
                return Long.toString(EngineSums.ofTransports(engine, TransportMetrics::connections));
            case "notify":
                return notifyPeer(HexFormat.of().parseHex(words[1]));
            case "write":
                return writeToPeer(
                        RegionDescriptor.fromBytes(HexFormat.of().parseHex(words[1])),
                        region(words[2]),
                        Integer.parseInt(words[3]));
            case "signal":
                return Long.toString(
                        region(words[1]).signal(Long.parseLong(words[2])).value());
            case "arm":
                arm(
                        region(words[1]).signal(Long.parseLong(words[2])),
                        Long.parseLong(words[3]),
                        memory.bytes(region(words[4])).slice(Long.parseLong(words[5]), Long.parseLong(words[6])));
                return "";
            case "armed":
                return Integer.toHexString(Patience.await(armed));
            case "add":
                region(words[1]).signal(Long.parseLong(words[2])).add(Long.parseLong(words[3]));
                return "";
            case "add-to-peer":
                return addToPeer(
                        RegionDescriptor.fromBytes(HexFormat.of().parseHex(words[1])),
                        Long.parseLong(words[2]),
                        Long.parseLong(words[3]),
                        Integer.parseInt(words[4]));
            case "subscribe":
                lastConnection().subscribe(notifications).request(Long.MAX_VALUE);
                return "";
            case "received":
                return Integer.toString(notifications.count());
            default:
                throw new IllegalArgumentException("no such command: " + words[0]);
        }
    }

    private String allocate(long bytes) {
        MemoryRegion region = memory.region(engine, bytes, RegionOptions.readWrite());
        regions.add(region);
        return HexFormat.of().formatHex(region.descriptor().toBytes());
    }

    private MemoryRegion region(String index) {
        return regions.get(Integer.parseInt(index));
    }

    private Connection lastConnection() {
        Patience.until("a connection is accepted", () -> !accepted.isEmpty());
        return accepted.getLast();
    }

    private String notifyPeer(byte[] payload) {
        TerminalSignal signal = new TerminalSignal();
        lastConnection().notify(payload, TransferOptions.defaults(), signal);
        signal.awaitSuccess();
        return "";
    }

    /** Takes the checksum of some bytes at the very moment at which a signal reaches a value. */
    private void arm(Signal signal, long value, ContractBytes bytes) {
        armed = signal.awaitAtLeast(value).thenApply(seen -> BytePattern.checksum(bytes));
    }

    /** Adds to a word of the peer, again and again, by signals and by atomic operations in turn. */
    private String addToPeer(RegionDescriptor descriptor, long offset, long addend, int times) {
        RemoteRegion remote = Patience.await(lastConnection().attach(descriptor));
        SignalUpdate update = new SignalUpdate(new RemoteSignal(remote, offset), addend, SignalOrder.WEAK);
        for (int i = 0; i < times; i++) {
            TerminalSignal ended = new TerminalSignal();
            if (i % 2 == 0) {
                lastConnection().signal(update, TransferOptions.defaults(), ended);
            } else {
                lastConnection()
                        .fetchAdd(
                                remote,
                                offset,
                                addend,
                                TransferOptions.defaults(),
                                (transfer, previous, error) -> ended.terminated(transfer, error));
            }
            ended.await().ifPresent(error -> {
                throw error;
            });
        }
        return "";
    }

    /** Writes a whole region of this process to the start of the peer's, again and again. */
    private String writeToPeer(RegionDescriptor descriptor, MemoryRegion source, int times) {
        RemoteRegion remote = Patience.await(lastConnection().attach(descriptor));
        for (int i = 0; i < times; i++) {
            TerminalSignal signal = new TerminalSignal();
            lastConnection().write(source, 0, remote, 0, source.length(), TransferOptions.defaults(), signal);
            signal.await().ifPresent(error -> {
                throw error;
            });
        }
        return "";
    }
}
