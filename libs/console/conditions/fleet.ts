/** What can be wrong with any role: whether it is up, reaches the broker, and takes and answers what it gets. */
import type { ConditionGroup } from "#base/condition"

export const fleetConditions: ConditionGroup = {
  name: "starling-fleet",
  title: "Fleet",
  conditions: [
    {
      name: "StarlingPodDown",
      severity: "critical",
      title: "The process {pod} does not answer.",
      hurts: "Other processes of its roles do its work, if there are any.",
      seen: { kind: "down" },
      after: "2m",
      causedBy: [],
      commands: ["./starling top --once", "kubectl describe pod {pod}", "kubectl delete pod {pod}"],
      runbook: {
        means:
          "A process has not answered for two minutes: it has died, hangs, or a network policy keeps the scraper out.",
        lookAt:
          "`./starling doctor`: which process does not answer. `kubectl describe pod`, the last lines of its log, and `/livez`, which names a stalled loop.",
        act: "If all pods of a role are down, look at the broker first. A single pod is restarted by its liveness probe; if it fails again, roll back the last release. Under `./starling up`, end it and start it again."
      }
    },
    {
      name: "StarlingProcessUnready",
      severity: "warning",
      title: "{pod} is not ready.",
      hurts: "It takes no work. Other replicas do, if there are any.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "process_unready" },
        by: ["pod"],
        is: ["==", 1]
      },
      after: "5m",
      causedBy: [
        "StarlingPodDown",
        "StarlingBusDisconnected",
        "StarlingTopologyDiffers",
        "StarlingStreamsUnusable",
        "StarlingLoopStopping",
        "PaymentTokenMismatch",
        "PaymentSignerFailing",
        "SpeechEngineSilent"
      ],
      commands: ["./starling top --once", "kubectl describe pod {pod}"],
      runbook: {
        means:
          "`/readyz` of a process answers 503, and no other condition explains it. Kubernetes routes nothing to it until it is ready.",
        lookAt: "`./starling top --once`: the reason beside each role that is not ready. `/readyz` lists every check.",
        act: "Fix what the check names. A process stuck at `starting` waits for its streams or its configuration; its log says which."
      }
    },
    {
      name: "StarlingBusDisconnected",
      severity: "critical",
      title: "{pod} has no connection to the broker.",
      hurts: "It answers 503. Its deliveries, settlements and speech wait.",
      seen: { kind: "level", of: "least", series: { metric: "bus_connected" }, by: ["pod"], is: ["==", 0] },
      after: "1m",
      causedBy: [],
      commands: ["./starling doctor", "docker compose logs nats"],
      runbook: {
        means:
          "A role has been disconnected from the broker for a minute. It keeps reconnecting and refuses requests meanwhile. Nothing is lost, and no restart is needed.",
        lookAt:
          "`./starling doctor`: which processes are disconnected. The broker's pods and logs. The role's log for the reason: connection refused, wrong password, untrusted certificate.",
        act: "Bring the broker back. After a change of passwords, restart the role: it reads them at startup."
      }
    },
    {
      name: "StarlingTopologyDiffers",
      severity: "warning",
      title: "{role} in {pod} finds streams that differ from their declaration: {value}.",
      hurts: "A role that starts waits for them. Writes to a stream with other limits can be refused or lost.",
      seen: {
        kind: "level",
        of: "each",
        series: { metric: "bus_topology_differences" },
        by: ["role", "pod"],
        is: [">", 0]
      },
      after: "5m",
      causedBy: ["StarlingBusDisconnected"],
      commands: ["./starling topology", "kubectl apply -k deploy/k8s/nats"],
      runbook: {
        means:
          "A role waits at startup for streams that are missing or differ from their declaration, or for a newer nats-server; pods of the previous release keep serving. If the role is the console, somebody changed a stream of the running fleet.",
        lookAt:
          "`./starling doctor`: each stream that differs. `./starling topology`: the declaration. `/readyz` or the log of the pod: each stream with its actual and its declared configuration. The state of NACK's objects.",
        act: "`kubectl apply -k deploy/k8s/nats` of the release that is being rolled out; the pod continues by itself. `./starling up` declares its streams again when it starts. A difference that cannot be changed in place needs a new stream: see Backup and restore."
      }
    },
    {
      name: "StarlingStreamsUnusable",
      severity: "critical",
      title: "{role} in {pod} cannot {use} {value} of its streams, although the broker answers.",
      hurts: "Whatever needs these streams answers 503 or waits. Nothing confirmed is lost.",
      seen: {
        kind: "level",
        of: "each",
        series: { metric: "bus_unusable_streams" },
        by: ["role", "pod", "use"],
        is: [">", 0]
      },
      after: "1m",
      causedBy: ["StarlingBusDisconnected"],
      commands: ["./starling doctor", "./starling topology", "docker compose restart nats"],
      runbook: {
        means:
          "A role is connected, but for eight seconds could not write to streams, read them or get a consumer: the disk is full, or a stream has no leader or is gone. The role is not ready and refuses requests. Confirmed messages are safe. After a write error a server refuses writes until it is restarted, even when its disk has room again.",
        lookAt:
          "`./starling doctor`: role, stream and reason. The broker's log for `no space left on device` and `critical write error`; its `/healthz` on port 8222; the free space of its volume. `./starling topology`: what belongs there.",
        act: "Full disk: enlarge the volume, or remove what does not belong there (under `up`, the disk of `STARLING_HOME`). Then restart the server with the error: `docker compose restart nats`, or delete its pod, one at a time; `up` restarts it by itself, within seconds of 32 MB being free. No leader: bring the broker's servers back. Gone: [a lost stream](operations.md#a-lost-stream)."
      }
    },
    {
      name: "StarlingStreamLost",
      severity: "warning",
      title: "{stream} was lost and recreated empty.",
      hurts: "The messages of {stream} are gone unless a backup restores them.",
      seen: { kind: "level", of: "most", series: { metric: "bus_stream_lost" }, by: ["stream"], is: ["==", 1] },
      after: "0m",
      causedBy: [],
      commands: ["./starling topology", "./starling broker streams --accept-losses"],
      runbook: {
        means: "A broken disk or an operator removed a stream. The fleet recreated it, empty.",
        lookAt: "`./starling topology`: what the stream is for. The console's `GET /streams`: when it was lost.",
        act: "Restore it ([A lost stream](operations.md#a-lost-stream)), or accept the loss: `./starling broker streams --accept-losses`."
      }
    },
    {
      name: "StarlingStreamCopiesBehind",
      severity: "warning",
      title: "Replicas of {stream} that are down or behind: {value}.",
      hurts: "Nothing yet. If one more server fails, {stream} may lose its leader and refuse everything.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "bus_stream_copies_behind" },
        by: ["stream"],
        is: [">", 0]
      },
      after: "10m",
      causedBy: [],
      commands: ["./starling top --once", "kubectl get pods -l app.kubernetes.io/name=nats"],
      runbook: {
        means: "A server of the broker's cluster is down, or its replica of a stream has not caught up.",
        lookAt:
          "`./starling top --once`: whether roles wait. The console's `GET /streams`: which servers. The broker's pods, disks and logs.",
        act: "Bring the server back. Its replicas catch up by themselves."
      }
    },
    {
      name: "StarlingBusFlapping",
      severity: "warning",
      title: "{role} lost its connection to the broker {value} times.",
      hurts: "Calls are slow or fail while the role reconnects.",
      seen: { kind: "rise", series: { metric: "bus_reconnects_total" }, by: ["role"], within: "15m", above: 10 },
      after: "0m",
      causedBy: ["StarlingBusDisconnected", "StarlingEventLoopLate"],
      commands: ["./starling top"],
      runbook: {
        means: "Connections to the broker keep breaking.",
        lookAt:
          "`./starling top`: which role's event loop is late. The broker's log for `Slow Consumer` and missed pings; CPU throttling of role and broker; the network between them.",
        act: "Give the broker or the role more CPU. If a slow consumer remains, the role stalls: take a profile."
      }
    },
    {
      name: "StarlingPublishFailing",
      severity: "critical",
      title: "{value:percent} of the messages from {role} to {stream} are not stored.",
      hurts: "Callers get an error and have to retry.",
      seen: {
        kind: "share",
        part: { metric: "bus_published_total", where: { outcome: "failed" } },
        whole: [{ metric: "bus_published_total" }],
        by: ["role", "stream"],
        above: 0.01
      },
      after: "5m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingStoreFilling", "StarlingStreamFilling"],
      commands: ["./starling doctor"],
      runbook: {
        means:
          "More than one percent of a role's messages to a stream are not confirmed, and their callers got an error. A full stream refuses new messages; it drops none.",
        lookAt:
          "`./starling doctor`: which streams are full or without a leader. The error in the role's log: full, timed out, or not permitted. Then StarlingStreamFilling and StarlingStoreFilling.",
        act: "Full: find the consumer that does not read, or give the stream more room. No leader: bring the broker's servers back. Not permitted: the broker's users are older than the release; apply the new ones."
      }
    },
    {
      name: "StarlingMessagesRejected",
      severity: "warning",
      title: "Rejected messages from {origin}: {value}.",
      hurts: "These messages have no effect until their sender is fixed.",
      seen: { kind: "level", of: "most", series: { metric: "bus_rejected_messages" }, by: ["origin"], is: [">", 0] },
      after: "0m",
      causedBy: [],
      commands: ["./starling rejected list"],
      runbook: {
        means:
          "Messages that break their schema wait in REJECTED, with every fault and its path, until they are resent or discarded, for seven days at most. They block nothing.",
        lookAt:
          "`./starling rejected list`: subject and first fault of each, newest first. `./starling rejected show <number>`: every fault, and the body without its secrets.",
        act: "Tell the publisher, and discard the message: `./starling rejected discard <number>`. If the message is right, the contract is behind: release a new one, then `./starling rejected resend <number>`, which publishes the message if this release accepts it."
      }
    },
    {
      name: "StarlingHandlersDying",
      severity: "warning",
      title: "Handlers of {stream} in {role} crashed {value} times.",
      hurts: "The message that crashes its handler waits, and those behind it are late.",
      seen: {
        kind: "rise",
        series: { metric: "bus_consumed_total", where: { outcome: "failed" } },
        by: ["role", "stream"],
        within: "15m",
        above: 0
      },
      after: "0m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable"],
      commands: ["./starling top --once"],
      runbook: {
        means:
          "A handler crashed: a bug. Its message is redelivered after five seconds, and will likely crash it again.",
        lookAt:
          "`./starling top --once`: which backlog grows. `a message handler died` in the role's log, with its stack trace.",
        act: "Roll back if it came with a release; otherwise fix the bug. The messages wait."
      }
    },
    {
      name: "StarlingLoopStopping",
      severity: "warning",
      title: "The loop {subject} keeps failing.",
      hurts: "The work of {subject} is late or not done.",
      after: "1m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingTopologyDiffers",
        "StarlingRelayStuck",
        "PaymentChainUnreachable"
      ],
      commands: ["./starling doctor"],
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "loop" } },
        by: ["subject"],
        is: ["==", 1]
      },
      runbook: {
        means: "A loop of a role stopped four times in a row, and has not run for ten to twenty seconds since.",
        lookAt:
          "`./starling doctor`: whether the broker or a chain is the cause. The line `a loop stopped, it is begun again` in the role's log, with its error.",
        act: "Fix what the error names. Without an external cause it is a bug: roll back if it came with a release."
      }
    },
    {
      name: "StarlingRelayStuck",
      severity: "critical",
      title: "The relay {relay} has been stuck at one message for {value:duration}.",
      hurts: "Every webhook is late.",
      seen: { kind: "age", series: { metric: "bus_relay_waiting_since_seconds" }, by: ["relay"], above: 30 },
      after: "1m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable"],
      commands: ["./starling events list --limit 1", "./starling top --once"],
      runbook: {
        means: "LOG is no longer turned into events, or events into deliveries. Nothing is lost; everything is late.",
        lookAt:
          "`./starling events list --limit 1`: when the last event was published. `./starling top --once`: which backlog grows. The role's log for the relay's name; whether any replica is ready; the active replica (`bus_relay_active`); `bus_relay_conflicts_total`, which rises when replicas take the relay from each other.",
        act: "Restart the role's pods one by one. If the relay stops at the same record again, that record cannot be translated: keep its sequence for the developers."
      }
    },
    {
      name: "StarlingRelayBehind",
      severity: "warning",
      title: "The relay {relay} is {value:duration} behind its source.",
      hurts: "Every webhook is late by that much.",
      after: "2m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingEventLoopLate", "StarlingRelayStuck"],
      commands: ["./starling top --once", "./starling events list --limit 1"],
      seen: { kind: "age", series: { metric: "bus_relay_behind_since_seconds" }, by: ["relay"], above: 30 },
      runbook: {
        means: "The relay works, but records arrive faster than it passes them on, or it is catching up after a stop.",
        lookAt:
          "`./starling top --once`: whether the backlog shrinks. Which publisher floods it: `sum by (publisher) (rate(webhook_events_received_total[5m]))`.",
        act: "If the backlog shrinks, wait. Have a flooding publisher stopped, or give the active replica more CPU."
      }
    },
    {
      name: "StarlingServerErrors",
      severity: "critical",
      title: "{value:percent} of the responses of {api} are 5xx.",
      hurts: "Callers get errors and have to retry.",
      seen: {
        kind: "share",
        part: { metric: "http_requests_total", where: { status: "5xx" } },
        whole: [{ metric: "http_requests_total" }],
        by: ["api"],
        above: 0.02
      },
      after: "5m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingStoreFilling",
        "StarlingStreamFilling",
        "StarlingDiskFilling",
        "StarlingTopologyDiffers",
        "StarlingPodDown",
        "StarlingEventLoopLate",
        "StarlingPublishFailing",
        "PaymentChainUnreachable",
        "PaymentFacilitatorUnavailable",
        "PaymentSignerFailing",
        "GatewayProviderFailing",
        "PipelineCommandsFailing",
        "SpeechSilent",
        "SpeechEngineSilent",
        "SpeechStreamsFailing",
        "SpeechSequencersBusy",
        "SpeechRefusals",
        "SpeechEncodersFailing",
        "SpeechEngineThreadsDying",
        "StarlingRateLimitsBlind"
      ],
      commands: ["./starling doctor"],
      runbook: {
        means: "More than two responses in a hundred are 5xx: a fault of the fleet or the broker.",
        lookAt:
          "`./starling doctor`: whether the broker or its streams are at fault. The route and the code (`http_requests_total`), then the log lines with the request's id.",
        act: "If another condition is named as the cause, fix that first. A 503 because the broker, a chain or a provider is unreachable, or a stream is full, is not the release's fault. If nothing else is named and it began with a release, roll back."
      }
    },
    {
      name: "StarlingConnectionsCut",
      severity: "warning",
      title: "{api} cuts {value} connections a second: {reason}.",
      hurts: "Some callers cannot connect, or lose their connection.",
      seen: { kind: "pace", series: { metric: "http_connections_cut_total" }, by: ["api", "reason"], above: 5 },
      after: "10m",
      causedBy: ["StarlingEventLoopLate"],
      commands: ["./starling top"],
      runbook: {
        means: "Connections are refused or cut: there are too many, or they are too slow or malformed.",
        lookAt:
          "`./starling top`: which role has them. The reason; whether one address makes them all; the number of pods.",
        act: "Stop an attack at the edge. For legitimate load, add pods."
      }
    },
    {
      name: "StarlingRateLimitsBlind",
      severity: "warning",
      title: "{value} calls a second of the limit {window} are not counted across replicas.",
      hurts: "Callers are refused, or admitted beyond their limit; the API's page says which.",
      seen: {
        kind: "pace",
        series: { metric: "http_shared_rate_takes_total", where: { outcome: "failed" } },
        by: ["window"],
        above: 0
      },
      after: "5m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable"],
      commands: ["./starling doctor"],
      runbook: {
        means: "Rate limits across replicas cannot be counted. Calls are refused or admitted, as the API's page says.",
        lookAt:
          "`./starling doctor`: whether the broker is the cause. The bucket `rate-windows`: its leader, size and permissions.",
        act: "Bring the bucket's stream back."
      }
    },
    {
      name: "StarlingEventLoopLate",
      severity: "warning",
      title: "{pod} is short of CPU: its event loop is {value:duration} late.",
      hurts: "Everything this process does is late.",
      seen: {
        kind: "level",
        of: "each",
        series: { metric: "nodejs_eventloop_lag_p99_seconds" },
        by: ["role", "pod"],
        is: [">", 0.25]
      },
      after: "10m",
      causedBy: [],
      commands: ["./starling top"],
      runbook: {
        means: "The process does not get enough CPU; everything it does is late.",
        lookAt:
          "`./starling top`: which process is late, and its load. `process_cpu_seconds_total` of the pod, throttling, neighbours on the node.",
        act: "Add pods, or request more CPU. A single pod that stays late under little load is stuck in a loop: take a profile and restart it."
      }
    },
    {
      name: "StarlingTracesDropped",
      severity: "info",
      title: "{role} drops {value} spans a second: the trace collector does not keep up.",
      hurts: "Only traces, which have gaps.",
      seen: {
        kind: "pace",
        series: { metric: "tracing_spans_total", where: { outcome: "dropped" } },
        by: ["role"],
        above: 0
      },
      after: "15m",
      causedBy: [],
      commands: ["./starling doctor"],
      runbook: {
        means: "Spans are dropped; nothing else is affected.",
        lookAt: "`./starling doctor`: that nothing else is wrong. Then the collector.",
        act: "Fix the collector, or lower `Telemetry.TraceSampleRatio`."
      }
    },
    {
      name: "StarlingEgressRefused",
      severity: "warning",
      title: "Calls for {use} that resolve into {range} were refused: {value}.",
      hurts: "The endpoint or URL behind them gets nothing.",
      seen: {
        kind: "rise",
        series: { metric: "egress_refusals_total" },
        by: ["use", "range"],
        within: "15m",
        above: 0
      },
      after: "0m",
      causedBy: [],
      commands: ["./starling deliveries list --outcome refused"],
      runbook: {
        means:
          "A URL resolved into a network that must not be called: private, loopback, or the cloud's metadata service. The call was not made.",
        lookAt:
          "`./starling deliveries list --outcome refused`: which endpoint it is. The metric's labels `use` and `range`; the endpoint or the image URL in the role's log.",
        act: "If the endpoint is meant to be internal, add its network to `WebhookDelivery.AllowCidrs`. Otherwise somebody may be probing your network: tell the endpoint's owner."
      }
    },
    {
      name: "StarlingStoreFilling",
      severity: "critical",
      title: "The broker's disk on {server_name} is {value:percent} full.",
      hurts: "Nothing yet. Once it is full, everything is refused.",
      seen: {
        kind: "fill",
        series: { metric: "nats_server_total_message_bytes" },
        of: { metric: "nats_server_max_storage" },
        by: ["server_name"],
        above: 0.8
      },
      after: "10m",
      causedBy: [],
      commands: ["./starling endpoints list", "./starling topology"],
      runbook: {
        means: "The broker's disk is four fifths full. Once it is full, publishing is refused everywhere.",
        lookAt:
          "`./starling endpoints list`: which backlog is large. The board's bytes by stream: DELIVERIES grows with a dead endpoint, LOG with work, RECEIPTS slowly.",
        act: "Pause the endpoint that takes no deliveries (`./starling endpoints pause <name>`): its backlog is then parked in EVENTS. Or enlarge the volumes. Never delete files of the store."
      }
    },
    {
      name: "StarlingDiskFilling",
      severity: "critical",
      title: "The disk of the broker's store is nearly full.",
      hurts: "Nothing yet. Once it is full, everything is refused.",
      after: "1m",
      causedBy: [],
      commands: ["./starling endpoints list", "./starling topology"],
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "disk" } },
        by: ["pod"],
        is: ["==", 1]
      },
      runbook: {
        means:
          "The disk on which `up` keeps its broker has less than a gibibyte, or less than a twentieth of its size, free.",
        lookAt:
          "`./starling topology`: what belongs there. `broker_store_free_bytes`, and what else is on the disk of `STARLING_HOME`.",
        act: "Remove what does not belong there, or move `STARLING_HOME` to a larger disk. Never delete files of the store."
      }
    },
    {
      name: "StarlingClockSkewed",
      severity: "warning",
      title: "The clock of {pod} is more than three seconds off the broker's.",
      hurts: "Signatures, payments and leases expire too early or too late there.",
      after: "2m",
      causedBy: [],
      commands: ["./starling doctor"],
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "clock" } },
        by: ["pod"],
        is: ["==", 1]
      },
      runbook: {
        means: "The clocks of a process and of the broker disagree.",
        lookAt:
          "`./starling doctor`: whether other processes are off too; if all are, the broker's clock is wrong. `clock_skew_seconds`.",
        act: "Fix the time service (chrony, systemd-timesyncd) of the node whose clock is wrong."
      }
    },
    {
      name: "StarlingCertificateEnding",
      severity: "warning",
      title: "The certificate {subject} expires soon.",
      hurts: "Nothing yet. Once it expires, connections that use it fail.",
      after: "5m",
      causedBy: [],
      commands: ["./starling doctor"],
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "certificate", subject: { not: "" } } },
        by: ["subject"],
        is: ["==", 1]
      },
      runbook: {
        means:
          "A configured certificate expires within 14 days, or within a quarter of its lifetime where that is less.",
        lookAt: "`./starling doctor`: the file, or the endpoint. `certificate_ends_in_seconds`.",
        act: "Renew it ([Encryption](operations.md#encryption)). The file is read again at the next start; those of webhook endpoints while the process runs. An endpoint's that was made at run time: `./starling endpoints rotate <name> --credential tlsCertificate=<file> --credential tlsKey=<file>`."
      }
    },
    {
      name: "StarlingTokensEnding",
      severity: "info",
      title: "API tokens expire within seven days.",
      hurts: "Nothing yet. Once they expire, their services get 401.",
      after: "5m",
      causedBy: [],
      commands: ["./starling token list"],
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "tokens" } },
        by: [],
        is: ["==", 1]
      },
      runbook: {
        means: "A token with a lifetime of two weeks or more expires within seven days.",
        lookAt: "`./starling token list`: which, and whose.",
        act: "Create a new one (`./starling token make`), give it to its service, and revoke the old one."
      }
    },
    {
      name: "StarlingStreamFilling",
      severity: "warning",
      title: "The stream {subject} is more than four fifths full.",
      hurts: "Nothing yet. Once it is full, it refuses messages, and what writes to it answers 503.",
      seen: {
        kind: "level",
        of: "most",
        series: { metric: "check_failing", where: { check: "room", subject: { not: "" } } },
        by: ["subject"],
        is: ["==", 1]
      },
      after: "5m",
      causedBy: [],
      commands: ["./starling topology"],
      runbook: {
        means:
          "A stream is near its limit. At the limit SETTLEMENTS and RECEIPTS refuse messages and no paid call is sold; other streams drop their oldest messages.",
        lookAt:
          "`./starling doctor`: which stream, and how full it is. Its consumers, and whether they read: the console's `GET /streams`.",
        act: "SETTLEMENTS: see PaymentSettlementsSlow. RECEIPTS: archive it and raise its limit in `libs/bus/topology/streams.ts`."
      }
    }
  ]
}
