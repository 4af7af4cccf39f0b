package io.postroom.server.relay;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A part of a YAML file that knows its line. */
sealed interface Node {

    int line();

    /** What kind of thing it is, for people. */
    String kind();

    /** A value; null where nothing is written. */
    record Scalar(int line, @Nullable String text) implements Node {
        @Override
        public String kind() {
            return text == null ? "nothing" : "a single value";
        }
    }

    /** Named parts, in the order of the file. */
    record Mapping(int line, Map<String, Node> entries) implements Node {
        @Override
        public String kind() {
            return "a block of settings";
        }
    }

    /** A list. */
    record Sequence(int line, List<Node> items) implements Node {
        @Override
        public String kind() {
            return "a list";
        }
    }
}
