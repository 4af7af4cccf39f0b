package io.postroom.sink.webhook;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A name server in an attacker's hands: it answers each lookup with the next of its answers, and then with the last. */
final class Names implements Resolver {
    private final String name;
    private final List<String[]> answers;
    private final AtomicInteger asked = new AtomicInteger();

    private Names(String name, List<String[]> answers) {
        this.name = name;
        this.answers = answers;
    }

    static Names of(String name, String... addresses) {
        return new Names(name, List.<String[]>of(addresses));
    }

    static Names inTurn(String name, List<String[]> answers) {
        return new Names(name, answers);
    }

    @Override
    public InetAddress[] resolve(String host) throws UnknownHostException {
        if (!host.equals(name)) {
            throw new UnknownHostException(host);
        }
        String[] answer = answers.get(Math.min(asked.getAndIncrement(), answers.size() - 1));
        InetAddress[] addresses = new InetAddress[answer.length];
        for (int n = 0; n < answer.length; n++) {
            addresses[n] = InetAddress.getByName(answer[n]);
        }
        return addresses;
    }

    int asked() {
        return asked.get();
    }
}
