package io.postroom.schedule;

import java.util.ArrayList;
import java.util.List;

/** Sets of small numbers, a bit for each. */
final class Bits {
    private Bits() {}

    static long of(int number) {
        return 1L << number;
    }

    static long range(int first, int last, int step) {
        long bits = 0;
        for (int i = first; i <= last; i += step) {
            bits |= of(i);
        }
        return bits;
    }

    static boolean has(long bits, int number) {
        return (bits & of(number)) != 0;
    }

    /** The first number that is not smaller; -1 if there is none. */
    static int next(long bits, int from) {
        long rest = from > 63 ? 0 : bits & (-1L << from);
        return rest == 0 ? -1 : Long.numberOfTrailingZeros(rest);
    }

    static int first(long bits) {
        return Long.numberOfTrailingZeros(bits);
    }

    static List<Integer> list(long bits) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = next(bits, 0); i >= 0; i = next(bits, i + 1)) {
            numbers.add(i);
        }
        return numbers;
    }
}
