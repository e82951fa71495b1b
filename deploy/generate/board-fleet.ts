/** The board of the whole fleet: roles, bus, public APIs, broker. */
import type { Board } from "./dashboards.ts"
import { column, panel, quantiles, rate, rise, stat, table } from "./panels.ts"

export const fleetBoard: Board = {
  uid: "fleet",
  title: "fleet",
  variables: [
    {
      label: "role",
      of: "bus_connected",
      narrows: [
        "bus_consumed_total",
        "bus_published_total",
        "bus_reconnects_total",
        "bus_redelivered_total",
        "bus_rejected_messages",
        "bus_rejected_total",
        "bus_relay_behind_since_seconds",
        "bus_relay_position",
        "bus_relay_waiting_since_seconds",
        "bus_stream_copies_behind",
        "bus_stream_lost",
        "bus_topology_differences",
        "bus_unusable_streams",
        "check_failing",
        "drain_work_total",
        "egress_refusals_total",
        "egress_sockets_opened_total",
        "http_connections_cut_total",
        "http_idempotent_requests_total",
        "http_request_seconds_bucket",
        "http_requests_total",
        "http_shared_rate_takes_total",
        "nodejs_eventloop_lag_p99_seconds",
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "process_unready",
        "starling_build_info",
        "tracing_spans_total"
      ]
    }
  ],
  rows: [
    {
      title: "Now",
      panels: [
        stat("Connected", "none", "sum(bus_connected)", "Roles with a connection to the broker, each pod counted."),
        stat("Not connected", "none", "count(bus_connected == 0) or vector(0)", "Roles that wait for the broker.", 1),
        stat("Pods down", "none", 'count(up{job="starling"} == 0) or vector(0)', "They do not answer the scraper.", 1),
        stat(
          "Alerts",
          "none",
          'count(ALERTS{alertstate="firing",alertname=~"Starling.*|Webhook.*|Payment.*|Gateway.*|Speech.*|Pipeline.*"}) or vector(0)',
          "That fire now.",
          1
        ),
        stat("Rejected", "short", rise("bus_rejected_total"), "Messages put into REJECTED within the time shown.", 1),
        stat(
          "Server errors",
          "percentunit",
          'sum(rate(http_requests_total{status="5xx"}[$__rate_interval])) / sum(rate(http_requests_total[$__rate_interval]))',
          "Of the answers of all APIs.",
          0.02
        )
      ]
    },
    {
      title: "Releases",
      panels: [
        table("Releases", "What each role runs; two lines of a role are a rollout.", [
          column("pods", "none", "count by (role, version, commit) (starling_build_info)")
        ])
      ]
    },
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
        panel(
          "Processor",
          "none",
          "sum by (role) (rate(process_cpu_seconds_total[$__rate_interval]))",
          "{{role}}",
          "Cores."
        ),
        panel("Memory", "bytes", "max by (role) (process_resident_memory_bytes)", "{{role}}", "The largest pod."),
        panel(
          "Event loop, p99",
          "s",
          "max by (role) (nodejs_eventloop_lag_p99_seconds)",
          "{{role}}",
          "Above 0.1 s everything else is late too."
        ),
        panel(
          "Checks that fail",
          "none",
          "max by (role, check, subject) (check_failing) > 0",
          "{{role}} {{check}} {{subject}}",
          "What a role tried and could not do; /readyz has the reason."
        ),
        panel(
          "Pods not ready",
          "none",
          "max by (pod) (process_unready) > 0",
          "{{pod}}",
          "/readyz answers 503; a pod that drains does not count."
        ),
        panel(
          "Streams not as declared",
          "none",
          "max by (role) (bus_topology_differences)",
          "{{role}}",
          "A role waits until this is 0."
        ),
        panel(
          "Streams that cannot be used",
          "none",
          "max by (role, use) (bus_unusable_streams)",
          "{{role}} {{use}}",
          "The broker answers, and its streams do not take what the role writes or reads."
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
          "Rejected, undecided",
          "short",
          "max by (origin) (bus_rejected_messages)",
          "{{origin}}",
          "In REJECTED until they are resent or discarded."
        ),
        panel(
          "Streams lost, or with copies behind",
          "short",
          "max by (stream) (bus_stream_lost or bus_stream_copies_behind) > 0",
          "{{stream}}",
          "1 for a lost stream, else the copies that are away or behind."
        ),
        panel(
          "Relays",
          "reqps",
          "max by (relay) (rate(bus_relay_position[$__rate_interval]))",
          "{{relay}}",
          "Messages a second, read and written on."
        ),
        panel(
          "Relays behind",
          "s",
          "time() - max by (relay) (bus_relay_behind_since_seconds > 0 or bus_relay_waiting_since_seconds > 0)",
          "{{relay}}",
          "How long the oldest message waits for a relay; nothing where none waits."
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
          "Calls refused by the address guard",
          "reqps",
          rate("egress_refusals_total", "use, range"),
          "{{use}} {{range}}",
          "URLs that lead where they must not."
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
          'max by (stream_name) (nats_stream_total_messages{account_name=~"FLEET|[$]G"})',
          "{{stream_name}}",
          "In each stream."
        ),
        panel(
          "Bytes",
          "bytes",
          'max by (stream_name) (nats_stream_total_bytes{account_name=~"FLEET|[$]G"})',
          "{{stream_name}}",
          "In each stream."
        ),
        panel("Connections", "short", "nats_varz_connections", "{{server_id}}", "Of roles, services and people."),
        panel(
          "Slow consumers",
          "short",
          "increase(nats_varz_slow_consumers[1h])",
          "{{server_id}}",
          "Connections that the broker cut because they did not read, in the last hour."
        ),
        panel("Memory of the broker", "bytes", "nats_varz_mem", "{{server_id}}", "Each server's own."),
        panel(
          "Messages through the broker",
          "reqps",
          "rate(nats_varz_in_msgs[$__rate_interval]) + rate(nats_varz_out_msgs[$__rate_interval])",
          "{{server_id}}",
          "In and out, core messages included."
        ),
        panel(
          "Streams' limits",
          "percentunit",
          'max by (stream_name) (nats_stream_total_bytes{account_name=~"FLEET|[$]G"} / (nats_stream_limit_bytes > 0))',
          "{{stream_name}}",
          "Used, of those with a limit."
        )
      ]
    }
  ]
}
