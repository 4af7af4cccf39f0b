package io.postroom.retry;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Turns what an error says into one line without what looks like a secret or a person's data.
 *
 * <p>It knows PEM blocks, authorization and cookie headers, values of what is called password, secret, token or key, bearer and
 * basic credentials, tokens with a known beginning, credentials in URLs, row values that PostgreSQL quotes, card numbers and
 * e-mail addresses. In doubt it masks. It cannot know everything: payloads do not belong into errors.
 *
 * <p>The time is linear in the text, of which only the first {@value #TEXT_LENGTH_MAX} characters are looked at: patterns find
 * where a secret begins and have no unbounded part that could be tried in many ways; where it ends is found by walking on.
 */
final class Redaction {
    static final int TEXT_LENGTH_MAX = 8_192;
    static final String MASK = "***";

    /** A secret that the end of the text cuts in two may no longer look like one; so the last word goes, up to this length. */
    private static final int LAST_WORD_LENGTH_MAX = 1_024;

    private static final String QUOTE = "(?:\\\\{0,3}[\"'])?";
    private static final String SEPARATOR = QUOTE + " {0,40}+(?:=>|[:=]|%3[AD]) {0,40}+";

    /** Words after "bearer" that are no token. */
    private static final String NO_TOKEN =
            "(?:tokens?|auth|authentication|authorization|realm|scheme|credentials?|header|access|is|was|not|missing|required"
                    + "|expired|invalid|of|for|with|in|and|or|error)\\b";

    private static final Pattern PORT = Pattern.compile("\\d{0,5}");

    /** Where a secret ends that begins at a given place; that place itself if there is none. */
    @FunctionalInterface
    private interface End {
        int of(String text, int from);
    }

    /** What a secret begins with; {@code signs} are words of which one is there, in small letters, wherever the pattern fits. */
    private record Rule(List<String> signs, Pattern begin, End end) {
        static Rule of(String signs, String begin, End end) {
            return new Rule(List.of(signs.split(" ")), Pattern.compile(begin, Pattern.CASE_INSENSITIVE), end);
        }

        /** Most errors hold no secret: looking for a word is many times cheaper than trying a pattern at every letter. */
        boolean isPossible(String lowerCase) {
            return signs.stream().anyMatch(lowerCase::contains);
        }
    }

    /** In this order: what is found first hides what would be half of it later. */
    private static final List<Rule> RULES = List.of(
            Rule.of("-----begin", "(?=-----BEGIN )", Redaction::pemEnd),
            Rule.of("key", "\\bkey \\([^\\n=]{1,200}+=\\(", Redaction::lastBracket),
            Rule.of("failing", "\\bfailing row contains \\(", Redaction::lastBracket),
            Rule.of("batch", "\\bbatch entry \\d{1,9} ", Redaction::statementEnd),
            Rule.of("auth cookie", "\\b(?:authorization|(?:set-)?cookie)" + SEPARATOR, Redaction::headerEnd),
            Rule.of("bearer", "\\bbearer[ :]{1,3}(?!" + NO_TOKEN + ")", (text, from) -> run(text, from, "._~+/=-")),
            Rule.of("basic", "\\bbasic ", Redaction::basicEnd),
            Rule.of(
                    "pass pwd secret token key",
                    "(?:passwords?|passwd|passphrase|pwd|secrets?|(?<!unexpected )token|api[ _-]?key|access[_-]?key|private[_-]?key)"
                            + "(?:[_-]?(?:key|value|hash|id|\\d{1,2}))?(?:" + SEPARATOR + "[ \\n]{0,40}+|>)",
                    Redaction::valueEnd),
            Rule.of("pass", "(?:password|passwd|passphrase) (?=[\"'])", Redaction::valueEnd),
            Rule.of(
                    "pass sig x-amz",
                    "[?&](?:pass|sig|signature|x-amz-signature|x-amz-credential)=",
                    Redaction::valueEnd),
            Rule.of(
                    "whs sk_ gh glpat xox",
                    "\\b(?=(?:whsec|whsk|sk_live|sk_test|gh[oprsu]|github_pat|glpat|xox[abprs])[_-][a-z0-9+/])",
                    (text, from) -> run(text, from, "_+/=-")),
            Rule.of("eyj", "\\b(?=eyJ[\\w-]{8,2000}+\\.[\\w-]{4})", (text, from) -> run(text, from, "._-")),
            Rule.of("v1", "\\bv1a?,(?=[a-z0-9+/]{20})", (text, from) -> run(text, from, "+/=")),
            Rule.of("://", "://", Redaction::userEnd),
            Rule.of(
                    "jdbc:oracle",
                    "\\bjdbc:oracle:\\w{1,10}:(?=[^\\s@]{1,200}+@)",
                    (text, from) -> text.indexOf('@', from)),
            card("\\d{4}([ -])\\d{4}\\1\\d{4}\\1\\d{4}\\1\\d{1,3}"),
            card("\\d{4}([ -])\\d{4}\\1\\d{4}\\1\\d{1,4}"),
            card("\\d{4}([ -])\\d{6}\\1\\d{4,5}"),
            card("\\d{13,19}"),
            mail());

    private Redaction() {}

    static String redact(String text) {
        String lines = OneLine.clean(begin(text));
        String lowerCase = lines.toLowerCase(Locale.ROOT);
        for (Rule rule : RULES) {
            if (rule.isPossible(lowerCase)) {
                lines = mask(lines, rule);
            }
        }
        return OneLine.join(lines);
    }

    private static String begin(String text) {
        if (text.length() <= TEXT_LENGTH_MAX) {
            return text;
        }
        int end = TEXT_LENGTH_MAX;
        while (end > TEXT_LENGTH_MAX - LAST_WORD_LENGTH_MAX && !Character.isWhitespace(text.charAt(end))) {
            end--;
        }
        return text.substring(0, end) + " …";
    }

    private static String mask(String text, Rule rule) {
        Matcher matcher = rule.begin().matcher(text);
        StringBuilder out = new StringBuilder(text.length());
        int copied = 0;
        int at = 0;
        while (at <= text.length() && matcher.find(at)) {
            int from = matcher.end();
            int to = rule.end().of(text, from);
            if (to > from) {
                out.append(text, copied, from).append(MASK);
                copied = to;
            }
            at = Math.max(to, Math.max(from, matcher.start() + 1));
        }
        return copied == 0 ? text : out.append(text, copied, text.length()).toString();
    }

    private static Rule mail() {
        Pattern domain = Pattern.compile("@(?:[\\p{L}\\p{N}-]{1,63}\\.){1,8}\\p{L}{2,24}");
        return Rule.of("@", "(?=[\\p{L}\\p{N}._%+'-]{1,64}+" + domain + ")", (text, from) -> {
            Matcher matcher = domain.matcher(text);
            return matcher.find(from) ? matcher.end() : from;
        });
    }

    /** A rule for card numbers of one form. */
    private static Rule card(String digits) {
        Pattern pattern = Pattern.compile(digits + "(?!\\d)");
        return Rule.of("0 1 2 3 4 5 6 7 8 9", "(?<!\\d)(?<!\\d[.])(?=" + digits + "(?!\\d))", (text, from) -> {
            Matcher matcher = pattern.matcher(text).region(from, text.length());
            return matcher.lookingAt() && isCard(matcher.group()) ? matcher.end() : from;
        });
    }

    /** By the check digit. What begins with 1 counts only with 15 digits: with 13, 16 and 19 it is a time of our century. */
    private static boolean isCard(String text) {
        String digits = text.replaceAll("[ -]", "");
        if (digits.length() < 13 || digits.startsWith("0") || digits.startsWith("1") && digits.length() != 15) {
            return false;
        }
        int sum = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = digits.charAt(digits.length() - 1 - i) - '0';
            int weighed = i % 2 == 0 ? digit : digit * 2;
            sum += weighed > 9 ? weighed - 9 : weighed;
        }
        return sum % 10 == 0;
    }

    /** After the last dashes of the block; a block without an end goes on to the end of the text. */
    private static int pemEnd(String text, int from) {
        int end = text.indexOf("-----END ", from);
        int dashes = end < 0 ? -1 : text.indexOf("-----", end + 9);
        return dashes < 0 ? text.length() : dashes + 5;
    }

    /** The closing quote, or the end of the line or of the bracket around it. Parameters may have quotes of their own. */
    private static int headerEnd(String text, int from) {
        int quoted = quotedEnd(text, from);
        if (quoted > from) {
            return quoted;
        }
        int i = from;
        while (i < text.length() && "\n)]}".indexOf(text.charAt(i)) < 0) {
            char c = text.charAt(i);
            if (c == '"' || c == '\'') {
                if (text.charAt(i - 1) != '=') {
                    return i;
                }
                int close = text.indexOf(c, i + 1);
                i = close < 0 ? text.length() : close;
            }
            i++;
        }
        return Math.min(i, text.length());
    }

    /** The closing quote or bracket, or else where a value without quotes ends in a URL, a list, a sentence or XML. */
    private static int valueEnd(String text, int from) {
        int quoted = quotedEnd(text, from);
        if (quoted > from || from >= text.length()) {
            return quoted;
        }
        int bracket = "[{(".indexOf(text.charAt(from));
        if (bracket >= 0) {
            int close = text.indexOf("]})".charAt(bracket), from);
            return close < 0 ? text.length() : close + 1;
        }
        int i = from;
        while (i < text.length() && !isValueEnd(text, i)) {
            i++;
        }
        return i;
    }

    private static boolean isValueEnd(String text, int at) {
        char c = text.charAt(at);
        char next = at + 1 < text.length() ? text.charAt(at + 1) : ' ';
        return switch (c) {
            case ' ', '\n', '&', ';', '"', '\'' -> true;
            case ',' -> next == ' ' || next == '\n';
            case '<' -> next == '/';
            case '\\' -> next == '"';
            default -> false;
        };
    }

    /** Behind the closing quote, if a quote opens here; it may be escaped, as in JSON within JSON. */
    private static int quotedEnd(String text, int from) {
        int at = from;
        while (at < text.length() && text.charAt(at) == '\\') {
            at++;
        }
        if (at >= text.length() || text.charAt(at) != '"' && text.charAt(at) != '\'') {
            return from;
        }
        String opening = text.substring(from, at + 1);
        int i = at + 1;
        while (i < text.length()) {
            if (text.startsWith(opening, i)) {
                return i + opening.length();
            }
            i += text.charAt(i) == '\\' ? 2 : 1;
        }
        return text.length();
    }

    /** Letters and digits, and a few more. */
    private static int run(String text, int from, String more) {
        int i = from;
        while (i < text.length() && (isLetterOrDigit(text.charAt(i)) || more.indexOf(text.charAt(i)) >= 0)) {
            i++;
        }
        return i;
    }

    private static boolean isLetterOrDigit(char c) {
        return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z';
    }

    /** Only what looks encoded: a plan, a type and an authentication can be basic too. */
    private static int basicEnd(String text, int from) {
        int end = run(text, from, "+/=-_");
        String word = text.substring(from, end);
        boolean isMixed = !word.equals(word.toLowerCase(Locale.ROOT))
                && !word.equals(word.toUpperCase(Locale.ROOT))
                && !word.substring(1).equals(word.substring(1).toLowerCase(Locale.ROOT));
        boolean isEncoded = isMixed || word.endsWith("=") || word.chars().anyMatch(Character::isDigit);
        return word.length() >= 6 && isEncoded ? end : from;
    }

    /**
     * The last @ before the path of a URL. A password may hold a slash although it should not; then what looks like a port is no
     * number.
     */
    private static int userEnd(String text, int from) {
        int path = walk(text, from, " \n\"'<>/?#");
        int at = text.substring(from, path).lastIndexOf('@');
        if (at >= 0) {
            return from + at;
        }
        int colon = text.substring(from, path).indexOf(':');
        if (colon < 0 || PORT.matcher(text.substring(from + colon + 1, path)).matches()) {
            return from;
        }
        int last = text.substring(from, walk(text, path, " \n\"'<>")).lastIndexOf('@');
        return from + Math.max(last, 0);
    }

    private static int walk(String text, int from, String stops) {
        int i = from;
        while (i < text.length() && stops.indexOf(text.charAt(i)) < 0) {
            i++;
        }
        return i;
    }

    /** The statement of a batch, with its values; without the words that end it, all of the text. */
    private static int statementEnd(String text, int from) {
        int end = text.indexOf(" was aborted", from);
        return end < 0 ? text.length() : end;
    }

    /** The last closing bracket of the line: values may hold brackets too. */
    private static int lastBracket(String text, int from) {
        int line = text.indexOf('\n', from);
        int end = line < 0 ? text.length() : line;
        int bracket = text.lastIndexOf(')', end - 1);
        return bracket < from ? end : bracket;
    }
}
