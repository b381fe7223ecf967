package io.sluice.cuda;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * A process that serves GPU memory that another one owns, such as a Python process with PyTorch. It obeys commands, a line each, and
 * answers each by a line:
 *
 * <pre>
 * import NAME GPU HANDLE OFFSET LENGTH          REGION descriptor
 * connect ADDRESS                               CONNECTED
 * write NAME DESCRIPTOR BYTES LOCALS REMOTES    MOVED transport   (pages of so many bytes; their numbers, separated by commas)
 * read NAME DESCRIPTOR BYTES LOCALS REMOTES     MOVED transport
 * close NAME                                    CLOSED
 * </pre>
 *
 * <p>It begins with READY and its address; what fails is answered by ERROR and why. It ends with its input.
 */
final class SidecarMain {
    private final TransferEngine engine;
    private final Map<String, ImportedMemory> memories = new HashMap<>();
    private final Map<String, MemoryRegion> regions = new HashMap<>();
    private final Map<String, RemoteRegion> remotes = new HashMap<>();
    private Connection connection;

    private SidecarMain(TransferEngine engine) {
        this.engine = engine;
    }

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) throws Exception {
        try (TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build())) {
            SidecarMain sidecar = new SidecarMain(engine);
            System.out.println("READY " + engine.address());
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(sidecar.obey(line.split(" ")));
            }
            sidecar.memories.values().forEach(ImportedMemory::close);
        }
    }

    private String obey(String[] words) {
        try {
            return switch (words[0]) {
                case "import" -> imported(words);
                case "connect" -> connected(words[1]);
                case "write" -> moved(true, words);
                case "read" -> moved(false, words);
                case "close" -> closed(words[1]);
                default -> "ERROR unknown command " + words[0];
            };
        } catch (SluiceException e) {
            return "ERROR " + e.getClass().getSimpleName() + ": " + e.getMessage();
        }
    }

    private String imported(String[] words) {
        ImportedMemory memory = ImportedMemory.ofHandle(
                words[2], HexFormat.of().parseHex(words[3]), Long.parseLong(words[4]), Long.parseLong(words[5]));
        MemoryRegion region =
                engine.register(memory.memory(), RegionOptions.readWrite().on(MemoryKind.CUDA, words[2]));
        memories.put(words[1], memory);
        regions.put(words[1], region);
        return "REGION " + HexFormat.of().formatHex(region.descriptor().toBytes());
    }

    private String connected(String address) {
        connection = Patience.await(engine.connect(EngineAddress.parse(address)));
        return "CONNECTED";
    }

    private String moved(boolean write, String[] words) {
        RemoteRegion remote = remotes.computeIfAbsent(
                words[2],
                hex -> Patience.await(connection.attach(
                        RegionDescriptor.fromBytes(HexFormat.of().parseHex(hex)))));
        Patience.await(Ends.pages(
                write, regions.get(words[1]), pages(words[4]), remote, pages(words[5]), Long.parseLong(words[3])));
        return "MOVED " + remote.path().transport();
    }

    private static int[] pages(String numbers) {
        return Arrays.stream(numbers.split(",")).mapToInt(Integer::parseInt).toArray();
    }

    private String closed(String name) {
        Patience.await(regions.remove(name).close());
        memories.remove(name).close();
        return "CLOSED";
    }
}
