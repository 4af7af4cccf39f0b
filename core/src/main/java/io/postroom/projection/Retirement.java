package io.postroom.projection;

import java.util.List;

/**
 * What goes, or went, with a generation.
 *
 * @param already whether it was gone before
 */
public record Retirement(
        String readModel,
        int generation,
        String schema,
        List<String> tables,
        long deliveries,
        long deadLetters,
        boolean already) {}
