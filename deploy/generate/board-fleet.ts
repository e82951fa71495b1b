/** The board of the whole fleet: roles, bus, public APIs, broker. */
import type { Board } from "./dashboards.ts"
import { panel, quantiles, rate } from "./panels.ts"

export const fleetBoard: Board = {
  uid: "fleet",
  title: "fleet",
  rows: [
    {
      title: "Roles",
      panels: [
        panel(
          "Pods that answer",
          "none",
          "sum by (role) (bus_connected)",
          "{{role}}",
          "With a connection to the broker."
        ),
        panel("Processor", "none", "sum by (role) (rate(process_cpu_seconds_total[5m]))", "{{role}}", "Cores."),
        panel("Memory", "bytes", "max by (role) (process_resident_memory_bytes)", "{{role}}", "The largest pod."),
        panel(
          "Event loop, p99",
          "s",
          "max by (role) (nodejs_eventloop_lag_p99_seconds)",
          "{{role}}",
          "Above 0.1 s everything else is late too."
        ),
        panel(
          "Drained work",
          "short",
          "sum by (role, outcome) (drain_work_total)",
          "{{role}} {{outcome}}",
          "What a stopping pod finished or gave back."
        ),
        panel(
          "Spans",
          "reqps",
          rate("tracing_spans_total", "outcome"),
          "{{outcome}}",
          "Sent to the collector, or dropped."
        )
      ]
    },
    {
      title: "Bus",
      panels: [
        panel(
          "Published",
          "reqps",
          rate("bus_published_total", "stream, outcome"),
          "{{stream}} {{outcome}}",
          "failed: not known to be stored."
        ),
        panel(
          "Consumed",
          "reqps",
          rate("bus_consumed_total", "stream, outcome"),
          "{{stream}} {{outcome}}",
          "By what became of it."
        ),
        panel(
          "Delivered again",
          "reqps",
          rate("bus_redelivered_total", "stream"),
          "{{stream}}",
          "After a crash, or when acks are late."
        ),
        panel(
          "Rejected",
          "short",
          "sum by (origin) (increase(bus_rejected_total[1h]))",
          "{{origin}}",
          "In REJECTED, with the reason."
        ),
        panel(
          "Relays",
          "reqps",
          "max by (relay) (rate(bus_relay_position[5m]))",
          "{{relay}}",
          "Messages a second, read and written on."
        ),
        panel(
          "Reconnects",
          "short",
          "sum by (role) (increase(bus_reconnects_total[1h]))",
          "{{role}}",
          "In the last hour."
        )
      ]
    },
    {
      title: "Public APIs",
      panels: [
        panel(
          "Requests",
          "reqps",
          rate("http_requests_total", "api, status"),
          "{{api}} {{status}}",
          "gone: the caller left before the end."
        ),
        panel(
          "Requests, p99",
          "s",
          quantiles("http_request_seconds", "api"),
          "{{api}}",
          "From headers to the last byte; streams are as long as they are."
        ),
        panel(
          "Connections cut",
          "reqps",
          rate("http_connections_cut_total", "api, reason"),
          "{{api}} {{reason}}",
          "Too many, too slow, malformed, stalled."
        ),
        panel(
          "Idempotent requests",
          "reqps",
          rate("http_idempotent_requests_total", "route, outcome"),
          "{{route}} {{outcome}}",
          "replayed: answered from what was stored."
        ),
        panel(
          "Shared rate limits",
          "reqps",
          rate("http_shared_rate_takes_total", "window, outcome"),
          "{{window}} {{outcome}}",
          "Over all replicas."
        ),
        panel(
          "Sockets opened",
          "reqps",
          rate("egress_sockets_opened_total", "use"),
          "{{use}}",
          "Calls out that found no open connection."
        )
      ]
    },
    {
      title: "Broker",
      panels: [
        panel(
          "Disk used",
          "percentunit",
          "nats_server_total_message_bytes / nats_server_max_storage",
          "{{server_name}}",
          "Of what JetStream may take."
        ),
        panel(
          "Messages",
          "short",
          'max by (stream_name) (nats_stream_total_messages{account_name="FLEET"})',
          "{{stream_name}}",
          "In each stream."
        ),
        panel(
          "Bytes",
          "bytes",
          'max by (stream_name) (nats_stream_total_bytes{account_name="FLEET"})',
          "{{stream_name}}",
          "In each stream."
        )
      ]
    }
  ]
}
