package io.postroom.message;

/**
 * A message on its way to a subscriber: with its place in the journal and the number of this attempt, counted from one.
 *
 * <p>The position is dense and grows; the same message has the same position in every delivery. The attempt restarts at one
 * when another relay takes over.
 */
public record Envelope(long position, Message message, int attempt) {

    public Envelope {
        if (position < 1 || attempt < 1) {
            throw new IllegalArgumentException(
                    "position is " + position + " and attempt is " + attempt + "; both count from 1");
        }
    }

    /** The same message, tried once more. */
    public Envelope again() {
        return new Envelope(position, message, attempt + 1);
    }
}
