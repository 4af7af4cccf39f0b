package io.postroom.externalcall;

import io.postroom.PostroomException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * One thing to be done once at a provider, and the stable key that it is called under: {@code charge:t42:order-991:r1}. Immutable.
 *
 * <p>Others see the key: no secret, no person's data. The same operation has the same key whoever makes it and whenever.
 *
 * @param name what is done; another endpoint is another name
 * @param tenant for whom; a system of one tenant chooses a word for it
 * @param businessId what it is about, such as the order's number; not a date, not a number of an attempt
 * @param revision grows when the operation was declined and is meant to be tried in another way
 */
public record ExternalOperation(String name, String tenant, String businessId, int revision) {
    public static final int KEY_LENGTH_MAX = 255;
    public static final int NAME_LENGTH_MAX = 50;
    public static final int TENANT_LENGTH_MAX = 100;
    public static final int BUSINESS_ID_LENGTH_MAX = 200;
    public static final int REVISION_MAX = 1_000;

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_.-]*");
    private static final Pattern TENANT = Pattern.compile("[A-Za-z0-9_.-]+");
    private static final Pattern BUSINESS_ID = Pattern.compile("[A-Za-z0-9_.:/+=-]+");
    private static final int SHOWN_MAX = 60;

    public ExternalOperation {
        List<String> problems = new ArrayList<>();
        check(problems, "name", name, NAME, NAME_LENGTH_MAX, "lower-case letters, digits or _ . -");
        check(problems, "tenant", tenant, TENANT, TENANT_LENGTH_MAX, "letters, digits or _ . -");
        check(
                problems,
                "business id",
                businessId,
                BUSINESS_ID,
                BUSINESS_ID_LENGTH_MAX,
                "letters, digits or _ . : / + = -, and no e-mail address");
        if (revision < 1 || revision > REVISION_MAX) {
            problems.add("revision is " + revision + ", the range is 1 to " + REVISION_MAX);
        }
        int length = key(name, tenant, businessId, revision).length();
        if (length > KEY_LENGTH_MAX) {
            problems.add(
                    "key is " + length + " characters, the limit is " + KEY_LENGTH_MAX + "; shorten the business id");
        }
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "externalcall.operation-invalid",
                    "could not name an external call: " + String.join("; ", problems));
        }
    }

    /** The first revision. */
    public static ExternalOperation of(String name, String tenant, String businessId) {
        return new ExternalOperation(name, tenant, businessId, 1);
    }

    /** The next revision, for when this one was declined. */
    public ExternalOperation next() {
        return new ExternalOperation(name, tenant, businessId, revision + 1);
    }

    /** What the provider gets, the same at every attempt. */
    public String key() {
        return key(name, tenant, businessId, revision);
    }

    /** The key of the revision before, or an empty text if this is the first. */
    String keyBefore() {
        return revision == 1 ? "" : key(name, tenant, businessId, revision - 1);
    }

    /** Only the business id may have colons, so that no two operations have one key. */
    private static String key(String name, String tenant, String businessId, int revision) {
        return name + ":" + tenant + ":" + businessId + ":r" + revision;
    }

    private static void check(
            List<String> problems, String what, String value, Pattern form, int lengthMax, String rule) {
        if (value.length() > lengthMax || !form.matcher(value).matches()) {
            String shown = value.length() > SHOWN_MAX ? value.substring(0, SHOWN_MAX) + "…" : value;
            problems.add(what + " is '" + shown.replaceAll("[\\p{C}\\p{Z}&&[^ ]]", "?") + "', " + value.length()
                    + " characters; it must be 1 to " + lengthMax + " " + rule);
        }
    }

    @Override
    public String toString() {
        return key();
    }
}
