/** Publishes an event, the same again, and a wrong one; then reads on from the place of the first. */
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.impl.Headers;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValue;
import io.nats.client.support.JsonValueUtils;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

public final class Publish {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** Within two minutes an event with the same id is stored once: after a timeout or Unavailable, send the same again. */
    static JsonValue publish(Connection connection, String id, String details) throws Exception {
        String event = "{\"event\":\"order.created\",\"eventSchemaVersion\":\"1.0.0\",\"occurredAt\":\"%s\",\"details\":%s}"
                .formatted(Instant.ofEpochMilli(System.currentTimeMillis()), details);
        Headers headers = new Headers().put("Nats-Msg-Id", id);
        Message reply = connection.requestWithTimeout(
                "publish.order.created", headers, event.getBytes(StandardCharsets.UTF_8), PATIENCE).get();
        JsonValue answer = JsonParser.parse(reply.getData());
        switch (answer.map.get("_tag").string) {
            case "Stored" -> System.out.println(
                    "stored as " + answer.map.get("sequence") + (answer.map.get("duplicate").bool ? ", a duplicate" : ""));
            case "Refused" -> {
                for (JsonValue fault : answer.map.get("faults").array)
                    System.out.println("refused: " + fault.map.get("path").string + " " + fault.map.get("message").string);
            }
            default -> System.out.println("unavailable: " + answer.map.get("detail").string);
        }
        return answer;
    }

    public static void main(String[] parameters) throws Exception {
        String user = System.getenv().getOrDefault("NATS_USER", "internal-services");
        Options options = Options.builder()
                .server(System.getenv().getOrDefault("NATS_URL", "nats://127.0.0.1:4222"))
                .userInfo(user, System.getenv("NATS_PASSWORD"))
                // Answers come to an inbox of the user's own; no other is allowed.
                .inboxPrefix("_INBOX_" + user)
                .build();
        try (Connection connection = Nats.connect(options)) {
            String id = UUID.randomUUID().toString();
            JsonValue first = publish(connection, id, "{\"id\":\"A-1\"}");
            publish(connection, id, "{\"id\":\"A-1\"}");
            publish(connection, UUID.randomUUID().toString(), "{\"id\":1}");

            long sequence = JsonValueUtils.readLong(first, "sequence", 0);
            // The client's own getMessage asks for the stream's state first, which is not for services.
            for (;;) {
                String next = "{\"seq\":%d,\"next_by_subj\":\"events-from.*.order.created\"}".formatted(sequence);
                Message found = connection.requestWithTimeout(
                        "$JS.API.DIRECT.GET.EVENTS", next.getBytes(StandardCharsets.UTF_8), PATIENCE).get();
                if (found.isStatusMessage()) break;
                long place = Long.parseLong(found.getHeaders().getFirst("Nats-Sequence"));
                System.out.println("read " + place + " " + found.getHeaders().getFirst("Nats-Subject"));
                sequence = place + 1;
            }
        }
    }
}
