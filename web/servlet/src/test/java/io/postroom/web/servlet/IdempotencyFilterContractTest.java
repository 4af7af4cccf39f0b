package io.postroom.web.servlet;

import io.postroom.idempotency.http.KeyedRoute;
import io.postroom.testkit.KeyedHttpContract;
import io.postroom.testkit.KeyedShop;

class IdempotencyFilterContractTest extends KeyedHttpContract {
    @Override
    protected Served serve(KeyedShop shop, KeyedRoute orders, KeyedRoute free) {
        return new JettyServer(new ShopServlet(shop))
                .filter("/orders", IdempotencyFilter.once(orders, request -> request.getHeader("X-Tenant")))
                .filter("/free", IdempotencyFilter.once(free, request -> request.getHeader("X-Tenant")))
                .start();
    }
}
