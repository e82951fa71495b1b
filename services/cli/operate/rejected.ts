/** `rejected`: messages that broke their schema. */
import { Effect } from "effect"
import { type OnConsole, onConsole } from "./client.ts"
import { givenOf, type OneOrder, printAct, printList, printWhole } from "./shown.ts"

interface ListOrder extends OnConsole {
  readonly origin: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
}

const columns = {
  number: "sequence",
  received: "receivedAt",
  origin: "origin",
  subject: "subject",
  faults: "faultCount",
  "first fault": "firstFault"
}

export const listRejected = ({ url, json, limit, ...filter }: ListOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.listRejected({ query: { ...givenOf(filter), limit: String(limit) } }), (page) =>
      printList(page, { json, columns })
    )
  )

export const showRejected = ({ url, number, json }: OneOrder & { readonly json: boolean }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getRejected({ params: { sequence: number } }), (whole) => printWhole(whole, json))
  )

interface ActOrder extends OneOrder {
  readonly reason: string
  readonly json: boolean
}

export const resendRejected = ({ url, number, reason, json }: ActOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.resendRejected({ params: { sequence: number }, payload: { reason } }), (sent) =>
      printAct(sent, { json, text: `${number} is published again as ${sent.sequence}` })
    )
  )

export const discardRejected = ({ url, number, reason, json }: ActOrder) =>
  onConsole({ url }, (client) =>
    Effect.andThen(
      client.discardRejected({ params: { sequence: number }, payload: { reason } }),
      printAct({ sequence: Number(number) }, { json, text: `${number} is discarded` })
    )
  )
