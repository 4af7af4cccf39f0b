package io.postroom.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** The meters of what was looked at: they come and go with what there is. For the sampler's thread; read by any. */
final class SampledMeters {
    private final Meters meters;
    private final BooleanSupplier isFresh;
    private final Map<Figures.Key, Cell> cells = new HashMap<>();

    SampledMeters(Meters meters, BooleanSupplier isFresh) {
        this.meters = meters;
        this.isFresh = isFresh;
    }

    private static final class Cell {
        volatile double value;
        private final Meter meter;

        Cell(Figures.Key key, Meters meters, BooleanSupplier isFresh) {
            Figure figure = key.figure();
            meter = figure.isTotal()
                    ? FunctionCounter.builder(figure.name(), this, cell -> cell.value)
                            .description(figure.description())
                            .tags(meters.tags(key.tags()))
                            .register(meters.registry())
                    : Gauge.builder(figure.name(), this, cell -> isFresh.getAsBoolean() ? cell.value : Double.NaN)
                            .description(figure.description())
                            .baseUnit(figure.unit())
                            .tags(meters.tags(key.tags()))
                            .register(meters.registry());
        }
    }

    void show(Figures figures) {
        figures.values().forEach((key, value) -> {
            Cell cell = cells.get(key);
            if (cell == null) {
                cell = new Cell(key, meters, isFresh);
                cells.put(key, cell);
            }
            cell.value = value;
        });
        Iterator<Map.Entry<Figures.Key, Cell>> all = cells.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<Figures.Key, Cell> each = all.next();
            if (!figures.values().containsKey(each.getKey())) {
                meters.registry().remove(each.getValue().meter);
                all.remove();
            }
        }
    }

    void clear() {
        cells.values().forEach(cell -> meters.registry().remove(cell.meter));
        cells.clear();
    }
}
