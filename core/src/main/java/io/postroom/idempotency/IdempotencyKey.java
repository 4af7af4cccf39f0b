package io.postroom.idempotency;

import io.postroom.PostroomException;
import java.util.regex.Pattern;

/**
 * A client's name for one request: asked again under the same name, the same is answered. Keys of different tenants or scopes never
 * meet.
 *
 * @param tenant whose key it is; never what a client says, but what it was authenticated as. Empty where there are no tenants
 * @param scope what is asked for, such as {@code order.create}
 * @param key the client's own, printable ASCII
 */
public record IdempotencyKey(String tenant, String scope, String key) {
    public static final int TENANT_LENGTH_MAX = 200;
    public static final int SCOPE_LENGTH_MAX = 100;
    public static final int KEY_LENGTH_MAX = 255;

    private static final Pattern SCOPE = Pattern.compile("[a-z][a-z0-9_.-]*");
    private static final int SHOWN_MAX = 60;

    public IdempotencyKey {
        boolean tenantFits = tenant.codePointCount(0, tenant.length()) <= TENANT_LENGTH_MAX
                && (tenant.isEmpty() || !tenant.isBlank())
                && tenant.codePoints()
                        .noneMatch(
                                each -> Character.isISOControl(each) || Character.getType(each) == Character.SURROGATE);
        require(
                tenantFits,
                "tenant-invalid",
                "tenant is " + shown(tenant) + ", it must be up to " + TENANT_LENGTH_MAX
                        + " characters without control characters, or empty where there are no tenants");
        require(
                scope.length() <= SCOPE_LENGTH_MAX && SCOPE.matcher(scope).matches(),
                "scope-invalid",
                "scope is " + shown(scope) + ", it must be 1 to " + SCOPE_LENGTH_MAX
                        + " lower-case letters, digits or _ . -, beginning with a letter, such as order.create");
        require(
                key.length() <= KEY_LENGTH_MAX
                        && !key.isEmpty()
                        && key.chars().allMatch(each -> each >= ' ' && each <= '~'),
                "key-invalid",
                "key is " + shown(key) + " of " + key.length() + " characters, it must be 1 to " + KEY_LENGTH_MAX
                        + " printable ASCII characters; send a UUID");
    }

    /** A key where there are no tenants. */
    public static IdempotencyKey of(String scope, String key) {
        return new IdempotencyKey("", scope, key);
    }

    private static void require(boolean fits, String code, String fact) {
        if (!fits) {
            throw new PostroomException("idempotency." + code, "could not use the idempotency key: " + fact);
        }
    }

    private static String shown(String text) {
        String cut = text.codePointCount(0, text.length()) > SHOWN_MAX
                ? text.substring(0, text.offsetByCodePoints(0, SHOWN_MAX)) + "…"
                : text;
        return "'" + cut.replaceAll("[^\\x20-\\x7e…]", "?") + "'";
    }

    /** As it is named in sentences and in the audit: scope and key, and the tenant if there is one. */
    @Override
    public String toString() {
        return scope + " " + key + (tenant.isEmpty() ? "" : " of tenant " + tenant);
    }
}
