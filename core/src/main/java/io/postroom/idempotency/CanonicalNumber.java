package io.postroom.idempotency;

import io.postroom.PostroomException;

/**
 * A JSON number in the one form that stands for its value: integers as they are, fractions as Python's {@code repr} writes them.
 *
 * <p>Works on the digits and never computes: a fraction of more digits than a double holds, which Python would round, keeps them
 * all. What Python, JavaScript or Java write for a double, and any fraction of up to 15 digits, comes out as Python writes it.
 * An integer and a fraction of the same value stay two: {@code 1} is not {@code 1.0}, as in Python.
 */
final class CanonicalNumber {
    /** Exponents of more digits are refused; nobody means them. */
    private static final int EXPONENT_DIGITS_MAX = 9;

    /** From here on Python writes an exponent. */
    private static final int PLAIN_MIN = -4;

    private static final int PLAIN_MAX = 16;

    private CanonicalNumber() {}

    /** The canonical form of a number as JSON allows it. */
    static String of(String number) {
        if (number.length() > CanonicalHash.NUMBER_LENGTH_MAX) {
            throw refused(
                    "a number of " + number.length() + " characters, the limit is " + CanonicalHash.NUMBER_LENGTH_MAX);
        }
        int e = Math.max(number.indexOf('e'), number.indexOf('E'));
        int point = number.indexOf('.');
        if (e < 0 && point < 0) {
            return number.equals("-0") ? "0" : number;
        }
        boolean negative = number.startsWith("-");
        String mantissa = number.substring(negative ? 1 : 0, e < 0 ? number.length() : e);
        long exponent = e < 0 ? 0 : exponent(number.substring(e + 1));
        int whole = mantissa.indexOf('.') < 0 ? mantissa.length() : mantissa.indexOf('.');
        String digits = mantissa.replace(".", "");
        int zeros = leadingZeros(digits);
        String significant = digits.substring(zeros).replaceFirst("0+$", "");
        // The value is 0.DIGITS times ten to the power of this.
        long magnitude = whole - zeros + exponent;
        return (negative ? "-" : "") + (significant.isEmpty() ? "0.0" : text(significant, magnitude));
    }

    private static String text(String digits, long magnitude) {
        if (magnitude <= PLAIN_MIN || magnitude > PLAIN_MAX) {
            long exponent = magnitude - 1;
            String fraction = digits.length() == 1 ? "" : "." + digits.substring(1);
            return digits.charAt(0) + fraction + "e" + (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "")
                    + Math.abs(exponent);
        }
        int point = (int) magnitude;
        if (point <= 0) {
            return "0." + "0".repeat(-point) + digits;
        }
        return point >= digits.length()
                ? digits + "0".repeat(point - digits.length()) + ".0"
                : digits.substring(0, point) + "." + digits.substring(point);
    }

    private static int leadingZeros(String digits) {
        int zeros = 0;
        while (zeros < digits.length() && digits.charAt(zeros) == '0') {
            zeros++;
        }
        return zeros;
    }

    private static long exponent(String text) {
        String digits = text.replaceFirst("^[+-]?0*", "");
        if (digits.length() > EXPONENT_DIGITS_MAX) {
            throw refused(
                    "a number with an exponent of " + digits.length() + " digits, the limit is " + EXPONENT_DIGITS_MAX);
        }
        long value = digits.isEmpty() ? 0 : Long.parseLong(digits);
        return text.startsWith("-") ? -value : value;
    }

    private static PostroomException refused(String fact) {
        return CanonicalHash.refused("number-too-long", "it has " + fact + "; send it as a string");
    }
}
