package io.postroom.lock;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Makes executors of one daemon thread that ends when it has nothing to do, so that nobody has to close them. */
final class Timers {
    private static final long IDLE_SECONDS = 10;

    private Timers() {}

    static ScheduledThreadPoolExecutor make(String name) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, work -> {
            Thread made = new Thread(work, name);
            made.setDaemon(true);
            return made;
        });
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        timer.setRemoveOnCancelPolicy(true);
        return timer;
    }
}
