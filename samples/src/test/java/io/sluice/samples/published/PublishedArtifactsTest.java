package io.sluice.samples.published;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.FreePort;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each artifact as others get it: by its published pom alone, outside this build, on the class path and as a module. */
class PublishedArtifactsTest {
    private static final List<String> PARENTS = List.of("", "engine", "reactive-api");
    private static final List<String> MODULES = List.of(
            "native",
            "engine/core",
            "engine/testkit",
            "engine/cuda",
            "engine/collectives",
            "engine/collectives-cuda",
            "engine/experts",
            "engine/experts-cuda",
            "engine/comm-backends",
            "metrics",
            "reactive-api/reactor",
            "reactive-api/directory",
            "reactive-api/directory-contract",
            "reactive-api/directory-etcd",
            "reactive-api/directory-redis",
            "reactive-api/directory-vertx",
            "reactive-api/vertx");
    private static final List<String> ARTIFACTS =
            MODULES.stream().map(PublishedArtifactsTest::artifact).toList();
    private static final List<String> REDIS_AND_VERTX = List.of("sluice-directory-redis", "sluice-vertx");
    private static final List<String> ETCD_AND_VERTX = List.of("sluice-directory-etcd", "sluice-directory-vertx");
    private static final String OPEN_REDIS =
            "io.sluice.directory.redis.RedisDirectory.open(\"redis://\" + server, options)";
    private static final String OPEN_ETCD =
            "io.sluice.directory.etcd.EtcdDirectory.open(List.of(\"http://\" + server), options)";
    private static final String DONE = "done";

    private static Outside outside;
    private static Map<List<String>, String> users;
    private static List<String> build;

    @TempDir
    static Path folder;

    @BeforeAll
    static void publish() throws IOException {
        outside = Outside.publish(folder, PARENTS, MODULES);
        List<List<String>> dependencies =
                new ArrayList<>(ARTIFACTS.stream().map(List::of).toList());
        dependencies.add(REDIS_AND_VERTX);
        dependencies.add(ETCD_AND_VERTX);
        List<String> classPaths = outside.classPathsOfUsers(dependencies);
        users = new HashMap<>();
        for (int i = 0; i < dependencies.size(); i++) {
            users.put(dependencies.get(i), classPaths.get(i));
        }
        build = outside.classPathsOfBuild(PARENTS, MODULES);
    }

    @AfterAll
    static void unlink() throws IOException {
        if (outside != null) {
            outside.close();
        }
    }

    @Test
    void othersGetTheVersionsThatAreTestedHere() {
        for (int i = 0; i < ARTIFACTS.size(); i++) {
            assertThat(outside.foreign(build.get(i)))
                    .as(ARTIFACTS.get(i))
                    .containsAll(outside.foreign(users.get(List.of(ARTIFACTS.get(i)))));
        }
    }

    @Test
    void theProgramOfTheReadmeIsAMavenProject() throws IOException {
        Path project = Files.createDirectories(folder.resolve("first-program"));
        ReadmeProgram program = ReadmeProgram.read();
        program.write(project, Outside.VERSION);
        String printed = outside.run(List.of(
                java(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                outside.compile(project),
                program.mainClass()));
        assertThat(printed).isNotBlank();
    }

    @Test
    void theBomNamesEachArtifactAndNothingElse() throws IOException {
        String bom = Files.readString(Path.of("../engine/bom/target/.flattened-pom.xml"));
        assertThat(Pattern.compile("<artifactId>(.*)</artifactId>").matcher(bom).results())
                .extracting(found -> found.group(1))
                .containsExactlyInAnyOrderElementsOf(Stream.concat(Stream.of("sluice-bom"), ARTIFACTS.stream())
                        .toList());
    }

    /** With it every engine of theirs would have one transport more. */
    @Test
    void backEndsOfExpertsComeWithoutTheTransportForGpus() {
        assertThat(users.get(List.of("sluice-comm-backends")))
                .contains("sluice-experts")
                .doesNotContain("sluice-cuda");
    }

    @Test
    @Tag("soak")
    void aDirectoryInRedisOpens() throws IOException {
        assertOpens(List.of("sluice-directory-redis"), OPEN_REDIS);
    }

    @Test
    @Tag("soak")
    void aDirectoryInRedisOpensAmongTheArtifactsOfVertx() throws IOException {
        assertOpens(REDIS_AND_VERTX, OPEN_REDIS);
    }

    @Test
    void aDirectoryInEtcdOpens() throws IOException {
        assertOpens(List.of("sluice-directory-etcd"), OPEN_ETCD);
    }

    @Test
    @Tag("soak")
    void aDirectoryInEtcdOpensAmongTheArtifactsOfVertx() throws IOException {
        assertOpens(ETCD_AND_VERTX, OPEN_ETCD);
    }

    /** Without a server, so that it needs none; all of the client's libraries take part in finding that out. */
    private static void assertOpens(List<String> artifacts, String open) throws IOException {
        Path program = Files.createDirectories(folder.resolve(String.join("-and-", artifacts)))
                .resolve("Opens.java");
        Files.writeString(program, """
                import io.sluice.directory.*;
                import java.time.Duration;
                import java.util.List;

                public class Opens {
                    public static void main(String[] arguments) {
                        String server = "127.0.0.1:" + arguments[0];
                        DirectoryOptions options =
                                DirectoryOptions.defaults().withRequestTimeout(Duration.ofMillis(500));
                        Directory directory = OPEN;
                        try {
                            directory.find("an-engine").block();
                        } catch (DirectoryUnavailableException e) {
                            directory.close().block();
                            System.out.println("done");
                            System.exit(0);
                        }
                    }
                }
                """.replace("OPEN", open));
        Path classes = program.resolveSibling("classes");
        compile(List.of("-cp", users.get(artifacts), "-d", classes.toString(), program.toString()));
        String printed = outside.run(List.of(
                java(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classes + File.pathSeparator + users.get(artifacts),
                "Opens",
                Integer.toString(FreePort.any())));
        assertThat(printed).contains(DONE);
    }

    @ParameterizedTest
    @CsvSource({
        "sluice-native, io.sluice.jni, io.sluice.jni.NativeLibrary.class.getName()",
        "sluice-engine, io.sluice.engine, io.sluice.engine.TransferEngine.open()",
        "sluice-cuda, io.sluice.cuda, io.sluice.cuda.CudaOptions.builder().build()",
        "sluice-collectives, io.sluice.collectives, io.sluice.collectives.AlgorithmTable.defaults()",
        "sluice-collectives-cuda, io.sluice.collectives.cuda, io.sluice.collectives.cuda.GpuTeamOptions.defaults()",
        "sluice-experts, io.sluice.experts, io.sluice.experts.ExpertOptions.experts(8)",
        "sluice-experts-cuda, io.sluice.experts.cuda, io.sluice.experts.cuda.GpuExpertOptions.experts(8)",
        "sluice-comm-backends, io.sluice.comm, new io.sluice.comm.nccl.NcclBackendProvider()",
        "sluice-metrics, io.sluice.metrics, io.sluice.metrics.EngineMeters.of(io.sluice.engine.TransferEngine.open())",
        "sluice-reactor, io.sluice.reactor, io.sluice.reactor.ReactiveTransferEngine.open()",
        "sluice-directory, io.sluice.directory, io.sluice.directory.Directory.inProcess()",
        "sluice-vertx, io.sluice.vertx, io.sluice.vertx.TransferClient.create(io.vertx.core.Vertx.vertx())"
    })
    void aModuleThatRequiresItCompilesAndRuns(String artifact, String module, String expression) throws IOException {
        Path user = Files.createDirectories(folder.resolve("module-of-" + artifact));
        Path descriptor =
                Files.writeString(user.resolve("module-info.java"), "module outside { requires " + module + "; }");
        Path program = Files.createDirectories(user.resolve("outside")).resolve("Main.java");
        Files.writeString(program, """
                package outside;

                public class Main {
                    public static void main(String[] arguments) {
                        Object made = EXPRESSION;
                        System.out.println("done: " + made.getClass());
                        System.exit(0);
                    }
                }
                """.replace("EXPRESSION", expression));
        String modulePath = users.get(List.of(artifact));
        Path classes = user.resolve("classes");
        compile(List.of(
                "--module-path", modulePath, "-d", classes.toString(), descriptor.toString(), program.toString()));
        String printed = outside.run(List.of(
                java(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED,io.sluice.jni",
                "--module-path",
                modulePath + File.pathSeparator + classes,
                "-m",
                "outside/outside.Main"));
        assertThat(printed).contains(DONE);
    }

    /** In this process, where the compiler is warm after the first. */
    private static void compile(List<String> arguments) {
        StringWriter said = new StringWriter();
        int status = ToolProvider.findFirst("javac")
                .orElseThrow()
                .run(new PrintWriter(said), new PrintWriter(said), arguments.toArray(String[]::new));
        assertThat(status).as("javac: %s", said).isZero();
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static String artifact(String module) {
        return module.equals("engine/core")
                ? "sluice-engine"
                : "sluice-" + module.substring(module.lastIndexOf('/') + 1);
    }
}
