package io.postroom.projection;

import java.util.List;

/**
 * Two generations of a read model, each just when it had come to one position of the journal.
 *
 * @param liveOpen messages up to there that the live one has not applied: they wait or were given up, without those parked behind them
 * @param candidateOpen the same of the other one
 */
public record Comparison(
        String readModel,
        int live,
        int candidate,
        long position,
        long liveOpen,
        long candidateOpen,
        List<TableComparison> tables) {

    public boolean isSame() {
        return tables.stream().allMatch(TableComparison::isSame);
    }
}
