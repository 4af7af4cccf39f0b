package io.postroom.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** The file to which all {@link RelayMain}s or {@link FaultMain}s of a test deliver, read as it grows. For one thread. */
final class DeliveryFile {
    private final Path path;
    private final List<History.Delivery> deliveries = new ArrayList<>();
    private final List<Long> times = new ArrayList<>();
    private final Set<UUID> ids = new HashSet<>();
    private final Map<String, Long> byRelay = new HashMap<>();
    private long offset;

    private DeliveryFile(Path path) {
        this.path = path;
    }

    static DeliveryFile in(Path directory) throws IOException {
        return new DeliveryFile(Files.createFile(directory.resolve("deliveries")));
    }

    /** A file that others make. */
    static DeliveryFile at(Path path) {
        return new DeliveryFile(path);
    }

    /** One write, which is with the operating system when it returns. */
    static void append(FileChannel file, History.Delivery delivery) {
        String line = String.join(
                " ",
                delivery.relay(),
                delivery.id().toString(),
                delivery.key(),
                Long.toString(delivery.version()),
                Long.toString(delivery.position()));
        try {
            file.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path path() {
        return path;
    }

    /** What all relays delivered so far, in order. */
    List<History.Delivery> deliveries() throws IOException {
        readOn();
        return List.copyOf(deliveries);
    }

    int distinct() throws IOException {
        readOn();
        return ids.size();
    }

    long countOf(String relay) throws IOException {
        readOn();
        return byRelay.getOrDefault(relay, 0L);
    }

    /** When each of {@link #deliveries} was made, in microseconds since 1970, where the line says so. */
    List<Long> times() throws IOException {
        readOn();
        return List.copyOf(times);
    }

    private void readOn() throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            ByteBuffer fresh = ByteBuffer.allocate((int) (file.size() - offset));
            file.read(fresh, offset);
            String text = new String(fresh.array(), 0, fresh.position(), StandardCharsets.UTF_8);
            String whole = text.substring(0, text.lastIndexOf('\n') + 1);
            offset += whole.getBytes(StandardCharsets.UTF_8).length;
            whole.lines().forEach(this::add);
        }
    }

    private void add(String line) {
        String[] part = line.split(" ");
        History.Delivery delivery = new History.Delivery(
                part[0], UUID.fromString(part[1]), part[2], Long.parseLong(part[3]), Long.parseLong(part[4]));
        deliveries.add(delivery);
        times.add(part.length > 5 ? Long.parseLong(part[5]) : 0L);
        ids.add(delivery.id());
        byRelay.merge(delivery.relay(), 1L, Long::sum);
    }
}
