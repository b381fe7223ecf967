package io.sluice.engine.contract;

import io.sluice.testkit.Extent;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * The kinds of transfers whose turn it is: tcp, shm and verbs share them, test by test, so that each kind is tested on one of
 * the three in every run. All of them on every transport in the long runs, and on a real RDMA driver.
 */
final class KindsInTurn implements ArgumentsProvider {
    private static final List<String> SHARING = List.of("tcp", "shm", "verbs");

    @Override
    public Stream<? extends Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
        String folder = context.getRequiredTestClass().getPackageName();
        int turn = SHARING.indexOf(folder.substring(folder.lastIndexOf('.') + 1));
        boolean realDriver = turn == SHARING.indexOf("verbs") && System.getProperty("sluice.verbs.library") == null;
        int first = context.getRequiredTestMethod().getName().hashCode() + turn;
        return Arrays.stream(TransferKind.values())
                .filter(kind -> turn < 0
                        || realDriver
                        || Extent.isLong()
                        || Math.floorMod(first + kind.ordinal(), SHARING.size()) == 0)
                .map(Arguments::of);
    }
}
