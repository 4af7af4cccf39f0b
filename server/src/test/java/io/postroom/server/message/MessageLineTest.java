package io.postroom.server.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.testkit.Messages;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class MessageLineTest {
    private static final Message MESSAGE = Message.about("order", "o \"1\"\\")
            .id(UUID.fromString("01890000-0000-7000-8000-000000000001"))
            .event("OrderPaid")
            .occurredAt(Instant.parse("2026-11-15T10:00:00Z"))
            .payload("{\"a\": 1}")
            .build();

    @Test
    void hasExactlyTheseFieldsInThisOrder() {
        assertThat(line(MESSAGE, false))
                .isEqualTo("{\"position\":7,\"id\":\"01890000-0000-7000-8000-000000000001\",\"tenantId\":null,"
                        + "\"aggregateType\":\"order\",\"aggregateId\":\"o \\\"1\\\"\\\\\",\"aggregateVersion\":null,"
                        + "\"eventType\":\"OrderPaid\",\"eventVersion\":1,\"occurredAt\":\"2026-11-15T10:00:00Z\","
                        + "\"headers\":{},\"payload\":{\"a\": 1}}\n");
    }

    @Test
    void keepsThePayloadByteForByteOnOneLine() {
        for (Map.Entry<String, String> payload : Messages.awkwardPayloads().entrySet()) {
            String line = line(Messages.order("o", payload.getValue()), false);
            assertThat(line).as(payload.getKey()).hasLineCount(1).endsWith("}\n");
            String spliced = line.substring(line.indexOf("\"payload\":") + 10, line.length() - 2);
            assertThat(spliced)
                    .as(payload.getKey())
                    .isEqualTo(payload.getValue().replace('\n', ' ').replace('\r', ' '));
        }
    }

    @Test
    void showsNothingThatATerminalObeys() {
        Message message = Message.about("order", "o\u009b31m")
                .event("A")
                .header("h", "\u202e")
                .payload("{\n\"a\":\"\u009b31m\u202e😀\"}")
                .build();
        String line = line(message, true);
        assertThat(line)
                .doesNotContain("\u009b")
                .doesNotContain("\u202e")
                .contains("😀")
                .hasLineCount(1);
        assertThat(JsonMapper.shared().readTree(line).at("/payload/a").asString())
                .isEqualTo("\u009b31m\u202e😀");
    }

    private static String line(Message message, boolean forPeople) {
        return new String(new MessageLine(forPeople).encode(new Envelope(7, message, 1)), StandardCharsets.UTF_8);
    }
}
