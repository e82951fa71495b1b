/** `rejected`: messages that broke their schema, and were archived instead of handled. */
import { family, operation } from "./operation.ts"

export const rejected = family("rejected", {
  about: "Messages that broke their schema, kept for seven days.",
  examples: ["starling rejected show 17"],
  commands: [
    operation("list", "listRejected", {
      about: "Messages that broke their schema, newest first.",
      columns: {
        number: "sequence",
        received: "receivedAt",
        origin: "origin",
        subject: "subject",
        faults: "faultCount",
        "first fault": "firstFault"
      }
    }),
    operation("show", "getRejected", { about: "One rejected message: its faults and its content." }),
    operation("resend", "resendRejected", {
      about: "Publishes a rejected event again, if this release accepts it.",
      text: ({ sequence }, sent) => `${sequence} is published again as ${sent.sequence}`
    }),
    operation("discard", "discardRejected", {
      about: "Deletes a rejected message for good.",
      text: ({ sequence }) => `${sequence} is discarded`
    })
  ]
})
