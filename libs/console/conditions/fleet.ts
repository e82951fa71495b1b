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
          "A pod that is listed does not answer its scraper for two minutes: it has died, hangs, or its network policy keeps the scraper out.",
        lookAt:
          "`./starling doctor`: which process does not answer. `kubectl describe pod`, its last log lines, and `/livez`, which names the stalled loop.",
        act: "When all pods of a role are down, look at the broker first. A single pod is restarted by its liveness probe; if it comes back and fails again, roll back the last release. Under `./starling up`, end it and start it again."
      }
    },
    {
      name: "StarlingProcessUnready",
      severity: "warning",
      title: "{pod} is not ready.",
      hurts: "It takes no work; other processes of its roles go on.",
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
          "`/readyz` of a process answers 503, and no other condition says why. Kubernetes sends it nothing until it is ready.",
        lookAt: "`./starling top --once`: the reason beside each role that is not ready; `/readyz` has every check.",
        act: "Repair what the check names. A process that stays at `starting` waits for its streams or for its configuration: its log says which."
      }
    },
    {
      name: "StarlingBusDisconnected",
      severity: "critical",
      title: "{pod} has no connection to the broker.",
      hurts: "Its calls answer 503, and its deliveries, settlements and speech wait for the broker.",
      seen: { kind: "level", of: "least", series: { metric: "bus_connected" }, by: ["pod"], is: ["==", 0] },
      after: "1m",
      causedBy: [],
      commands: ["./starling doctor", "docker compose logs nats"],
      runbook: {
        means:
          "A role has had no connection to the broker for a minute. It keeps trying and needs no restart. It refuses requests meanwhile, and nothing is lost.",
        lookAt:
          "`./starling doctor`: which processes have no broker. The broker's pods and their logs; in the role's log the reason: a refused connection, a wrong password, an untrusted certificate.",
        act: "Bring the broker back. After changed passwords, restart the role: they are read at its start."
      }
    },
    {
      name: "StarlingTopologyDiffers",
      severity: "warning",
      title: "{role} in {pod} waits for streams that are not as declared: {value} differences.",
      hurts: "This process serves nobody; those of the previous release go on.",
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
          "A role waits at its start for streams that are missing or not as declared, or for a newer nats-server. Pods of the previous release continue to serve.",
        lookAt:
          "`./starling doctor`: each stream that differs. `./starling topology`: what is declared. `/readyz` of the pod or its log: each stream, its configuration and its declaration. Then the state of NACK's objects.",
        act: "`kubectl apply -k deploy/k8s/nats` of the release that is rolled out; the pod continues automatically. A difference that cannot be changed in place needs a new stream: see Backup and restore."
      }
    },
    {
      name: "StarlingStreamsUnusable",
      severity: "critical",
      title: "{role} in {pod} cannot {use} {value} of its streams, though the broker answers.",
      hurts: "What needs these streams answers 503 or waits; nothing that was confirmed is lost.",
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
          "A role is connected, and for eight seconds could not write to streams, read them or get a consumer: a full disk, a stream without a leader, or one that is gone. It is not ready, and refuses requests. What was confirmed is kept. A server keeps a write error until it is restarted, also when its disk has room again.",
        lookAt:
          "`./starling doctor`: role, stream and reason. The broker's log for `no space left on device` and `critical write error`, its `/healthz` on port 8222, and the free space of its volume. `./starling topology`: what may lie there.",
        act: "Where the disk is full, make room: enlarge the volume, or remove what does not belong there; with `up` it is the disk of `STARLING_HOME`. Then restart the server that has the error: `docker compose restart nats`, or delete its pod, one at a time. `up` restarts it automatically within seconds of 32 MB being free. Without a leader: bring the broker's servers back. Gone: [a lost stream](operations.md#a-lost-stream)."
      }
    },
    {
      name: "StarlingStreamLost",
      severity: "warning",
      title: "{stream} was lost with its messages, and made again.",
      hurts: "What lay in {stream} is gone unless a backup restores it.",
      seen: { kind: "level", of: "most", series: { metric: "bus_stream_lost" }, by: ["stream"], is: ["==", 1] },
      after: "0m",
      causedBy: [],
      commands: ["./starling topology", "./starling broker streams --accept-losses"],
      runbook: {
        means: "A broken disk or an operator removed a stream, and the fleet made it again, empty.",
        lookAt: "`./starling topology`: what the stream is for. `GET /streams` of the console says when it was lost.",
        act: "Restore it as [A lost stream](operations.md#a-lost-stream) says, or accept the loss: `./starling broker streams --accept-losses`."
      }
    },
    {
      name: "StarlingStreamCopiesBehind",
      severity: "warning",
      title: "{value} copies of {stream} are on servers that are away or behind.",
      hurts: "Nobody yet; with one server less, {stream} may have no leader and refuse everything.",
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
        means: "A server of the broker's cluster is away, or its copy of a stream has not caught up.",
        lookAt:
          "`./starling top --once`: whether roles wait. `GET /streams` of the console: which servers. The broker's pods, their disks and their logs.",
        act: "Bring the server back; its copies catch up by themselves."
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
        means: "Connections come and go.",
        lookAt:
          "`./starling top`: which role's loop is late. The broker's log for `Slow Consumer` and for lost pings; processor throttling of role and broker; the network between them.",
        act: "Give the broker or the role more CPU. A slow consumer that remains is a stalled role: take a profile."
      }
    },
    {
      name: "StarlingPublishFailing",
      severity: "critical",
      title: "{value:percent} of what {role} publishes to {stream} is not stored.",
      hurts: "Callers whose message was not stored get an error, and send it again.",
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
          "More than one percent of a role's messages to a stream are not confirmed. Their callers got an error; a full stream refuses new messages and drops none.",
        lookAt:
          "`./starling doctor`: which streams are full or without a leader. The error in the role's log: full, no answer in time, or not permitted. Then StarlingStreamFilling and StarlingStoreFilling.",
        act: "Full: find the consumer that does not read, or give the stream more room. Without a leader: bring the broker's servers back. Not permitted: the users are older than the release; apply the new ones."
      }
    },
    {
      name: "StarlingMessagesRejected",
      severity: "warning",
      title: "{value} messages from {origin} that break their schema wait for a decision.",
      hurts: "These messages have no effect until their sender is corrected.",
      seen: { kind: "level", of: "most", series: { metric: "bus_rejected_messages" }, by: ["origin"], is: [">", 0] },
      after: "0m",
      causedBy: [],
      commands: ["./starling rejected list"],
      runbook: {
        means:
          "Messages that break their schema lie in REJECTED, with every fault and its path, until they are resent or discarded, for seven days at most. They block nothing.",
        lookAt:
          "`./starling rejected list`: subject and first fault of each, the newest first. `./starling rejected show <number>`: every fault and the body, without its secrets.",
        act: "Tell the publisher, and discard the message: `./starling rejected discard <number>`. When the message is right, the contract is behind: release a new contract, then `./starling rejected resend <number>`, which publishes it where this release accepts it."
      }
    },
    {
      name: "StarlingHandlersDying",
      severity: "warning",
      title: "Handlers of {stream} in {role} died {value} times; each is a bug.",
      hurts: "The message that kills its handler waits, and those behind it are late.",
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
          "A handler died of a defect. Its message is delivered again after five seconds, and the handler will likely die again.",
        lookAt:
          "`./starling top --once`: which backlog waits. `a message handler died` in the role's log, with its trace.",
        act: "This is our bug: roll back if it came with a release, else fix it; the messages wait."
      }
    },
    {
      name: "StarlingLoopStopping",
      severity: "warning",
      title: "The loop {subject} keeps stopping.",
      hurts: "What {subject} does is late or not done.",
      after: "1m",
      causedBy: [
        "StarlingBusDisconnected",
        "StarlingStreamsUnusable",
        "StarlingTopologyDiffers",
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
          "`./starling doctor`: whether broker or chain are the cause. The line `a loop stopped, it is begun again` in the role's log, with its error.",
        act: "Mend what the error names. Without a cause outside it is our bug: roll back if it came with a release."
      }
    },
    {
      name: "StarlingRelayStuck",
      severity: "critical",
      title: "The relay {relay} has been at the same message for {value:duration}.",
      hurts: "Every webhook is late.",
      seen: { kind: "age", series: { metric: "bus_relay_waiting_since_seconds" }, by: ["relay"], above: 30 },
      after: "1m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable"],
      commands: ["./starling events list --limit 1", "./starling top --once"],
      runbook: {
        means:
          "LOG is no longer turned into events, or events into deliveries. Nothing is lost, and everything is late.",
        lookAt:
          "`./starling events list --limit 1`: when the last event was published. `./starling top --once`: which backlog grows. The role's log for the relay's name; whether any replica is ready; the active replica (`bus_relay_active`); `bus_relay_conflicts_total`, which rises when one replica takes the work from another.",
        act: "Restart the role's pods one by one. If it stops at the same record again, that record cannot be translated: keep its sequence for the developers."
      }
    },
    {
      name: "StarlingRelayBehind",
      severity: "warning",
      title: "The relay {relay} is {value:duration} behind its source.",
      hurts: "Every webhook is late by that.",
      after: "2m",
      causedBy: ["StarlingBusDisconnected", "StarlingStreamsUnusable", "StarlingEventLoopLate", "StarlingRelayStuck"],
      commands: ["./starling top --once", "./starling events list --limit 1"],
      seen: { kind: "age", series: { metric: "bus_relay_behind_since_seconds" }, by: ["relay"], above: 30 },
      runbook: {
        means: "The relay works, and more comes than it passes on, or it catches up after a stop.",
        lookAt:
          "`./starling top --once`: whether the backlog falls. Who floods: `sum by (publisher) (rate(webhook_events_received_total[5m]))`.",
        act: "Wait while it falls. Have a flooding publisher stopped; give the active replica more processor."
      }
    },
    {
      name: "StarlingServerErrors",
      severity: "critical",
      title: "{value:percent} of the answers of {api} are 5xx.",
      hurts: "Its callers get an error and have to try again.",
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
        "SpeechEngineThreadsDying"
      ],
      commands: ["./starling doctor"],
      runbook: {
        means: "More than two answers in a hundred are 5xx, which is our fault or the broker's.",
        lookAt:
          "`./starling doctor`: whether broker or streams are at fault. Which route and code (`http_requests_total`), then the log lines with that request id.",
        act: "What causes it is named beside it: mend that first. 503 with an unreachable broker, chain or provider, or a full stream, is no fault of the release. Where nothing else is named and it began with a release, roll back."
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
        means: "Connections are refused or cut because there are too many, they are too slow, or they are malformed.",
        lookAt:
          "`./starling top`: which role has them. The reason; whether one address makes them all; the number of pods.",
        act: "Stop an attack at the edge. For load, add pods."
      }
    },
    {
      name: "StarlingRateLimitsBlind",
      severity: "warning",
      title: "{value} calls a second of the window {window} cannot be counted over all replicas.",
      hurts: "Callers are refused, or admitted beyond their limit, as the API's page says.",
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
        means: "Rate limits over all replicas cannot be counted; calls are refused or admitted as the API's page says.",
        lookAt:
          "`./starling doctor`: whether the broker speaks of the bucket. The bucket `rate-windows`: its leader, its size, permissions.",
        act: "Bring the bucket's stream back."
      }
    },
    {
      name: "StarlingEventLoopLate",
      severity: "warning",
      title: "{pod} is short of CPU: its event loop is {value:duration} late.",
      hurts: "All that this process does is late.",
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
        means: "The process is out of processor time; everything it does is late.",
        lookAt:
          "`./starling top`: which process is late, and its load. `process_cpu_seconds_total` of the pod, throttling, neighbours on the node; the role's load.",
        act: "Add pods, or request more processor. A single pod that stays late under little load is stuck in a loop: take a profile and restart it."
      }
    },
    {
      name: "StarlingTracesDropped",
      severity: "info",
      title: "The trace collector does not keep up with {role}: {value} spans a second are lost.",
      hurts: "Nobody; the traces have holes.",
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
        means: "Spans are dropped; nothing else suffers.",
        lookAt: "`./starling doctor`: that nothing else is wrong. The collector.",
        act: "Repair the collector, or lower `Telemetry.TraceSampleRatio`."
      }
    },
    {
      name: "StarlingEgressRefused",
      severity: "warning",
      title: "{value} calls for {use} resolved into {range} and were refused.",
      hurts: "The endpoint or URL that leads there gets nothing.",
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
          "A URL led into a network that may not be called: private, loopback, or the cloud's metadata. The call was not made.",
        lookAt:
          "`./starling deliveries list --outcome refused`: which endpoint it is. The metric's labels for use and range; the endpoint or the image URL in the role's log.",
        act: "For an endpoint that is meant to be internal, name its network in `WebhookDelivery.AllowCidrs`. Otherwise somebody is probing your network: tell its owner."
      }
    },
    {
      name: "StarlingStoreFilling",
      severity: "critical",
      title: "The broker's disk on {server_name} is {value:percent} full.",
      hurts: "Nobody yet; when it is full, nothing is accepted any more.",
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
        means: "The broker's disk is four fifths full. When it is full, publishing is refused everywhere.",
        lookAt:
          "`./starling endpoints list`: which backlog is large. The board's bytes by stream. DELIVERIES grows with a dead endpoint, LOG with work, RECEIPTS slowly.",
        act: "`./starling endpoints pause <name>`: pause the endpoint that does not take its deliveries (its backlog is then parked in EVENTS), or enlarge the volumes. Never delete files of a store."
      }
    },
    {
      name: "StarlingDiskFilling",
      severity: "critical",
      title: "The disk of the broker's store is nearly full.",
      hurts: "Nobody yet; when it is full, nothing is accepted any more.",
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
        means: "`up` has less than a gibibyte free, or less than a twentieth of the disk, where its broker stores.",
        lookAt:
          "`./starling topology`: what may lie there. `broker_store_free_bytes`, and what else is on the disk of `STARLING_HOME`.",
        act: "Make room: remove what does not belong there, or move `STARLING_HOME` to a larger disk. Never delete files of the store."
      }
    },
    {
      name: "StarlingClockSkewed",
      severity: "warning",
      title: "The clock of {pod} differs from the broker's by more than three seconds.",
      hurts: "Signatures, payments and leases end too early or too late there.",
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
        means: "A process and the broker do not agree on the time.",
        lookAt:
          "`./starling doctor`: whether other processes differ too; when all do, it is the broker's clock. `clock_skew_seconds`.",
        act: "Repair the time service (chrony, systemd-timesyncd) of the node that is wrong."
      }
    },
    {
      name: "StarlingCertificateEnding",
      severity: "warning",
      title: "The certificate {subject} ends soon.",
      hurts: "Nobody yet; when it ends, what uses it cannot connect.",
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
        means: "A configured certificate ends within 14 days, or within a quarter of its life where that is less.",
        lookAt: "`./starling doctor`: the file. `certificate_ends_in_seconds`.",
        act: "Renew it as [Encryption](operations.md#encryption) says; the file is read again at the next start."
      }
    },
    {
      name: "StarlingTokensEnding",
      severity: "info",
      title: "Tokens of the APIs end within seven days.",
      hurts: "Nobody yet; when they end, their services get 401.",
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
        means: "A token that was made for two weeks or more ends within seven days.",
        lookAt: "`./starling token list`: which, and whose.",
        act: "Make a new one (`./starling token make`), give it to its service, and revoke the old one."
      }
    },
    {
      name: "StarlingStreamFilling",
      severity: "warning",
      title: "The stream {subject} has used more than four fifths of its room.",
      hurts: "Nobody yet; at its limit the stream refuses messages, and what writes to it answers 503.",
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
          "A stream is near its limit. At the limit SETTLEMENTS and RECEIPTS refuse messages, and no paid call is sold; other streams drop their oldest messages.",
        lookAt:
          "`./starling doctor`: which stream, and how full it is. The stream's consumers, and whether they read: `GET /streams` of the console.",
        act: "SETTLEMENTS: see PaymentSettlementsSlow. RECEIPTS: archive it and raise its limit in `libs/bus/topology/streams.ts`."
      }
    }
  ]
}
