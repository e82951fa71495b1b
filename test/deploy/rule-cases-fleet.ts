/** When the whole fleet's alerts fire, and when they stay silent. */
import { bornAt, ruleCase, rising, type RuleCase } from "./rule-case.ts"

export const fleetCases: ReadonlyArray<RuleCase> = [
  ruleCase(
    "StarlingPodDown",
    "5m",
    { 'up{job="starling",pod="sweeper-1"}': "1 0x10" },
    { job: "starling", pod: "sweeper-1" },
    { 'up{job="starling",pod="sweeper-1"}': "1x10", 'up{job="other",pod="x"}': "0x10" }
  ),
  ruleCase(
    "StarlingTopologyDiffers",
    "10m",
    { 'bus_topology_differences{role="sweeper",pod="a"}': "2x20" },
    { role: "sweeper", pod: "a" },
    { 'bus_topology_differences{role="sweeper",pod="a"}': "2 2 2 0x20" }
  ),
  ruleCase(
    "StarlingStreamsUnusable",
    "5m",
    { 'bus_unusable_streams{role="sweeper",pod="a",use="write"}': "2x10" },
    { role: "sweeper", pod: "a", use: "write" },
    { 'bus_unusable_streams{role="sweeper",pod="a",use="write"}': "0 2 0x10" }
  ),
  ruleCase(
    "StarlingBusFlapping",
    "20m",
    rising('bus_reconnects_total{role="sweeper"}', 1),
    { role: "sweeper" },
    { 'bus_reconnects_total{role="sweeper"}': "0x10 1x20" }
  ),
  ruleCase(
    "StarlingPublishFailing",
    "20m",
    {
      ...rising('bus_published_total{role="sweeper",stream="LOG",outcome="failed"}', 10),
      ...rising('bus_published_total{role="sweeper",stream="LOG",outcome="stored"}', 90)
    },
    { role: "sweeper", stream: "LOG" },
    {
      ...rising('bus_published_total{role="sweeper",stream="LOG",outcome="failed"}', 0),
      ...rising('bus_published_total{role="sweeper",stream="LOG",outcome="stored"}', 90)
    }
  ),
  ruleCase(
    "StarlingMessagesRejected",
    "30m",
    { 'bus_rejected_messages{origin="events"}': "1x60" },
    { origin: "events" },
    { 'bus_rejected_messages{origin="events"}': "0x60" }
  ),
  ruleCase(
    "StarlingProcessUnready",
    "30m",
    { 'process_unready{pod="p"}': "1x60" },
    { pod: "p" },
    { 'process_unready{pod="p"}': "0x60" }
  ),
  ruleCase(
    "StarlingStreamLost",
    "30m",
    { 'bus_stream_lost{stream="S"}': "1x60" },
    { stream: "S" },
    { 'bus_stream_lost{stream="S"}': "0x60" }
  ),
  ruleCase(
    "StarlingStreamCopiesBehind",
    "30m",
    { 'bus_stream_copies_behind{stream="S"}': "1x60" },
    { stream: "S" },
    { 'bus_stream_copies_behind{stream="S"}': "0x60" }
  ),
  ruleCase(
    "StarlingHandlersDying",
    "30m",
    { 'bus_consumed_total{role="r",stream="S",outcome="failed"}': bornAt(26) },
    { role: "r", stream: "S" },
    rising('bus_consumed_total{role="r",stream="S",outcome="acked"}', 5)
  ),
  ruleCase(
    "StarlingRelayStuck",
    "40m",
    { 'bus_relay_waiting_since_seconds{relay="fan-out"}': "60x60" },
    { relay: "fan-out" },
    { 'bus_relay_waiting_since_seconds{relay="fan-out"}': "0x60" }
  ),
  ruleCase(
    "StarlingServerErrors",
    "20m",
    {
      ...rising('http_requests_total{api="speech-api",route="a",status="5xx"}', 5),
      ...rising('http_requests_total{api="speech-api",route="a",status="2xx"}', 95)
    },
    { api: "speech-api" },
    rising('http_requests_total{api="speech-api",route="a",status="4xx"}', 95)
  ),
  ruleCase(
    "StarlingConnectionsCut",
    "30m",
    rising('http_connections_cut_total{api="speech-api",reason="too slow"}', 600),
    { api: "speech-api", reason: "too slow" },
    rising('http_connections_cut_total{api="speech-api",reason="too slow"}', 60)
  ),
  ruleCase(
    "StarlingRateLimitsBlind",
    "20m",
    rising('http_shared_rate_takes_total{window="free",outcome="failed"}', 2),
    { window: "free" },
    rising('http_shared_rate_takes_total{window="free",outcome="refused"}', 2)
  ),
  ruleCase(
    "StarlingEventLoopLate",
    "20m",
    { 'nodejs_eventloop_lag_p99_seconds{role="speech-api",pod="a"}': "0.4x30" },
    { role: "speech-api", pod: "a" },
    { 'nodejs_eventloop_lag_p99_seconds{role="speech-api",pod="a"}': "0.02x30" }
  ),
  ruleCase(
    "StarlingTracesDropped",
    "40m",
    rising('tracing_spans_total{role="r",outcome="dropped"}', 2),
    { role: "r" },
    rising('tracing_spans_total{role="r",outcome="sent"}', 2)
  ),
  ruleCase(
    "StarlingEgressRefused",
    "30m",
    { 'egress_refusals_total{use="webhook",range="private"}': bornAt(26) },
    { use: "webhook", range: "private" },
    { 'egress_refusals_total{use="webhook",range="private"}': "3x120" }
  ),
  ruleCase(
    "StarlingStoreFilling",
    "20m",
    {
      'nats_server_total_message_bytes{server_name="nats-0"}': "90x30",
      'nats_server_max_storage{server_name="nats-0"}': "100x30"
    },
    { server_name: "nats-0" },
    {
      'nats_server_total_message_bytes{server_name="nats-0"}': "60x30",
      'nats_server_max_storage{server_name="nats-0"}': "100x30"
    }
  ),
  ruleCase(
    "StarlingBusDisconnected",
    "20m",
    { 'bus_connected{pod="p",role="sweeper"}': "0x60" },
    { pod: "p" },
    { 'bus_connected{pod="p",role="sweeper"}': "1x60" }
  ),
  ruleCase(
    "StarlingStreamFilling",
    "20m",
    { 'check_failing{check="room",subject="LOG"}': "1x60" },
    { subject: "LOG" },
    { 'check_failing{check="room",subject="LOG"}': "0x60" }
  ),
  ruleCase(
    "StarlingDiskFilling",
    "20m",
    { 'check_failing{check="disk",subject="",pod="p"}': "1x60" },
    { pod: "p" },
    { 'check_failing{check="disk",subject="",pod="p"}': "0x60" }
  ),
  ruleCase(
    "StarlingClockSkewed",
    "20m",
    { 'check_failing{check="clock",subject="",pod="p"}': "1x60" },
    { pod: "p" },
    { 'check_failing{check="clock",subject="",pod="p"}': "0x60" }
  ),
  ruleCase(
    "StarlingCertificateEnding",
    "20m",
    { 'check_failing{check="certificate",subject="/ca.pem"}': "1x60" },
    { subject: "/ca.pem" },
    { 'check_failing{check="certificate",subject="/ca.pem"}': "0x60" }
  ),
  ruleCase(
    "StarlingTokensEnding",
    "20m",
    { 'check_failing{check="tokens",subject=""}': "1x60" },
    {},
    { 'check_failing{check="tokens",subject=""}': "0x60" }
  ),
  ruleCase(
    "StarlingRelayBehind",
    "40m",
    { 'bus_relay_behind_since_seconds{relay="fan-out"}': "60x60" },
    { relay: "fan-out" },
    { 'bus_relay_behind_since_seconds{relay="fan-out"}': "0x60" }
  ),
  ruleCase(
    "StarlingLoopStopping",
    "20m",
    { 'check_failing{check="loop",subject="announce"}': "1x60" },
    { subject: "announce" },
    { 'check_failing{check="loop",subject="announce"}': "0x60" }
  )
]
