package io.sluice;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.sluice.architecture.CycleLimits;
import java.util.Map;

/** Across the modules: each arrow points down, and no module reaches into the engine. */
@AnalyzeClasses(packages = "io.sluice", importOptions = ImportOption.DoNotIncludeTests.class)
class LayerTest {
    private static final String[] ENGINE_INTERNALS = {
        "io.sluice.engine.bootstrap..",
        "io.sluice.engine.control..",
        "io.sluice.engine.figures..",
        "io.sluice.engine.flow..",
        "io.sluice.engine.memory..",
        "io.sluice.engine.progress..",
        "io.sluice.engine.providers..",
        "io.sluice.engine.security..",
        "io.sluice.engine.session..",
        "io.sluice.engine.transport.."
    };

    @ArchTest
    static final ArchRule noModuleReachesIntoTheEngine = noClasses()
            .that()
            .resideOutsideOfPackages("io.sluice.engine..", "io.sluice.cuda..", "io.sluice.comm.nccl..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ENGINE_INTERNALS);

    /** They are transports: the provider interface is what it is made for. */
    @ArchTest
    static final ArchRule transportsOutsideKnowTheProviderInterfaceAlone = noClasses()
            .that()
            .resideInAnyPackage("io.sluice.cuda..", "io.sluice.comm.nccl..")
            .should()
            .dependOnClassesThat(
                    resideInAnyPackage(ENGINE_INTERNALS).and(not(resideInAPackage("io.sluice.engine.transport"))));

    @ArchTest
    static final ArchRule nativeIsTheLowest = noClasses()
            .that()
            .resideInAPackage("io.sluice.jni..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.engine..",
                    "io.sluice.collectives..",
                    "io.sluice.experts..",
                    "io.sluice.reactor..",
                    "io.sluice.directory..",
                    "io.sluice.vertx..",
                    "io.sluice.metrics..",
                    "io.sluice.samples..");

    @ArchTest
    static final ArchRule theEngineKnowsNothingAbove = noClasses()
            .that()
            .resideInAPackage("io.sluice.engine..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.collectives..",
                    "io.sluice.experts..",
                    "io.sluice.reactor..",
                    "io.sluice.directory..",
                    "io.sluice.vertx..",
                    "io.sluice.metrics..",
                    "io.sluice.samples..");

    @ArchTest
    static final ArchRule theEngineKnowsNoLibraryOfMetrics = noClasses()
            .that()
            .resideInAPackage("io.sluice.engine..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.micrometer..", "io.prometheus..", "jdk.jfr..");

    /** JDK 25 warns of it on standard error, later ones refuse it. The queues of {@code org.jctools.queues.atomic} do without. */
    @ArchTest
    static final ArchRule nothingNeedsUnsafe = noClasses()
            .should()
            .dependOnClassesThat()
            .haveNameMatching("sun\\.misc\\.Unsafe|org\\.jctools\\.queues\\.[MS]p.*Queue");

    @ArchTest
    static final ArchRule fewClassesNeedPrometheus = noClasses()
            .that()
            .resideInAPackage("io.sluice.metrics..")
            .and()
            .haveNameNotMatching("io\\.sluice\\.metrics\\.(Prometheus.*|TransferExemplars.*)")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.micrometer.prometheusmetrics..", "io.prometheus..");

    @ArchTest
    static final ArchRule reactorAndMetricsDoNotKnowEachOtherOrTheSamples = noClasses()
            .that()
            .resideInAPackage("io.sluice.reactor..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.directory..", "io.sluice.vertx..", "io.sluice.metrics..", "io.sluice.samples..");

    @ArchTest
    static final ArchRule metricsKnowsOnlyTheEngine = noClasses()
            .that()
            .resideInAPackage("io.sluice.metrics..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.reactor..", "io.sluice.directory..", "io.sluice.vertx..", "io.sluice.samples..");

    @ArchTest
    static final ArchRule vertxKnowsTheEngineAndItsMetrics = noClasses()
            .that()
            .resideInAPackage("io.sluice.vertx..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.sluice.reactor..", "io.sluice.directory..", "io.sluice.samples..");

    /** The engine's own packages are looked at there. */
    @ArchTest
    static final ArchRule packagesFormNoCycle = classes()
            .that()
            .resideOutsideOfPackage("io.sluice.engine..")
            .should(CycleLimits.formNoCycleOfPackages("io.sluice.samples.command -> io.sluice.samples"));

    /** The numbers are of what there is, and go down only. */
    @ArchTest
    static final ArchRule classesFormNoLargeCycle = classes()
            .that()
            .resideOutsideOfPackage("io.sluice.engine..")
            .should(CycleLimits.formNoLargeCycleInAPackage(Map.of("io.sluice.reactor", 6)));
}
