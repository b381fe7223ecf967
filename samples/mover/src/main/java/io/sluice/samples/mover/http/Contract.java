package io.sluice.samples.mover.http;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.openapi.contract.MediaType;
import io.vertx.openapi.contract.OpenAPIContract;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The contract of the API: as it is served, and as requests are validated against it. */
record Contract(Buffer text, OpenAPIContract contract) {
    static final String PLACE = "io/sluice/samples/mover/openapi.yaml";

    private static final String CONTENT = "content";

    static Future<Contract> read(Vertx vertx) {
        return PackagedPage.file(vertx, PLACE)
                .compose(text ->
                        OpenAPIContract.from(vertx, validated(text)).map(contract -> new Contract(text, contract)));
    }

    /**
     * The parts of the contract to validate. Problems and event streams are left out: the library refuses a contract with answers that it could
     * not validate, though only requests are.
     */
    private static JsonObject validated(Buffer text) {
        Map<String, Object> document = new Yaml(new SafeConstructor(new LoaderOptions())).load(text.toString());
        // Through text, so that maps and lists are the library's own.
        JsonObject json = new JsonObject(new JsonObject(document).encode());
        leaveOut(json.getJsonObject("components"));
        JsonObject paths = json.getJsonObject("paths");
        for (String path : paths.fieldNames()) {
            JsonObject operations = paths.getJsonObject(path);
            operations.fieldNames().forEach(method -> leaveOut(operations.getJsonObject(method)));
        }
        return json;
    }

    private static void leaveOut(JsonObject owner) {
        JsonObject responses = owner.getJsonObject("responses");
        for (String status : responses.fieldNames()) {
            JsonObject response = responses.getJsonObject(status);
            JsonObject content = response.getJsonObject(CONTENT);
            if (content != null) {
                content.fieldNames().stream()
                        .filter(type -> !MediaType.isMediaTypeSupported(type))
                        .toList()
                        .forEach(content::remove);
                if (content.isEmpty()) {
                    response.remove(CONTENT);
                }
            }
        }
    }
}
