package io.sluice.engine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.sluice.architecture.CycleLimits;
import java.util.Map;

/** Inside the engine, where module descriptors do not reach: which package may know which. */
@AnalyzeClasses(packages = "io.sluice.engine", importOptions = ImportOption.DoNotIncludeTests.class)
class LayerTest {
    private static final String API = "io.sluice.engine";
    private static final String PROVIDER_INTERFACE = "io.sluice.engine.transport";
    private static final String TRANSPORTS = "io.sluice.engine.transport.*..";
    private static final String FLOW = "io.sluice.engine.flow..";
    private static final String PROGRESS = "io.sluice.engine.progress..";
    private static final String CONTROL = "io.sluice.engine.control..";
    private static final String PROVIDERS = "io.sluice.engine.providers..";
    private static final String MEMORY = "io.sluice.engine.memory..";
    private static final String BOOTSTRAP = "io.sluice.engine.bootstrap..";
    private static final String FIGURES = "io.sluice.engine.figures..";
    private static final String SESSION = "io.sluice.engine.session..";
    private static final String NATIVE = "io.sluice.jni..";

    @ArchTest
    static final ArchRule nobodyKnowsATransport = noClasses()
            .that()
            .resideOutsideOfPackage(TRANSPORTS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(TRANSPORTS);

    @ArchTest
    static final ArchRule aTransportKnowsTheProviderInterfaceAndNoInternals = classes()
            .that()
            .resideInAPackage(TRANSPORTS)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    API,
                    PROVIDER_INTERFACE,
                    TRANSPORTS,
                    NATIVE,
                    "java..",
                    "javax.crypto..",
                    "org.jspecify..",
                    "org.slf4j..");

    @ArchTest
    static final ArchRule theProviderInterfaceKnowsNoInternals = noClasses()
            .that()
            .resideInAPackage(PROVIDER_INTERFACE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(FLOW, PROGRESS, CONTROL, PROVIDERS, MEMORY, BOOTSTRAP, FIGURES, SESSION, TRANSPORTS);

    @ArchTest
    static final ArchRule progressKnowsNeitherFlowNorConnections = noClasses()
            .that()
            .resideInAPackage(PROGRESS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(FLOW, CONTROL, PROVIDERS, MEMORY, BOOTSTRAP, FIGURES, SESSION);

    @ArchTest
    static final ArchRule flowDoesNotKnowConnections = noClasses()
            .that()
            .resideInAPackage(FLOW)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(CONTROL, PROVIDERS, MEMORY, BOOTSTRAP, FIGURES, SESSION);

    @ArchTest
    static final ArchRule theEngineKnowsNoReactiveLibrary = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("reactor..", "org.reactivestreams..", "io.vertx..", "io.micrometer..");

    /** The public types make engines, and their options name what is set; else no package knows one that knows it. */
    @ArchTest
    static final ArchRule packagesFormNoCycle = classes()
            .should(CycleLimits.formNoCycleOfPackages(
                    "io.sluice.engine -> io.sluice.engine.progress",
                    "io.sluice.engine -> io.sluice.engine.providers",
                    "io.sluice.engine -> io.sluice.engine.security",
                    "io.sluice.engine -> io.sluice.engine.session",
                    "io.sluice.engine -> io.sluice.engine.transport"));

    /** Public types may name each other. */
    @ArchTest
    static final ArchRule classesFormNoLargeCycle =
            classes().that().resideOutsideOfPackage(API).should(CycleLimits.formNoLargeCycleInAPackage(Map.of()));
}
