package io.postroom.testkit;

import io.postroom.Postroom;
import io.postroom.idempotency.KeyPolicy;
import io.postroom.idempotency.http.Dialect;
import io.postroom.idempotency.http.KeyedRoute;
import java.time.Duration;

/**
 * The routes of a {@link KeyedShop}.
 *
 * @param orders at {@code /orders}: in one transaction, behind a key
 * @param steps at {@code /steps}: in steps, behind a key
 * @param free at {@code /free}: in one transaction; a key is not required
 */
public record KeyedRoutes(KeyedRoute orders, KeyedRoute steps, KeyedRoute free) {
    static final int REQUEST_BYTES_MAX = 10_000;

    private static final Duration LEASE = Duration.ofSeconds(1);

    static KeyedRoutes of(Postroom postroom, Dialect dialect) {
        return new KeyedRoutes(
                route(postroom, "order.create", dialect).build(),
                route(postroom, "order.steps", dialect).build(),
                route(postroom, "order.free", dialect).required(false).build());
    }

    private static KeyedRoute.Builder route(Postroom postroom, String scope, Dialect dialect) {
        return KeyedRoute.builder(postroom.database(), postroom.idempotency(), scope)
                .dialect(dialect)
                .policy(KeyPolicy.STANDARD.lease(LEASE))
                .requestBytesMax(REQUEST_BYTES_MAX);
    }
}
