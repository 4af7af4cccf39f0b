package io.postroom.web.servlet;

import io.postroom.testkit.KeyedRoutes;
import io.postroom.testkit.KeyedShop;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.SQLException;

/** Lets the shop answer. */
final class ShopServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient KeyedShop shop;

    ShopServlet(KeyedShop shop) {
        this.shop = shop;
    }

    static JettyServer serve(KeyedShop shop, KeyedRoutes routes) {
        return new JettyServer(new ShopServlet(shop))
                .filter("/orders", IdempotencyFilter.once(routes.orders(), request -> request.getHeader("X-Tenant")))
                .filter("/steps", IdempotencyFilter.steps(routes.steps(), request -> request.getHeader("X-Tenant")))
                .filter("/free", IdempotencyFilter.once(routes.free(), request -> request.getHeader("X-Tenant")))
                .start();
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        if (request.getMethod().equals("GET") || request.getMethod().equals("HEAD")) {
            shop.read();
            return;
        }
        try {
            byte[] body = request.getInputStream().readAllBytes();
            KeyedShop.Made made = request.getRequestURI().equals("/steps")
                    ? shop.handle(IdempotentRequest.steps(request), body)
                    : shop.handle(IdempotentRequest.tx(request), body);
            response.setStatus(made.status());
            made.headers().forEach(response::setHeader);
            response.getOutputStream().write(made.body());
            response.flushBuffer();
        } catch (SQLException | InterruptedException e) {
            throw new ServletException(e);
        }
    }
}
