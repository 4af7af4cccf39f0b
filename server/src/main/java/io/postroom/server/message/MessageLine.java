package io.postroom.server.message;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.web.Payloads;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A message as one line of JSON: position, id, tenantId, aggregateType, aggregateId, aggregateVersion, eventType, eventVersion,
 * occurredAt, headers, payload, in this order, and nothing else.
 *
 * <p>A payload that is shown stands there byte for byte as it was sent, with one exception: JSON may have line breaks between its tokens (in
 * strings they are always escaped), and each such CR or LF becomes one space, so that a message is always one line and its value
 * stays the same.
 */
public final class MessageLine {
    private final boolean forPeople;
    private final Payloads shown;

    /** With payloads as they are. */
    public MessageLine(boolean forPeople) {
        this(forPeople, Payloads.SHOWN);
    }

    /**
     * @param forPeople whether a terminal shows it: then characters that a terminal obeys are escaped as JSON does, also in the
     *     payload, which leaves its value as it is
     * @param shown how much of payloads; null stands for one that is hidden
     */
    public MessageLine(boolean forPeople, Payloads shown) {
        this.forPeople = forPeople;
        this.shown = shown;
    }

    /** The line in UTF-8, with the line feed that ends it. */
    public byte[] encode(Envelope envelope) {
        Message message = envelope.message();
        StringBuilder line = new StringBuilder(message.payload().length() + 400);
        line.append("{\"position\":").append(envelope.position());
        line.append(",\"id\":\"").append(message.id()).append('"');
        text(line.append(",\"tenantId\":"), message.tenantId());
        text(line.append(",\"aggregateType\":"), message.aggregateType());
        text(line.append(",\"aggregateId\":"), message.aggregateId());
        line.append(",\"aggregateVersion\":").append(message.aggregateVersion());
        text(line.append(",\"eventType\":"), message.eventType());
        line.append(",\"eventVersion\":").append(message.eventVersion());
        line.append(",\"occurredAt\":\"").append(message.occurredAt()).append('"');
        headers(line.append(",\"headers\":"), message.headers());
        payload(line.append(",\"payload\":"), shown.carried(message.payload()));
        line.append("}\n");
        return line.toString().getBytes(StandardCharsets.UTF_8);
    }

    private void headers(StringBuilder line, Map<String, String> headers) {
        char separator = '{';
        for (Map.Entry<String, String> header : new TreeMap<>(headers).entrySet()) {
            text(line.append(separator), header.getKey());
            text(line.append(':'), header.getValue());
            separator = ',';
        }
        line.append(headers.isEmpty() ? "{}" : "}");
    }

    private void payload(StringBuilder line, @Nullable String payload) {
        if (payload == null) {
            line.append("null");
            return;
        }
        if (!forPeople) {
            line.append(
                    payload.indexOf('\n') < 0 && payload.indexOf('\r') < 0
                            ? payload
                            : payload.replace('\n', ' ').replace('\r', ' '));
            return;
        }
        payload.codePoints().forEach(point -> {
            if (point < 0x20) {
                line.append(' ');
            } else {
                harmless(line, point);
            }
        });
    }

    private void text(StringBuilder line, @Nullable String text) {
        if (text == null) {
            line.append("null");
            return;
        }
        line.append('"');
        text.codePoints().forEach(point -> {
            if (point == '"' || point == '\\') {
                line.append('\\').append((char) point);
            } else if (point < 0x20) {
                line.append(String.format("\\u%04x", point));
            } else {
                harmless(line, point);
            }
        });
        line.append('"');
    }

    private void harmless(StringBuilder line, int point) {
        if (!forPeople || Quoted.isHarmless(point)) {
            line.appendCodePoint(point);
            return;
        }
        for (char unit : Character.toChars(point)) {
            line.append(String.format("\\u%04x", (int) unit));
        }
    }
}
