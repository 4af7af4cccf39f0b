package io.postroom.server.relay;

import io.postroom.server.tracing.TracingSettings;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The block {@code tracing}: where spans go. Without it there are none. */
final class TracingBlock {
    private static final String ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
    private static final String SERVICE_NAME = "OTEL_SERVICE_NAME";

    private TracingBlock() {}

    /** What the block leaves out comes from OpenTelemetry's own variables. */
    static Optional<TracingSettings> read(Section root, Map<String, String> environment) {
        return root.section("tracing").map(section -> {
            String[] endpoint = {environment.getOrDefault(ENDPOINT, "")};
            String[] serviceName = {environment.getOrDefault(SERVICE_NAME, "postroom")};
            double[] sample = {1};
            if (section.has("endpoint")) {
                section.read("endpoint", text -> endpoint[0] = TracingSettings.endpoint(text));
            } else {
                try {
                    endpoint[0] = TracingSettings.endpoint(endpoint[0]);
                } catch (IllegalArgumentException e) {
                    section.problem(
                            section.line(),
                            section.name("endpoint") + " is missing, and "
                                    + (endpoint[0].isEmpty()
                                            ? ENDPOINT + " is not set"
                                            : "as for " + ENDPOINT + ", " + e.getMessage()));
                }
            }
            section.read("service-name", text -> serviceName[0] = TracingSettings.serviceName(text));
            section.read("sample", text -> sample[0] = TracingSettings.sample(text));
            Map<String, String> headers = new LinkedHashMap<>();
            section.each("headers", (name, value) -> {
                TracingSettings.checkHeader(name, value, headers.size());
                headers.put(name, value);
            });
            section.close();
            return new TracingSettings(endpoint[0], headers, sample[0], serviceName[0]);
        });
    }
}
