/** For each alert: series with which it fires, and with which it stays silent. A sample a minute, in promtool's notation. */

type Series = Readonly<Record<string, string>>

export interface RuleCase {
  readonly alert: string
  /** When it is looked at. */
  readonly at: string
  readonly fires: Series
  /** Labels of the alert, beside the severity. */
  readonly labels: Series
  readonly silent: Series
}

const test = (alert: string, at: string, fires: Series, labels: Series, silent: Series): RuleCase => ({
  alert,
  at,
  fires,
  labels,
  silent
})

const up = (name: string, step: number) => ({ [name]: `0+${step}x60` })

export const ruleCases: ReadonlyArray<RuleCase> = [
  test(
    "StarlingPodDown",
    "5m",
    { 'up{job="starling",pod="sweeper-1"}': "1 0x10" },
    { job: "starling", pod: "sweeper-1" },
    { 'up{job="starling",pod="sweeper-1"}': "1x10", 'up{job="other",pod="x"}': "0x10" }
  ),
  test(
    "StarlingBusDisconnected",
    "5m",
    { 'bus_connected{role="sweeper",pod="a"}': "1 0x10" },
    { role: "sweeper", pod: "a" },
    { 'bus_connected{role="sweeper",pod="a"}': "1 0 1x10" }
  ),
  test(
    "StarlingBusFlapping",
    "20m",
    up('bus_reconnects_total{role="sweeper"}', 1),
    { role: "sweeper" },
    { 'bus_reconnects_total{role="sweeper"}': "0x10 1x20" }
  ),
  test(
    "StarlingPublishFailing",
    "20m",
    {
      ...up('bus_published_total{role="sweeper",stream="LOG",outcome="failed"}', 10),
      ...up('bus_published_total{role="sweeper",stream="LOG",outcome="stored"}', 90)
    },
    { role: "sweeper", stream: "LOG" },
    {
      ...up('bus_published_total{role="sweeper",stream="LOG",outcome="failed"}', 0),
      ...up('bus_published_total{role="sweeper",stream="LOG",outcome="stored"}', 90)
    }
  ),
  test(
    "StarlingMessagesRejected",
    "10m",
    { 'bus_rejected_total{origin="events"}': "0 0 1x20" },
    { origin: "events" },
    { 'bus_rejected_total{origin="events"}': "4x20" }
  ),
  test(
    "StarlingHandlersDying",
    "10m",
    { 'bus_consumed_total{role="r",stream="S",outcome="failed"}': "0 0 1x20" },
    { role: "r", stream: "S" },
    up('bus_consumed_total{role="r",stream="S",outcome="acked"}', 5)
  ),
  test(
    "StarlingRelayStuck",
    "40m",
    {
      'bus_relay_position{relay="fan-out"}': "500x60",
      ...up('bus_published_total{stream="EVENTS",outcome="stored"}', 60)
    },
    { relay: "fan-out" },
    {
      'bus_relay_position{relay="fan-out"}': "0+60x60",
      'bus_relay_position{relay="announce"}': "0+60x60",
      ...up('bus_published_total{stream="EVENTS",outcome="stored"}', 60)
    }
  ),
  test(
    "StarlingServerErrors",
    "20m",
    {
      ...up('http_requests_total{api="speech-api",route="a",status="5xx"}', 5),
      ...up('http_requests_total{api="speech-api",route="a",status="2xx"}', 95)
    },
    { api: "speech-api" },
    up('http_requests_total{api="speech-api",route="a",status="4xx"}', 95)
  ),
  test(
    "StarlingConnectionsCut",
    "30m",
    up('http_connections_cut_total{api="speech-api",reason="too slow"}', 600),
    { api: "speech-api", reason: "too slow" },
    up('http_connections_cut_total{api="speech-api",reason="too slow"}', 60)
  ),
  test(
    "StarlingRateLimitsBlind",
    "20m",
    up('http_shared_rate_takes_total{window="free",outcome="failed"}', 2),
    { window: "free" },
    up('http_shared_rate_takes_total{window="free",outcome="refused"}', 2)
  ),
  test(
    "StarlingEventLoopLate",
    "20m",
    { 'nodejs_eventloop_lag_p99_seconds{role="speech-api",pod="a"}': "0.4x30" },
    { role: "speech-api", pod: "a" },
    { 'nodejs_eventloop_lag_p99_seconds{role="speech-api",pod="a"}': "0.02x30" }
  ),
  test(
    "StarlingTracesDropped",
    "40m",
    up('tracing_spans_total{role="r",outcome="dropped"}', 2),
    { role: "r" },
    up('tracing_spans_total{role="r",outcome="sent"}', 2)
  ),
  test(
    "StarlingEgressRefused",
    "10m",
    { 'egress_refusals_total{use="webhook",range="private"}': "0 0 1x20" },
    { use: "webhook", range: "private" },
    { 'egress_refusals_total{use="webhook",range="private"}': "3x20" }
  ),
  test(
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
  test(
    "StarlingStreamFilling",
    "20m",
    {
      'nats_stream_total_bytes{account_name="FLEET",stream_name="RECEIPTS"}': "90x30",
      'nats_stream_limit_bytes{account_name="FLEET",stream_name="RECEIPTS"}': "100x30"
    },
    { account_name: "FLEET", stream_name: "RECEIPTS" },
    {
      'nats_stream_total_bytes{account_name="FLEET",stream_name="LOG"}': "90x30",
      'nats_stream_limit_bytes{account_name="FLEET",stream_name="LOG"}': "-1x30"
    }
  ),
  test(
    "WebhookBacklogGrowing",
    "40m",
    { 'webhook_backlog{endpoint="a"}': "60000+1000x60" },
    {},
    { 'webhook_backlog{endpoint="a"}': "60000+1000x60", 'webhook_circuit_state{endpoint="a"}': "2x60" }
  ),
  test(
    "WebhookEndpointLate",
    "20m",
    { 'webhook_oldest_due_age_seconds{endpoint="a"}': "400x30", 'webhook_circuit_state{endpoint="a"}': "0x30" },
    { endpoint: "a" },
    { 'webhook_oldest_due_age_seconds{endpoint="a"}': "400x30", 'webhook_endpoint_paused{endpoint="a"}': "1x30" }
  ),
  test(
    "WebhookEndpointFailing",
    "40m",
    {
      ...up('webhook_attempts_total{endpoint="a",status_class="5xx"}', 8),
      ...up('webhook_attempts_total{endpoint="a",status_class="2xx"}', 2)
    },
    { endpoint: "a" },
    up('webhook_attempts_total{endpoint="a",status_class="2xx"}', 2)
  ),
  test(
    "WebhookCircuitOpen",
    "30m",
    { 'webhook_circuit_state{endpoint="a"}': "2x60" },
    { endpoint: "a" },
    { 'webhook_circuit_state{endpoint="a"}': "1x60" }
  ),
  test(
    "WebhookEndpointPaused",
    "2h",
    { 'webhook_endpoint_paused{endpoint="a"}': "1x200" },
    { endpoint: "a" },
    { 'webhook_endpoint_paused{endpoint="a"}': "0x200" }
  ),
  test(
    "WebhookDeliveriesAbandoned",
    "10m",
    { 'webhook_deliveries_total{endpoint="a",outcome="abandoned"}': "0 0 1x20" },
    { endpoint: "a" },
    up('webhook_deliveries_total{endpoint="a",outcome="delivered"}', 2)
  ),
  test(
    "WebhookParkedLong",
    "26h",
    { 'webhook_parked_events{endpoint="a"}': "9x1600" },
    { endpoint: "a" },
    { 'webhook_parked_events{endpoint="a"}': "9x600 0x1000" }
  ),
  test(
    "WebhookEventsMissed",
    "10m",
    { 'webhook_parked_expired_total{endpoint="a"}': "0 0 7x20" },
    { endpoint: "a" },
    { 'webhook_parked_expired_total{endpoint="a"}': "0x20" }
  ),
  test(
    "WebhookAttemptLogLossy",
    "10m",
    { webhook_attempt_records_dropped_total: "0 0 7x20" },
    {},
    { webhook_attempt_records_dropped_total: "0x20" }
  ),
  test(
    "WebhookDispatchSlow",
    "30m",
    {
      ...up('webhook_publish_to_first_byte_seconds_bucket{endpoint="a",le="1"}', 50),
      ...up('webhook_publish_to_first_byte_seconds_bucket{endpoint="a",le="2.5"}', 100),
      ...up('webhook_publish_to_first_byte_seconds_bucket{endpoint="a",le="+Inf"}', 100)
    },
    {},
    {
      ...up('webhook_publish_to_first_byte_seconds_bucket{endpoint="a",le="1"}', 100),
      ...up('webhook_publish_to_first_byte_seconds_bucket{endpoint="a",le="+Inf"}', 100)
    }
  ),
  test(
    "WebhookRetriesLate",
    "30m",
    {
      ...up('webhook_retry_lateness_seconds_bucket{endpoint="a",le="5"}', 50),
      ...up('webhook_retry_lateness_seconds_bucket{endpoint="a",le="30"}', 100),
      ...up('webhook_retry_lateness_seconds_bucket{endpoint="a",le="+Inf"}', 100)
    },
    {},
    {
      ...up('webhook_retry_lateness_seconds_bucket{endpoint="a",le="5"}', 100),
      ...up('webhook_retry_lateness_seconds_bucket{endpoint="a",le="+Inf"}', 100)
    }
  ),
  test(
    "PaymentBooksDiffer",
    "10m",
    { 'payment_book_findings_total{network="n",finding="TransferWithoutReceipt"}': "0 0 1x20" },
    { network: "n", finding: "TransferWithoutReceipt" },
    { 'payment_book_findings_total{network="n",finding="TransferWithoutReceipt"}': "1x20" }
  ),
  test(
    "PaymentBooksUnread",
    "90m",
    { 'payment_books_read_timestamp_seconds{network="n"}': "0x120" },
    { network: "n" },
    { 'payment_books_read_timestamp_seconds{network="n"}': "0+60x120" }
  ),
  test(
    "PaymentSettlementsUncollected",
    "10m",
    { 'payment_settlement_tries_total{network="n",outcome="uncollected"}': "0 0 1x20" },
    { network: "n" },
    up('payment_settlement_tries_total{network="n",outcome="settled"}', 3)
  ),
  test(
    "PaymentSettlementsSlow",
    "50m",
    {
      ...up('payment_settlement_seconds_bucket{network="n",le="60"}', 50),
      ...up('payment_settlement_seconds_bucket{network="n",le="300"}', 100),
      ...up('payment_settlement_seconds_bucket{network="n",le="+Inf"}', 100)
    },
    { network: "n" },
    {
      ...up('payment_settlement_seconds_bucket{network="n",le="60"}', 100),
      ...up('payment_settlement_seconds_bucket{network="n",le="+Inf"}', 100)
    }
  ),
  test(
    "PaymentSettlerWithoutKey",
    "5m",
    {
      'payment_settler_keys_held{network="n",pod="a"}': "0x20",
      'payment_settler_keys_held{network="n",pod="b"}': "0x20"
    },
    { network: "n" },
    {
      'payment_settler_keys_held{network="n",pod="a"}': "0x20",
      'payment_settler_keys_held{network="n",pod="b"}': "1x20"
    }
  ),
  test(
    "PaymentChainUnreachable",
    "20m",
    {
      ...up('x402_rpc_calls_total{network="n",method="m",outcome="unavailable"}', 40),
      ...up('x402_rpc_calls_total{network="n",method="m",outcome="answered"}', 60)
    },
    { network: "n" },
    up('x402_rpc_calls_total{network="n",method="m",outcome="answered"}', 60)
  ),
  test(
    "PaymentChainNodeOut",
    "30m",
    { 'x402_rpc_nodes_open{network="n"}': "1x60" },
    { network: "n" },
    { 'x402_rpc_nodes_open{network="n"}': "0x60" }
  ),
  test(
    "PaymentVerificationUnavailable",
    "20m",
    up('payment_verifications_total{network="n",outcome="unavailable",code="c"}', 60),
    { network: "n" },
    up('payment_verifications_total{network="n",outcome="refused",code="c"}', 60)
  ),
  test(
    "PaymentFacilitatorUnavailable",
    "20m",
    up('x402_facilitator_calls_total{operation="settle",outcome="unavailable"}', 60),
    { operation: "settle" },
    up('x402_facilitator_calls_total{operation="settle",outcome="refused"}', 60)
  ),
  test(
    "PaymentReplaysMany",
    "30m",
    up('x402_claims_total{outcome="replay"}', 900),
    {},
    up('x402_claims_total{outcome="claimed"}', 900)
  ),
  test(
    "GatewayProviderFailing",
    "30m",
    {
      ...up('gateway_upstream_calls_total{provider="p",outcome="broken off"}', 40),
      ...up('gateway_upstream_calls_total{provider="p",outcome="answered"}', 60)
    },
    { provider: "p" },
    up('gateway_upstream_calls_total{provider="p",outcome="refused"}', 60)
  ),
  test(
    "GatewayBreakerOpen",
    "30m",
    { 'gateway_breaker_open{provider="p",model="m"}': "1x60" },
    { provider: "p", model: "m" },
    { 'gateway_breaker_open{provider="p",model="m"}': "0x60" }
  ),
  test(
    "SpeechStreamsFailing",
    "20m",
    { ...up('speech_streams_total{outcome="failed"}', 5), ...up('speech_streams_total{outcome="spoken"}', 95) },
    {},
    { ...up('speech_streams_total{outcome="cancelled"}', 5), ...up('speech_streams_total{outcome="failed"}', 0) }
  ),
  test(
    "SpeechFirstByteSlow",
    "30m",
    {
      ...up('speech_first_byte_seconds_bucket{format="mp3",model="m",le="0.5"}', 50),
      ...up('speech_first_byte_seconds_bucket{format="mp3",model="m",le="1"}', 100),
      ...up('speech_first_byte_seconds_bucket{format="mp3",model="m",le="+Inf"}', 100)
    },
    {},
    {
      ...up('speech_first_byte_seconds_bucket{format="mp3",model="m",le="0.5"}', 100),
      ...up('speech_first_byte_seconds_bucket{format="mp3",model="m",le="+Inf"}', 100)
    }
  ),
  test(
    "SpeechUnderruns",
    "30m",
    { ...up("speech_underruns_total", 10), ...up('speech_streams_total{outcome="spoken"}', 100) },
    {},
    { ...up("speech_underruns_total", 1), ...up('speech_streams_total{outcome="spoken"}', 100) }
  ),
  test(
    "SpeechSequencersBusy",
    "20m",
    { ...up('speech_sessions_total{outcome="busy"}', 10), ...up('speech_sessions_total{outcome="spoken"}', 90) },
    {},
    { ...up('speech_sessions_total{outcome="busy"}', 1), ...up('speech_sessions_total{outcome="spoken"}', 90) }
  ),
  test("SpeechTakeovers", "20m", up("speech_takeovers_total", 3), {}, { speech_takeovers_total: "0x10 5x20" }),
  test(
    "SpeechEngineThreadsDying",
    "20m",
    up('speech_engine_threads_replaced_total{engine="espeak"}', 1),
    { engine: "espeak" },
    { 'speech_engine_threads_replaced_total{engine="espeak"}': "0x10 1x20" }
  ),
  test(
    "SpeechEncodersFailing",
    "20m",
    up('audio_encoder_failures_total{encoder="mp3",reason="missing"}', 1),
    { encoder: "mp3", reason: "missing" },
    { 'audio_encoder_failures_total{encoder="mp3",reason="failed"}': "0x10 1x20" }
  ),
  test(
    "SpeechConsentsUnverifiable",
    "10m",
    { 'speech_consent_checks_total{outcome="unavailable"}': "0 0 1x20" },
    {},
    up('speech_consent_checks_total{outcome="speaker_mismatch"}', 2)
  ),
  test(
    "PipelineCommandsFailing",
    "20m",
    {
      ...up('actor_commands_total{entity="work-item",outcome="failed"}', 5),
      ...up('actor_commands_total{entity="work-item",outcome="decided"}', 95)
    },
    { entity: "work-item" },
    up('actor_commands_total{entity="work-item",outcome="refused"}', 95)
  ),
  test(
    "PipelineCommandsSlow",
    "30m",
    {
      ...up('actor_command_seconds_bucket{entity="project",le="0.25"}', 50),
      ...up('actor_command_seconds_bucket{entity="project",le="1"}', 100),
      ...up('actor_command_seconds_bucket{entity="project",le="+Inf"}', 100)
    },
    { entity: "project" },
    {
      ...up('actor_command_seconds_bucket{entity="project",le="0.25"}', 100),
      ...up('actor_command_seconds_bucket{entity="project",le="+Inf"}', 100)
    }
  ),
  test(
    "PipelineViewsBehind",
    "20m",
    { 'actor_views_behind{pod="a"}': "5000x30", 'actor_views_behind{pod="b"}': "2000x30" },
    {},
    { 'actor_views_behind{pod="a"}': "5000x30", 'actor_views_behind{pod="b"}': "0x30" }
  ),
  test(
    "PipelineConflictsMany",
    "30m",
    up('actor_conflicts_total{entity="queue"}', 6_000),
    { entity: "queue" },
    up('actor_conflicts_total{entity="queue"}', 60)
  ),
  test(
    "PipelineSweepFailing",
    "10m",
    { 'sweeper_failures_total{sweep="budget"}': "0+1x20" },
    { sweep: "budget" },
    { 'sweeper_failures_total{sweep="budget"}': "0 1x20" }
  ),
  test(
    "PipelineSweepUnheld",
    "10m",
    { 'sweeper_held{sweep="budget",pod="a"}': "0x20", 'sweeper_held{sweep="budget",pod="b"}': "0x20" },
    { sweep: "budget" },
    { 'sweeper_held{sweep="budget",pod="a"}': "0x20", 'sweeper_held{sweep="budget",pod="b"}': "1x20" }
  )
]
