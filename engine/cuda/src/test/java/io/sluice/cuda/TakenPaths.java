package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionPath;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.PathPolicy;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Records the paths that the contract's connections take, as the policy of both engines. Each test reports them, and fails if a
 * region of GPU memory was reached over another transport than the one that the contract is about.
 */
final class TakenPaths implements PathPolicy, AfterEachCallback {
    private final String expected;
    private final Map<String, Integer> taken = new ConcurrentSkipListMap<>();
    private final Map<String, Integer> wrong = new ConcurrentSkipListMap<>();

    /**
     * Makes it without paths.
     *
     * @param expected the transport that is to carry all bytes of GPU memory
     */
    TakenPaths(String expected) {
        this.expected = expected;
    }

    @Override
    public ConnectionPath choose(Question question) {
        ConnectionPath chosen = PathPolicy.inOrder().choose(question);
        if (question.use() == Use.COPIES) {
            MemoryKind remote = question.region().kind();
            String path = "%s to %s: %s".formatted(question.local(), remote, chosen.transport());
            taken.merge(path, 1, Integer::sum);
            if (remote == MemoryKind.CUDA && !chosen.transport().equals(expected)) {
                wrong.merge(path, 1, Integer::sum);
            }
        }
        return chosen;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (!taken.isEmpty()) {
            context.publishReportEntry(
                    "paths",
                    taken.entrySet().stream()
                            .map(each -> each.getKey() + " (" + each.getValue() + ")")
                            .collect(Collectors.joining("; ")));
        }
        assertThat(wrong)
                .as("paths to memory of GPUs that are not over " + expected)
                .isEmpty();
    }
}
