/**
 * `broker`: prepares one that `up` does not start. `backup`: copies its streams. `doctor`: finds what is wrong.
 * `runner`: a reference runner.
 */
import { Argument, Command, Flag } from "effect/cli"
import { deliveryLanesMax } from "#base"
import type { WorkItemPhase } from "#pipeline/contract"
import { becoming, json, nats, orUndefined, running, text, texts, toggle, url, wholeNumber, words } from "../flags.ts"

const loadBroker = () => import("../broker.ts")

const users = Command.make(
  "users",
  {
    folder: Argument.Directory("folder").pipe(
      Argument.withDescription("where the server's file and the passwords are stored")
    )
  },
  ({ folder }) => running(loadBroker, ({ writeUsers }) => writeUsers(folder))
).pipe(Command.withDescription("Keeps the users' passwords, and writes the file that a nats-server includes."))

const streams = Command.make(
  "streams",
  {
    lanes: wholeNumber("lanes", {
      min: 1,
      max: deliveryLanesMax,
      description: "over how many streams deliveries are spread, as WebhookDelivery.Lanes (1)"
    }).pipe(Flag.withDefault(1)),
    keep: toggle("keep", "keep running, and recreate what disappears: a killed broker loses what it had in memory"),
    acceptLosses: toggle("accept-losses", "stop reporting streams that were lost and recreated")
  },
  (given) => running(loadBroker, ({ makeStreams }) => makeStreams(given))
).pipe(Command.withDescription("Makes the streams, buckets and stores, once the server answers."))

const beforeRollback = Command.make(
  "before-rollback",
  {
    store: Flag.Directory("store").pipe(
      Flag.withMetavar("FOLDER"),
      Flag.withDescription("the data of a stopped server outside this home; only moves the store"),
      orUndefined
    ),
    nats
  },
  (given) =>
    running(
      () => import("../rollback.ts"),
      ({ beforeRollback }) => beforeRollback(given)
    )
).pipe(
  Command.withDescription(
    "Hands the broker back to a release whose broker has one account: the relay's cursor, events of services that wait, and the store. Of this home's fleet, which is stopped; or of the broker that --nats names, whose roles are stopped."
  )
)

export const broker = Command.make("broker").pipe(
  Command.withShortDescription("prepare a broker that up does not start"),
  Command.withDescription("Prepares a broker on one machine that up does not start."),
  Command.withSubcommands([users, streams, beforeRollback])
)

const copied = {
  folder: Argument.Directory("folder").pipe(Argument.withDescription("where the copies are, one of each stream")),
  streams: words("stream", "only these; default: all"),
  json,
  nats
}

const save = Command.make("save", copied, (given) =>
  running(loadBroker, ({ backup }) => backup({ ...given, action: "save" }))
).pipe(
  Command.withDescription(
    "Copies every stream, bucket and store while everything runs, with the positions of their consumers. Of a home whose fleet is stopped, its broker runs for the time. Only the owner may read the copies."
  )
)

const restore = Command.make("restore", copied, (given) =>
  running(loadBroker, ({ backup }) => backup({ ...given, action: "restore" }))
).pipe(
  Command.withDescription(
    "Makes the streams again from their copies. They must not be there: of a home, stop the fleet and move nats/data away first."
  )
)

export const backup = Command.make("backup").pipe(
  Command.withShortDescription("save and restore what the broker stores"),
  Command.withDescription("Saves what the broker stores into files, and restores it."),
  Command.withExamples([
    { command: "starling backup save /backup/2026-01-31" },
    { command: "starling backup restore /backup/2026-01-31" }
  ]),
  Command.withSubcommands([save, restore])
)

export const doctor = Command.make(
  "doctor",
  {
    kubernetes: toggle("kubernetes", "check a cluster through kubectl and its KUBECONFIG"),
    overlay: Flag.Directory("overlay").pipe(
      Flag.withMetavar("FOLDER"),
      Flag.withDescription("the overlay to be applied (deploy/k8s/overlays/prod)"),
      orUndefined
    ),
    context: text("context", "NAME", "the cluster, by its context in the kubeconfig"),
    metrics: texts("metrics", "URL", "the metrics address of a process of a fleet elsewhere, repeatable"),
    json,
    url
  },
  (given) =>
    running(
      () => import("../doctor.ts"),
      ({ doctor }) => doctor(given)
    )
).pipe(
  Command.withShortDescription("report what is wrong, and how to fix it"),
  Command.withDescription(
    "Reports what is wrong with this home's fleet, or the one at --url: each condition with what it hurts, since when, the commands that fix it, and its runbook. With --kubernetes it checks a cluster before an overlay is applied: versions, namespace, controllers, secrets, certificates, brokers, volumes, capacity, egress. Changes nothing. Ends with 1 when something is wrong or missing."
  ),
  Command.withExamples([
    { command: "starling doctor" },
    { command: "starling doctor --kubernetes --overlay deploy/k8s/overlays/dev" }
  ])
)

/** All phases of a work item; named here, so that help and completions need not load the contracts. */
export const phases = [
  "work",
  "rework",
  "audit",
  "merge",
  "upstream",
  "conflict-rework",
  "delegation"
] as const satisfies ReadonlyArray<WorkItemPhase>

export const runner = Command.make(
  "runner",
  {
    agent: texts("agent", "KIND", "an agent kind to take work for, repeatable (coder)"),
    instance: text("instance", "ID", "which instance of it"),
    model: text("model", "NAME", "the model that is run"),
    phase: Flag.Literals("phase", phases).pipe(
      Flag.withDescription("take only this phase, repeatable (all)"),
      Flag.atLeast(0)
    ),
    atOnce: wholeNumber("at-once", {
      min: 1,
      max: 256,
      description: "concurrent phases per agent kind (4)"
    }).pipe(Flag.withDefault(4)),
    name: text("name", "NAME", "how it is called; else host and process"),
    folder: text("folder", "FOLDER", "where it works; what is in there goes (.starling/runner)"),
    work: text("work", "COMMAND", "works, reworks, takes delegations; else the example agent"),
    audit: text("audit", "COMMAND", "is run for each auditor; else the example agent"),
    resolve: text("resolve", "COMMAND", "resolves conflicts; else the example agent"),
    verify: text("verify", "COMMAND", "passes what is about to be merged; else the example agent"),
    forge: text("forge", "URL", "open pull requests there, instead of pushing to the base branch"),
    watchForge: wholeNumber("watch-forge", {
      min: 0,
      max: 3_600_000,
      description: "milliseconds between looks for pull requests that cannot be merged (0: do not look)"
    }).pipe(Flag.withDefault(0)),
    wait: wholeNumber("wait", {
      min: 0,
      max: 30_000,
      description: "milliseconds that a request for work may wait (10000)"
    }).pipe(Flag.withDefault(10_000)),
    nats
  },
  (given) =>
    becoming(
      () => import("../runner.ts"),
      ({ runner }) => runner(given)
    )
).pipe(
  Command.withShortDescription("take work items through their phases"),
  Command.withDescription(
    "Takes work items through their phases on real git repositories: a reference for authors of runners. SIGTERM or Ctrl-C hands work in progress back and exits with 0."
  ),
  Command.withExamples([
    { command: "starling runner --agent coder" },
    { command: 'starling runner --phase merge --verify "make check"' }
  ])
)
