package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchCollective;
import io.sluice.samples.bench.ExpertMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ComparisonsTest {

    private static final List<String> ALL = List.of();

    @Test
    void eachHasANameOfItsOwn() {
        assertThat(Comparisons.all())
                .extracting(comparison -> comparison.name() + comparison.apis(List.of(Api.values())))
                .doesNotHaveDuplicates();
    }

    @Test
    void theGoals() {
        assertThat(Comparisons.chosen(List.of("goals"), List.of("tcp")))
                .extracting(comparison -> comparison.name() + " " + comparison.goal())
                .containsExactly(
                        "write-8B/ceiling >= 4.00",
                        "read-8B/ceiling >= 4.00",
                        "write-4KiB/ceiling >= 2.00",
                        "read-4KiB/ceiling >= 2.00",
                        "write-8B/ceiling-alone >= 1.00",
                        "read-8B/ceiling-alone >= 1.00",
                        "write-4KiB/ucx >= 1.50",
                        "write-64KiB/ceiling >= 1.00",
                        "write-64KiB/iperf3 >= 1.00",
                        "write-64KiB/ucx >= 1.20",
                        "read-64KiB/ucx >= 2.00",
                        "read-64KiB/ucx-tuned >= 1.00",
                        "write-1MiB/ceiling >= 1.00",
                        "write-1MiB/iperf3 >= 1.00",
                        "write-1MiB/ucx >= 1.20",
                        "read-1MiB/ucx >= 2.00",
                        "read-1MiB/ucx-tuned >= 1.00",
                        "write-16MiB/ceiling >= 1.00",
                        "write-16MiB/iperf3 >= 1.00",
                        "write-16MiB/ucx >= 1.20",
                        "read-16MiB/ucx >= 1.50",
                        "writev-256x1KiB/ucx >= 3.00",
                        "readv-256x1KiB/ucx >= 3.00",
                        "writev-1024x64KiB/ucx >= 1.20",
                        "readv-1024x64KiB/ucx >= 1.20",
                        "read-8B/ping-pong <= 1.25",
                        "write-8B/ping-pong <= 1.25",
                        "read-8B/tail <= 2.00",
                        "write-8B/tail <= 2.00",
                        "read-8B/blocking-ping-pong <= 1.20",
                        "write-8B/blocking-ping-pong <= 1.20",
                        "write-4KiB/reactor-cost >= 0.90",
                        "write-4KiB/allocation <= 1.00",
                        "write-4KiB/allocation <= 1.00",
                        "write-4KiB/vertx-cost >= 0.90",
                        "write-4KiB/metrics-cost >= 0.97",
                        "write-1MiB/ucx-initiator-time <= 1.00",
                        "write-1MiB/ucx-target-time <= 1.00",
                        "read-1MiB/ucx-initiator-time <= 1.00",
                        "read-1MiB/ucx-target-time <= 1.00",
                        "write-4KiB-8-connections/1-connection >= 0.80",
                        "write-4KiB-64-connections/1-connection >= 0.80",
                        "write-4KiB-512-connections/1-connection >= 0.80",
                        "writev-100000x8B/1000-elements >= 0.83",
                        "readv-100000x8B/1000-elements >= 0.83",
                        "connect/latency <= 1.00",
                        "first-transfer/hello <= 10.00",
                        "aot-first-transfer/hello <= 10.00");
        assertThat(Comparisons.chosen(List.of("goals"), List.of("none")))
                .extracting(comparison -> comparison.name() + " " + comparison.goal())
                .containsExactly("info/hello <= 5.00", "aot-info/hello <= 5.00");
        assertThat(Comparisons.chosen(List.of("goals"), List.of("shm")))
                .extracting(comparison -> comparison.name() + " " + comparison.goal() + " of "
                        + comparison.theirs().label())
                .containsExactly(
                        "shm-write-64KiB/memcpy >= 0.80 of memcpy of 64 KiB between the same memory",
                        "shm-read-64KiB/memcpy >= 0.80 of memcpy of 64 KiB between the same memory",
                        "shm-write-1MiB/memcpy >= 0.90 of memcpy of 1 MiB between the same memory",
                        "shm-read-1MiB/memcpy >= 0.90 of memcpy of 1 MiB between the same memory",
                        "shm-write-16MiB/memcpy >= 0.90 of memcpy of 16 MiB between the same memory",
                        "shm-read-16MiB/memcpy >= 0.90 of memcpy of 16 MiB between the same memory",
                        "cross-memory-write-1MiB/process-vm-writev >= 0.90 of C process_vm_writev of 1 MiB",
                        "shm-write-64KiB/ucx >= 1.00 of ucx_perftest ucp_put_bw of 64 KiB over posix,sysv,cma, 32"
                                + " outstanding",
                        "shm-write-1MiB/ucx >= 1.00 of ucx_perftest ucp_put_bw of 1 MiB over posix,sysv,cma, 32"
                                + " outstanding",
                        "shm-write-16MiB/ucx >= 1.00 of ucx_perftest ucp_put_bw of 16 MiB over posix,sysv,cma, 32"
                                + " outstanding",
                        "shm-write-8B/rate >= 1.00 of 5,000,000 transfers/s, a fixed figure",
                        "shm-write-8B/rate >= 1.00 of 1,500,000 transfers/s, a fixed figure",
                        "shm-writev-256x8B/rate >= 1.00 of 20,000,000 elements/s, a fixed figure",
                        "shm-write-8B/latency <= 1.00 of 0.50 us p50, a fixed figure",
                        "shm-write-8B/latency <= 1.00 of 1.00 us p50, a fixed figure",
                        "shm-write-4KiB/reactor-cost >= 0.90 of sluice write of 4 KiB over shm, 32 in flight, engine"
                                + " API",
                        "shm-write-4KiB/allocation <= 1.00 of 250.00 B/transfer, a fixed figure",
                        "shm-write-4KiB/allocation <= 1.00 of 1.00 B/transfer, a fixed figure",
                        "shm-write-4KiB/vertx-cost >= 0.90 of sluice write of 4 KiB over shm, 32 in flight, reactor"
                                + " API",
                        "shm-write-4KiB/metrics-cost >= 0.97 of sluice write of 4 KiB over shm, 32 in flight, engine"
                                + " API",
                        "shm-connect/latency <= 1.00 of 1,000.00 us p50, a fixed figure");
    }

    @Test
    void gpusAreComparedWithPlainCWithNcclAndWithFixedFigures() {
        assertThat(Comparisons.chosen(List.of("gpu"), ALL))
                .filteredOn(comparison -> comparison.goal() != null)
                .extracting(comparison -> comparison.name() + " " + comparison.goal() + " of "
                        + comparison.theirs().label())
                .contains(
                        "gpu-write-8B/latency <= 1.00 of 12.00 us p50, a fixed figure",
                        "gpu-write-256MiB/gpu-copy >= 0.97 of C copy to another GPU of 256 MiB, 4 in flight",
                        "gpu-write-pages-256x4KiB/latency <= 1.00 of 25.00 us p50, a fixed figure",
                        "gpu-write-pages-4096x4KiB/gpu-kernel >= 0.95 of C pages-kernel, 4096 of 4 KiB, 4 in flight",
                        "gpu-write-pages-2048x16KiB/gpu-copies >= 10.00 of C pages-copies, 2048 of 16 KiB, 4 in flight",
                        "gpu-write-pages-4096x64KiB/gpu-batch >= 3.00 of C pages-batch, 4096 of 64 KiB, 4 in flight",
                        "gpu-read-pages-4096x64KiB/rate >= 1.00 of 306.000 GB/s, a fixed figure",
                        "gpu-host-read-64MiB/gpu-pinned-copy >= 0.95 of C copy from a GPU of 64 MiB, 4 in flight",
                        "gpu-write-4KiB/nccl <= 0.80 of NCCL of 4 KiB, 1 in flight",
                        "gpu-write-1MiB/nccl >= 1.50 of NCCL of 1 MiB, 4 in flight",
                        "gpu-write-16MiB/nccl >= 1.20 of NCCL of 16 MiB, 4 in flight",
                        "gpu-write-256MiB/nccl >= 1.05 of NCCL of 256 MiB, 4 in flight",
                        "gpu-staged-write-64MiB/host-to-host >= 0.85 of sluice write of 64 MiB over tcp unbound, 4 in"
                                + " flight, engine API");
        assertThat(Comparisons.chosen(List.of("torch"), ALL))
                .extracting(comparison ->
                        comparison.name() + " of " + comparison.theirs().label())
                .containsExactly(
                        "gpu-write-4KiB/torch of PyTorch of 4 KiB, 1 in flight",
                        "gpu-write-1MiB/torch of PyTorch of 1 MiB, 4 in flight",
                        "gpu-write-16MiB/torch of PyTorch of 16 MiB, 4 in flight",
                        "gpu-write-256MiB/torch of PyTorch of 256 MiB, 4 in flight");
    }

    @Test
    void collectivesOfGpusAreComparedWithNcclByBothClocks() {
        assertThat(Comparisons.chosen(List.of("gpu-collectives"), ALL))
                .extracting(comparison -> comparison.name() + " " + comparison.goal() + " by "
                        + comparison.quantity().unit() + " of "
                        + comparison.theirs().label())
                .contains(
                        "gpu-allreduce-8B/nccl <= 0.90 by us by device of NCCL allreduce of 8 B of 2 GPUs, one by one",
                        "gpu-allreduce-16MiB-graph-20/nccl <= 0.90 by us by device of NCCL allreduce of 16 MiB of 2"
                                + " GPUs, a graph of 20",
                        "gpu-allreduce-1MiB/nccl-round-trip <= 0.90 by us p50 of NCCL allreduce of 1 MiB of 2 GPUs,"
                                + " one by one",
                        "gpu-alltoall-64KiB/nccl <= 0.90 by us by device of NCCL alltoall of 64 KiB of 2 GPUs, one by"
                                + " one",
                        "gpu-alltoall-1MiB/nccl >= 1.05 by bus GB/s of NCCL alltoall of 1 MiB of 2 GPUs, one by one",
                        "gpu-allgather-16MiB/nccl >= 1.00 by bus GB/s of NCCL allgather of 16 MiB of 2 GPUs, one by"
                                + " one",
                        "gpu-allreduce-1GiB/nccl >= 1.00 by bus GB/s of NCCL allreduce of 1 GiB of 2 GPUs, one by one",
                        "gpu-allreduce-256MiB/copies-both-ways null by bus GB/s of C copies of two GPUs to each other"
                                + " of 256 MiB, 8 in flight");
        assertThat(Comparisons.chosen(List.of(), ALL))
                .noneMatch(comparison -> comparison.workload() instanceof GpuCollectives);
    }

    @Test
    void expertsOfGpusAreComparedWithPyTorchByTheClockOfTheDevice() {
        List<Comparison> comparisons = Comparisons.chosen(List.of("gpu-experts"), ALL);
        assertThat(comparisons)
                .extracting(comparison -> comparison.name() + " " + comparison.goal() + " by "
                        + comparison.quantity().unit() + " of "
                        + comparison.theirs().label())
                .containsExactly(
                        "gpu-low-latency-128-tokens-fp8/dispatch-torch <= 0.50 by dispatch us by device of PyTorch"
                                + " low-latency dispatch in fp8 and combine, 128 tokens a rank, 2 GPUs",
                        "gpu-low-latency-128-tokens-fp8/combine-torch <= 0.50 by combine us by device of PyTorch"
                                + " low-latency dispatch in fp8 and combine, 128 tokens a rank, 2 GPUs",
                        "gpu-low-latency-128-tokens-fp8/round-torch <= 0.50 by round us by device of PyTorch"
                                + " low-latency dispatch in fp8 and combine, 128 tokens a rank, 2 GPUs",
                        "gpu-normal-4096-tokens-fp8/dispatch-torch >= 1.50 by dispatch GB/s of PyTorch normal dispatch"
                                + " in fp8 and combine, 4096 tokens a rank, 2 GPUs",
                        "gpu-normal-4096-tokens-bf16/dispatch-torch >= 1.50 by dispatch GB/s of PyTorch normal"
                                + " dispatch in bf16 and combine, 4096 tokens a rank, 2 GPUs",
                        "gpu-normal-4096-tokens-bf16/combine-torch >= 1.50 by combine GB/s of PyTorch normal dispatch"
                                + " in bf16 and combine, 4096 tokens a rank, 2 GPUs");
        assertThat(comparisons.stream().map(Comparison::theirs).distinct()).hasSize(3);
        assertThat(Comparisons.chosen(List.of(), ALL))
                .noneMatch(comparison -> comparison.workload() instanceof GpuExperts);
    }

    @Test
    void bothSidesOfExpertsOfGpusHaveTheSameSizes() {
        Timing timing = new Timing(1, Duration.ofMillis(20), Duration.ofMillis(10));
        GpuExperts few = new GpuExperts(ExpertMode.LOW_LATENCY, true);
        assertThat(String.join(" ", new OwnGpuExperts(few).arguments(timing)))
                .isEqualTo("bench --experts low-latency --memory cuda --ranks 2 --tokens 128 --hidden 7168 --top-k 8"
                        + " --experts-total 64 --fp8 --verify --duration 20ms --warmup 10ms --json -");
        assertThat(String.join(" ", new TorchExperts(few).operands("cuda", 10, 20)))
                .isEqualTo("cuda low-latency fp8 128 7168 8 64 10 20");
        GpuExperts many = new GpuExperts(ExpertMode.NORMAL, false);
        assertThat(String.join(" ", new OwnGpuExperts(many).arguments(timing)))
                .isEqualTo("bench --experts normal --memory cuda --ranks 2 --tokens 4096 --hidden 7168 --top-k 8"
                        + " --experts-total 256 --blocks 24 --verify --duration 20ms --warmup 10ms --json -");
        assertThat(String.join(" ", new TorchExperts(many).operands("cuda", 10, 20)))
                .isEqualTo("cuda normal bf16 4096 7168 8 256 10 20");
    }

    @Test
    void aTopicChoosesAllThatIsAboutIt() {
        for (Topic topic : Topic.values()) {
            assertThat(Comparisons.chosen(List.of(topic.toString()), ALL))
                    .as(topic.toString())
                    .containsExactlyElementsOf(topic.comparisons());
        }
    }

    @Test
    void eachIsMeasuredUnderALabelOfItsOwn() {
        assertThat(Comparisons.all().stream()
                        .flatMap(comparison -> Stream.concat(
                                comparison.apis(List.of(Api.values())).stream().map(comparison::ours),
                                Stream.of(comparison.theirs())))
                        .distinct())
                .extracting(Measurement::label)
                .doesNotHaveDuplicates();
    }

    @Test
    void vectoredTransfersAreComparedWithAsManySingleOnes() {
        assertThat(Comparisons.chosen(List.of("writev-1024x64KiB"), ALL))
                .singleElement()
                .satisfies(comparison -> {
                    assertThat(comparison.ours(Api.REACTOR).label())
                            .isEqualTo("sluice writev of 1024 times 64 KiB over tcp, 1024 in flight, distinct buffers,"
                                    + " reactor API");
                    assertThat(comparison.theirs().label())
                            .isEqualTo("ucx_perftest ucp_put_bw of 64 KiB over tcp, 16 outstanding");
                });
        assertThat(Comparisons.chosen(List.of("readv-1024x64KiB"), ALL))
                .singleElement()
                .satisfies(comparison -> assertThat(comparison.theirs().label())
                        .isEqualTo("ucx_perftest ucp_get of 64 KiB over tcp, 1024 outstanding"));
    }

    @Test
    void connectionsAreComparedWithOne() {
        assertThat(Comparisons.chosen(List.of("1-connection"), ALL))
                .hasSize(3)
                .allMatch(comparison -> comparison.isPaired()
                        && comparison
                                .theirs()
                                .label()
                                .equals("sluice write of 4 KiB over tcp, 32 in flight, reactor API"));
    }

    @Test
    void whatIsAboutOneInterfaceIsMadeForThatAlone() {
        List<Comparison> rates = Comparisons.chosen(List.of("shm-write-8B/rate"), ALL);
        assertThat(rates)
                .extracting(comparison -> comparison.apis(List.of(Api.REACTOR)))
                .containsExactly(List.of(Api.ENGINE), List.of(Api.REACTOR));
        assertThat(Comparisons.chosen(List.of("shm-write-64KiB/ucx"), ALL))
                .allMatch(comparison -> comparison.apis(List.of(Api.REACTOR)).equals(List.of(Api.REACTOR)));
    }

    @Test
    void theCostOfMetricsIsMeasuredOnceForRateAndHeap() {
        Comparison rate =
                Comparisons.chosen(List.of("write-4KiB/metrics-cost"), ALL).getFirst();
        Comparison heap = Comparisons.chosen(List.of("write-4KiB/metrics-allocation"), ALL)
                .getFirst();
        assertThat(rate.ours(Api.ENGINE)).isEqualTo(heap.ours(Api.ENGINE)).isNotEqualTo(rate.theirs());
        assertThat(rate.theirs()).isEqualTo(heap.theirs());
        assertThat(rate.ours(Api.ENGINE).label()).endsWith("32 in flight, metrics bound and scraped, engine API");
    }

    @Test
    void vertxIsComparedWithReactor() {
        Comparison cost =
                Comparisons.chosen(List.of("write-4KiB/vertx-cost"), ALL).getFirst();
        assertThat(cost.apis(List.of(Api.ENGINE))).containsExactly(Api.VERTX);
        assertThat(cost.ours(Api.VERTX).label()).endsWith("vertx API");
        assertThat(cost.theirs().label()).endsWith("reactor API");
    }

    @Test
    void theCostOfSecurityIsChosenByOneName() {
        assertThat(Comparisons.chosen(List.of("security-cost"), ALL))
                .extracting(Comparison::name)
                .containsExactly(
                        "write-4KiB/token-cost",
                        "write-4KiB/tls-cost",
                        "write-4KiB/tls-data-cost",
                        "write-1MiB/token-cost",
                        "write-1MiB/tls-cost",
                        "write-1MiB/tls-data-cost",
                        "connect/token-cost",
                        "connect/tls-cost",
                        "connect/tls-data-cost");
        Comparison cost =
                Comparisons.chosen(List.of("write-1MiB/tls-data-cost"), ALL).getFirst();
        assertThat(cost.ours(Api.ENGINE).label()).contains("TLS with its data");
        assertThat(cost.theirs().label()).doesNotContain("TLS");
    }

    @Test
    void checksumsAreComparedWithNone() {
        assertThat(Comparisons.chosen(List.of("crc-cost"), List.of("tcp")))
                .extracting(Comparison::name)
                .containsExactly(
                        "crc32c-write-4KiB/crc-cost", "crc32c-write-1MiB/crc-cost", "crc32c-read-1MiB/crc-cost");
        Comparison cost =
                Comparisons.chosen(List.of("crc32c-write-1MiB/crc-cost"), ALL).getFirst();
        assertThat(cost.workload().route().environment()).containsEntry("SLUICE_INTEGRITY", "crc32c");
        assertThat(cost.theirs().label()).isEqualTo("sluice write of 1 MiB over tcp, 32 in flight, engine API");
        assertThat(cost.isPaired()).isTrue();
    }

    @Test
    void ucxGoesTheSameWayAsWeDo() {
        assertThat(Comparisons.chosen(List.of("ucx"), List.of("shm")))
                .hasSize(6)
                .allMatch(comparison -> comparison.theirs().label().contains("over posix,sysv,cma"));
        assertThat(Comparisons.chosen(List.of("ucx"), List.of("tcp")))
                .allMatch(comparison -> comparison.theirs().label().contains("over tcp"));
    }

    @ParameterizedTest
    @CsvSource({
        "write-1MiB/iperf3, 1",
        "read-8B, 7",
        "ping-pong, 2",
        "memcpy, 8",
        "shm-write-1MiB, 3",
        "shm-write-8B, 4",
        "latency, 6",
        "iperf3, 3"
    })
    void aNameOrOneOfItsHalvesChooses(String name, int count) {
        assertThat(Comparisons.chosen(List.of(name), ALL))
                .hasSize(count)
                .allMatch(comparison -> comparison.name().contains(name));
    }

    @Test
    void severalNamesChooseTheUnionInOrder() {
        assertThat(Comparisons.chosen(List.of("read-8B/ceiling", "write-64KiB", "memcpy"), List.of("tcp")))
                .extracting(Comparison::name)
                .containsExactly(
                        "read-8B/ceiling",
                        "write-64KiB/ceiling",
                        "write-64KiB/iperf3",
                        "write-64KiB/ucx",
                        "write-1MiB/memcpy",
                        "write-16MiB/memcpy",
                        "write-64KiB/jucx");
        assertThat(Comparisons.chosen(List.of(), ALL))
                .filteredOn(comparison -> comparison.workload().route().gpus() == 0)
                .containsExactlyElementsOf(Comparisons.all().stream()
                        .filter(comparison -> comparison.workload().route().gpus() == 0
                                && !(comparison.workload() instanceof Collectives)
                                && !(comparison.workload() instanceof Experts))
                        .toList());
    }

    @Test
    void collectivesAreComparedWithEachPeerAndTheBest() {
        assertThat(Comparisons.chosen(List.of("collectives"), List.of("tcp")))
                .extracting(comparison -> comparison.name() + " " + comparison.goal())
                .contains(
                        "allreduce-8B-2-ranks/openmpi-tcp null",
                        "allreduce-8B-2-ranks/gloo-ring <= 0.83",
                        "allreduce-4KiB-2-ranks/openmpi-tcp >= 1.00",
                        "allreduce-64MiB-2-ranks/gloo-halving >= 1.20",
                        "barrier-2-ranks/gloo-ring <= 0.83",
                        "barrier-2-ranks/best-peer null");
        assertThat(Comparisons.chosen(List.of("collectives"), List.of("shm")))
                .extracting(comparison -> comparison.name() + " " + comparison.goal())
                .contains(
                        "shm-allreduce-8B-2-ranks/openmpi-vader <= 1.50",
                        "shm-allreduce-8B-2-ranks/called-each-time >= 1.10",
                        "shm-allreduce-64KiB-2-ranks/openmpi-ucx null",
                        "shm-allreduce-64KiB-2-ranks/best-peer >= 1.00",
                        "shm-allreduce-64MiB-4-ranks/mpich null",
                        "shm-allreduce-64MiB-4-ranks/best-peer >= 0.90",
                        "shm-barrier-2-ranks/openmpi-vader <= 1.50");
    }

    @Test
    void expertsAreComparedWithCopiesMpiAndWrites() {
        assertThat(Comparisons.chosen(List.of("experts"), ALL))
                .extracting(comparison -> comparison.name() + " " + comparison.goal())
                .containsExactly(
                        "shm-low-latency-128-tokens-bf16-4-ranks/dispatch-copies >= 0.70",
                        "shm-low-latency-128-tokens-bf16-4-ranks/combine-copies >= 0.70",
                        "shm-normal-4096-tokens-bf16-4-ranks/dispatch-copies >= 0.70",
                        "shm-normal-4096-tokens-bf16-4-ranks/combine-copies >= 0.70",
                        "shm-low-latency-128-tokens-fp8-4-ranks/dispatch-copies >= 0.70",
                        "shm-low-latency-128-tokens-fp8-4-ranks/combine-copies >= 0.70",
                        "shm-normal-4096-tokens-fp8-4-ranks/dispatch-copies >= 0.70",
                        "shm-normal-4096-tokens-fp8-4-ranks/combine-copies >= 0.70",
                        "shm-low-latency-8-tokens-fp8-2-ranks/dispatch-copies null",
                        "shm-low-latency-8-tokens-fp8-2-ranks/combine-copies null",
                        "shm-low-latency-128-tokens-fp8-2-ranks/dispatch-openmpi-vader null",
                        "shm-low-latency-128-tokens-fp8-2-ranks/combine-openmpi-vader null",
                        "shm-normal-4096-tokens-fp8-2-ranks/dispatch-openmpi-vader null",
                        "shm-normal-4096-tokens-fp8-2-ranks/combine-openmpi-vader null",
                        "low-latency-1-token-fp8-2-ranks/dispatch-openmpi-tcp >= 1.50",
                        "low-latency-1-token-fp8-2-ranks/combine-openmpi-tcp >= 1.50",
                        "low-latency-8-tokens-fp8-2-ranks/dispatch-openmpi-tcp >= 1.50",
                        "low-latency-8-tokens-fp8-2-ranks/combine-openmpi-tcp >= 1.50",
                        "low-latency-128-tokens-fp8-2-ranks/dispatch-openmpi-tcp >= 1.20",
                        "low-latency-128-tokens-fp8-2-ranks/combine-openmpi-tcp >= 1.20",
                        "normal-4096-tokens-fp8-2-ranks/dispatch-openmpi-tcp >= 1.20",
                        "normal-4096-tokens-fp8-2-ranks/combine-openmpi-tcp >= 1.20",
                        "low-latency-128-tokens-bf16-2-ranks/dispatch-writev >= 0.90");
        assertThat(Comparisons.chosen(List.of("dispatch-writev"), ALL)
                        .getFirst()
                        .theirs()
                        .label())
                .isEqualTo(
                        "sluice writev of 1024 times 14.0 KiB over tcp, 1024 in flight, distinct buffers, engine API");
    }

    @Test
    void theCommandsOfPeersSayHowManyRanksShareProcessors() {
        Collectives four = Collectives.of(Route.SHM, BenchCollective.ALLREDUCE, 8, 4);
        Pinning pinning =
                new Pinning(List.of("taskset", "-c", "2"), List.of("taskset", "-c", "0"), List.of("--cpu", "2"), false);
        BenchEnvironment environment = new BenchEnvironment(
                new Timing(1, Duration.ofMillis(20), Duration.ofMillis(10)),
                pinning,
                arguments -> arguments,
                () -> false,
                Path.of("/build"),
                new BenchEnvironment.CommandLog(Path.of("/build")));
        assertThat(String.join(" ", CollectivePeer.OPENMPI_VADER.command(four, environment)))
                .isEqualTo("mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -np 4 --mca pml ob1"
                        + " --mca btl self,vader --mca mpi_yield_when_idle 1 /build/collective-openmpi allreduce 8 0,2"
                        + " 10 20");
        assertThat(String.join(" ", CollectivePeer.MPICH.command(four, environment)))
                .isEqualTo("mpiexec.hydra -n 4 /build/collective-mpich allreduce 8 0,2 10 20");
        Collectives barrier = Collectives.of(Route.TCP, BenchCollective.BARRIER, 0, 2);
        assertThat(String.join(" ", CollectivePeer.GLOO_RING.command(barrier, environment)))
                .isEqualTo("/build/collective-gloo 2 barrier 0 0,2 10 20");
        Experts experts = new Experts(Route.TCP, ExpertMode.LOW_LATENCY, 8, true, 2);
        assertThat(String.join(" ", ExpertPeer.OPENMPI_TCP.command(experts, environment)))
                .isEqualTo("mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -np 2 --mca pml ob1"
                        + " --mca btl self,tcp --mca btl_tcp_if_include 127.0.0.1/8 /build/collective-openmpi-experts"
                        + " low-latency fp8 8 7168 8 256 0,2 10 20");
        assertThat(String.join(" ", ExpertPeer.COPIES.command(experts, environment)))
                .isEqualTo("/build/experts 2 low-latency fp8 8 7168 8 256 0,2 10 20");
        assertThat(RankSharing.of(4, pinning)).isEqualTo(new RankSharing(4, 2, 2.0));
    }

    @Test
    void anUnknownNameIsToldTheKnownOnes() {
        assertThatThrownBy(() -> Comparisons.chosen(List.of("ucx", "rdma"), ALL))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'rdma'")
                .hasMessageContaining("write-4KiB/ucx");
    }

    @Test
    void aTransportWithoutComparisonsIsTold() {
        assertThatThrownBy(() -> Comparisons.chosen(ALL, List.of("tcp", "pigeon")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'pigeon'")
                .hasMessageContaining("tcp, shm");
        assertThatThrownBy(() -> Comparisons.chosen(List.of("iperf3"), List.of("shm")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("over shm");
    }

    @Test
    void comparisonsShareEqualMeasurements() {
        Comparison one = Comparisons.chosen(List.of("write-1MiB/iperf3"), ALL).getFirst();
        Comparison other =
                Comparisons.chosen(List.of("write-1MiB/ceiling"), ALL).getFirst();
        assertThat(one.ours(Api.ENGINE)).isEqualTo(other.ours(Api.ENGINE)).isNotEqualTo(one.ours(Api.REACTOR));
        assertThat(one.theirs())
                .isEqualTo(Comparisons.chosen(List.of("write-16MiB/iperf3"), ALL)
                        .getFirst()
                        .theirs());
    }

    @Test
    void goalsIncludeTheirBounds() {
        assertThat(Goal.atLeast(0.8).isMetBy(0.8)).isTrue();
        assertThat(Goal.atLeast(0.8).isMetBy(0.79)).isFalse();
        assertThat(Goal.atMost(1.6).isMetBy(1.6)).isTrue();
        assertThat(Goal.atMost(1.6).isMetBy(1.61)).isFalse();
    }
}
