/**
 * The whole configuration file. Every role reads the same file, so every role knows every section: an
 * unknown key is a mistake wherever it stands. A new job adds its sections here.
 */
import { Result, Schema } from "effect"
import { faultsOf } from "../Envelope.ts"
import type { Fault } from "../primitives.ts"
import { ModelGateway } from "./gateway-section.ts"
import { Payments, PaymentSettler, PaymentVerifier } from "./payments-section.ts"
import { Agents } from "./agents-section.ts"
import {
  AutoRetryOnTransientFailure,
  Budget,
  DiskGuard,
  Pipeline,
  PipelineApi,
  QuotaRetry,
  StalePullRequestSweep
} from "./pipeline-sections.ts"
import { Bus, Fleet, Telemetry } from "./platform-sections.ts"
import { Redaction } from "./redaction-section.ts"
import { Audio, SpeechApi, SpeechSequencer, SpeechSynthesizer, VoiceCloning } from "./speech-sections.ts"
import { Sweeper } from "./sweeper-section.ts"
import { WebhookDelivery, Webhooks } from "./webhooks-section.ts"

const sections = {
  WebhookDelivery,
  PipelineApi,
  Pipeline,
  Agents,
  AutoRetryOnTransientFailure,
  QuotaRetry,
  DiskGuard,
  StalePullRequestSweep,
  Budget,
  Sweeper,
  Redaction,
  SpeechApi,
  SpeechSequencer,
  SpeechSynthesizer,
  Audio,
  VoiceCloning,
  ModelGateway,
  Payments,
  PaymentVerifier,
  PaymentSettler,
  Bus,
  Telemetry,
  Fleet
}

export const ConfigurationFile = Schema.Struct({ Webhooks, ...sections })
export interface ConfigurationFile extends Schema.Schema.Type<typeof ConfigurationFile> {}
export interface WebhookDelivery extends Schema.Schema.Type<typeof WebhookDelivery> {}

const decode = Schema.decodeUnknownResult(ConfigurationFile, { errors: "all", onExcessProperty: "error" })

/** Checks a whole configuration. Paths are written as people write them: `Webhooks[1].Url`. */
export const decodeConfiguration = (input: unknown): Result.Result<ConfigurationFile, ReadonlyArray<Fault>> =>
  Result.mapError(decode(input), (error) =>
    faultsOf(error.issue).map((fault) => ({ path: writtenPath(fault.path), message: fault.message }))
  )

const writtenPath = (pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => (/^\d+$/u.test(part) ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./u, "")

/** A key that one environment variable sets: `Bus.Url` is `BUS_URL`. */
export interface EnvironmentKey {
  readonly section: string
  readonly key: string
  readonly variable: string
}

/** Every key that the environment can override; the list of endpoints is not among them. */
export const environmentKeys: ReadonlyArray<EnvironmentKey> = Object.entries(sections).flatMap(([name, schema]) =>
  Object.keys(schemaFields(schema)).map((key) => ({
    section: name,
    key,
    variable: `${screaming(name)}_${screaming(key)}`
  }))
)

/** The text of a variable as the JSON value that its key is decoded from. */
export const environmentValue = (variable: string): unknown => {
  const value = variable.trim()
  if (/^-?\d+(\.\d+)?$/u.test(value)) return Number(value)
  if (value === "true" || value === "false") return value === "true"
  return value.startsWith("[") ? parseList(value) : value
}

function schemaFields(schema: unknown): Record<string, unknown> {
  const holder = schema as {
    readonly fields?: Record<string, unknown>
    readonly from?: unknown
    readonly schema?: unknown
  }
  return holder.fields ?? schemaFields(holder.schema ?? holder.from)
}

function screaming(name: string) {
  return name.replace(/([a-z0-9])([A-Z])/gu, "$1_$2").toUpperCase()
}

function parseList(text: string): unknown {
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  return Result.isSuccess(parsed) ? parsed.success : text
}
