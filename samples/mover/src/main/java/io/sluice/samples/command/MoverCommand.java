package io.sluice.samples.command;

import io.sluice.engine.EngineOptions;
import io.sluice.samples.cluster.ClusterOptions;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.MoverOptions;
import io.sluice.samples.mover.http.MoverDeployment;
import io.sluice.samples.mover.http.MoverHttpOptions;
import io.sluice.samples.mover.peer.MoverRole;
import io.sluice.samples.mover.pool.PoolLayout;
import io.sluice.samples.report.ByteSize;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sluice mover}. */
@Command(
        name = "mover",
        header = "Move blocks of a KV-cache between inference nodes, over an HTTP API.",
        description = {
            "",
            "Starts two movers in this process, a prefill and a decode, each with an engine, a pool of blocks and an HTTP"
                    + " server of its own, until it gets SIGTERM or SIGINT. The prefill has computed as many blocks as its"
                    + " pool holds; the decode's pool is empty.",
            "",
            "The API is described at /openapi.yaml of each server; a page that shows the moves is at /.",
            "",
            "With --cluster it finds movers of other processes, too, and with --role it starts one mover alone.",
            ""
        },
        footer = {
            "",
            "The HTTP API asks for no password. Beyond loopback, put something before it that does. The engines listen"
                    + " on loopback unless SLUICE_LISTEN says otherwise, and then need the same secret in SLUICE_TOKEN, at"
                    + " least 16 bytes.",
            "",
            "Examples:",
            "  sluice mover",
            "  sluice mover --http-port 0 --model llama-3.2-1b --pool 1GiB --transport tcp",
            "  curl -s localhost:8080/api/peers",
            "  curl -s localhost:8080/api/moves -H 'Content-Type: application/json' \\",
            "    -d '{\"from\": \"prefill/a\", \"pool\": \"kv\", \"count\": 8}'",
            "  sluice mover --role decode --cluster 127.0.0.1:5701",
            "  sluice mover --role prefill --cluster 127.0.0.1:5702 --cluster-members 127.0.0.1:5701 --http-port 8081"
        })
final class MoverCommand extends ProgramCommand {

    private static final String LOOPBACK = "127.0.0.1";
    private static final int MAX_PORT = 65_535;
    private static final String REGISTRY = "mover";
    /** The name of the pool that each mover registers. */
    static final String POOL = "kv";

    private static final Duration START = Duration.ofSeconds(60);
    private static final List<MoverRole> BOTH = List.of(MoverRole.DECODE, MoverRole.PREFILL);
    private static final Duration CLOSING = Duration.ofSeconds(20);

    @Option(
            names = "--name",
            paramLabel = "NAME",
            defaultValue = "a",
            description = {"The movers' name after their role, as in prefill/a. Default: ${DEFAULT-VALUE}."})
    private String name = "";

    @Option(
            names = "--http-host",
            paramLabel = "HOST",
            defaultValue = LOOPBACK,
            description = "Where the HTTP servers listen. Default: ${DEFAULT-VALUE}.")
    private String httpHost = LOOPBACK;

    @Option(
            names = "--http-port",
            paramLabel = "PORT",
            defaultValue = "8080",
            description = "The decode's HTTP port; the prefill's is the next one. 0 is any free ones. Default:"
                    + " ${DEFAULT-VALUE}.")
    private int httpPort = MoverHttpOptions.DEFAULT_PORT;

    @Option(
            names = "--pool",
            paramLabel = "SIZE",
            defaultValue = "192MiB",
            converter = ByteSizeConverter.class,
            description = "Size of the pool '" + POOL + "' that each mover registers when it starts, such as 8GiB."
                    + " Default: ${DEFAULT-VALUE}.")
    private long poolBytes;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            defaultValue = "4GiB",
            converter = ByteSizeConverter.class,
            description = "The most that all pools of a mover may take. Default: ${DEFAULT-VALUE}.")
    private long memoryBytes;

    @Option(names = "--no-metrics", description = "Keep no figures for /metrics.")
    private boolean noMetrics;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            description = "Start this mover alone, prefill or decode, at --http-port. Default: both.")
    private @Nullable MoverRole role;

    @Mixin
    private final ServerOptions server = new ServerOptions();

    @Mixin
    private final ClusterOption cluster = new ClusterOption();

    @Mixin
    private final ModelOption model = new ModelOption();

    @Mixin
    private final TransportOption transport = new TransportOption();

    MoverCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        if (httpPort < 0 || httpPort >= MAX_PORT) {
            throw CommandFailure.usage("--http-port: a port is 0, for any free ones, to " + (MAX_PORT - 1));
        }
        PoolLayout layout = layout(model.model());
        try (ReadyFile.Mark ready = server.mark()) {
            MoverHost host = host();
            List<MoverDeployment> movers = new ArrayList<>();
            try {
                int port = httpPort;
                for (MoverRole each : role == null ? BOTH : List.of(role)) {
                    movers.add(start(host, each, port, layout));
                    port += port == 0 ? 0 : 1;
                }
                movers.forEach(mover -> say(mover.client().mover() + " at " + mover.url()));
                ready.set(new MoverReady(movers.stream()
                        .map(mover -> new MoverReady.Place(mover.client().mover(), mover.url()))
                        .toList()));
                server.end(termination).block();
                return ExitCodes.OK;
            } finally {
                Future<?> ended = Future.join(movers.stream()
                        .map(mover -> mover.undeploy(host.vertx()))
                        .toList());
                await(ended.transform(done -> host.close()), CLOSING);
            }
        }
    }

    private MoverHost host() {
        ClusterOptions joined = cluster.options();
        try {
            return await(MoverHost.open(joined, noMetrics ? null : REGISTRY), START);
        } catch (CompletionException e) {
            throw CommandFailure.failed("--cluster: the cluster cannot be joined: " + cause(e).getMessage());
        }
    }

    private PoolLayout layout(ModelPreset preset) {
        long blockBytes = PoolLayout.of(preset, 1).blockBytes();
        if (poolBytes < blockBytes) {
            throw CommandFailure.usage("--pool: one block of " + preset.name() + " takes " + ByteSize.format(blockBytes)
                    + ", and " + ByteSize.format(poolBytes) + " were given");
        }
        try {
            return PoolLayout.of(preset, (int) Math.min(Integer.MAX_VALUE, poolBytes / blockBytes));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e);
        }
    }

    private MoverDeployment start(MoverHost host, MoverRole each, int port, PoolLayout layout) {
        MoverOptions mover;
        try {
            // What the environment says goes before what a mover has by default.
            EngineOptions engine = MoverOptions.windowed(transport.engineOptions())
                    .environment(transport.variables())
                    .build();
            mover = MoverOptions.of(each, name, host.directory())
                    .withEngine(engine)
                    .withMetricsRegistry(REGISTRY)
                    .withMemoryBytes(memoryBytes);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e);
        }
        @Nullable String registry = noMetrics ? null : REGISTRY;
        MoverHttpOptions http = MoverHttpOptions.of(mover.directoryName())
                .listening(httpHost, port)
                .withMetricsRegistry(registry);
        try {
            MoverDeployment deployed = await(MoverDeployment.deploy(host.vertx(), mover, http), START);
            await(fill(deployed.client(), each, layout), MoverClient.LONG_PATIENCE.multipliedBy(2));
            return deployed;
        } catch (CompletionException e) {
            Throwable cause = cause(e);
            String where = new ListenAddress(httpHost, port).toString();
            throw CommandFailure.failed(
                    cause instanceof BindException
                            ? "--http-port: " + where + " cannot be listened on: " + cause.getMessage()
                            : mover.directoryName() + " does not start: " + cause.getMessage());
        }
    }

    private static Future<JsonObject> fill(MoverClient mover, MoverRole role, PoolLayout layout) {
        return mover.registerPool(layout.toJson().put("name", POOL))
                .compose(pool -> role == MoverRole.PREFILL
                        ? mover.compute(POOL, Math.min(layout.blocks(), MoverClient.MOST_COMPUTED), 0)
                        : Future.succeededFuture(pool));
    }

    private static Throwable cause(CompletionException e) {
        return e.getCause() == null ? e : e.getCause();
    }

    private static <T> T await(Future<T> future, Duration bound) {
        return future.toCompletionStage()
                .toCompletableFuture()
                .orTimeout(bound.toSeconds(), TimeUnit.SECONDS)
                .join();
    }
}
