package io.postroom.web.servlet;

import io.postroom.testkit.KilledServerContract;

class KilledServerTest extends KilledServerContract {
    @Override
    protected Class<?> main() {
        return ServerMain.class;
    }
}
