package io.postroom.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class HeaderTextTest {
    @Test
    void whatIsWrittenIsReadAgainAsItWasAndByOthersToo() {
        StringBuilder all = new StringBuilder();
        for (char c = 0; c < 0x2100; c++) {
            all.append(c);
        }
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        headers.put("a \"quoted\" \\ name\n", "");
        headers.put("all", all + "\uD83D\uDCEC \u2028\u2029\uFFFF");
        String json = HeaderText.write(headers);
        assertThat(HeaderText.read(json)).isEqualTo(headers);
        JsonNode read = JsonMapper.shared().readTree(json);
        assertThat(read.size()).isEqualTo(headers.size());
        headers.forEach((name, value) -> assertThat(read.get(name).asString()).isEqualTo(value));
        assertThat(HeaderText.write(Map.of())).isNull();
        assertThat(HeaderText.write(Map.of("a", "b"))).isEqualTo("{\"a\":\"b\"}");
    }
}
