package io.sluice.collectives;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.sluice.architecture.CycleLimits;
import java.util.Map;

/** Collectives stand on the engine's public interface alone. */
@AnalyzeClasses(packages = "io.sluice.collectives", importOptions = ImportOption.DoNotIncludeTests.class)
class LayerTest {
    private static final String PLAN = "io.sluice.collectives.plan";
    private static final String REDUCE = "io.sluice.collectives.reduce";
    private static final String PLATFORM = "java..";

    @ArchTest
    static final ArchRule onlyThePublicInterfaceOfTheEngineIsUsed = classes()
            .that()
            .resideInAPackage("io.sluice.collectives..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.collectives..",
                    "io.sluice.engine",
                    "io.sluice.jni",
                    PLATFORM,
                    "org.jctools..",
                    "org.jspecify..",
                    "org.slf4j..");

    @ArchTest
    static final ArchRule packagesFormNoCycle = classes().should(CycleLimits.formNoCycleOfPackages());

    @ArchTest
    static final ArchRule classesFormNoLargeCycle = classes().should(CycleLimits.formNoLargeCycleInAPackage(Map.of()));

    @ArchTest
    static final ArchRule plansKnowNothingElse = classes()
            .that()
            .resideInAPackage(PLAN)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(PLAN, PLATFORM, "org.jspecify..");

    @ArchTest
    static final ArchRule reductionsKnowNothingElse = classes()
            .that()
            .resideInAPackage(REDUCE)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(REDUCE, "io.sluice.jni", PLATFORM, "org.jspecify..");
}
