/**
 * The roles that exist, by name. A new role is one line here and one name in the configuration's list. Each
 * is loaded when it is run: a process of one role carries nothing of the others.
 */
import { Effect, Layer } from "effect"
import type { RoleName } from "#contracts"

const webhookDispatcher = Effect.promise(() => import("../webhook-dispatcher/layer.ts"))
const modelGateway = Effect.promise(() => import("../model-gateway/layer.ts"))
const speechApi = Effect.promise(() => import("../speech-api/layer.ts"))
const speechSequencer = Effect.promise(() => import("../speech-sequencer/layer.ts"))
const speechSynthesizer = Effect.promise(() => import("../speech-synthesizer/layer.ts"))

export const roles = {
  "webhook-dispatcher": Layer.unwrap(Effect.map(webhookDispatcher, (room) => room.webhookDispatcher)),
  "speech-api": Layer.unwrap(Effect.map(speechApi, (room) => room.speechApi)),
  "speech-sequencer": Layer.unwrap(Effect.map(speechSequencer, (room) => room.speechSequencer)),
  "speech-synthesizer": Layer.unwrap(Effect.map(speechSynthesizer, (room) => room.speechSynthesizer)),
  "model-gateway": Layer.unwrap(Effect.map(modelGateway, (room) => room.modelGateway))
} as const satisfies Record<RoleName, unknown>

/** What a role can find wrong with its configuration by itself; run before its bus is opened. */
export const checks = {
  "webhook-dispatcher": Effect.flatMap(webhookDispatcher, (room) => room.checkWebhookDispatcher),
  "model-gateway": Effect.flatMap(modelGateway, (room) => room.checkModelGateway)
} as const
