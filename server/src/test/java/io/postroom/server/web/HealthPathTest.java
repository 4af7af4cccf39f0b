package io.postroom.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HealthPathTest {
    @ParameterizedTest
    @CsvSource({
        "/health, true",
        "/health/live, true",
        "/health/ready, true",
        "/healthy, false",
        "/subscriptions/health, false",
        "/subscriptions/health-check, false",
        "/api/v1/subscriptions/health/deliveries, false"
    })
    void onlyQuestionsForHealthPassTheQueue(String path, boolean isHealth) {
        assertThat(WebServer.isHealth(path)).isEqualTo(isHealth);
    }
}
