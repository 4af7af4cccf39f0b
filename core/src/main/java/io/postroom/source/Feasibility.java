package io.postroom.source;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether a subscription can be moved, and what speaks against it, read from the row that tells of the subscription and its feed. */
record Feasibility(String name, String feed) {
    /** The inbox must remember what comes twice for so much longer, in seconds, than the sides overlap: a move takes its time. */
    private static final double MARGIN = 3_600;

    List<String> find(ResultSet row) throws SQLException {
        List<String> found = new ArrayList<>();
        add(
                found,
                !row.getString("receiver").equals("inbox"),
                "its receiver is a " + row.getString("receiver")
                        + ", not a projection behind an inbox; run relays with projection.behind(inbox, \"" + name
                        + "\") first");
        @Nullable String consumer = row.getString("consumer");
        add(
                found,
                row.getString("receiver").equals("inbox") && !name.equals(consumer),
                "its relays accept messages as consumer " + consumer + " and a source would do so as " + name
                        + ": neither would know what the other has; run relays with projection.behind(inbox, \"" + name
                        + "\") first");
        String other = row.getString("other_relay");
        add(
                found,
                other != null,
                "relay " + other
                        + " serves it since before its projection was put behind this inbox; restart that relay first");
        add(found, row.getBoolean("is_copy"), "it is a copy; move the original");
        add(found, row.getBoolean("of_read_model"), "it belongs to a read model, which is rebuilt from the journal");
        add(
                found,
                row.getString("on_burial").equals("hold"),
                "it holds keys after a burial, which no source does; serve it with on-burial continue first");
        add(
                found,
                row.getLong("held") > 0,
                row.getLong("held") + " keys are held by dead letters; redrive or discard those, or release the keys");
        add(found, row.getBoolean("paused"), "it is paused; resume it first");
        add(found, row.getBoolean("lanes_changing"), "the number of its lanes is being changed; wait for that");
        add(found, row.getBoolean("replaying"), "it replays; wait for its end");
        findInFeed(found, row);
        return found;
    }

    private void findInFeed(List<String> found, ResultSet row) throws SQLException {
        if (!row.getBoolean("feed_there")) {
            found.add("there is no subscription " + feed + " that could carry messages to Kafka; name it with --feed");
            return;
        }
        add(
                found,
                feed.equals(name),
                "it cannot be its own feed; name the subscription that carries messages to Kafka");
        add(
                found,
                !row.getString("feed_receiver").equals("sink")
                        || !row.getString("feed_served_by").equals(ServedBy.POSTGRES.word())
                        || row.getBoolean("feed_is_copy"),
                "feed " + feed + " does not deliver to a sink; name the subscription that carries messages to Kafka");
        add(found, row.getBoolean("feed_paused"), "feed " + feed + " is paused; resume it first");
        add(
                found,
                !row.getBoolean("covered"),
                "feed " + feed + " leaves out messages that " + name + " wants; widen its filter first");
        boolean begun = row.getBoolean("begun");
        add(
                found,
                row.getString("ordering").equals("key")
                        && !row.getString("feed_ordering").equals("key"),
                "feed " + feed + " sends without an order, and " + name
                        + " keeps that of each key; serve the feed with ordering key first");
        // Those that come after the cut was noted are put down for relays; a source would never be brought them.
        add(
                found,
                !(begun && ServedBy.POSTGRES.word().equals(row.getString("moving_to")))
                        && row.getLong("feed_letters") > 0,
                "feed " + feed + " has " + row.getLong("feed_letters")
                        + " open dead letters, which Kafka lacks; redrive or discard them first");
        add(
                found,
                begun
                        ? row.getBoolean("consumer_changed")
                        : row.getBoolean("feed_before_inbox") || row.getBoolean("overlaps_other"),
                begun
                        ? "the inbox of its projection was changed since the cut was noted; cancel it and begin anew"
                        : "of what lies up to position " + row.getLong("inbox_after")
                                + ", or was applied by a relay that died not long ago, its inbox may not know what took effect or was"
                                + " skipped, and feed " + feed
                                + " has not carried all of that yet; let it catch up first");
        double overlap = row.getDouble("overlap");
        double remembered = row.getDouble("remembered");
        add(
                found,
                overlap > remembered - MARGIN,
                (begun ? "the cut of the move reaches back " : "feed " + feed + " is behind for ")
                        + Math.round(overlap / 3600)
                        + " h and inboxes remember "
                        + Math.round(remembered / 3600)
                        + " h: what comes twice would take effect twice; "
                        + (begun ? "cancel it and begin anew" : "let it catch up first"));
    }

    private static void add(List<String> found, boolean holds, String obstacle) {
        if (holds) {
            found.add(obstacle);
        }
    }
}
