package io.postroom.server.message;

import io.postroom.journal.Journal;
import io.postroom.message.Message;
import io.postroom.message.Reading;
import io.postroom.server.web.JsonText;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as its readers get it, beside what is stored.
 *
 * @param shown in the newest version of its event type; what is stored, if it cannot be read
 * @param unreadable why not
 */
public record MessageReading(
        Message stored, Message shown, @Nullable String unreadable) {
    /** Reads it as a relay of this process would, through its upcasters. */
    static MessageReading of(Journal journal, Message stored) {
        Reading reading = journal.reading(stored);
        if (reading instanceof Reading.Read read) {
            return new MessageReading(stored, read.message(), null);
        }
        return new MessageReading(stored, stored, ((Reading.Unreadable) reading).reason());
    }

    /** Whether readers get another version than what is stored. */
    public boolean isUpcast() {
        return shown.eventVersion() != stored.eventVersion();
    }

    /** What readers get, as calls have it. */
    Map<String, @Nullable Object> object(@Nullable String payload) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("eventVersion", shown.eventVersion());
        object.put("payload", JsonText.raw(payload));
        return object;
    }
}
