package io.postroom.projection;

import java.util.List;

/**
 * How the tables of one name differ between two generations.
 *
 * @param different rows that both have, by the primary key, with other values
 * @param examples keys of rows that are not the same, and in which way
 * @param loneColumns columns that only one of them has and that are not ignored; they could not be compared
 */
public record TableComparison(
        String table,
        long liveRows,
        long candidateRows,
        long onlyLive,
        long onlyCandidate,
        long different,
        List<String> examples,
        List<String> loneColumns) {

    public boolean isSame() {
        return onlyLive == 0 && onlyCandidate == 0 && different == 0 && loneColumns.isEmpty();
    }
}
