package io.postroom.web.javalin;

import io.postroom.testkit.KilledServerContract;

class KilledServerTest extends KilledServerContract {
    @Override
    protected Class<?> main() {
        return ServerMain.class;
    }
}
