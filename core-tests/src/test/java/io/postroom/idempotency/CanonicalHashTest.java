package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postroom.PostroomException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The vectors are what Python makes of the same requests; canonical_hash_vectors.py beside them writes them. */
class CanonicalHashTest {
    record Vector(String name, String type, byte[] body, JsonNode expected) {
        String text(String field) {
            return expected.get(field).stringValue();
        }

        String hash() {
            return HexFormat.of().formatHex(CanonicalHash.ofBody(type, body));
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Vector> vectors() throws IOException {
        try (InputStream in = CanonicalHashTest.class.getResourceAsStream("canonical_hash_vectors.jsonl")) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .map(JsonMapper.shared()::readTree)
                    .map(each -> new Vector(
                            each.get("name").stringValue(),
                            each.get("type").isNull() ? null : each.get("type").stringValue(),
                            Base64.getDecoder().decode(each.get("body").stringValue()),
                            each))
                    .toList();
        }
    }

    static Stream<Vector> agreed() throws IOException {
        return vectors().stream().filter(each -> each.text("outcome").equals("same"));
    }

    static Stream<Vector> rounded() throws IOException {
        return vectors().stream().filter(each -> each.text("outcome").equals("rounded"));
    }

    static Stream<Vector> refused() throws IOException {
        return vectors().stream().filter(each -> each.text("outcome").equals("refused"));
    }

    static Stream<Vector> requests() throws IOException {
        return vectors().stream().filter(each -> each.text("outcome").equals("request"));
    }

    @ParameterizedTest
    @MethodSource("requests")
    void hashesRequestsAsPythonDoes(Vector vector) {
        byte[] hash = CanonicalHash.ofRequest(
                vector.text("method"),
                vector.text("target"),
                CanonicalHash.ofBody(vector.type(), vector.body()),
                vector.text("principal"));
        assertThat(CanonicalHash.hex(hash)).isEqualTo(vector.text("sha256"));
    }

    /** Where there is a Python. */
    @Test
    void theVectorsAreWhatTheScriptWrites(@TempDir Path directory) throws Exception {
        Path script = Path.of("src/test/resources/io/postroom/idempotency/canonical_hash_vectors.py");
        Path written = directory.resolve("vectors.jsonl");
        Process python;
        try {
            python = new ProcessBuilder("python3", script.toString(), written.toString())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            assumeTrue(false, "there is no python3");
            return;
        }
        String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(python.waitFor()).as(said).isZero();
        assertThat(written).hasSameTextualContentAs(script.resolveSibling("canonical_hash_vectors.jsonl"));
    }

    @ParameterizedTest
    @MethodSource("agreed")
    void hashesAsPythonDoes(Vector vector) {
        // The text first: it shows where the two differ.
        if (vector.expected().has("canonical") && !vector.type().toLowerCase().startsWith("multipart/")) {
            assertThat(CanonicalJson.of(vector.body())).isEqualTo(vector.text("canonical"));
        }
        assertThat(vector.hash()).isEqualTo(vector.text("sha256"));
    }

    @ParameterizedTest
    @MethodSource("rounded")
    void keepsTheValueOfAFractionThatPythonWouldRound(Vector vector) {
        assertThat(CanonicalJson.of(vector.body())).isEqualTo(vector.text("canonical"));
        assertThat(vector.hash()).isEqualTo(vector.text("sha256"));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void refusesWhatReadersDoNotAgreeOn(Vector vector) {
        assertThatThrownBy(vector::hash)
                .isInstanceOf(PostroomException.class)
                .hasMessageStartingWith("could not hash the request's body: ")
                .extracting("code")
                .isEqualTo(vector.text("code"));
    }

    @Test
    void differentBodiesHaveDifferentHashes() throws IOException {
        Map<String, String> canonicalByHash = new HashMap<>();
        for (Vector vector : Stream.concat(agreed(), rounded())
                .filter(each -> each.expected().has("canonical"))
                .toList()) {
            String canonical = vector.text("canonical");
            assertThat(canonicalByHash.merge(vector.hash(), canonical, (old, found) -> old))
                    .as(vector.name())
                    .isEqualTo(canonical);
        }
        assertThat(canonicalByHash).hasSizeGreaterThan(150);
    }

    @Test
    void theTargetOfARequestCounts() {
        byte[] body = CanonicalHash.ofJson("{}".getBytes(StandardCharsets.UTF_8));
        assertThat(List.of(
                        hex(CanonicalHash.ofRequest("POST", "/orders/7/pay", body)),
                        hex(CanonicalHash.ofRequest("POST", "/orders/8/pay", body)),
                        hex(CanonicalHash.ofRequest("POST", "/orders/7/pay?now", body)),
                        hex(CanonicalHash.ofRequest("PATCH", "/orders/7/pay", body)),
                        hex(CanonicalHash.ofRequest("POST", "/orders/7/pay", new byte[32])),
                        hex(CanonicalHash.ofRequest("POST", "/orders/7/pay", body, "anna")),
                        hex(CanonicalHash.ofRequest("POST", "/orders/7/pay", body, "bert")),
                        hex(body)))
                .doesNotHaveDuplicates();
        // hashlib.sha256(json.dumps(["POST", "/orders/7/pay", hashlib.sha256(b"{}").hexdigest()],
        //     separators=(",", ":")).encode()).hexdigest()
        assertThat(hex(CanonicalHash.ofRequest("POST", "/orders/7/pay", body)))
                .isEqualTo("6fe55b3209074e175f52d05c8e656376ab422a3ef57b3710b5aff14e8ab9e95d");
    }

    @Test
    void aFormThatIsSentAgainWithAnotherBoundaryIsTheSame() {
        assertThat(hex(CanonicalHash.ofBody("multipart/form-data; boundary=a", form("a", 3))))
                .isEqualTo(hex(CanonicalHash.ofBody("multipart/form-data; boundary=b", form("b", 3))))
                .isNotEqualTo(hex(CanonicalHash.ofBody("multipart/form-data; boundary=b", form("b", 4))));
    }

    @Test
    void aFormIsNotTheJsonThatItIsWrittenAs() {
        byte[] form = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--\r\n"
                .getBytes(StandardCharsets.UTF_8);
        assertThat(hex(CanonicalHash.ofBody("multipart/form-data; boundary=b", form)))
                .isNotEqualTo(hex(CanonicalHash.ofJson("{\"a\":[\"x\"]}".getBytes(StandardCharsets.UTF_8))));
    }

    @Test
    void aFormHasALimitOfPartsAndOfTheirHeaders() {
        CanonicalHash.ofBody("multipart/form-data; boundary=a", form("a", CanonicalHash.PARTS_MAX));
        assertThatThrownBy(() -> CanonicalHash.ofBody("multipart/form-data; boundary=a", form("a", 1001)))
                .hasMessageContaining("it has more than 1000 parts");
        String longName = "\\\"".repeat(100_000);
        byte[] body = ("--a\r\nContent-Disposition: form-data; name=\"" + longName + "\"\r\n\r\nx\r\n--a--")
                .getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> CanonicalHash.ofBody("multipart/form-data; boundary=a", body))
                .hasMessageContaining("bytes, the limit is 4096");
    }

    @ParameterizedTest
    @ValueSource(strings = {"[", "{\"a\":", "1", "\"\\u0000", "-"})
    void aLargeBodyOfNothingIsRefusedInNoTime(String piece) {
        byte[] body = piece.repeat(1_000_000 / piece.length()).getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> CanonicalHash.ofJson(body)).isInstanceOf(PostroomException.class);
    }

    private static byte[] form(String boundary, int parts) {
        return (("--" + boundary + "\r\nContent-Disposition: form-data; name=tag\r\n\r\nx\r\n").repeat(parts) + "--"
                        + boundary + "--")
                .getBytes(StandardCharsets.UTF_8);
    }

    private static String hex(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }
}
