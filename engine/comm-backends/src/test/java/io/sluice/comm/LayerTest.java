package io.sluice.comm;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.sluice.architecture.CycleLimits;
import java.util.Map;

/** Back ends need of an expert buffer only the interface that they implement. */
@AnalyzeClasses(packages = "io.sluice.comm", importOptions = ImportOption.DoNotIncludeTests.class)
class LayerTest {
    @ArchTest
    static final ArchRule onlyPublicInterfacesAreUsed = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.sluice.comm..",
                    "io.sluice.experts",
                    "io.sluice.experts.backend",
                    "io.sluice.collectives",
                    "io.sluice.engine",
                    "io.sluice.engine.transport",
                    "io.sluice.jni",
                    "java..",
                    "org.jspecify..",
                    "org.slf4j..");

    @ArchTest
    static final ArchRule librariesDoNotKnowEachOther = classes()
            .that()
            .resideInAPackage("io.sluice.comm.nccl")
            .should()
            .onlyDependOnClassesThat()
            .resideOutsideOfPackage("io.sluice.comm.nvshmem");

    @ArchTest
    static final ArchRule packagesFormNoCycle = classes().should(CycleLimits.formNoCycleOfPackages());

    @ArchTest
    static final ArchRule classesFormNoLargeCycle = classes().should(CycleLimits.formNoLargeCycleInAPackage(Map.of()));
}
