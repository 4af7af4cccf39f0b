package io.postroom.diagnosis;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Says why a message is where it is, for each subscription, with the facts that prove it and what to do next.
 *
 * <p>Reads only, with bounded statements; it may be asked at any time, of a reader's role. Safe for use by many threads.
 */
public final class Diagnosis {
    /** How long one statement may take. */
    public static final Duration STATEMENT_MAX = Duration.ofSeconds(2);

    /** How long a message is looked for where neither an index nor the time in its id helps; one more statement may come on top. */
    public static final Duration SEARCH_MAX = Duration.ofSeconds(8);

    /** How many subscriptions are told about. */
    public static final int SUBSCRIPTIONS_MAX = 1_000;

    private static final int LETTERS_MAX = 1_000;
    private static final int WRITERS_MAX = 10;
    private static final int ATTEMPTS_MAX = 1_000;
    private static final int NAMES_MAX = 10;

    /** A transaction that has been open for less is no news. */
    private static final Duration OPEN_MIN = Duration.ofSeconds(1);

    private final Database database;
    private final SearchTable searchTable;
    private final DiagnosisTable table;
    private final MessageSearch search;

    public Diagnosis(Database database) {
        this(database, STATEMENT_MAX, SEARCH_MAX);
    }

    Diagnosis(Database database, Duration statementMax, Duration searchMax) {
        this.database = database;
        this.searchTable = new SearchTable(database.schema());
        this.table = new DiagnosisTable(database.schema());
        this.search = new MessageSearch(database, searchTable, statementMax, searchMax);
    }

    /** Why a message is where it is, for every subscription. */
    public Why why(UUID messageId) {
        return ask(messageId, null);
    }

    /** Why a message is where it is, for one subscription; refuses one that does not exist. */
    public Why why(UUID messageId, String subscription) {
        return ask(messageId, Objects.requireNonNull(subscription));
    }

    private Why ask(UUID id, @Nullable String subscription) {
        requireKnown(id, subscription);
        List<DiagnosisTable.Letter> letters = read((tx, now) -> table.letters(tx, id, LETTERS_MAX));
        if (!letters.isEmpty()) {
            // It holds the message whole, and its position: there is no need to look for it.
            return explain(id, letters.get(0).message(), letters, subscription);
        }
        MessageSearch.Result result = search.find(id);
        if (result.rows().isEmpty()) {
            return new Why(id, null, List.of(notFound(id, result)));
        }
        SearchTable.Row row = result.rows().get(0);
        MessageSearch.Place place = search.place(row);
        Found message = found(row, place.entry(), result.rows().size());
        return place.entry() == null
                ? explainUnplaced(id, message, place.unknown(), subscription)
                : explain(id, message, letters, subscription);
    }

    private void requireKnown(UUID id, @Nullable String subscription) {
        if (subscription == null) {
            return;
        }
        List<String> names = read((tx, now) -> table.subscriptions(tx, null, 0, SUBSCRIPTIONS_MAX)).stream()
                .map(DiagnosisTable.Target::name)
                .toList();
        if (!names.contains(subscription)) {
            String known = names.isEmpty()
                    ? "there is none"
                    : "there " + (names.size() == 1 ? "is " : "are ")
                            + String.join(", ", names.subList(0, Math.min(names.size(), NAMES_MAX)))
                            + (names.size() > NAMES_MAX ? " and " + (names.size() - NAMES_MAX) + " more" : "");
            throw new PostroomException(
                    "subscription.unknown",
                    "could not explain message " + id + ": there is no subscription '" + subscription + "'; " + known);
        }
    }

    private Why explain(UUID id, Found found, List<DiagnosisTable.Letter> letters, @Nullable String subscription) {
        long position = Objects.requireNonNull(found.position());
        int keyHash = Objects.requireNonNull(found.keyHash());
        return read((tx, now) -> {
            Found message = stamped(found, table.stampedAt(tx, position).orElse(null));
            List<DiagnosisTable.Target> targets = table.subscriptions(tx, subscription, keyHash, SUBSCRIPTIONS_MAX);
            List<DiagnosisTable.Delivery> deliveries = table.deliveries(
                    tx, targets.stream().map(DiagnosisTable.Target::name).toList(), position);
            DiagnosisTable.JournalEnd end = table.journalEnd(tx);
            List<Answer> answers = new ArrayList<>();
            for (DiagnosisTable.Target target : targets) {
                answers.add(new Case(new Facts(
                                message,
                                position,
                                target,
                                deliveries.stream()
                                        .filter(each -> each.subscription().equals(target.name()))
                                        .findFirst()
                                        .orElse(null),
                                letters.stream()
                                        .filter(each ->
                                                each.owner().equals(target.name()) && each.position() == position)
                                        .toList(),
                                table.attempts(tx, target.name(), position, ATTEMPTS_MAX),
                                table.settlement(
                                                tx, target.name(), target.lane().number(), position)
                                        .orElse(null),
                                table.keyHead(tx, target.name(), keyHash, position)
                                        .orElse(null),
                                skip(tx, target, message, position),
                                end,
                                now))
                        .answer());
            }
            return why(id, message, answers);
        });
    }

    private DiagnosisTable.@Nullable Skip skip(
            Connection tx, DiagnosisTable.Target target, Found message, long position) {
        Instant since = message.stampedAt() == null ? message.occurredAt() : message.stampedAt();
        return table.skip(tx, "subscription " + target.name(), target.lane().number(), position, since)
                .orElse(null);
    }

    /** A message that has no position, or whose position could not be found. */
    private Why explainUnplaced(UUID id, Found message, boolean unknown, @Nullable String subscription) {
        return read((tx, now) -> {
            DiagnosisTable.JournalEnd end = table.journalEnd(tx);
            Reason reason = unknown ? positionUnknown(message) : notStamped(message, end, now);
            Verdict verdict = unknown || end.relays() == 0 ? Verdict.STUCK : Verdict.ON_ITS_WAY;
            List<Answer> answers = new ArrayList<>();
            for (DiagnosisTable.Target target : table.subscriptions(tx, subscription, 0, SUBSCRIPTIONS_MAX)) {
                answers.add(Case.filteredOut(message, target)
                        .map(unwanted -> new Answer(target.name(), Verdict.DONE, List.of(unwanted)))
                        .orElseGet(() -> new Answer(target.name(), verdict, List.of(reason))));
            }
            return why(id, message, answers);
        });
    }

    private static Why why(UUID id, Found message, List<Answer> answers) {
        if (answers.isEmpty()) {
            Reason nobody = Reason.because(Code.NO_SUBSCRIPTION, "nobody subscribes: there is no subscription at all")
                    .next("postroom subscription list");
            return new Why(id, message, List.of(new Answer(null, Verdict.STUCK, List.of(nobody))));
        }
        return new Why(
                id,
                message,
                answers.stream().sorted(Comparator.comparing(Answer::verdict)).toList());
    }

    private static Reason notStamped(Found message, DiagnosisTable.JournalEnd end, Instant now) {
        boolean dead = end.relays() == 0;
        return Reason.because(
                        Code.NOT_STAMPED,
                        "is committed and has no position yet: "
                                + (dead
                                        ? "no relay is alive to give it one"
                                        : Words.count(end.relays(), "relay is", "relays are")
                                                + " alive, one of them gives it one at its next poll")
                                + "; the last stamp was at " + Words.at(end.at()))
                .fact("day", String.valueOf(message.day()))
                .fact("lastStampAt", end.at())
                .fact("lastStampAgo", Duration.between(end.at(), now))
                .fact("lastPosition", end.position())
                .fact("relaysAlive", end.relays())
                .fact("lastRelay", end.lastRelay())
                .fact("lastRelayUntil", end.lastRelayUntil())
                .next(
                        dead
                                ? new String[] {"postroom lane list", "postroom relay --config relay.yaml"}
                                : new String[] {"postroom lane list"});
    }

    private static Reason positionUnknown(Found message) {
        return Reason.because(
                        Code.POSITION_UNKNOWN,
                        "is in the outbox, but its place in the journal could not be found within "
                                + Words.length(STATEMENT_MAX) + ", or that part of the journal is gone")
                .fact("day", String.valueOf(message.day()))
                .next("postroom subscription list");
    }

    private Answer notFound(UUID id, MessageSearch.Result result) {
        Optional<Instant> made = MessageSearch.madeAt(id);
        List<DiagnosisTable.Writer> writers = read((tx, now) -> table.writers(tx, WRITERS_MAX)).stream()
                .filter(writer -> writer.age() == null || writer.age().compareTo(OPEN_MIN) > 0)
                .toList();
        List<Reason> reasons = new ArrayList<>();
        if (!writers.isEmpty()) {
            reasons.add(transactionOpen(writers));
        }
        LocalDate oldest = result.oldestDay();
        boolean tooOld = made.isPresent()
                && oldest != null
                && MessageSearch.day(made.get()).isBefore(oldest);
        if (!result.unsearched().isEmpty()) {
            reasons.add(notFoundInTime(result));
        } else if (tooOld) {
            reasons.add(Reason.because(
                            Code.PARTITION_GONE,
                            "no message and no dead letter has this id: it was made on " + MessageSearch.day(made.get())
                                    + ", and the oldest day that is kept is " + oldest)
                    .fact("idMadeAt", made.get())
                    .fact("oldestDay", oldest.toString())
                    .next());
        } else {
            reasons.add(Reason.because(
                            Code.NOT_FOUND,
                            "no committed message and no dead letter has this id: its transaction was rolled back, or it"
                                    + " was never published here")
                    .fact("idMadeAt", made.orElse(null))
                    .fact("oldestDay", oldest == null ? null : oldest.toString())
                    .fact("schema", database.schema().name())
                    .next());
        }
        return new Answer(null, Verdict.NOT_FOUND, reasons);
    }

    private static Reason notFoundInTime(MessageSearch.Result result) {
        String days = Words.some(result.unsearched().stream()
                .map(each -> each.first().equals(LocalDate.MIN) || each.last().equals(LocalDate.MAX)
                        ? "the default partition"
                        : each.first().toString())
                .distinct()
                .toList());
        return Reason.because(
                        Code.NOT_FOUND_IN_TIME,
                        "no message with this id was found in time; not searched whole: " + days)
                .fact("notSearched", days)
                .fact("oldestDay", String.valueOf(result.oldestDay()))
                .next();
    }

    private static Reason transactionOpen(List<DiagnosisTable.Writer> writers) {
        String all = writers.stream().map(Diagnosis::told).collect(Collectors.joining("; "));
        DiagnosisTable.Writer first = writers.get(0);
        return Reason.because(
                        Code.TRANSACTION_OPEN,
                        "perhaps it is not committed yet: "
                                + Words.count(
                                        writers.size(),
                                        "open transaction has written",
                                        "open transactions have written")
                                + " to the outbox; a message is seen when its transaction commits, and delays no other")
                .fact("transactions", all)
                .fact("pid", first.pid())
                .fact("prepared", first.prepared())
                .fact("application", first.application())
                .fact("openFor", first.age())
                .next(
                        first.pid() == null
                                ? "select * from pg_prepared_xacts where gid = '" + first.prepared() + "'"
                                : "select * from pg_stat_activity where pid = " + first.pid());
    }

    private static String told(DiagnosisTable.Writer writer) {
        String who = writer.pid() == null
                ? "prepared transaction " + writer.prepared()
                : "process " + writer.pid() + " ("
                        + (writer.application() == null || writer.application().isEmpty()
                                ? "no application name"
                                : writer.application())
                        + (writer.role() == null ? "" : ", role " + writer.role())
                        + (writer.address() == null ? "" : ", from " + writer.address())
                        + (writer.state() == null ? "" : ", " + writer.state())
                        + ")";
        return who
                + (writer.age() == null ? ", age hidden from this role" : ", open for " + Words.length(writer.age()));
    }

    private static Found found(SearchTable.Row row, SearchTable.@Nullable Entry entry, int copies) {
        return new Found(
                row.key(),
                row.eventType(),
                row.eventVersion(),
                row.occurredAt(),
                row.availableAt(),
                row.day(),
                entry == null ? null : entry.position(),
                entry == null ? null : entry.keyHash(),
                null,
                copies);
    }

    private static Found stamped(Found found, @Nullable Instant at) {
        return new Found(
                found.key(),
                found.eventType(),
                found.eventVersion(),
                found.occurredAt(),
                found.availableAt(),
                found.day(),
                found.position(),
                found.keyHash(),
                at,
                found.copies());
    }

    private interface Question<T> {
        T ask(Connection tx, Instant now);
    }

    /** One picture of the database, in bounded statements. */
    private <T> T read(Question<T> question) {
        return database.transact(tx -> question.ask(tx, searchTable.begin(tx, STATEMENT_MAX)));
    }
}
