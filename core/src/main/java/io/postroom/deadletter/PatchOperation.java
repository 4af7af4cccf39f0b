package io.postroom.deadletter;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** One operation of a {@link JsonPatch}. {@code from} and {@code value} are there where the kind needs them. */
record PatchOperation(
        int number,
        Kind kind,
        Pointer path,
        @Nullable Pointer from,
        @Nullable JsonNode value) {
    /** Copies of copies double each time: so many values may all copies of a patch have. */
    static final long VALUES_MAX = 1_000_000;

    enum Kind {
        ADD,
        REMOVE,
        REPLACE,
        MOVE,
        COPY,
        TEST;

        boolean needsValue() {
            return this == ADD || this == REPLACE || this == TEST;
        }

        boolean needsFrom() {
            return this == MOVE || this == COPY;
        }

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The operation does not fit the payload. */
    static final class InapplicableException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        InapplicableException(String message) {
            super(message, null, false, false);
        }
    }

    /** Reads one; throws an {@link IllegalArgumentException} that says what is wrong with it. */
    static PatchOperation read(int number, JsonNode node) {
        if (!(node instanceof ObjectNode object)) {
            throw new IllegalArgumentException("is no object");
        }
        String word = text(object, "op");
        Kind kind = List.of(Kind.values()).stream()
                .filter(known -> known.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "has an op that is none of add, remove, replace, move, copy, test"));
        Pointer path = pointer(object, "path");
        Pointer from = kind.needsFrom() ? pointer(object, "from") : null;
        JsonNode value = object.get("value");
        if (kind.needsValue() && value == null) {
            throw new IllegalArgumentException("(" + kind.word() + " " + path.text() + ") has no value");
        }
        if (kind == Kind.REMOVE && path.isWhole()) {
            throw new IllegalArgumentException("removes the whole payload; discard the dead letter instead");
        }
        if (kind == Kind.MOVE && from != null && from.isAbove(path)) {
            throw new IllegalArgumentException("moves " + from.text() + " into itself");
        }
        return new PatchOperation(number, kind, path, from, kind.needsValue() ? value : null);
    }

    private static String text(ObjectNode object, String name) {
        JsonNode value = object.get(name);
        if (value == null || !value.isString()) {
            throw new IllegalArgumentException("has no " + name + " that is a string");
        }
        return value.stringValue();
    }

    private static Pointer pointer(ObjectNode object, String name) {
        try {
            return Pointer.parse(text(object, name));
        } catch (IllegalArgumentException e) {
            String problem = String.valueOf(e.getMessage());
            throw new IllegalArgumentException(
                    problem.startsWith("has ") ? problem : "has a " + name + " that is no JSON Pointer: " + problem, e);
        }
    }

    /** How many values it adds by copying. */
    long grows(JsonNode root) {
        return kind == Kind.COPY && from != null ? JsonTree.size(find(root, from)) : 0;
    }

    /** Changes the tree and returns its root, which may be another. */
    JsonNode apply(JsonNode root) {
        return switch (kind) {
            case ADD -> add(root, path, given());
            case REMOVE -> {
                remove(root, path);
                yield root;
            }
            case REPLACE -> replace(root, given());
            case COPY -> add(root, path, find(root, origin()).deepCopy());
            case MOVE -> {
                JsonNode moved = find(root, origin());
                if (origin().equals(path)) {
                    yield root;
                }
                remove(root, origin());
                yield add(root, path, moved);
            }
            case TEST -> {
                if (!JsonTree.equal(find(root, path), given())) {
                    throw inapplicable("the value there is another");
                }
                yield root;
            }
        };
    }

    /** A copy each time: later operations change what was put into the tree. */
    private JsonNode given() {
        return Objects.requireNonNull(value).deepCopy();
    }

    private Pointer origin() {
        return Objects.requireNonNull(from);
    }

    private JsonNode replace(JsonNode root, JsonNode by) {
        find(root, path);
        if (path.isWhole()) {
            return by;
        }
        JsonNode parent = parent(root, path);
        if (parent instanceof ArrayNode array) {
            array.set(index(array, path, array.size() - 1), by);
        } else {
            ((ObjectNode) parent).set(path.last(), by);
        }
        return root;
    }

    private JsonNode add(JsonNode root, Pointer at, JsonNode added) {
        if (at.isWhole()) {
            return added;
        }
        JsonNode parent = parent(root, at);
        if (parent instanceof ArrayNode array) {
            array.insert(at.last().equals("-") ? array.size() : index(array, at, array.size()), added);
        } else if (parent instanceof ObjectNode object) {
            object.set(at.last(), added);
        } else {
            throw inapplicable("the value above " + at.text() + " is neither object nor array");
        }
        return root;
    }

    private void remove(JsonNode root, Pointer at) {
        find(root, at);
        JsonNode parent = parent(root, at);
        if (parent instanceof ArrayNode array) {
            array.remove(index(array, at, array.size() - 1));
        } else {
            ((ObjectNode) parent).remove(at.last());
        }
    }

    private JsonNode parent(JsonNode root, Pointer at) {
        return walk(root, at, at.steps().subList(0, at.steps().size() - 1));
    }

    private JsonNode find(JsonNode root, Pointer at) {
        return walk(root, at, at.steps());
    }

    private JsonNode walk(JsonNode root, Pointer at, List<String> steps) {
        JsonNode node = root;
        for (String step : steps) {
            JsonNode next = null;
            if (node instanceof ObjectNode object) {
                next = object.get(step);
            } else if (node instanceof ArrayNode array && isIndex(step)) {
                next = array.get(Integer.parseInt(step));
            }
            if (next == null) {
                throw inapplicable("there is no value at " + at.text());
            }
            node = next;
        }
        return node;
    }

    private int index(ArrayNode array, Pointer at, int max) {
        String step = at.last();
        if (!isIndex(step) || Integer.parseInt(step) > max) {
            throw inapplicable("the array above " + at.text() + " has " + array.size() + " items");
        }
        return Integer.parseInt(step);
    }

    private static boolean isIndex(String step) {
        return step.matches("0|[1-9]\\d{0,8}");
    }

    InapplicableException inapplicable(String reason) {
        String where = from == null ? path.text() : from.text() + " to " + path.text();
        return new InapplicableException("operation " + number + " (" + kind.word() + " " + where + "): " + reason);
    }
}
