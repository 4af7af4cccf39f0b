package io.postroom.server.doctor;

import io.postroom.doctor.Examination;
import io.postroom.doctor.Finding;
import io.postroom.doctor.Severity;
import io.postroom.doctor.Unchecked;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** An examination for programs. The names never change. */
public final class DoctorJson {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private DoctorJson() {}

    /** One object. */
    static String of(Examination examination) {
        return JSON.writeValueAsString(object(examination)) + "\n";
    }

    /** A line for each finding and for each thing that could not be looked at; {@code kind} tells them apart. */
    static String lines(Examination examination) {
        return Stream.concat(
                        examination.findings().stream().map(each -> line("finding", finding(each))),
                        examination.unchecked().stream().map(each -> line("unchecked", unchecked(each))))
                .collect(Collectors.joining());
    }

    /** As names and values that JSON has. */
    public static Map<String, @Nullable Object> object(Examination examination) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("worst", examination.worst().map(Severity::word).orElse(null));
        object.put(
                "findings",
                examination.findings().stream().map(DoctorJson::finding).toList());
        object.put(
                "unchecked",
                examination.unchecked().stream().map(DoctorJson::unchecked).toList());
        return object;
    }

    private static String line(String kind, Map<String, @Nullable Object> values) {
        Map<String, @Nullable Object> line = new LinkedHashMap<>();
        line.put("kind", kind);
        line.putAll(values);
        return JSON.writeValueAsString(line) + "\n";
    }

    private static Map<String, @Nullable Object> finding(Finding finding) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("id", finding.check().id());
        object.put("severity", finding.severity().word());
        object.put("title", finding.check().title());
        object.put("evidence", finding.evidence());
        object.put("advice", finding.advice());
        object.put("fix", finding.fix().statements());
        object.put(
                "fixRisk",
                finding.fix().isEmpty() ? null : finding.fix().risk().name().toLowerCase(java.util.Locale.ROOT));
        object.put("page", finding.check().page());
        return object;
    }

    private static Map<String, @Nullable Object> unchecked(Unchecked unchecked) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("id", unchecked.check().id());
        object.put("title", unchecked.check().title());
        object.put("why", unchecked.why());
        object.put("grant", unchecked.grant().isEmpty() ? null : unchecked.grant());
        return object;
    }
}
