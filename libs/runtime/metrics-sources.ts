/**
 * Figures that a process shows beside its own: those of its child processes and of its broker. They are joined into one
 * text that describes each metric once, as Prometheus' format requires.
 */
import { Context, Effect, Layer, Schema, type Scope, Stream } from "effect"

/** Figures in Prometheus' text format; empty while they are unavailable. */
type Figures = Effect.Effect<string>

/** A child process of this one. */
export interface ChildProcess {
  readonly role: string
  /** The address of its own metrics and readiness; undefined while it does not run. */
  readonly url: () => string | undefined
}

export class MetricsSources extends Context.Service<
  MetricsSources,
  {
    /** Shown until the scope closes. `child`: the process that the figures belong to. */
    readonly add: (figures: Figures, child?: ChildProcess) => Effect.Effect<void, never, Scope.Scope>
    /** The child processes that are running. */
    readonly children: Effect.Effect<ReadonlyArray<{ readonly role: string; readonly url: string }>>
    /** All current figures, read concurrently. */
    readonly read: Effect.Effect<ReadonlyArray<string>>
  }
>()("starling/runtime/MetricsSources") {
  static readonly layer = Layer.sync(MetricsSources, () => {
    const sources = new Set<Figures>()
    const children = new Set<ChildProcess>()
    return MetricsSources.of({
      add: (figures, child) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            sources.add(figures)
            if (child !== undefined) children.add(child)
          }),
          () =>
            Effect.sync(() => {
              sources.delete(figures)
              if (child !== undefined) children.delete(child)
            })
        ),
      children: Effect.sync(() =>
        [...children].flatMap(({ role, url }) => {
          const at = url()
          return at === undefined ? [] : [{ role, url: at }]
        })
      ),
      read: Effect.suspend(() => Effect.all([...sources], { concurrency: "unbounded" }))
    })
  })
}

/** The text at an address on this machine; empty unless the status is 200. */
export const figuresAt = (url: string): Figures =>
  textAt(url).pipe(
    Effect.map(({ status, text }) => (status === 200 ? text : "")),
    Effect.orElseSucceed(() => "")
  )

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+(?: \S+)?)$/u

/** Puts a label on every series that lacks it: processes do not put their role on their own metrics. */
export const labelled = (text: string, label: string, value: string): string =>
  text
    .split("\n")
    .map((line) => {
      const [whole, name, labels = "", rest] = line.startsWith("#") ? [] : (sampleLine.exec(line) ?? [])
      if (whole === undefined || `,${labels}`.includes(`,${label}="`)) return line
      return `${name}{${label}="${value}"${labels === "" ? "" : `,${labels}`}} ${rest}`
    })
    .join("\n")

interface Family {
  readonly described: ReadonlyArray<string>
  readonly samples: Array<string>
}

/** Joins several texts into one. Each metric keeps the description of its first occurrence. Pure. */
export const joinFigures = (texts: ReadonlyArray<string>): string => {
  const families = new Map<string, Family>()
  for (const text of texts) {
    let described: Array<string> = []
    let name = ""
    for (const line of text.split("\n")) {
      if (line.startsWith("# HELP ") || line.startsWith("# TYPE ")) {
        const named = line.split(" ", 3)[2] ?? ""
        if (named !== name) described = []
        name = named
        described.push(line)
        if (!families.has(name)) families.set(name, { described, samples: [] })
      } else if (line !== "" && !line.startsWith("#")) {
        const own = families.get(name) ?? { described, samples: [] }
        families.set(name, own)
        own.samples.push(line)
      }
    }
  }
  return [...families.values()].flatMap(({ described, samples }) => [...described, ...samples, ""]).join("\n")
}

// Within a scraper's timeout, and enough for a dispatcher of ten thousand endpoints: some twenty megabytes.
const answerWithin = "2 seconds"
const bytesMax = 64 * 1_024 * 1_024

export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  url: Schema.String,
  reason: Schema.String
}) {}

/** The text at an address, whatever the status. */
export const textAt = (url: string) =>
  Effect.gen(function* () {
    const failed = (cause: unknown) => new NoAnswer({ url, reason: String(cause) })
    const { status, body } = yield* Effect.tryPromise({ try: (signal) => fetch(url, { signal }), catch: failed })
    if (body === null) return { status, text: "" }
    const parts: Array<Uint8Array> = []
    let bytes = 0
    yield* Stream.runForEach(Stream.fromReadableStream({ evaluate: () => body, onError: failed }), (part) => {
      bytes += part.length
      parts.push(part)
      return bytes > bytesMax ? Effect.fail(failed("too long")) : Effect.void
    })
    return { status, text: Buffer.concat(parts).toString("utf8") }
  }).pipe(
    Effect.timeoutOrElse({
      duration: answerWithin,
      orElse: () => Effect.fail(new NoAnswer({ url, reason: "no answer in time" }))
    })
  )
