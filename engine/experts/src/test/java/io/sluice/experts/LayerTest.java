package io.sluice.experts;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.sluice.architecture.CycleLimits;
import java.util.Map;

/** Experts stand on the public interfaces of teams and the engine alone. */
@AnalyzeClasses(packages = "io.sluice.experts", importOptions = ImportOption.DoNotIncludeTests.class)
class LayerTest {
    private static final String BACKEND = "io.sluice.experts.backend";

    @ArchTest
    static final ArchRule onlyPublicInterfacesAreUsed = classes()
            .that()
            .resideInAPackage("io.sluice.experts..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.experts..",
                    "io.sluice.collectives",
                    "io.sluice.engine",
                    "io.sluice.jni",
                    "java..",
                    "org.jctools..",
                    "org.jspecify..",
                    "org.slf4j..");

    @ArchTest
    static final ArchRule packagesFormNoCycle = classes().should(CycleLimits.formNoCycleOfPackages());

    @ArchTest
    static final ArchRule classesFormNoLargeCycle = classes().should(CycleLimits.formNoLargeCycleInAPackage(Map.of()));

    @ArchTest
    static final ArchRule backEndsNeedNothingOfTheBuffer = classes()
            .that()
            .resideInAPackage(BACKEND)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(BACKEND, "io.sluice.collectives", "io.sluice.engine", "java..", "org.jspecify..");
}
