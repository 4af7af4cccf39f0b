package io.postroom.message;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** The steps of one event type, without a gap: from version {@code first}, one at a time, to version {@code newest}. */
final class UpcastChain {
    private static final int PROBLEM_LENGTH_MAX = 500;

    private final int first;
    private final int newest;
    private final List<Upcaster> steps;

    /** Without steps, {@code newest} is all that can be read. */
    UpcastChain(int newest, List<Upcaster> steps) {
        this.first = newest - steps.size();
        this.newest = newest;
        this.steps = List.copyOf(steps);
    }

    int newest() {
        return newest;
    }

    /** Why a version cannot be read, if it cannot, whatever its payload. */
    Optional<String> problem(int version) {
        if (version > newest) {
            return Optional.of("newer than " + newest + ", the newest known here");
        }
        return version < first ? Optional.of(noStep(version)) : Optional.empty();
    }

    private String noStep(int version) {
        return "no step from version " + version
                + (steps.isEmpty()
                        ? ", only " + newest + " can be read"
                        : ", the first is from " + first + " to " + (first + 1));
    }

    Reading read(Message message) {
        int version = message.eventVersion();
        if (version == newest) {
            return new Reading.Read(message);
        }
        if (version > newest) {
            return new Reading.TooNew(version, newest);
        }
        if (version < first) {
            return new Reading.Broken(version, Reading.Broken.NO_STEP, noStep(version));
        }
        Message reached = message;
        while (reached.eventVersion() < newest) {
            Reading next = step(reached);
            if (!(next instanceof Reading.Read read)) {
                return next;
            }
            reached = read.message();
        }
        return new Reading.Read(PayloadHash.keep(message, reached));
    }

    private Reading step(Message message) {
        int version = message.eventVersion();
        @Nullable String payload;
        try {
            payload = steps.get(version - first).upcast(message.payload());
        } catch (Exception | LinkageError | AssertionError | StackOverflowError e) {
            // Other errors, such as a lack of memory, are not this message's fault and may not come again.
            return new Reading.Broken(version, e.getClass().getName(), text(e));
        }
        if (payload == null) {
            return new Reading.Broken(version, Reading.Broken.RETURNED_NULL, "the upcaster returned null");
        }
        Message next = next(message, payload);
        // The very same text was checked before, by whoever made it.
        return payload == message.payload() ? new Reading.Read(next) : checked(version, next);
    }

    /** Each step's payload is checked, so that the step at fault is named and not the one after it. */
    private static Reading checked(int version, Message next) {
        try {
            PayloadRules.check(next);
            return new Reading.Read(next);
        } catch (InvalidMessageException e) {
            String text = String.valueOf(e.getMessage());
            return new Reading.Broken(version, e.code(), "the upcaster's " + text.substring(text.indexOf(": ") + 2));
        }
    }

    private static Message next(Message message, String payload) {
        return new Message(
                message.id(),
                message.tenantId(),
                message.aggregateType(),
                message.aggregateId(),
                message.aggregateVersion(),
                message.eventType(),
                message.eventVersion() + 1,
                payload,
                message.headers(),
                message.occurredAt(),
                message.availableAt());
    }

    /** An exception in one line: its class and its message, without line breaks. */
    private static String text(Throwable e) {
        String text = e.getClass().getName() + said(e);
        return text.length() > PROBLEM_LENGTH_MAX ? text.substring(0, PROBLEM_LENGTH_MAX) : text;
    }

    private static String said(Throwable e) {
        if (e instanceof JacksonException unreadable) {
            // Jackson's message quotes the payload's values; they must not reach a log.
            return " at " + place(unreadable);
        }
        return e.getMessage() == null ? "" : ": " + e.getMessage().replaceAll("\\p{Cntrl}+", " ");
    }

    private static String place(JacksonException e) {
        if (e.getLocation() != null && e.getLocation().getLineNr() > 0) {
            return "line " + e.getLocation().getLineNr() + ", column "
                    + e.getLocation().getColumnNr() + " of the payload";
        }
        for (StackTraceElement frame : e.getStackTrace()) {
            if (!frame.getClassName().startsWith("tools.jackson.")) {
                return frame.getClassName() + ", line " + frame.getLineNumber();
            }
        }
        return "an unknown place";
    }
}
