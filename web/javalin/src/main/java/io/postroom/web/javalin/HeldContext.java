package io.postroom.web.javalin;

import io.javalin.http.Context;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;

/**
 * A context whose answer is held back until it is known that what it says was committed: it does everything but answer later, or past
 * us.
 */
final class HeldContext {
    private static final Set<String> REFUSED =
            Set.of("future", "async", "outputStream", "writeSeekableStream", "writeJsonStream");

    private HeldContext() {}

    static Context of(Context context) {
        return (Context) Proxy.newProxyInstance(
                Context.class.getClassLoader(), new Class<?>[] {Context.class}, (held, method, arguments) -> {
                    if (REFUSED.contains(method.getName())) {
                        throw refused(method.getName());
                    }
                    try {
                        Object result = method.invoke(context, arguments);
                        // What is chained must not get past us.
                        return result == context ? held : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    static IllegalStateException refused(String what) {
        return new IllegalStateException(
                "could not answer once: " + what
                        + " sends before it is committed, or later; use result, json or html, and answer before the handler returns");
    }
}
