package io.postroom.projection;

import io.postroom.PostroomException;
import io.postroom.postgres.Schema;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Checks the read models that one relay is given. */
final class Models {
    private Models() {}

    /** Newest versions first: a read model that is new begins with that. */
    static List<ReadModel> checked(ReadModel[] models, Schema schema) {
        List<String> problems = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (ReadModel model : models) {
            if (!seen.add(model.name() + " " + model.version())) {
                problems.add("read model " + model.name() + " is there twice with version " + model.version());
            }
            if (model.name().equals(schema.name())) {
                problems.add("read model " + model.name() + " is called like the schema of Postroom's own tables");
            }
        }
        if (models.length == 0) {
            problems.add("there is no read model");
        }
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "projection.invalid", "could not serve read models: " + String.join("; ", problems));
        }
        return List.of(models).stream()
                .sorted(Comparator.comparing(ReadModel::name)
                        .thenComparing(
                                Comparator.comparingInt(ReadModel::version).reversed()))
                .toList();
    }
}
