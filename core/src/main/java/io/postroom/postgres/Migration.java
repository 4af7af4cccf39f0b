package io.postroom.postgres;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One step of the schema, from a file that Flyway can run as well. */
record Migration(int version, String name, String text) {
    static final String FOLDER = "/db/postroom/migration/";
    static final List<Migration> ALL = List.of(
            of("V001__foundation.sql"),
            of("V002__outbox.sql"),
            of("V003__journal.sql"),
            of("V004__subscription.sql"),
            of("V005__audit.sql"),
            of("V006__dead_letter.sql"),
            of("V007__delivery.sql"),
            of("V008__inbox.sql"),
            of("V009__idempotency.sql"),
            of("V010__external_call.sql"),
            of("V011__projection.sql"),
            of("V012__source.sql"),
            of("V013__lock.sql"),
            of("V014__job.sql"),
            of("V015__schedule.sql"),
            of("V016__archive.sql"));

    private static Migration of(String file) {
        Matcher matcher = Pattern.compile("V(\\d+)__(\\w+)\\.sql").matcher(file);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(file + " is not the name of a migration");
        }
        return new Migration(
                Integer.parseInt(matcher.group(1)), matcher.group(2), Schema.read(Migration.class, FOLDER + file));
    }

    /** The same for every schema name, so that a copy under another name validates too. */
    String checksum() {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
