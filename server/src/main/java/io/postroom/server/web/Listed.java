package io.postroom.server.web;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A page of a list as a call answers it: the items, and what to ask for next. */
public final class Listed {
    private Listed() {}

    /** {@code next} is the cursor of the page after this one, given back as {@code before} or {@code after}; null at the end. */
    public static Map<String, @Nullable Object> of(List<?> items, @Nullable Object next) {
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("items", items);
        answer.put("next", next == null ? null : next.toString());
        return answer;
    }
}
