package io.postroom.server;

import java.util.logging.Level;
import java.util.logging.Logger;

/** Where logs go and how much: standard error, through slf4j-simple, which reads system properties once. */
final class Logging {
    private static final String PREFIX = "org.slf4j.simpleLogger.";

    /** Held, since the JDK forgets the level of a logger that nobody holds. */
    private static final Logger DRIVER = Logger.getLogger("org.postgresql");

    private Logging() {}

    /** Must run before the first logger is made. What is set from outside stays. */
    static void configure(String command, boolean verbose) {
        DRIVER.setLevel(verbose ? Level.INFO : Level.OFF);
        set("showDateTime", "true");
        set("dateTimeFormat", "HH:mm:ss.SSS");
        set("showThreadName", "false");
        set("showShortLogName", "true");
        set(
                "defaultLogLevel",
                verbose ? "debug" : command.equals("relay") || command.equals("serve") ? "info" : "warn");
        set("log.org.apache.kafka", verbose ? "info" : "error");
        set("log.com.zaxxer.hikari", verbose ? "info" : "error");
        set("log.org.eclipse.jetty", verbose ? "info" : "warn");
        // What it has to say, we say: that an address is taken, that a request is too large.
        set("log.io.javalin", verbose ? "info" : "off");
        set("log.io.zonky", verbose ? "info" : "error");
        if (!verbose && (command.equals("status") || command.equals("top"))) {
            // They say it themselves.
            set("log.io.postroom.server.overview.Sampler", "off");
        }
        if (!verbose && (command.equals("tail") || command.equals("dev"))) {
            // A tail gives back what is beyond its limit, and the demo fails on purpose now and then.
            set("log.io.postroom.relay.Lane", "error");
        }
    }

    private static void set(String name, String value) {
        if (System.getProperty(PREFIX + name) == null) {
            System.setProperty(PREFIX + name, value);
        }
    }
}
