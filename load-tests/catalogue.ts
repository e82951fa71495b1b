/** Every scenario there is: what it measures, its parts, and the options that it takes beside --seed and --out. */
import { faultParts } from "./faults/faults.ts"
import type { Findings } from "./figures.ts"
import type { LoadOptions } from "./options.ts"
import { channelCalls } from "./payments/channels.ts"
import { evmSettle, evmVerify } from "./payments/evm.ts"
import { freeCalls } from "./payments/free.ts"
import { paid } from "./payments/paid.ts"
import { quotes } from "./payments/quotes.ts"
import { replay } from "./payments/replay.ts"
import { budget } from "./pipeline/budget.ts"
import { commands } from "./pipeline/commands.ts"
import { processes } from "./scale/processes.ts"
import { backlog, endpoints, lanes } from "./scale/scale.ts"
import { calm } from "./soak/calm.ts"
import { soak } from "./soak/soak.ts"
import { consent } from "./speech/consent.ts"
import { creates } from "./speech/creates.ts"
import { engineCost } from "./speech/engine-cost.ts"
import { handmade } from "./speech/handmade.ts"
import { kills as speechKills } from "./speech/kills.ts"
import { leavers, liveLeavers } from "./speech/leavers.ts"
import { live } from "./speech/live.ts"
import { marks, modelMarks } from "./speech/marks.ts"
import { memory } from "./speech/memory.ts"
import { overload } from "./speech/overload.ts"
import { streams } from "./speech/streams.ts"
import { firstSound } from "./speech/first-sound.ts"
import { neuralFirstByte, ttfb } from "./speech/ttfb.ts"
import { unpaced } from "./speech/unpaced.ts"
import { spokenBeside } from "./speech/book.ts"
import { brief, voices } from "./speech/voices.ts"
import { changes } from "./webhooks/changes.ts"
import { manyEndpoints } from "./webhooks/endpoints.ts"
import { flood } from "./webhooks/flood.ts"
import { filters } from "./webhooks/filters.ts"
import { order } from "./webhooks/order.ts"
import { drain, hanging, kills, retries } from "./webhooks/faults.ts"
import { alone, isolationFast, isolationSlow, latency } from "./webhooks/latency.ts"
import { throughput } from "./webhooks/throughput.ts"

export type Part = (options: LoadOptions) => Promise<Findings>

export interface Scenario {
  readonly measures: string
  readonly parts: Readonly<Record<string, Part>>
  readonly takes: ReadonlyArray<"minutes" | "rate" | "sizes" | "apart" | "times" | "busy">
  /** Variables that say what is measured; all others that would configure a fleet are left out. */
  readonly keeps?: ReadonlyArray<string>
}

export const catalogue: Readonly<Record<string, Scenario>> = {
  webhooks: {
    measures:
      "deliveries: rate, latency, cost of one, isolation, retries, kills, drain, changes of endpoints, lanes, order, filters; a quarter of an hour",
    parts: {
      throughput,
      latency,
      alone,
      "isolation-20": isolationSlow,
      "isolation-100": isolationFast,
      retries,
      flood,
      hanging,
      kills,
      drain,
      endpoints: manyEndpoints,
      changes,
      lanes,
      order,
      filters
    },
    takes: []
  },
  payments: {
    measures: "paid, unpaid and free calls, calls by channel, replays, verifying and settling; seven minutes",
    parts: {
      paid,
      channels: channelCalls,
      quotes,
      free: freeCalls,
      replay,
      "evm-verify": evmVerify,
      "evm-settle": evmSettle
    },
    takes: ["apart"]
  },
  speech: {
    measures: "first byte, live text, streams at once, marks, memory, kills, consents; twelve minutes",
    parts: {
      ttfb,
      live,
      streams,
      unpaced,
      handmade,
      marks,
      memory,
      leavers,
      "live-leavers": liveLeavers,
      creates,
      overload,
      kills: speechKills,
      consent
    },
    takes: []
  },
  voices: {
    measures:
      "voices: words and phonemes heard wrongly, pauses, pace, first sound; engines' cost, word starts, first byte; a book beside listeners; two hours",
    parts: {
      voices,
      brief,
      cost: engineCost,
      marks: modelMarks,
      "first-byte": neuralFirstByte,
      "first-sound": firstSound,
      book: spokenBeside
    },
    takes: ["sizes"],
    keeps: ["STARLING_HEARING", "STARLING_VOICES", "VOICES_MODELS"]
  },
  pipeline: {
    measures: "commands a second, and a million usage records counted; two minutes",
    parts: { commands, budget },
    takes: []
  },
  soak: {
    measures:
      "all three jobs for an hour: memory of every process, nothing lost; and an hour in which each role restarts: no alert",
    parts: { soak, calm },
    takes: ["minutes", "rate", "apart"],
    keeps: ["STARLING_PROMETHEUS"]
  },
  scale: {
    measures: "what a delivery costs over more processes, endpoints and backlog; fifteen minutes",
    parts: { processes, endpoints, backlog },
    takes: ["sizes"]
  },
  faults: {
    measures: "how soon each fault of a running fleet is seen, as what it is, and is gone; a quarter of an hour",
    parts: faultParts,
    takes: ["times", "busy"]
  }
}

/** The list for who named none, or one that there is not. */
export const usage = (): string => {
  const rows = Object.entries(catalogue).map(([name, { measures, parts, takes }]) => {
    const names = Object.keys(parts).filter((part) => part !== name)
    return [
      `  ${name.padEnd(10)}${measures}`,
      ...(names.length === 0 ? [] : [`${" ".repeat(12)}parts: ${names.join(", ")}`]),
      ...(takes.length === 0 ? [] : [`${" ".repeat(12)}takes: ${takes.map((option) => `--${option}`).join(", ")}`])
    ].join("\n")
  })
  return [
    "usage: ./starling load <scenario> [part...] [--minutes N] [--rate N] [--sizes N,N] [--apart] [--times N] [--busy] [--seed N] [--out FOLDER]",
    "",
    ...rows,
    ""
  ].join("\n")
}
