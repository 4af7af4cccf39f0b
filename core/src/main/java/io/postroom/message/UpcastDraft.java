package io.postroom.message;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/** What was registered for one event type, in any order and with any mistake. */
final class UpcastDraft {
    private final String eventType;
    private final TreeMap<Integer, Upcaster> steps = new TreeMap<>();
    private final TreeSet<Integer> twice = new TreeSet<>();
    private final TreeSet<Integer> declared = new TreeSet<>();

    UpcastDraft(String eventType) {
        this.eventType = eventType;
    }

    void add(int version, Upcaster upcaster) {
        if (steps.put(version, upcaster) != null) {
            twice.add(version);
        }
    }

    void newest(int version) {
        declared.add(version);
    }

    /** The chain; only where there are no problems. */
    UpcastChain chain() {
        return new UpcastChain(steps.isEmpty() ? declared.last() : end(), List.copyOf(steps.values()));
    }

    /** The version that the last step leads to. */
    private int end() {
        return steps.lastKey() + 1;
    }

    List<String> problems() {
        List<String> problems = new ArrayList<>();
        if (!MessageRules.isName(eventType)) {
            problems.add("event type is " + MessageRules.quote(eventType)
                    + ", it must be 1 to 200 letters, digits or _ . : / -, beginning with a letter or digit");
            return problems;
        }
        if (steps.size() > Upcasters.STEPS_MAX) {
            problems.add(eventType + " has " + steps.size() + " steps, the limit is " + Upcasters.STEPS_MAX);
        }
        steps.keySet().stream()
                .filter(version -> version < 1 || version == Integer.MAX_VALUE)
                .forEach(version -> problems.add(eventType + " has a step from version " + version
                        + ", the range is 1 to " + (Integer.MAX_VALUE - 1)));
        declared.headSet(1)
                .forEach(version -> problems.add(
                        eventType + " has version " + version + " declared as its newest, the least is 1"));
        twice.forEach(version -> problems.add(eventType + " has two steps from version " + version + ", keep one"));
        if (declared.size() > 1) {
            problems.add(eventType + " has several versions declared as its newest, " + declared + ", keep one");
        }
        if (problems.isEmpty()) {
            findGaps(problems);
        }
        return problems;
    }

    private void findGaps(List<String> problems) {
        if (steps.isEmpty()) {
            return;
        }
        int expected = steps.firstKey();
        for (int version : steps.keySet()) {
            gap(problems, expected, version - 1);
            expected = version + 1;
        }
        if (!declared.isEmpty()) {
            int newest = declared.last();
            gap(problems, expected, newest - 1);
            if (newest < expected) {
                problems.add(eventType + " has version " + newest + " declared as its newest, but its steps lead to "
                        + expected);
            }
        }
    }

    private void gap(List<String> problems, int from, int to) {
        if (from == to) {
            problems.add(eventType + " has no step from version " + from);
        } else if (from < to) {
            problems.add(eventType + " has no steps from versions " + from + " to " + to);
        }
    }
}
