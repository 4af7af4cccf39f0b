package io.postroom.server.advice;

import io.postroom.advice.Advice;
import io.postroom.advice.Figures;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Advice for programs. The names never change; durations are seconds. */
public final class AdviceJson {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private AdviceJson() {}

    /** One object: the figures and the advice. */
    static String of(Figures figures, List<Advice> advice) {
        return JSON.writeValueAsString(object(figures, advice)) + "\n";
    }

    /** A line for each advice. */
    static String lines(List<Advice> advice) {
        return advice.stream()
                .map(each -> JSON.writeValueAsString(advice(each)) + "\n")
                .collect(Collectors.joining());
    }

    /** As names and values that JSON has. */
    public static Map<String, @Nullable Object> object(Figures figures, List<Advice> advice) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("figures", figures(figures));
        object.put("advice", advice.stream().map(AdviceJson::advice).toList());
        return object;
    }

    private static Map<String, @Nullable Object> figures(Figures figures) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("windowSeconds", figures.window().toMillis() / 1000.0);
        object.put("messagesPerSecond", figures.messagesPerSecond());
        object.put("peakPerSecond", figures.peakPerSecond());
        object.put("payloadBytes", figures.payloadBytes());
        object.put("consumers", figures.consumers());
        object.put("relays", figures.relays());
        object.put(
                "delay99Seconds",
                figures.delay99() == null ? null : figures.delay99().toMillis() / 1000.0);
        object.put("walBytesPerSecond", figures.walBytesPerSecond());
        object.put("daysKept", figures.storage().days());
        object.put("bytes", figures.storage().bytes());
        object.put("largestDayMessages", figures.storage().largestDayRows());
        object.put("largestDayBytes", figures.storage().largestDayBytes());
        return object;
    }

    private static Map<String, @Nullable Object> advice(Advice advice) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("id", advice.topic().id());
        object.put("topic", advice.topic().title());
        object.put("urgency", advice.urgency().word());
        object.put("verdict", advice.verdict());
        object.put(
                "reasons",
                advice.reasons().stream()
                        .map(reason -> {
                            Map<String, @Nullable Object> step = new LinkedHashMap<>();
                            step.put("name", reason.name());
                            step.put("figure", reason.figure());
                            step.put("threshold", reason.threshold());
                            step.put("source", reason.source());
                            step.put("passed", reason.passed());
                            return step;
                        })
                        .toList());
        object.put("page", advice.topic().page());
        return object;
    }
}
