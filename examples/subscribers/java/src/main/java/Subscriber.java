import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Prints each event log once. Delivery is at least once, so ids that were seen are skipped. */
public final class Subscriber {
    /** How many ids are remembered: repeats come soon after, or from a replay of dead letters. */
    private static final int REMEMBERED_MAX = 100_000;

    private static final JsonMapper JSON = new JsonMapper();
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private static final Set<String> SEEN = Collections.newSetFromMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > REMEMBERED_MAX;
        }
    });

    public static void main(String[] args) throws Exception {
        // Auto-commit is safe here: poll() commits only what the poll before it returned, and that was printed.
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", setting("KAFKA_BROKERS", "localhost:9092"),
                "group.id", setting("GROUP_ID", "example.event-log-printer.v1"),
                "auto.offset.reset", "earliest");
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        var main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try {
                main.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        try (consumer) {
            consumer.subscribe(List.of(setting("TOPIC", "sluice.event-logs.v1")));
            while (true) {
                for (var record : consumer.poll(Duration.ofSeconds(1))) {
                    handle(record);
                }
            }
        } catch (WakeupException stopped) {
            // Closing committed what was printed and left the group.
        }
    }

    private static void handle(ConsumerRecord<String, String> record) throws Exception {
        // The topic may get other types of records one day.
        if (!"sluice.event-log.v1".equals(header(record, "ce_type")) || !SEEN.add(header(record, "ce_id"))) {
            return;
        }
        JsonNode entry = JSON.readTree(record.value());
        String source = entry.get(entry.get("step").isNull() ? "event" : "step").asText();
        OUT.println(String.join("\t",
                entry.get("timestamp").asText(),
                entry.get("level").asText(),
                source,
                entry.get("correlationKey").asText("-"),
                entry.get("payload").asText()));
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        var header = record.headers().lastHeader(name);
        return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    private static String setting(String name, String otherwise) {
        return System.getenv().getOrDefault(name, otherwise);
    }
}
