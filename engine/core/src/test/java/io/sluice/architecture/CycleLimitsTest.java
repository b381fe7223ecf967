package io.sluice.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The rules find what was planted for them, and take no exception that is not needed. */
class CycleLimitsTest {
    private static final String PLANTED = "io.sluice.architecture.planted";
    private static final String ABOVE = PLANTED + ".above";

    private final JavaClasses planted = new ClassFileImporter().importPackages(PLANTED);

    private List<String> violations(ArchCondition<JavaClass> condition) {
        return classes().should(condition).evaluate(planted).getFailureReport().getDetails();
    }

    @Test
    void largeCycleOfClassesIsFound() {
        assertThat(violations(CycleLimits.formNoLargeCycleInAPackage(Map.of())))
                .containsExactly(PLANTED
                        + " has a cycle of 6 classes, which is more than 5: [Fifth, First, Fourth, Second,"
                        + " Sixth, Third]");
    }

    @Test
    void exceptionForALargeCycleMustBeExact() {
        assertThat(violations(CycleLimits.formNoLargeCycleInAPackage(Map.of(PLANTED, 6))))
                .isEmpty();
        assertThat(violations(CycleLimits.formNoLargeCycleInAPackage(Map.of(PLANTED, 7))))
                .hasSize(1);
        assertThat(violations(CycleLimits.formNoLargeCycleInAPackage(Map.of(PLANTED, 6, ABOVE, 1))))
                .containsExactly(ABOVE + " needs no exception any more: take it off the list");
        assertThat(violations(CycleLimits.formNoLargeCycleInAPackage(Map.of(PLANTED, 6, "io.nowhere", 9))))
                .hasSize(1);
    }

    @Test
    void cycleOfPackagesIsFound() {
        assertThat(violations(CycleLimits.formNoCycleOfPackages()))
                .containsExactly(
                        "packages form a cycle: " + PLANTED + " -> " + ABOVE + ", " + ABOVE + " -> " + PLANTED);
    }

    @Test
    void knownEdgeMustBePartOfACycle() {
        String up = PLANTED + " -> " + ABOVE;
        assertThat(violations(CycleLimits.formNoCycleOfPackages(up))).isEmpty();
        assertThat(violations(CycleLimits.formNoCycleOfPackages(up, ABOVE + " -> io.nowhere")))
                .hasSize(1);
    }
}
