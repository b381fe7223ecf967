package io.sluice.metrics.snippets;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.metrics.EngineMeters;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

// begin
@Configuration(proxyBeanMethods = false)
class TransferEngineConfiguration {
    @Bean
    TransferEngine transferEngine() {
        return TransferEngine.open(EngineOptions.builder()
                .environment(System.getenv())
                .name("kv-cache")
                .build());
    }

    @Bean // the actuator binds it to its registries, and the context closes it before the engine
    EngineMeters engineMeters(TransferEngine engine) {
        return EngineMeters.of(engine);
    }
}
// end
