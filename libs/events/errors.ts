/** Why a change of an event type was not made. */
import { Schema } from "effect"
import { Fault } from "#base"

export class InvalidEventType extends Schema.TaggedError<InvalidEventType>()("InvalidEventType", {
  faults: Schema.Array(Fault)
}) {
  override get message() {
    return this.faults.map(({ path, message }) => `${path}: ${message}`).join("; ")
  }
}

export class NoSuchEventType extends Schema.TaggedError<NoSuchEventType>()("NoSuchEventType", { name: Schema.String }) {
  override get message() {
    return `no event type ${this.name} was declared at run time`
  }
}

/** A type of this name exists and differs from the one to be declared. */
export class EventTypeExists extends Schema.TaggedError<EventTypeExists>()("EventTypeExists", {
  name: Schema.String
}) {
  override get message() {
    return `the event type ${this.name} is declared already`
  }
}

/** The type comes from the configuration file: it can only be changed there. */
export class EventTypeIsConfigured extends Schema.TaggedError<EventTypeIsConfigured>()("EventTypeIsConfigured", {
  name: Schema.String
}) {
  override get message() {
    return `the event type ${this.name} is declared in the configuration file; change it there`
  }
}

/** Another change came first. */
export class EventTypeWasChanged extends Schema.TaggedError<EventTypeWasChanged>()("EventTypeWasChanged", {
  name: Schema.String,
  revision: Schema.Int
}) {
  override get message() {
    return `the event type ${this.name} was changed meanwhile, and is at revision ${this.revision}`
  }
}

export class TooManyEventTypes extends Schema.TaggedError<TooManyEventTypes>()("TooManyEventTypes", {
  typesMax: Schema.Int
}) {
  override get message() {
    return `there are ${this.typesMax} event types, and no more fit`
  }
}

export type EventTypeFailure =
  | InvalidEventType
  | NoSuchEventType
  | EventTypeExists
  | EventTypeIsConfigured
  | EventTypeWasChanged
  | TooManyEventTypes
