/**
 * The figures of the embedded nats-server, read from its monitoring port and named as prometheus-nats-exporter names
 * them, so that dashboards and alerts are the same on one machine and on a cluster. Only those that a dashboard or an
 * alert uses.
 */
import { readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option, Schema } from "effect"
import { figuresAt, textAt } from "#runtime"

const Varz = Schema.Struct({
  server_name: Schema.String,
  connections: Schema.Finite,
  slow_consumers: Schema.Finite,
  mem: Schema.Finite,
  in_msgs: Schema.Finite,
  out_msgs: Schema.Finite
})

const StreamDetail = Schema.Struct({
  name: Schema.String,
  config: Schema.Struct({ max_bytes: Schema.Finite }),
  state: Schema.Struct({ messages: Schema.Finite, bytes: Schema.Finite })
})

const Jsz = Schema.Struct({
  bytes: Schema.Finite,
  config: Schema.Struct({ max_storage: Schema.Finite }),
  account_details: Schema.optionalKey(
    Schema.Array(Schema.Struct({ name: Schema.String, stream_detail: Schema.optionalKey(Schema.Array(StreamDetail)) }))
  )
})

const decodeVarz = Schema.decodeUnknownOption(Schema.fromJsonString(Varz))
const decodeJsz = Schema.decodeUnknownOption(Schema.fromJsonString(Jsz))

type Sample = readonly [labels: string, value: number]

const family = (name: string, type: "counter" | "gauge", help: string, samples: ReadonlyArray<Sample>) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...samples.map(([labels, value]) => `${name}{${labels}} ${value}`)
]

const escaped = (text: string) => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")

/** The answers of `/varz` and `/jsz?streams=true&config=true` in Prometheus' text format; empty for any other text. */
export const brokerFigures = (varzText: string, jszText: string): string => {
  const varz = Option.getOrUndefined(decodeVarz(varzText))
  const jsz = Option.getOrUndefined(decodeJsz(jszText))
  if (varz === undefined || jsz === undefined) return ""
  const server = `server_name="${escaped(varz.server_name)}"`
  const process = `server_id="${escaped(varz.server_name)}"`
  const streams = (jsz.account_details ?? []).flatMap(({ name, stream_detail = [] }) =>
    stream_detail.map((stream) => ({
      labels: `account_name="${escaped(name)}",stream_name="${escaped(stream.name)}",${server}`,
      stream
    }))
  )
  const ofStreams = (name: string, help: string, value: (stream: typeof StreamDetail.Type) => number) =>
    family(
      name,
      "gauge",
      help,
      streams.map(({ labels, stream }) => [labels, value(stream)])
    )
  return [
    ...family("nats_varz_connections", "gauge", "Connections now.", [[process, varz.connections]]),
    ...family("nats_varz_slow_consumers", "counter", "Connections cut for slowness.", [[process, varz.slow_consumers]]),
    ...family("nats_varz_mem", "gauge", "Resident memory in bytes.", [[process, varz.mem]]),
    ...family("nats_varz_in_msgs", "counter", "Messages received.", [[process, varz.in_msgs]]),
    ...family("nats_varz_out_msgs", "counter", "Messages sent.", [[process, varz.out_msgs]]),
    ...family("nats_server_total_message_bytes", "gauge", "Bytes in all streams.", [[server, jsz.bytes]]),
    ...family("nats_server_max_storage", "gauge", "Bytes that streams may take on disk.", [
      [server, jsz.config.max_storage]
    ]),
    ...ofStreams("nats_stream_total_messages", "Messages in the stream.", ({ state }) => state.messages),
    ...ofStreams("nats_stream_total_bytes", "Bytes in the stream.", ({ state }) => state.bytes),
    ...ofStreams(
      "nats_stream_limit_bytes",
      "The stream's limit in bytes; -1 without one.",
      (stream) => stream.config.max_bytes
    ),
    ""
  ].join("\n")
}

const Ports = Schema.fromJsonString(Schema.Struct({ monitoring: Schema.Array(Schema.String) }))
const decodePorts = Schema.decodeUnknownOption(Ports)

/** A killed server leaves its note behind. */
export const dropOldNotes = (folder: string) =>
  Effect.ignore(
    Effect.tryPromise(async () => {
      const notes = (await readdir(folder)).filter((file) => file.endsWith(".ports"))
      await Promise.all(notes.map((file) => rm(join(folder, file), { force: true })))
    })
  )

/** The monitoring address of the server of this folder and pid: it notes the port in a file. */
const monitoringOf = Effect.fnUntraced(function* (folder: string, pid: number) {
  const noted = yield* Effect.tryPromise(async () => {
    const name = (await readdir(folder)).find((file) => file.endsWith(`_${pid}.ports`))
    return name === undefined ? "" : readFile(join(folder, name), "utf8")
  }).pipe(Effect.orElseSucceed(() => ""))
  return Option.getOrUndefined(decodePorts(noted))?.monitoring[0]
})

const Healthz = Schema.fromJsonString(Schema.Struct({ error: Schema.optionalKey(Schema.String) }))
const decodeHealthz = Schema.decodeUnknownOption(Healthz)

/** The trouble that the server of this folder and pid reports, such as a stream's write error. */
export const troubleOf = Effect.fnUntraced(function* (folder: string, pid: number) {
  const address = yield* monitoringOf(folder, pid)
  if (address === undefined) return undefined
  const answer = yield* Effect.option(textAt(`${address}/healthz`))
  return Option.getOrUndefined(Option.flatMap(answer, ({ text }) => decodeHealthz(text)))?.error
})

/** From the server of this folder and pid; empty while it does not answer. */
export const figuresOf = Effect.fnUntraced(function* (folder: string, pid: number) {
  const address = yield* monitoringOf(folder, pid)
  if (address === undefined) return ""
  const [varz, jsz] = yield* Effect.all(
    [figuresAt(`${address}/varz`), figuresAt(`${address}/jsz?streams=true&config=true`)],
    { concurrency: 2 }
  )
  return brokerFigures(varz, jsz)
})
