package io.postroom.sink.webhook;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads with a name that tells what they do, which never keep a process alive. */
final class WebhookThreads implements ThreadFactory {
    private final String name;
    private final AtomicInteger count = new AtomicInteger();

    WebhookThreads(String role, Endpoint endpoint) {
        name = "postroom-webhook-" + role + "-" + endpoint.host() + "-";
    }

    @Override
    public Thread newThread(Runnable task) {
        Thread thread = new Thread(task, name + count.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    }
}
