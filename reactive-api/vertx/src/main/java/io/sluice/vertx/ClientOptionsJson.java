package io.sluice.vertx;

import static io.sluice.vertx.JsonProperty.count;
import static io.sluice.vertx.JsonProperty.flag;
import static io.sluice.vertx.JsonProperty.number;
import static io.sluice.vertx.JsonProperty.text;

import io.vertx.core.json.JsonObject;
import java.util.List;

/** The JSON form of a client's own settings. */
final class ClientOptionsJson {
    private static final List<JsonProperty<TransferClientOptions, TransferClientOptions>> PROPERTIES = List.of(
            flag("shared", TransferClientOptions::isShared, TransferClientOptions::setShared),
            text("name", TransferClientOptions::getName, TransferClientOptions::setName),
            number("stagingBytes", TransferClientOptions::getStagingBytes, TransferClientOptions::setStagingBytes),
            count(
                    "stagingSlotBytes",
                    TransferClientOptions::getStagingSlotBytes,
                    TransferClientOptions::setStagingSlotBytes),
            flag("metricsEnabled", TransferClientOptions::isMetricsEnabled, TransferClientOptions::setMetricsEnabled),
            text(
                    "metricsRegistryName",
                    TransferClientOptions::getMetricsRegistryName,
                    TransferClientOptions::setMetricsRegistryName),
            count("metricsPeers", TransferClientOptions::getMetricsPeers, TransferClientOptions::setMetricsPeers));

    private ClientOptionsJson() {}

    static void write(TransferClientOptions options, JsonObject json) {
        PROPERTIES.forEach(property -> property.write(options, json));
    }

    static void read(JsonObject json, TransferClientOptions options) {
        PROPERTIES.forEach(property -> property.read(json, options));
    }
}
