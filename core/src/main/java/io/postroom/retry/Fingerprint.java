package io.postroom.retry;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Groups errors of one cause: a hash of the error class and of what was said, without the parts that change from one message to
 * the next: numbers, ids, times, addresses and quoted values.
 *
 * <p>Quoted names stay where the word before says what they name, as PostgreSQL, Java and many libraries do, and the status of
 * an HTTP answer stays: two constraints, or a 404 and a 500, are two causes. Works on redacted text, so that a hash tells
 * nothing about a secret.
 */
final class Fingerprint {
    private static final int TEXT_LENGTH_MAX = 1_000;
    private static final int BYTES = 8;
    private static final String VARIABLE = "#";

    /** Between two variable parts these make a list, and a list is one variable part however long it is. */
    private static final Set<String> LIST_SEPARATORS = Set.of(" ", ",", ", ", ";", "; ", "|");

    /** What stands before a quoted name, or before a status, that tells one cause from another. */
    private static final Pattern NAMES = Pattern.compile(
            ".*\\b(?:relation|table|column|constraint|index|function|schema"
                    + "|sequence|view|type|role|database|trigger|policy|class|method|field|property|parameter|header|invoke|because) ");

    private static final Pattern STATUS_OF = Pattern.compile("(?i).*\\b(?:http|status|code)[ :=]{1,3}");
    private static final Pattern STATUS = Pattern.compile("[1-5]\\d\\d");
    private static final int BEFORE_LENGTH_MAX = 16;

    /** Not {@code \b}: an underscore often stands between the kind of an id and the id. */
    private static final String WORD_BEGIN = "(?<![0-9A-Za-z])";

    private static final String WORD_END = "(?![0-9A-Za-z])";

    /** One pass, first fit; every part is bounded, so that the time is linear. The first line rules out most letters at once. */
    private static final Pattern PART = Pattern.compile("(?=[\\d\"'`\u201c@/:\\[-]|" + WORD_BEGIN + "[A-Za-z])(?:"
            + String.join(
                    "|",
                    // Times.
                    "\\d{4}-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9}+)?)?)?(?:Z| ?[+-]\\d\\d(?::?\\d\\d)?)?"
                            + "(?:\\[[\\w/]{1,40}])?",
                    "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \\d\\d \\d\\d:\\d\\d:\\d\\d \\w{1,5} \\d{4}",
                    "\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d{1,9}+)?",
                    // Ids and addresses.
                    WORD_BEGIN + "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
                    "/?\\d{1,3}(?:\\.\\d{1,3}){3}(?::\\d{1,5})?",
                    "(?<![\\w:])\\[?(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?:%\\w{1,16})?(?![\\w:])]?(?::\\d{1,5})?",
                    "0[xX][0-9a-fA-F]{1,64}+",
                    "@[0-9a-f]{4,16}+(?!\\w)",
                    WORD_BEGIN + "(?=[a-fA-F]{0,64}\\d)[0-9a-fA-F]{8,128}+" + WORD_END,
                    WORD_BEGIN + "(?=(?:[A-Za-z]{0,40}\\d){4})[A-Za-z0-9]{16,64}+" + WORD_END,
                    // Quoted values; an apostrophe within a word is no quote.
                    "\"[^\"]{0,1000}+\"",
                    "(?<!\\w)'[^']{0,1000}+'(?!\\w)",
                    "`[^`]{0,1000}+`",
                    "\u201c[^\u201d]{0,1000}+\u201d",
                    // Numbers.
                    "(?:(?<![\\w.-])-)?\\d{1,400}+(?:[.,]\\d{1,400}+){0,8}")
            + ")");

    private Fingerprint() {}

    /** Of an error class, what was said, and what the cause said, both redacted. */
    static String of(String errorClass, String said, String cause) {
        String text = errorClass + '\n' + general(said) + '\n' + general(cause);
        byte[] hash = sha256().digest(text.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(hash, 0, BYTES);
    }

    /** The text with one sign in place of each variable part, cut afterwards so that the cut does not move with them. */
    static String general(String text) {
        Matcher matcher = PART.matcher(text);
        StringBuilder out = new StringBuilder(text.length());
        int copied = 0;
        int variable = -1;
        while (matcher.find() && out.length() < TEXT_LENGTH_MAX) {
            String gap = text.substring(copied, matcher.start());
            copied = matcher.end();
            if (tells(text, matcher.start(), matcher.group())) {
                // A date in the name of a partition is variable all the same.
                out.append(gap).append(matcher.group().replaceAll("\\d{4,}", VARIABLE));
            } else if (out.length() != variable || !LIST_SEPARATORS.contains(gap)) {
                out.append(gap).append(VARIABLE);
                variable = out.length();
            }
        }
        out.append(text, copied, text.length());
        return out.substring(0, Math.min(out.length(), TEXT_LENGTH_MAX));
    }

    /** Whether a part that looks variable tells one cause from another. */
    private static boolean tells(String text, int start, String part) {
        Pattern before = part.startsWith("\"") ? NAMES : STATUS.matcher(part).matches() ? STATUS_OF : null;
        return before != null
                && before.matcher(text.substring(Math.max(0, start - BEFORE_LENGTH_MAX), start))
                        .matches();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
