/** The APIs that stand behind the console's origin, beside its own. */
import type { GatewayHttpApi } from "#gateway/api"
import type { PipelineHttpApi } from "#pipeline/api"
import type { SpeechHttpApi } from "#speech/api"
import { type AnswerIn, callsOf, type PathIn } from "./client.ts"

type Pipeline = typeof PipelineHttpApi
type Models = typeof GatewayHttpApi
type Speech = typeof SpeechHttpApi

export const bases = { pipeline: "/apis/pipeline", models: "/apis/models", speech: "/apis/speech" } as const

export const pipeline = callsOf<Pipeline>(bases.pipeline)
export const models = callsOf<Models>(bases.models)
export const speech = callsOf<Speech>(bases.speech)

export type PipelineAnswer<Method extends string, Path extends PathIn<Pipeline, Method>> = AnswerIn<
  Pipeline,
  Method,
  Path
>
export type ModelsAnswer<Path extends PathIn<Models, "GET">> = AnswerIn<Models, "GET", Path>
export type SpeechAnswer<Method extends string, Path extends PathIn<Speech, Method>> = AnswerIn<Speech, Method, Path>
