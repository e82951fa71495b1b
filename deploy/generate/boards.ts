/** The five boards, each from the top: what callers and receivers notice, then why. */
import { fleetBoard } from "./board-fleet.ts"
import { paymentsBoard } from "./board-payments.ts"
import { pipelineBoard } from "./board-pipeline.ts"
import { speechBoard } from "./board-speech.ts"
import { webhooksBoard } from "./board-webhooks.ts"
import type { Board } from "./dashboards.ts"

export const boards: ReadonlyArray<Board> = [webhooksBoard, paymentsBoard, speechBoard, pipelineBoard, fleetBoard]
