package io.postroom.server.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The calls of the API as {@code openapi.yaml} describes them. What is not there cannot be entered, and parameters not there are refused. */
public final class ApiDocument {
    /** Where all calls are. */
    static final String ROOT = "/api/v1";

    private final ObjectNode document;

    private ApiDocument(ObjectNode document) {
        this.document = document;
    }

    static ApiDocument read() {
        try (InputStream text = ApiDocument.class.getResourceAsStream("openapi.yaml")) {
            return new ApiDocument((ObjectNode) YAMLMapper.shared().readTree(text));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The document as JSON, for clients that come by this path. */
    byte[] json(String basePath) {
        ObjectNode served = document.deepCopy();
        ((ObjectNode) served.get("servers").get(0)).put("url", basePath + ROOT);
        return JsonMapper.shared().writeValueAsBytes(served);
    }

    /** The names that the query of a call may have. */
    Set<String> queryNames(String method, String path) {
        JsonNode operation = document.get("paths").path(path).path(method.toLowerCase(Locale.ROOT));
        if (operation.isMissingNode()) {
            throw new IllegalStateException(method + " " + path + " is not in openapi.yaml");
        }
        Set<String> names = new HashSet<>();
        for (JsonNode given : operation.path("parameters")) {
            String reference = given.path("$ref").asString("");
            JsonNode parameter = reference.isEmpty() ? given : document.at(reference.substring(1));
            if (parameter.get("in").asString().equals("query")) {
                names.add(parameter.get("name").asString());
            }
        }
        return names;
    }
}
