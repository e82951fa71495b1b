/** Alert rules for every role: is it up, does it reach the bus, is its input sound. */
import { risen } from "./risen.ts"
import type { RuleGroup } from "./rules.ts"

export const fleetRules: RuleGroup = {
  name: "starling-fleet",
  recordings: [
    {
      record: "role:bus_publish_failures:ratio_rate5m",
      expr: 'sum by (role, stream) (rate(bus_published_total{outcome="failed"}[5m])) / sum by (role, stream) (rate(bus_published_total[5m]))'
    },
    {
      record: "api:http_server_errors:ratio_rate5m",
      expr: 'sum by (api) (rate(http_requests_total{status="5xx"}[5m])) / sum by (api) (rate(http_requests_total[5m]))'
    },
    {
      record: "api_route:http_request_seconds:p99_rate5m",
      expr: "histogram_quantile(0.99, sum by (api, route, le) (rate(http_request_seconds_bucket[5m])))"
    }
  ],
  alerts: [
    {
      name: "StarlingPodDown",
      expr: 'up{job="starling"} == 0',
      after: "2m",
      severity: "critical",
      summary: "{{ $labels.pod }} does not answer its scraper."
    },
    {
      name: "StarlingBusDisconnected",
      expr: "bus_connected == 0",
      after: "1m",
      severity: "critical",
      summary: "{{ $labels.role }} in {{ $labels.pod }} has no connection to the broker."
    },
    {
      name: "StarlingTopologyDiffers",
      expr: "bus_topology_differences > 0",
      after: "5m",
      severity: "warning",
      summary:
        "{{ $labels.role }} in {{ $labels.pod }} waits for streams that are not as declared: {{ $value | humanize }} differences."
    },
    {
      name: "StarlingStreamsUnusable",
      expr: "bus_unusable_streams > 0",
      after: "1m",
      severity: "critical",
      summary:
        "{{ $labels.role }} in {{ $labels.pod }} cannot {{ $labels.use }} {{ $value | humanize }} of its streams, though the broker answers."
    },
    {
      name: "StarlingBusFlapping",
      expr: "sum by (role) (increase(bus_reconnects_total[15m])) > 10",
      after: "0m",
      severity: "warning",
      summary: "{{ $labels.role }} lost its connection to the broker {{ $value | humanize }} times in 15 minutes."
    },
    {
      name: "StarlingPublishFailing",
      expr: "role:bus_publish_failures:ratio_rate5m > 0.01",
      after: "5m",
      severity: "critical",
      summary:
        "{{ $value | humanizePercentage }} of what {{ $labels.role }} publishes to {{ $labels.stream }} is not stored."
    },
    {
      name: "StarlingMessagesRejected",
      expr: `sum by (origin) ${risen("bus_rejected_total", "15m")} > 0`,
      after: "0m",
      severity: "warning",
      summary:
        "{{ $value | humanize }} messages from {{ $labels.origin }} broke their schema within 15 minutes and are in REJECTED."
    },
    {
      name: "StarlingHandlersDying",
      expr: `sum by (role, stream) ${risen('bus_consumed_total{outcome="failed"}', "15m")} > 0`,
      after: "0m",
      severity: "warning",
      summary:
        "Handlers of {{ $labels.stream }} in {{ $labels.role }} died {{ $value | humanize }} times within 15 minutes; each is a bug."
    },
    {
      name: "StarlingRelayStuck",
      expr: 'max by (relay) (bus_relay_position) < max by (relay) (bus_relay_position offset 10m) + 1 and on () sum(increase(bus_published_total{stream=~"EVENTS|LOG",outcome="stored"}[10m])) > 100',
      after: "5m",
      severity: "critical",
      summary: "The relay {{ $labels.relay }} is stuck at {{ $value | humanize }} while events arrive."
    },
    {
      name: "StarlingServerErrors",
      expr: "api:http_server_errors:ratio_rate5m > 0.02",
      after: "5m",
      severity: "critical",
      summary: "{{ $value | humanizePercentage }} of the answers of {{ $labels.api }} are 5xx."
    },
    {
      name: "StarlingConnectionsCut",
      expr: "sum by (api, reason) (rate(http_connections_cut_total[5m])) > 5",
      after: "10m",
      severity: "warning",
      summary: "{{ $labels.api }} cuts {{ $value | humanize }} connections a second: {{ $labels.reason }}."
    },
    {
      name: "StarlingRateLimitsBlind",
      expr: 'sum by (window) (rate(http_shared_rate_takes_total{outcome="failed"}[5m])) > 0',
      after: "5m",
      severity: "warning",
      summary:
        "{{ $value | humanize }} calls a second of the window {{ $labels.window }} cannot be counted over all replicas."
    },
    {
      name: "StarlingEventLoopLate",
      expr: "nodejs_eventloop_lag_p99_seconds > 0.25",
      after: "10m",
      severity: "warning",
      summary:
        "{{ $labels.role }} in {{ $labels.pod }} is short of CPU: its event loop is {{ $value | humanizeDuration }} late."
    },
    {
      name: "StarlingTracesDropped",
      expr: 'sum by (role) (rate(tracing_spans_total{outcome="dropped"}[5m])) > 0',
      after: "15m",
      severity: "info",
      summary:
        "The trace collector does not keep up with {{ $labels.role }}: {{ $value | humanize }} spans a second are lost."
    },
    {
      name: "StarlingEgressRefused",
      expr: `sum by (use, range) ${risen("egress_refusals_total", "15m")} > 0`,
      after: "0m",
      severity: "warning",
      summary:
        "{{ $value | humanize }} calls for {{ $labels.use }} resolved into {{ $labels.range }} within 15 minutes and were refused."
    },
    {
      name: "StarlingStoreFilling",
      expr: "nats_server_total_message_bytes / nats_server_max_storage > 0.8",
      after: "10m",
      severity: "critical",
      summary: "The broker's disk on {{ $labels.server_name }} is {{ $value | humanizePercentage }} full."
    },
    {
      name: "StarlingStreamFilling",
      expr: 'nats_stream_total_bytes{account_name=~"FLEET|[$]G"} / (nats_stream_limit_bytes > 0) > 0.8',
      after: "10m",
      severity: "warning",
      summary: "The stream {{ $labels.stream_name }} is {{ $value | humanizePercentage }} full."
    }
  ]
}
