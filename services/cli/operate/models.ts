/** `models`: what is sold at which price, and how often it answered. */
import type { ModelView } from "#console/api"
import { decimalAmount } from "#payments"
import { Command } from "effect/cli"
import { operation } from "./operation.ts"

type Priced = Pick<
  ModelView,
  "isFree" | "inputMicroUsdPerMillionTokens" | "outputMicroUsdPerMillionTokens" | "flatMicroUsd"
>

const microDecimals = 6
const dollars = (microUsd: number | null) => decimalAmount(BigInt(microUsd ?? 0), microDecimals)

/** Per call, or per million tokens. Pure. */
export const priceText = (model: Priced): string => {
  if (model.isFree) return "free"
  if (model.flatMicroUsd !== null) return `${dollars(model.flatMicroUsd)} a call`
  const [asked, answered] = [model.inputMicroUsdPerMillionTokens, model.outputMicroUsdPerMillionTokens]
  return `${dollars(asked)} in, ${dollars(answered)} out, a million tokens`
}

/** A readable percentage, never rounded up to 100 or down to 0. Pure. */
export const percentText = (share: number | null): string => {
  if (share === null) return "-"
  const hundredths = share === 1 ? 10_000 : Math.min(9_999, Math.max(share === 0 ? 0 : 1, Math.round(share * 10_000)))
  return `${hundredths / 100} %`
}

const noteBelow = (models: ReadonlyArray<ModelView>) =>
  models.length > 0 && models.every(({ lastMonth }) => lastMonth.calls === 0)
    ? "no call has been counted yet; ./starling pay makes one, and it is counted within a minute"
    : undefined

const listed = {
  about:
    "Models by name, with price, context and uptime: the share of the calls of the last 24 hours and thirty days that were answered, of those that a provider failed, broke off, or was left alone for. Calls that callers got wrong or left are not counted. With --json each has its history, and its providers.",
  examples: ["starling models list"],
  shown: (model: ModelView) => ({
    ...model,
    price: priceText(model),
    day: percentText(model.lastDay.uptime),
    dayCalls: model.lastDay.calls,
    month: percentText(model.lastMonth.uptime),
    monthCalls: model.lastMonth.calls
  }),
  columns: {
    model: "model",
    "price, USD": "price",
    context: "contextTokens",
    "up, 24 h": "day",
    calls: "dayCalls",
    "up, 30 d": "month",
    "calls ": "monthCalls"
  },
  whole: ["model"],
  note: noteBelow
}

/** Alone, it is its list. */
export const models = operation("models", "listModels", listed).pipe(
  Command.withSubcommands([operation("list", "listModels", listed)])
)
