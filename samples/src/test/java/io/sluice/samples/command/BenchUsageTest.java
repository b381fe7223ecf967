package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.TypeConversionException;

/** Mistakes on the command line of a measurement, which are all found before anything is started. */
class BenchUsageTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bench --op write | --loopback",
                "bench --loopback --connect 127.0.0.1:7000 | mutually exclusive",
                "bench --loopback --op fly | fly",
                "bench --loopback --size 4K | 4KiB",
                "bench --loopback --size 0 | --size",
                "bench --loopback --size 1TiB --connections 1024 --inflight 65536 --buffers distinct | 2^63",
                "bench --loopback --op connect --size 8 | --size is not for --op connect",
                "bench --loopback --op connect --inflight 2 | --inflight is not for --op connect",
                "bench --loopback --op writev --iov 1048577 | --iov: give 1 to 1048576",
                "bench --loopback --inflight 0 | --inflight: give 1 to 65536",
                "bench --loopback --connections 0 | --connections: give 1 to 1024",
                "bench --loopback --op write --iov 2 | --iov is for writev and readv",
                "bench --loopback --op fetch-add --size 8,16 | fetch-add changes a word of 8 bytes",
                "bench --loopback --op signal --size 4KiB | signal changes a word of 8 bytes",
                "bench --loopback --op signal --iov 2 | --iov is for writev and readv",
                "bench --loopback --op fetch_add --size 16 | fetch-add changes a word of 8 bytes",
                "bench --loopback --memory disk | neither host nor a GPU",
                "bench --loopback --memory 0 | neither host nor a GPU",
                "bench --connect 127.0.0.1:7000 --server-memory cuda:0 | --server-memory is for",
                "bench --loopback --memory cuda:0 --regions registered | --regions registered is for",
                "bench --loopback --memory cuda:0 --memcpy --size 64 | --memcpy is for memory of the host",
                "bench --loopback --scattered --buffers single | --scattered is --buffers scattered",
                "bench --loopback --duration 0 | --duration",
                "bench --loopback --api soap | soap",
                "bench --loopback --buffers none | none",
                "bench --loopback --regions borrowed | borrowed",
                "bench --loopback --cpu first | names no processors",
                "bench --loopback --cpu 654321 | may be used",
                "bench --connect 127.0.0.1:7000 --server-cpu 0 | --server-cpu is for",
                "bench --loopback --transport pigeon | unknown transport",
                "bench --loopback --json /nowhere/at/all | does not exist",
                "bench --loopback --collective barrier | mutually exclusive",
                "bench --loopback --ranks 2 | --ranks is for --collective",
                "bench --collective allsum | alltoall",
                "bench --collective allreduce --type float8 | bfloat16",
                "bench --collective allreduce --operation mean | average",
                "bench --collective allreduce --algorithm best | recursive-doubling",
                "bench --collective barrier --algorithm ring | does not serve barrier; these do: auto, dissemination",
                "bench --collective allreduce --op write | --op is for transfers",
                "bench --collective allreduce --api engine | --api is for transfers",
                "bench --collective allreduce --ranks 65 | --ranks: give 1 to 64",
                "bench --collective sendrecv --persistent | --persistent is not for sendrecv",
                "bench --collective sendrecv --ranks 1 | --ranks 2 or more",
                "bench --collective allreduce --size 1024GiB | more than half of the",
                "bench --collective allreduce --tune out --algorithm ring | leave --algorithm out",
                "bench --collective allreduce --tune out --table pom.xml | leave --table out",
                "bench --collective barrier --tune out | no choice of algorithms: barrier",
                "bench --collective allreduce --algorithm ring --table pom.xml | give one of them",
                "bench --collective allreduce --table pom.xml | line 1",
                "bench --collective allreduce --table nowhere | cannot be read",
                "bench --collective allreduce --cpu 654321 | may be used",
                "bench --collective allreduce --json /nowhere/at/all | does not exist",
                "bench --collective allreduce --fp8 | --fp8 is for --experts",
                "bench --collective allreduce --graph 20 | --graph is for --memory cuda",
                "bench --collective allreduce --memory cuda --graph 101 | --graph: give 1 to 100",
                "bench --collective allreduce --memory cuda --tune out | --tune is for memory of the host",
                "bench --collective allreduce,gather --memory cuda | gather is for memory of the host",
                "bench --collective allreduce --memory cuda --blocks 8 | --blocks is for --experts",
                "bench --experts normal --memory disk | neither host nor a GPU",
                "bench --experts normal --blocks 8 | --blocks is for --memory cuda",
                "bench --experts normal --memory cuda --backend sluice | --backend is for memory of the host",
                "bench --experts normal --memory cuda --blocks 257 | blocks are 1 to 256, not 257",
                "bench --experts low-latency --memory cuda --blocks 0 | blocks are 1 to 256, not 0",
                "bench --experts normal --memory cuda --graph 2 | --graph is for --collective",
                "bench --experts low-latency --collective barrier | mutually exclusive",
                "bench --experts quick | low-latency, normal",
                "bench --experts normal --op write | --op is for transfers, not for --experts",
                "bench --experts normal --size 8 | --hidden and --tokens are for --experts",
                "bench --experts normal --persistent | --persistent is for --collective",
                "bench --experts normal --ranks 0 | --ranks: give 1 to 64",
                "bench --experts normal --ranks 3 | 256 experts cannot be divided among 3 ranks",
                "bench --experts normal --hidden 100 | a multiple of 128",
                "bench --experts normal --tokens 0 | tokens of a rank are 1 to",
                "bench --experts normal --top-k 9 --experts-total 8 | each another one, and there are 8",
                "bench --experts low-latency --tokens 65536 --experts-total 8 | more than half of the",
                "bench --experts normal --duration 0 | --duration",
                "bench --experts normal --cpu 654321 | may be used",
                "bench --experts normal --json /nowhere/at/all | does not exist"
            })
    void isNamedWithStatusTwo(String line, String named) {
        // none of these gets as far as starting a process
        ProgramRun outcome = ProgramRun.of(line.split(" ", -1));
        assertThat(outcome.err()).contains(named).doesNotContain("\tat ");
        assertThat(outcome.status()).isEqualTo(ExitCodes.USAGE);
    }

    @Test
    void processorsAreNumbersAndRanges() {
        assertThat(new CpuList("0,2-3").isWithin(new CpuList("0-3"))).isTrue();
        assertThat(new CpuList("0-4").isWithin(new CpuList("0-3,5"))).isFalse();
        assertThatThrownBy(() -> OptionTypes.converter(CpuList::parse).convert("3-1"))
                .isInstanceOf(TypeConversionException.class);
    }
}
