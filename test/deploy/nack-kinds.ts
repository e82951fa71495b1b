/**
 * The fields of NACK's Stream and Consumer, version 0.21, that we may set, each with its values. Their own schemas are on
 * no registry.
 */
const text = { type: "string" }
const yes = { type: "boolean" }
const limit = { type: "integer", minimum: -1 }

export const nackStream = {
  type: "object",
  required: ["apiVersion", "kind", "metadata", "spec"],
  additionalProperties: false,
  properties: {
    apiVersion: { const: "jetstream.nats.io/v1beta2" },
    kind: { const: "Stream" },
    metadata: { type: "object" },
    spec: {
      type: "object",
      additionalProperties: false,
      required: ["name", "subjects"],
      properties: {
        name: { type: "string", pattern: "^[^.*>]+$" },
        description: text,
        subjects: { type: "array", minItems: 1, items: text },
        retention: { enum: ["limits", "interest", "workqueue"] },
        storage: { enum: ["file", "memory"] },
        discard: { enum: ["old", "new"] },
        replicas: { type: "integer", minimum: 1 },
        maxAge: { type: "string", pattern: "^(?:\\d+(?:\\.\\d+)?(?:ns|us|ms|s|m|h))*$" },
        maxBytes: limit,
        maxMsgs: limit,
        maxMsgSize: limit,
        maxMsgsPerSubject: { type: "integer" },
        duplicateWindow: text,
        allowDirect: yes,
        allowAtomicPublish: yes,
        allowMsgSchedules: yes,
        allowRollup: yes,
        allowMsgTtl: yes,
        denyDelete: yes,
        denyPurge: yes,
        republish: {
          type: "object",
          additionalProperties: false,
          properties: { source: text, destination: text }
        },
        placement: {
          type: "object",
          additionalProperties: false,
          properties: { cluster: text, tags: { type: "array", items: text } }
        },
        preventDelete: yes,
        preventUpdate: yes
      }
    }
  }
}

export const nackConsumer = {
  type: "object",
  required: ["apiVersion", "kind", "metadata", "spec"],
  additionalProperties: false,
  properties: {
    apiVersion: { const: "jetstream.nats.io/v1beta2" },
    kind: { const: "Consumer" },
    metadata: { type: "object" },
    spec: {
      type: "object",
      additionalProperties: false,
      required: ["streamName", "durableName", "ackPolicy", "ackWait"],
      properties: {
        streamName: text,
        durableName: { type: "string", pattern: "^[^.*>]+$", minLength: 1 },
        description: text,
        // Not with `filterSubject`: NACK refuses a consumer with both.
        filterSubjects: { type: "array", minItems: 1, items: text },
        deliverPolicy: { enum: ["all", "last", "new", "byStartSequence", "byStartTime", "lastPerSubject"] },
        replayPolicy: { enum: ["instant", "original"] },
        ackPolicy: { enum: ["none", "all", "explicit"] },
        ackWait: { type: "string", pattern: "^(?:\\d+(?:\\.\\d+)?(?:ns|us|ms|s|m|h))+$" },
        maxAckPending: { type: "integer" },
        maxDeliver: { type: "integer", minimum: -1 },
        maxWaiting: { type: "integer" },
        replicas: { type: "integer" },
        memStorage: yes,
        preventDelete: yes,
        preventUpdate: yes
      }
    }
  }
}
