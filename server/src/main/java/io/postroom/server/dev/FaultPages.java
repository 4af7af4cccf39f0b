package io.postroom.server.dev;

import io.javalin.http.Context;
import io.postroom.postgres.Database;
import io.postroom.server.web.Page;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.util.List;
import java.util.Set;

/** Switches to break the demo, and to mend it. */
final class FaultPages implements WebServer.Feature {
    private static final String PLACE = "break";

    private final Database database;
    private final FaultTable table = new FaultTable();

    FaultPages(Database database) {
        this.database = database;
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        pages.add(new Page.Part(PLACE, "Break things", "/break", "b"));
        routes.page("/break", context -> {
                    Set<Fault> broken = database.run(table::list);
                    Page page = pages.page(context, "Break things", PLACE);
                    pages.show(context, "break", page, "faults", List.of(Fault.values()), "broken", broken);
                })
                .act("/break/{fault}", context -> {
                    Fault fault = fault(context);
                    database.transact(tx -> table.put(tx, fault));
                    return "/break";
                })
                .act("/break/{fault}/mend", context -> {
                    Fault fault = fault(context);
                    database.transact(tx -> table.remove(tx, fault));
                    return "/break";
                });
    }

    private static Fault fault(Context context) {
        String word = context.pathParam("fault");
        return Fault.of(word)
                .orElseThrow(() -> Refusal.missing("there is no '" + word + "' to break; there is " + Fault.words()));
    }
}
