package io.sluice.samples.command;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportStatus;
import io.sluice.jni.MachineFacts;
import io.sluice.samples.report.ByteSize;
import io.sluice.samples.report.JsonText;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The report of {@code sluice info}. */
record ProgramReport(String version, MachineReport machine, List<TransportReport> transports, List<GpuReport> gpus) {
    private static final int LABEL_CHARACTERS = 16;

    /** This program on this machine. */
    static ProgramReport current() {
        return new ProgramReport(
                ProgramVersion.current(),
                MachineReport.current(),
                TransferEngine.transports().stream().map(TransportReport::of).toList(),
                GpuInfo.all().stream().map(GpuReport::of).toList());
    }

    String toJson() {
        return JsonText.of(this);
    }

    String toText() {
        StringBuilder text = new StringBuilder("sluice " + version + "\n\nmachine\n");
        row(text, "kernel", machine.kernel());
        row(text, "processor", shown(machine.cpuModel()));
        row(text, "processors", machine.processors() + ", " + machine.processorsUsable() + " for this process");
        row(text, "memory", size(machine.memoryBytes()));
        row(text, "lockable memory", limit(machine.lockedMemoryLimitBytes()));
        Integer pageBytes = machine.pageBytes();
        row(text, "page size", size(pageBytes == null ? null : pageBytes.longValue()));
        row(text, "JVM", machine.jvm());
        text.append("\ntransports\n");
        for (TransportReport transport : transports) {
            String reason = transport.reason();
            row(text, transport.name(), reason == null ? "available" : "not available: " + reason);
            for (String device : transport.devices()) {
                row(text, "", device);
            }
        }
        text.append(gpus.isEmpty() ? "" : "\nGPUs\n");
        for (GpuReport gpu : gpus) {
            row(text, gpu.name(), gpu.model() + ", " + size(gpu.memoryBytes()) + ", PCI " + gpu.pci());
            row(text, "", gpu.id());
            for (GpuReport.LinkReport link : gpu.links()) {
                row(text, "", "to " + link.to() + ": " + link.text());
            }
            row(text, "", gpu.rdmaText());
        }
        return text.toString();
    }

    private static String limit(@Nullable Long bytes) {
        return bytes != null && bytes == MachineReport.NO_LIMIT ? "no limit" : size(bytes);
    }

    private static String size(@Nullable Long bytes) {
        return shown(bytes == null ? null : ByteSize.format(bytes));
    }

    private static String shown(@Nullable String fact) {
        return fact == null ? "unknown" : fact;
    }

    private static void row(StringBuilder text, String label, String value) {
        text.append("  ")
                .append(label)
                .repeat(' ', Math.max(0, LABEL_CHARACTERS - label.length()))
                .append(' ');
        text.append(value).append('\n');
    }

    /** Whether a transport can be used here. */
    record TransportReport(
            String name, boolean available, @Nullable String reason, List<String> devices) {
        static TransportReport of(TransportStatus status) {
            return new TransportReport(status.name(), status.isAvailable(), status.unavailable(), status.devices());
        }
    }

    /**
     * A GPU, by the name that options take; {@code rdmaDevice} is the nearest one, {@code null} if there is none. {@code
     * dmaBuffers}: whether the driver exports memory to it.
     */
    record GpuReport(
            String name,
            String id,
            String model,
            @JsonProperty("memory_bytes") long memoryBytes,
            String pci,
            List<LinkReport> links,
            @JsonProperty("dma_buffers") boolean dmaBuffers,
            @JsonProperty("rdma_device") @Nullable String rdmaDevice,
            @JsonProperty("rdma_place") @Nullable String rdmaPlace) {
        private static final String PREFIX = "cuda:";

        static GpuReport of(GpuInfo gpu) {
            GpuInfo.NearDevice near = gpu.rdmaDevice();
            return new GpuReport(
                    PREFIX + gpu.ordinal(),
                    gpu.id(),
                    gpu.name(),
                    gpu.memoryBytes(),
                    gpu.pciAddress(),
                    gpu.links().stream().map(LinkReport::of).toList(),
                    gpu.dmaBuffers(),
                    near == null ? null : near.name(),
                    near == null ? null : near.place());
        }

        private String rdmaText() {
            String device =
                    rdmaDevice == null ? "no RDMA device" : "nearest RDMA device: " + rdmaDevice + ", " + rdmaPlace;
            return (dmaBuffers ? "DMA buffers, " : "no DMA buffers, ") + device;
        }

        /** How it reaches another one: {@code nvlink}, {@code pcie} or {@code none}. */
        record LinkReport(String to, String kind) {
            static LinkReport of(GpuInfo.Link link) {
                return new LinkReport(PREFIX + link.peer(), link.kind().name().toLowerCase(Locale.ROOT));
            }

            private String text() {
                return switch (kind) {
                    case "nvlink" -> "NVLink, peer access";
                    case "pcie" -> "PCIe, peer access";
                    default -> "no peer access";
                };
            }
        }
    }

    /** Facts about the machine. Unknown ones are {@code null}; a limit of -1 is none. */
    record MachineReport(
            String kernel,
            @JsonProperty("cpu_model") @Nullable String cpuModel,
            int processors,
            @JsonProperty("processors_usable") int processorsUsable,
            @JsonProperty("memory_bytes") @Nullable Long memoryBytes,

            @JsonProperty("locked_memory_limit_bytes") @Nullable
            Long lockedMemoryLimitBytes,

            @JsonProperty("page_bytes") @Nullable Integer pageBytes,
            String jvm) {
        /** Stands for a limit that is none. */
        static final long NO_LIMIT = -1;

        static MachineReport current() {
            return new MachineReport(
                    MachineFacts.kernelRelease(),
                    ifTold(MachineFacts::cpuModel),
                    MachineFacts.onlineProcessors(),
                    Runtime.getRuntime().availableProcessors(),
                    ifTold(MachineFacts::totalMemory),
                    ifTold(MachineFacts::lockedMemoryLimit),
                    ifTold(MachineFacts::pageSize),
                    System.getProperty("java.vm.name") + " " + Runtime.version());
        }

        private static <T> @Nullable T ifTold(Supplier<T> fact) {
            try {
                return fact.get();
            } catch (UncheckedIOException | IllegalStateException e) {
                // Some sandboxes hide /proc, and the page size needs the native library: the rest is worth showing.
                return null;
            }
        }
    }
}
