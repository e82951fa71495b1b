/**
 * The roles that exist, by name. A new role is one line here and one name in the configuration's list. Each
 * is loaded when it is run: a process of one role carries nothing of the others.
 */
import { Effect, Layer } from "effect"
import type { RoleName } from "#contracts"

const pipelineApi = Effect.promise(() => import("#pipeline-api"))
const webhookDispatcher = Effect.promise(() => import("#webhook-dispatcher"))
const sweeper = Effect.promise(() => import("#sweeper"))
const modelGateway = Effect.promise(() => import("#model-gateway"))
const speechApi = Effect.promise(() => import("#speech-api"))
const speechSequencer = Effect.promise(() => import("#speech-sequencer"))
const speechSynthesizer = Effect.promise(() => import("#speech-synthesizer"))
const paymentVerifier = Effect.promise(() => import("#payment-verifier"))
const paymentSettler = Effect.promise(() => import("#payment-settler"))

export const roles = {
  "pipeline-api": Layer.unwrap(Effect.map(pipelineApi, (room) => room.pipelineApi)),
  "webhook-dispatcher": Layer.unwrap(Effect.map(webhookDispatcher, (room) => room.webhookDispatcher)),
  sweeper: Layer.unwrap(Effect.map(sweeper, (room) => room.sweeper)),
  "speech-api": Layer.unwrap(Effect.map(speechApi, (room) => room.speechApi)),
  "speech-sequencer": Layer.unwrap(Effect.map(speechSequencer, (room) => room.speechSequencer)),
  "speech-synthesizer": Layer.unwrap(Effect.map(speechSynthesizer, (room) => room.speechSynthesizer)),
  "model-gateway": Layer.unwrap(Effect.map(modelGateway, (room) => room.modelGateway)),
  "payment-verifier": Layer.unwrap(Effect.map(paymentVerifier, (room) => room.paymentVerifier)),
  "payment-settler": Layer.unwrap(Effect.map(paymentSettler, (room) => room.paymentSettler))
} as const satisfies Record<RoleName, unknown>

const loading: Readonly<Record<RoleName, Effect.Effect<unknown>>> = {
  "pipeline-api": pipelineApi,
  "webhook-dispatcher": webhookDispatcher,
  sweeper,
  "speech-api": speechApi,
  "speech-sequencer": speechSequencer,
  "speech-synthesizer": speechSynthesizer,
  "model-gateway": modelGateway,
  "payment-verifier": paymentVerifier,
  "payment-settler": paymentSettler
}

/** Loads their code before they are run, for who has to wait for something else meanwhile. */
export const loadRoles = (names: ReadonlyArray<RoleName>) =>
  Effect.forEach(names, (name) => loading[name], { concurrency: "unbounded", discard: true })

/** What a role can find wrong with its configuration by itself; run before its bus is opened. */
export const checks = {
  "webhook-dispatcher": Effect.flatMap(webhookDispatcher, (room) => room.checkWebhookDispatcher),
  "model-gateway": Effect.flatMap(modelGateway, (room) => room.checkModelGateway)
} as const
