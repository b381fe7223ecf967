package io.sluice.samples.command;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.HostAndPort;
import io.sluice.samples.cluster.ClusterMember;
import io.sluice.samples.cluster.ClusterMember.ClusterOptions;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.MoverClient.Operation;
import io.sluice.samples.mover.MoverOptions;
import io.sluice.samples.mover.http.MoverDeployment;
import io.sluice.samples.mover.http.MoverHttpOptions;
import io.sluice.samples.mover.peer.MoverRole;
import io.sluice.samples.mover.pool.PoolLayout;
import io.sluice.samples.report.ByteSize;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import java.io.IOException;
import java.net.BindException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "mover", header = "Move blocks of a KV-cache between inference nodes, over an HTTP API.")
final class MoverCommand extends ProgramCommand {
    private static final String LOOPBACK = "127.0.0.1";
    private static final int MAX_PORT = 65_535;
    private static final String REGISTRY = "mover";
    /** The name of the pool that each mover registers. */
    static final String POOL = "kv";

    private static final Duration START = Duration.ofSeconds(60);
    private static final List<MoverRole> BOTH = List.of(MoverRole.DECODE, MoverRole.PREFILL);
    private static final Duration CLOSING = Duration.ofSeconds(20);

    @Option(names = "--name", paramLabel = "NAME", defaultValue = "a")
    private String name = "";

    @Option(names = "--http-host", paramLabel = "HOST", defaultValue = LOOPBACK)
    private String httpHost = LOOPBACK;

    @Option(names = "--http-port", paramLabel = "PORT", defaultValue = "8080")
    private int httpPort = MoverHttpOptions.DEFAULT_PORT;

    @Option(
            names = "--pool",
            paramLabel = "SIZE",
            defaultValue = "192MiB",
            converter = OptionTypes.ByteSizeConverter.class)
    private long poolBytes;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            defaultValue = "4GiB",
            converter = OptionTypes.ByteSizeConverter.class)
    private long memoryBytes;

    @Option(names = "--no-metrics")
    private boolean noMetrics;

    @Option(names = "--role", paramLabel = "ROLE")
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
        require(
                httpPort >= 0 && httpPort < MAX_PORT,
                "--http-port: a port is 0, for any free ones, to " + (MAX_PORT - 1));
        PoolLayout layout = layout(model.model());
        try (ReadyFile.Writer ready = server.readyFileWriter()) {
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
        require(
                poolBytes >= blockBytes,
                "--pool: one block of " + preset.name() + " takes " + ByteSize.format(blockBytes) + ", and "
                        + ByteSize.format(poolBytes) + " were given");
        try {
            return PoolLayout.of(preset, (int) Math.min(Integer.MAX_VALUE, poolBytes / blockBytes));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e);
        }
    }

    private MoverDeployment start(MoverHost host, MoverRole each, int port, PoolLayout layout) {
        MoverOptions mover;
        try {
            // Settings of the environment override a mover's defaults.
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
            String where = HostAndPort.text(httpHost, port);
            throw CommandFailure.failed(
                    cause instanceof BindException
                            ? "--http-port: " + where + " cannot be listened on: " + cause.getMessage()
                            : mover.directoryName() + " does not start: " + cause.getMessage());
        }
    }

    private static Future<JsonObject> fill(MoverClient mover, MoverRole role, PoolLayout layout) {
        int count = Math.min(layout.blocks(), MoverClient.MOST_COMPUTED);
        JsonObject blocks = new JsonObject().put("pool", POOL).put("count", count);
        return mover.ask(Operation.REGISTER_POOL, layout.toJson().put("name", POOL))
                .compose(pool -> role == MoverRole.PREFILL
                        ? mover.ask(Operation.COMPUTE, blocks)
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

    /** The Vert.x instance of the movers, alone or in a cluster, with its directory. */
    record MoverHost(Vertx vertx, Directory directory) {
        /**
         * Makes one.
         *
         * @param cluster to join; {@code null} to stay alone
         * @param registry the name of the registry of metrics; {@code null} for no metrics
         * @return fails if an address of the cluster's cannot be bound
         */
        static Future<MoverHost> open(@Nullable ClusterOptions cluster, @Nullable String registry) {
            VertxBuilder builder = Vertx.builder();
            VertxOptions options = new VertxOptions();
            if (registry != null) {
                options.setMetricsOptions(new MicrometerMetricsOptions()
                        .setEnabled(true)
                        .setRegistryName(registry)
                        .setJvmMetricsEnabled(true));
                builder.withMetrics(
                        new MicrometerMetricsFactory(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)));
            }
            return cluster == null
                    ? Future.succeededFuture(new MoverHost(builder.with(options).build(), Directory.inProcess()))
                    : ClusterMember.join(cluster, options, builder)
                            .map(member ->
                                    new MoverHost(member.vertx(), member.directory(DirectoryOptions.defaults())));
        }

        /** Closes both. Undeploy the verticles before, as they could not update the directory any more. */
        Future<Void> close() {
            return Future.fromCompletionStage(directory.close().toFuture())
                    .otherwiseEmpty()
                    .compose(closed -> vertx.close());
        }
    }

    /** The contents of the ready file of a process of movers. The file appears, complete, once they can be used. */
    record MoverReady(List<Place> movers) {
        private static final ObjectMapper JSON = new ObjectMapper();

        record Place(String name, String url) {}

        static MoverReady read(Path file) throws IOException {
            return JSON.readValue(file.toFile(), MoverReady.class);
        }

        URI url(String name) {
            return movers.stream()
                    .filter(mover -> mover.name().equals(name))
                    .map(mover -> URI.create(mover.url()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("no mover " + name + " is there"));
        }
    }
}
