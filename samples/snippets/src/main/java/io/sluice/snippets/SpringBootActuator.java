package io.sluice.snippets;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.metrics.EngineHealth;
import io.sluice.metrics.EngineMeters;
import java.util.List;
import java.util.Map;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthEndpoint;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.metrics.MetricsEndpoint;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * An engine as a bean of Spring Boot: the Actuator exports its meters and asks for its health. With
 * {@code spring-boot-starter-web} the same beans answer at {@code /actuator/metrics} and {@code /actuator/health}.
 *
 * <p>Run: {@code ./sluice snippet SpringBootActuator}
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class SpringBootActuator {
    @Bean
    TransferEngine transferEngine() {
        return TransferEngine.open(EngineOptions.builder().name("kv-cache").build());
    }

    @Bean // the Actuator binds it to its registries, and the context closes it before the engine
    EngineMeters engineMeters(TransferEngine engine) {
        return EngineMeters.of(engine);
    }

    @Bean
    HealthIndicator transferEngineHealth(TransferEngine engine) {
        EngineHealth health = EngineHealth.of(engine);
        return () -> {
            EngineHealth.Status status = health.live();
            return (status.isUp() ? Health.up() : Health.down())
                    .withDetail("engine", status.detail())
                    .build();
        };
    }

    public static void main(String[] arguments) {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(SpringBootActuator.class)
                .web(WebApplicationType.NONE)
                .properties(Map.of(
                        "management.endpoints.web.exposure.include",
                        "health,metrics",
                        "spring.main.banner-mode",
                        "off"))
                .run(arguments)) {
            System.out.println(
                    "health: " + context.getBean(HealthEndpoint.class).health().getStatus());
            System.out.println("meter: "
                    + context.getBean(MetricsEndpoint.class)
                            .metric("sluice.regions", List.of("engine:kv-cache"))
                            .getName());
        }
    }
}
