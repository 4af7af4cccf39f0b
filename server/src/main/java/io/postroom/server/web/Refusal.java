package io.postroom.server.web;

/** A request that is not answered as asked, with the status that says why. */
public final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;

    public Refusal(int status, String code, String message) {
        super(message, null, false, false);
        this.status = status;
        this.code = code;
    }

    public static Refusal invalid(String message) {
        return new Refusal(400, "request.invalid", message);
    }

    public static Refusal missing(String message) {
        return new Refusal(404, "request.not-found", message);
    }

    public int status() {
        return status;
    }

    public String code() {
        return code;
    }

    /** The sentence, which every refusal has. */
    public String sentence() {
        return String.valueOf(getMessage());
    }
}
