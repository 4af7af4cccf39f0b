package io.postroom.retry;

import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What went wrong with one attempt, safe to store and to show: no secret that {@link Redaction} knows, no control character, no
 * line break, and nothing endless. Immutable.
 *
 * <p>Making one from an exception never throws, whatever the exception does.
 */
public final class Fault {
    public static final int ERROR_CLASS_LENGTH_MAX = 200;
    public static final int MESSAGE_LENGTH_MAX = 2_000;

    /** What the kind of a SQLSTATE begins with; the rest is all five characters or the first two. */
    static final String SQLSTATE = "sqlstate.";

    static final String ERROR_CLASS_RULE =
            "1 to " + ERROR_CLASS_LENGTH_MAX + " characters without spaces and control characters";

    /** So many causes are looked at; a chain that bites its tail ends here too. */
    private static final int CAUSES_MAX = 16;

    /** What the message keeps of the exception itself if there is a cause to tell of. */
    private static final int OUTER_LENGTH_MAX = 1_300;

    private static final Pattern SQLSTATE_FORM = Pattern.compile("[0-9A-Z]{5}");
    private static final Pattern ERROR_CLASS = Pattern.compile("[^\\s\\p{C}\\p{Z}]{1," + ERROR_CLASS_LENGTH_MAX + "}");

    /** They say that something failed elsewhere and nothing more. The batch's own message quotes the values of its rows. */
    private static final List<Class<? extends Throwable>> WRAPPERS = List.of(
            CompletionException.class,
            ExecutionException.class,
            UndeclaredThrowableException.class,
            InvocationTargetException.class,
            UncheckedIOException.class,
            BatchUpdateException.class);

    /** They say too little to win over the class of a cause. */
    private static final List<Class<?>> GENERAL =
            List.of(RuntimeException.class, Exception.class, Error.class, Throwable.class);

    private final String errorClass;
    private final String message;
    private final String fingerprint;
    private final List<String> kinds;

    private Fault(String errorClass, String message, String fingerprint, List<String> kinds) {
        this.errorClass = errorClass;
        this.message = message;
        this.fingerprint = fingerprint;
        this.kinds = kinds;
    }

    /** What an exception says, and what its root cause says besides. */
    public static Fault of(Throwable thrown) {
        List<Throwable> chain = chain(thrown);
        Throwable outer = chain.get(0);
        Throwable root = chain.get(chain.size() - 1);
        String errorClass = nameOf(outer.getClass());
        String said = Redaction.redact(text(outer));
        String cause = root == outer ? "" : cause(errorClass, said, root);
        String message = cause.isEmpty()
                ? said
                : OneLine.cut(said, OUTER_LENGTH_MAX) + (said.isEmpty() ? "" : "; ") + "caused by " + cause;
        return new Fault(
                errorClass,
                OneLine.cut(message, MESSAGE_LENGTH_MAX),
                Fingerprint.of(errorClass, said, cause),
                kinds(chain));
    }

    /** A sink's own word for what happened, for example {@code http.503}, and a sentence. */
    public static Fault of(String errorClass, String message) {
        if (!isErrorClass(errorClass)) {
            throw new IllegalArgumentException(
                    "error class is '" + OneLine.excerpt(errorClass) + "', it must be " + ERROR_CLASS_RULE);
        }
        String said = Redaction.redact(message);
        return new Fault(
                errorClass,
                OneLine.cut(said, MESSAGE_LENGTH_MAX),
                Fingerprint.of(errorClass, said, ""),
                List.of(errorClass));
    }

    /** The class of the exception, without what only wraps it, or a sink's word. */
    public String errorClass() {
        return errorClass;
    }

    /** One line, redacted, at most {@value #MESSAGE_LENGTH_MAX} characters; may be empty. */
    public String message() {
        return message;
    }

    /** Sixteen hexadecimal digits: the same for errors of one class that differ only in numbers, ids and quoted values. */
    public String fingerprint() {
        return fingerprint;
    }

    /**
     * All that a reaction can be bound to, nearest first: SQLSTATE and its class, the exception's class and its superclasses,
     * then the same for each cause, and last the classes that every exception has.
     */
    public List<String> kinds() {
        return kinds;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Fault fault && fault.errorClass.equals(errorClass) && fault.message.equals(message);
    }

    @Override
    public int hashCode() {
        return Objects.hash(errorClass, message);
    }

    @Override
    public String toString() {
        return message.isEmpty() ? errorClass : errorClass + ": " + message;
    }

    static boolean isErrorClass(String text) {
        return ERROR_CLASS.matcher(text).matches();
    }

    /** The name of a class as {@link #kinds} has it; of one that is too long, the end. The JVM allows any character in it. */
    static String nameOf(Class<?> type) {
        String name = OneLine.join(OneLine.clean(type.getName())).replace(' ', '_');
        return name.length() <= ERROR_CLASS_LENGTH_MAX ? name : name.substring(name.length() - ERROR_CLASS_LENGTH_MAX);
    }

    private static List<Throwable> chain(Throwable thrown) {
        List<Throwable> chain = new ArrayList<>();
        Throwable each = thrown;
        while (each != null && chain.size() < CAUSES_MAX && !holds(chain, each)) {
            chain.add(each);
            each = ask(each::getCause);
        }
        while (chain.size() > 1 && wraps(chain.get(0), chain.get(1))) {
            chain.remove(0);
        }
        return chain;
    }

    /** By identity: an exception may have an equals of its own. */
    private static boolean holds(List<Throwable> chain, Throwable thrown) {
        return chain.stream().anyMatch(each -> each == thrown);
    }

    private static boolean wraps(Throwable outer, Throwable cause) {
        if (WRAPPERS.stream().anyMatch(wrapper -> wrapper.isInstance(outer))) {
            return true;
        }
        String said = said(outer);
        return GENERAL.contains(outer.getClass()) && (said.isEmpty() || said.equals(ask(cause::toString)));
    }

    private static String cause(String errorClass, String said, Throwable root) {
        String name = nameOf(root.getClass());
        String text = Redaction.redact(text(root));
        boolean isTold = said.contains(text);
        if (isTold && (said.contains(name) || name.equals(errorClass))) {
            return "";
        }
        return isTold ? name : name + ": " + text;
    }

    private static List<String> kinds(List<Throwable> chain) {
        Set<String> kinds = new LinkedHashSet<>();
        Set<String> general = new LinkedHashSet<>();
        for (Throwable each : chain) {
            if (each instanceof SQLException refused) {
                String state = Objects.requireNonNullElse(ask(refused::getSQLState), "");
                if (SQLSTATE_FORM.matcher(state).matches()) {
                    kinds.add(SQLSTATE + state);
                    kinds.add(SQLSTATE + state.substring(0, 2));
                }
            }
            for (Class<?> type = each.getClass(); type != Object.class; type = type.getSuperclass()) {
                (GENERAL.contains(type) ? general : kinds).add(nameOf(type));
            }
        }
        kinds.addAll(general);
        return List.copyOf(kinds);
    }

    /** PostgreSQL's first line only: the details below it quote the values of rows. */
    private static String text(Throwable thrown) {
        String said = said(thrown);
        int end = thrown instanceof SQLException ? said.indexOf('\n') : -1;
        return end < 0 ? said : said.substring(0, end);
    }

    private static String said(Throwable thrown) {
        return Objects.requireNonNullElse(ask(thrown::getMessage), "");
    }

    /** The methods of an exception are anybody's code, and this runs where errors are handled: one that throws says nothing. */
    private static <T> @Nullable T ask(Supplier<@Nullable T> question) {
        try {
            return question.get();
        } catch (RuntimeException | StackOverflowError e) {
            return null;
        }
    }
}
