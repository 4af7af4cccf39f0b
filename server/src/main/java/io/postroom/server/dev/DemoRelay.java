package io.postroom.server.dev;

import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.OutcomeException;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** The demo's subscriptions, whose handlers do nothing, or fail as they are told. */
final class DemoRelay {
    /** Until what a killed relay had is taken over. */
    static final Duration LEASE = Duration.ofSeconds(5);

    private static final int FAILURE_ONE_IN = 1_000;
    private static final int SLOW_MILLIS = 200;
    private static final Pattern BELOW_ZERO = Pattern.compile("\"totalCents\"\\s*:\\s*-");

    private DemoRelay() {}

    static Relay build(Postroom postroom, String name, Duration stopGrace, Faults faults) {
        return postroom.relay()
                .name(name)
                .lease(LEASE)
                .settleInterval(Duration.ofMillis(50))
                .stopGrace(stopGrace)
                .handle(
                        Subscription.named("billing")
                                .lanes(2)
                                .eventTypes("OrderPlaced", "OrderPaid", "OrderRefunded")
                                .build(),
                        envelope -> bill(envelope, faults))
                .handle(
                        Subscription.named("shipping")
                                .lanes(2)
                                .eventTypes("OrderPaid", "OrderShipped")
                                .build(),
                        envelope -> ship(faults))
                .handle(
                        Subscription.named("casework")
                                .lanes(2)
                                .aggregateTypes("case")
                                .build(),
                        envelope -> {})
                .handle(Subscription.named("audit").lanes(4).build(), envelope -> {})
                .build();
    }

    private static void bill(Envelope envelope, Faults faults) {
        if (faults.has(Fault.POISON)
                && BELOW_ZERO.matcher(envelope.message().payload()).find()) {
            throw new OutcomeException(Outcome.rejected("the total of the order is below zero"));
        }
    }

    private static void ship(Faults faults) throws InterruptedException {
        if (faults.has(Fault.CARRIER_DOWN)) {
            throw new OutcomeException(Outcome.unavailable("carrier.example: connection refused"));
        }
        if (faults.has(Fault.CARRIER_SLOW)) {
            TimeUnit.MILLISECONDS.sleep(SLOW_MILLIS);
        }
        // Now and then a handler fails, to show that nothing is lost by it.
        if (ThreadLocalRandom.current().nextInt(FAILURE_ONE_IN) == 0) {
            throw new IllegalStateException("the demo fails on purpose now and then");
        }
    }
}
