package io.postroom.server.dev;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** What can be broken in the demo, to watch what becomes of it. */
public enum Fault {
    CARRIER_DOWN(
            "carrier-down",
            true,
            "The carrier is down",
            "Subscription shipping cannot deliver. Its circuit opens, messages wait in order, the others go on. Mend it: nothing is"
                    + " missing.",
            "/subscriptions/shipping"),
    CARRIER_SLOW(
            "carrier-slow",
            true,
            "The carrier is slow",
            "Each delivery of shipping takes 200 ms. Its lag grows, that of the others does not.",
            "/subscriptions/shipping"),
    POISON(
            "poison",
            true,
            "Billing cannot read refunds",
            "Three orders are refunded, and billing rejects a total below zero: three dead letters. Mend it, then redrive them.",
            "/dead-letters"),
    DUPLICATES(
            "duplicates",
            false,
            "A client sends everything again and again",
            "Ten payments are each sent 20 times at once, under ten idempotency keys: demo.payments has ten more.",
            "/idempotency-keys"),
    KILLED_RELAY(
            "kill-relay",
            false,
            "A relay is killed",
            "A second process takes its share of the lanes, and is killed with signal 9 after some seconds. When its lease has run out,"
                    + " the first one goes on where it was.",
            "/subscriptions");

    private final String word;
    private final boolean lasting;
    private final String title;
    private final String watch;
    private final String path;

    Fault(String word, boolean lasting, String title, String watch, String path) {
        this.word = word;
        this.lasting = lasting;
        this.title = title;
        this.watch = watch;
        this.path = path;
    }

    /** As commands and addresses name it. */
    public String word() {
        return word;
    }

    /** Whether it lasts until it is mended; the others happen once. */
    public boolean isLasting() {
        return lasting;
    }

    public String title() {
        return title;
    }

    /** What happens, and what to look at. */
    public String watch() {
        return watch;
    }

    /** The page that shows it. */
    public String path() {
        return path;
    }

    static Optional<Fault> of(String word) {
        return Arrays.stream(values()).filter(fault -> fault.word.equals(word)).findFirst();
    }

    static List<String> words() {
        return Arrays.stream(values()).map(Fault::word).toList();
    }
}
